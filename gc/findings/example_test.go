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
	src := nettrace.NewReader(z, nettrace.Options{Want: gc.Wants})
	results, err := findings.Examine(src, findings.Options{})
	if err != nil {
		log.Panic(err)
	}
	for _, process := range results {
		fmt.Println(process.Verdict)
		for _, f := range process.Findings {
			fmt.Printf("%s: %s (%s)\n", f.Severity, f.Title, f.ID)
		}
	}
	// Output:
	// Pauses took 36.0 % of the time (budget: 5 %); too many young objects survive.
	// problem: GC pauses take much of the time (R02)
	// problem: too many young objects survive (R32)
	// warning: old objects keep young ones alive (R33)
	// warning: the program allocates fast (R31)
	// note: the trace is short (R84)
	// note: the trace includes program start-up (R85)
}

// This judges a process while its trace is read, as a program does that follows a
// running process.
func ExampleSet() {
	f, err := os.Open("../../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		log.Panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Panic(err)
	}
	model := gc.Model{Live: true}
	var set findings.Set
	for c, err := range model.Collections(nettrace.NewReader(z, nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			log.Panic(err)
		}
		set.Add(c)
		if c.Number%30 != 0 {
			continue
		}
		for _, process := range set.Judge(findings.Trace{Until: c.End}) {
			if share, known := process.PauseShare().Get(); known {
				fmt.Printf("GC %d: paused %.1f %% of the time\n", c.Number, share)
			} else {
				fmt.Printf("GC %d: the share of pauses is unknown\n", c.Number)
			}
		}
	}
	// Output:
	// GC 30: paused 26.6 % of the time
	// GC 60: paused 33.4 % of the time
	// GC 90: paused 36.3 % of the time
}
