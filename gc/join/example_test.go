package join_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This prints the first decisions of server GC on the number of its heaps.
func ExampleTunings() {
	var tunings join.Tunings
	in, err := open.File("../../testdata/net9-srv-datas-web-collect.nettrace.gz", open.Options{Want: pass.Wants(&tunings)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, &tunings); err != nil {
		log.Panic(err)
	}
	all := tunings.All()
	for _, t := range all[:3] {
		what, why := t.Decision()
		heaps := "an unknown number of heaps"
		if t.Heaps != 0 {
			heaps = fmt.Sprintf("%d heaps", t.Heaps)
		}
		fmt.Printf("after collection %d: %s, %s (%s)\n", t.Number, heaps, what, why)
	}
	// Output:
	// after collection 4: 2 heaps, more heaps (cost above the target; limited by the processors or the largest step)
	// after collection 8: 2 heaps, keep (adjusted less than six GCs ago)
	// after collection 12: 2 heaps, keep (cost above the target; the number of heaps is at its maximum)
}
