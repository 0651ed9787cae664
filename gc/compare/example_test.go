package compare_test

import (
	"fmt"
	"log"
	"math"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/open"
)

// This compares a run before a change with one after it. A metric is NaN if a trace does
// not record it.
func ExampleCompare() {
	run := func(path string) *compare.Run {
		in, err := open.File(path, open.Options{Want: gc.Wants})
		if err != nil {
			log.Fatal(err)
		}
		defer in.Close()
		r := &compare.Run{Name: path}
		var model gc.Model
		for c, err := range model.Collections(in.Source) {
			if err != nil {
				log.Panic(err)
			}
			r.Add(c)
		}
		return r
	}
	before, after := run("../../testdata/net10-wks-fragment-collect.nettrace.gz"), run("../../testdata/net10-wks-conserve-fragment-collect.nettrace.gz")
	for _, change := range compare.Compare([]*compare.Run{before}, []*compare.Run{after}).Changes[1:3] {
		if math.IsNaN(change.Before.Low) || math.IsNaN(change.After.Low) {
			fmt.Println(change.Metric.Name, "is unknown")
			continue
		}
		fmt.Printf("%s: %.3g, then %.3g (%s)\n", change.Metric.Name, change.Before.Low, change.After.Low, change.Verdict)
	}
	// Output:
	// collections: 34.2, then 3.37 (cannot_tell)
	// gen0_collections: 0.231, then 0.306 (cannot_tell)
}
