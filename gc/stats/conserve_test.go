package stats_test

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// TestConserves sums up collections of which some lack the allocated bytes: the sum is at
// least the bytes freed beyond the heap at the start.
func TestConserves(t *testing.T) {
	collection := func(before, freed int64, allocated gc.Opt[int64], is gc.Certainty) *gc.Collection {
		return &gc.Collection{
			Process: new(gc.Process), HeapBefore: gc.Some(before), Freed: gc.Some(freed), FreedQuality: gc.Exact,
			Allocated: allocated, AllocatedQuality: is, MemoryLoad: gc.Some(0),
		}
	}
	for name, test := range map[string]struct {
		second  *gc.Collection
		want    int64
		atLeast bool
	}{
		"known":      {collection(500, 400, gc.Some[int64](300), gc.Exact), 350, false},
		"unknown":    {collection(500, 400, gc.Opt[int64]{}, gc.Uncertain), 90 + 400 - 100, true},
		"more known": {collection(500, 400, gc.Some[int64](450), gc.LowerBound), 500, true},
	} {
		var s stats.Summary
		s.Add(collection(100, 90, gc.Some[int64](50), gc.Exact))
		s.Add(test.second)
		if got := s.All().Allocated; got.Sum != test.want || got.AtLeast != test.atLeast {
			t.Errorf("%s: %+v, expected %d, at least %v", name, got, test.want, test.atLeast)
		}
		if s.Heap.MaxLoad.Known() {
			t.Errorf("memory load of %v %%, which was not measured", s.Heap.MaxLoad)
		}
	}
}

// TestFreedHolds sums up collections whose freed bytes are a lower bound with an estimate in
// it: the error of the estimate is subtracted, so that the true sum is not smaller. Nothing is
// subtracted from an estimated sum.
func TestFreedHolds(t *testing.T) {
	for is, want := range map[gc.Certainty]int64{gc.LowerBound: 90 + 300, gc.Estimate: 100 + 300} {
		var s stats.Summary
		for _, c := range []gc.Collection{
			{Freed: gc.Some[int64](100), FreedQuality: is, FreedLow: gc.Some[int64](90)},
			{Freed: gc.Some[int64](300), FreedQuality: gc.Exact},
		} {
			c.Process = new(gc.Process)
			s.Add(&c)
		}
		shown := s.All().Freed.Holding()
		if shown.Sum != want || shown.Certainty() != is || shown.Holding() != shown {
			t.Errorf("%v: %+v, want %d", is, shown, want)
		}
	}
}
