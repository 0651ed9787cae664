package ledger

import "github.com/gctrail/gctrail/gc"

// SetCollection records the figures of a collection. Figures that the collection lacks
// keep their value.
func (r *Record) SetCollection(c *gc.Collection) {
	r.GC = gc.Some(int64(c.Number))
	r.Generation, r.Reason = widened(c.Generation), widened(c.Reason)
	if c.LastAttempt() {
		r.OOMAttempt = r.GC
	}
	take := func(to *gc.Opt[int64], v gc.Opt[int64]) {
		if v.Known() {
			*to = v
		}
	}
	take(&r.Heap, c.HeapAfter)
	take(&r.Committed, c.CommittedAfter)
	take(&r.PromotedSize, c.Promoted)
	take(&r.MemoryLoad, widened(c.MemoryLoad))
	if len(c.Generations) == 0 {
		return
	}
	var free, budget, allocatable int64
	sizes := [...]*gc.Opt[int64]{&r.Gen0, &r.Gen1, &r.Gen2, &r.LOH, &r.POH}
	programs := [...]bool{0: true, 3: true, 4: true} // programs allocate in these generations
	for i := range min(len(sizes), len(c.Generations)) {
		g := &c.Generations[i]
		take(sizes[i], g.After)
		free += g.Fragmentation.Or(0)
		budget += g.Budget
		if programs[i] {
			allocatable += g.Budget
		}
	}
	r.Fragmentation, r.Budget, r.Allocatable = gc.Some(free), gc.Some(budget), gc.Some(allocatable)
}

func widened[T ~int | ~uint32](v gc.Opt[T]) gc.Opt[int64] {
	n, known := v.Get()
	return gc.SomeIf(int64(n), known)
}
