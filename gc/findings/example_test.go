package findings_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/nettrace"
)

func Example() {
	f, err := os.Open("../../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		log.Panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Panic(err)
	}
	var m gc.Model
	var evidence findings.Case
	src := nettrace.NewReader(z, nettrace.Options{Want: gc.Wants})
	for c, err := range m.Collections(src) {
		if err != nil {
			log.Panic(err)
		}
		evidence.Add(c)
	}
	loss := src.Loss()
	evidence.Trace.Lost, evidence.Trace.Damaged, evidence.Trace.Cut = loss.Events, loss.Damaged, loss.Cut
	found := evidence.Findings()
	fmt.Println(evidence.Verdict(found))
	for i := range found {
		fmt.Printf("%s: %s (%s)\n", found[i].Severity, found[i].Title, found[i].ID)
	}
	// Output:
	// The GC is a problem: threads stood still 36.0 % of the time; many young objects survive.
	// problem: pauses take much of the time (R02)
	// problem: many young objects survive (R32)
	// warning: the program allocates fast (R31)
}
