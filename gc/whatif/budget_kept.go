package whatif

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A keptCollection holds the figures of a collection that a Recomputer reads. It takes a fifth of the
// memory, for callers that would otherwise hold many collections only for this.
type keptCollection struct {
	number     uint32
	kind       gc.Kind
	generation gc.Opt[int]
	reason     gc.Opt[clr.GCReason]
	mode       gc.Opt[clr.PauseMode]
	start, end gc.Opt[time.Duration]
	committed  gc.Opt[int64]
	finalized  gc.Opt[int64]
	heaps      gc.Opt[int]
	lost       bool
	parts      []keptPart // of heaps; the first is of all together
}

// A keptPart holds the generations of one heap, or of all.
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
		parts: make([]keptPart, 1, 1+len(c.PerHeap)),
	}
	if c.Process.Server.Or(true) { // the heaps of workstation GC do not share
		k.parts[0].generations = keepGenerations(c.Generations)
	}
	for i := range c.PerHeap {
		k.parts = append(k.parts, keptPart{c.PerHeap[i].Heap, keepGenerations(c.PerHeap[i].Generations)})
	}
	return k
}

func keepGenerations(list []gc.Generation) []keptGeneration {
	kept := make([]keptGeneration, len(list))
	for i := range list {
		g := &list[i]
		kept[i] = keptGeneration{g.Before, g.FreeBefore, g.In, g.Out, g.Budget, g.After.Or(0), g.Fragmentation.Or(0), g.FreeList.Or(0)}
	}
	return kept
}

// collection returns a collection with the kept figures alone.
func (k *keptCollection) collection() *gc.Collection {
	c := &gc.Collection{
		Number: k.number, Kind: k.kind, Generation: k.generation, Reason: k.reason, PauseMode: k.mode, Start: k.start, End: k.end,
		CommittedBefore: k.committed, FinalizationPromoted: k.finalized, Heaps: k.heaps, AffectedByLoss: k.lost,
		Generations: k.parts[0].expand(),
	}
	for i := range k.parts[1:] {
		p := &k.parts[1+i]
		c.PerHeap = append(c.PerHeap, gc.HeapPart{Heap: p.heap, Generations: p.expand()})
	}
	return c
}

func (p *keptPart) expand() []gc.Generation {
	list := make([]gc.Generation, len(p.generations))
	for i := range p.generations {
		g := &p.generations[i]
		list[i] = gc.Generation{
			Before: g.before, FreeBefore: g.freeBefore, In: g.in, Out: g.out, Budget: g.budget,
			After: gc.Some(g.after), Fragmentation: gc.Some(g.fragmentation), FreeList: gc.Some(g.freeList),
		}
	}
	return list
}
