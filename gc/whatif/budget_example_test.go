package whatif_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/open"
)

// This compares the budgets that a runtime recorded with the ones that its rule gives.
func ExampleRecomputer() {
	in, err := open.File("../../testdata/net10-wks-batch.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	var (
		model   = gc.Model{PerHeap: true}
		all     []*gc.Collection
		learner whatif.BudgetLearner
	)
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		learner.Add(c)
		all = append(all, c)
	}
	rule := whatif.NewRecomputer(learner.Limits(model.Processes()[0]))
	for _, c := range all[:2] {
		for _, b := range rule.Next(c) {
			fmt.Printf("GC %d, budget of gen %d: %d bytes, within 2 %%: %t\n", c.Number, b.Generation, b.Recorded, b.Close())
		}
	}
	// Output:
	// GC 1, budget of gen 0: 33554432 bytes, within 2 %: true
	// GC 2, budget of gen 0: 33554432 bytes, within 2 %: true
	// GC 2, budget of gen 1: 6291456 bytes, within 2 %: true
}
