package stats_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
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
	var p stats.Summary
	for c, err := range m.Collections(nettrace.NewReader(z, nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			log.Panic(err)
		}
		p.Add(c)
	}
	all := p.All()
	fmt.Printf("%d collections\n", all.Count)
	if share, known := p.PauseShare().Get(); known {
		fmt.Printf("pauses took %.1f %% of the time\n", share)
	}
	fmt.Printf("median pause %.1f ms, longest %.1f ms\n", all.Pause.Percentile(50).Seconds()*1e3, all.Pause.Max().Seconds()*1e3)
	fmt.Printf("worst second: %.0f %% of it\n", p.Stalls()[2].Share())
	// Output:
	// 94 collections
	// pauses took 36.0 % of the time
	// median pause 18.1 ms, longest 32.6 ms
	// worst second: 44 % of it
}
