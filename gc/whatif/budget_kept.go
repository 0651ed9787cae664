package whatif

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A keptCollection holds the figures of a collection that a Recomputer reads, in a fifth of the
// memory, because a history has many.
type keptCollection struct {
	number     uint32
	kind       gc.Kind
	generation gc.Opt[int]
	reason     gc.Opt[clr.GCReason]
	mode       gc.Opt[clr.PauseMode]
	start, end gc.Opt[time.Duration]
	committed  gc.Opt[int64]
	finalized  gc.Opt[int64]
	heaps      gc.Opt[int] // how many
	lost       bool
	together   []keptGeneration // of all heaps; nil of workstation GC, whose heaps do not share
	parts      []keptPart       // of each heap
}

// A keptPart holds the generations of one heap.
type keptPart struct {
	heap        uint32
	generations []keptGeneration
}

// A keptGeneration has 0 for unknown figures, because a Recomputer reads them so.
type keptGeneration struct {
	before, freeBefore, in, out, budget, after, fragmentation, freeList int64
}

// keep returns what a Recomputer reads of a collection.
func keep(c *gc.Collection) *keptCollection {
	k := &keptCollection{
		number: c.Number, kind: c.Kind, generation: c.Generation, reason: c.Reason, mode: c.PauseMode, start: c.Start, end: c.End,
		committed: c.CommittedBefore, finalized: c.FinalizationPromoted, heaps: c.Heaps, lost: c.AffectedByLoss,
		parts: make([]keptPart, len(c.PerHeap)),
	}
	if c.Process == nil || c.Process.Server.Or(true) {
		k.together = keepGenerations(c.Generations)
	}
	for i := range c.PerHeap {
		k.parts[i] = keptPart{c.PerHeap[i].Heap, keepGenerations(c.PerHeap[i].Generations)}
	}
	return k
}

func keepGenerations(list []gc.Generation) []keptGeneration {
	kept := make([]keptGeneration, len(list))
	for i := range list {
		g := &list[i]
		kept[i] = keptGeneration{
			before: g.Before, freeBefore: g.FreeBefore, in: g.In, out: g.Out, budget: g.Budget,
			after: g.After.Or(0), fragmentation: g.Fragmentation.Or(0), freeList: g.FreeList.Or(0),
		}
	}
	return kept
}
