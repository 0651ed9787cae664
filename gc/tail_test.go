package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// tail rebuilds the mutator's collections and returns the tail of its process.
func (m *mutator) tail(t *testing.T) gc.Tail {
	t.Helper()
	var model gc.Model
	for _, err := range model.Collections(m) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return model.Processes()[0].Tail()
}

// TestTail checks the allocation after the latest collection and its bounds.
func TestTail(t *testing.T) {
	const large = 2 * 2 * 3 << 20 // the initial budgets of the LOH and the POH, and as much again
	for name, test := range map[string]struct {
		ticks   bool
		budget  uint64
		open    bool // a background collection does not end
		after   uint64
		quality gc.Certainty
		bytes   int64
		bounded bool
		most    int64
	}{
		"budget":                {budget: 5 << 20, after: 700, quality: gc.LowerBound, bounded: true, most: 5<<20 + 1<<20 + large},
		"no budget":             {after: 700, quality: gc.LowerBound},
		"ticks":                 {ticks: true, after: 8000, quality: gc.Estimate, bytes: 8000, bounded: true, most: 1 << 20},
		"background unfinished": {budget: 5 << 20, open: true, after: 700, quality: gc.LowerBound},
		"background and ticks":  {ticks: true, open: true, after: 8000, quality: gc.Estimate, bytes: 8000, bounded: true, most: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mutator{script: newScript(), ticks: test.ticks, budget: test.budget, old: 5000}
			for range 4 {
				m.allocate(800_000, 0)
				m.collect(clr.GCTypeNonConcurrentGC, 100)
			}
			if test.open {
				m.begin()
			}
			m.allocate(test.after, 0)
			got := m.tail(t)
			if got.Quality != test.quality || got.Bytes != test.bytes || got.Max.Known() != test.bounded ||
				got.Max.Or(0) > test.most || got.Max.Known() && got.Max.Or(0) < int64(test.after) || got.Min > int64(test.after) {
				t.Errorf("%+v, want %+v", got, test)
			}
		})
	}
}

// TestTailWithLoss checks that a tail in which events were lost is a lower bound without an
// upper one, whatever was recorded, and that a loss before it does not matter.
func TestTailWithLoss(t *testing.T) {
	for _, ticks := range []bool{true, false} {
		for _, inTail := range []bool{true, false} {
			m := &mutator{script: newScript(), ticks: ticks, budget: 5 << 20}
			for range 4 {
				m.allocate(800_000, 0)
				m.collect(clr.GCTypeNonConcurrentGC, 100)
			}
			m.allocate(8_000_000, 0)
			from := time.Duration(0)
			if inTail {
				from = m.events[len(m.events)-1].Time()
			}
			m.loss.Add(3, from, from)
			got := m.tail(t)
			if want := !inTail; got.Max.Known() != want || inTail && (got.Quality != gc.LowerBound || got.Min > 8_000_000 || got.Bytes != got.Min) {
				t.Errorf("ticks %v, loss in the tail %v: %+v", ticks, inTail, got)
			}
		}
	}
}

// TestTailAfterNoGC checks that budgets bound nothing once there was a no-GC region: the
// next one raises no event where there is memory enough for it.
func TestTailAfterNoGC(t *testing.T) {
	m := &mutator{script: newScript(), budget: 5 << 20}
	m.allocate(900, 0)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	if got := m.tail(t); !got.Max.Known() {
		t.Errorf("%+v", got)
	}
	m.number++ // taken by the region
	m.allocate(900, 0)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	if got := m.tail(t); got.Max.Known() {
		t.Errorf("a collection's number is missing: %+v", got)
	}
}

// TestAllocatedCountsEveryHeap checks that gen0, the LOH and the POH each add what they
// grew by since the previous collection.
func TestAllocatedCountsEveryHeap(t *testing.T) {
	for name, of := range map[string]int{"gen0": 0, "loh": 3, "poh": 4} {
		t.Run(name, func(t *testing.T) {
			m := &mutator{script: newScript()}
			for n, before := range []uint64{1000, 1700} {
				var g [5]size
				g[of] = size{before: before, after: before, out: before}
				ms := float64(20 * (n + 1))
				m.start(ms, 1, uint32(n+1), 0, clr.GCTypeNonConcurrentGC)
				m.histories(ms+0.1, 0, 0, g)
				m.end(ms+0.2, 1, uint32(n+1), 0)
				m.stats(ms+0.2, 1, 0)
			}
			got, _, _ := m.run(t)
			for number, want := range map[uint32]int64{1: 1000, 2: 700} {
				c := got[number]
				if c.Allocated != gc.Some(want) || c.AllocatedQuality != gc.Exact || c.AllocatedLow != gc.Some(want) || c.AllocatedHigh != gc.Some(want) {
					t.Errorf("GC %d: allocated %v (%v) from %v to %v, want %d", number, c.Allocated, c.AllocatedQuality, c.AllocatedLow, c.AllocatedHigh, want)
				}
			}
		})
	}
}

// TestTailWithoutGC checks that ticks count the allocations of a process without
// collections, and that these are unbounded while the number of heaps is unknown.
func TestTailWithoutGC(t *testing.T) {
	m := &mutator{script: newScript(), ticks: true}
	m.allocate(8_000_000, 0)
	if got := m.tail(t); got.Quality != gc.Estimate || got.Bytes != 10_000_000 || got.Max.Known() || got.Min != 0 {
		t.Errorf("server or workstation GC: %+v", got)
	}
	workstation := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuCoreClr, BclMajorVersion: 10}
	m.raise(m.now, 1, clr.RundownProvider, 187, 0, workstation.Append(nil, 0, 8))
	if got := m.tail(t); got.Quality != gc.Estimate || got.Bytes != 10_000_000 || got.Max.Or(0) < 10_100_000 || got.Min < 9e6 {
		t.Errorf("workstation GC: %+v", got)
	}
}
