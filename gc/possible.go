package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// impossible lists figures that no collection can have, with the function that
// finds them and the function that makes them unknown. They come from damaged
// events. Their limits come from package clr, the trace's settings and other events, and
// what the collection before left.
var impossible = [...]struct {
	found  func(*building) bool
	forget func(*Collection)
}{
	{of((*Collection).startsBeforeTrace), (*Collection).forgetStart},
	{of((*Collection).endsBeforeStart), (*Collection).forgetEnd},
	{of((*Collection).pausesOutsideWindows), (*Collection).forgetPauses},
	{of((*Collection).followsNothing), (*Collection).forgetSinceLast},
	{of((*Collection).survivesWhatWasNot), (*Collection).forgetSizes},
	{(*building).exceedsAddressSpace, (*Collection).forgetSizes},
	{of((*Collection).exceedsCommitted), (*Collection).forgetSizes},
	{of((*Collection).exceedsHardLimit), (*Collection).forgetSizes},
	{(*building).commitsWithoutUse, (*Collection).forgetSizes},
	{of((*Collection).contradictsItself), (*Collection).forgetSizes},
	{of((*Collection).budgetsBeyondUse), (*Collection).forgetSizes},
	{of((*Collection).shrinksUncollected), (*Collection).forgetSizes},
	{(*building).growsWithoutAllocation, (*Collection).forgetSizes},
	{of((*Collection).allocatesFasterThanMemory), (*Collection).forgetSizes},
	{of((*Collection).ticksFasterThanMemory), (*Collection).forgetTicks},
}

// of makes a rule about a collection one about its building.
func of(found func(*Collection) bool) func(*building) bool {
	return func(b *building) bool { return found(&b.Collection) }
}

// reject makes impossible figures unknown, and reports whether there were any.
func (b *building) reject() (rejected bool) {
	for i := range impossible {
		if rule := &impossible[i]; rule.found(b) {
			rule.forget(&b.Collection)
			rejected = true
		}
	}
	return rejected
}

func (c *Collection) startsBeforeTrace() bool {
	return c.Start.Known() && c.Start.Or(0) < 0 || c.PauseStart.Known() && c.PauseStart.Or(0) < 0 || c.End.Known() && c.End.Or(0) < 0
}

func (c *Collection) endsBeforeStart() bool {
	return c.Start.Known() && c.End.Known() && c.End.Or(0) < c.Start.Or(0)
}

// pausesOutsideWindows reports whether a pause is longer than the suspension
// that it is a part of, or a part of it than the whole.
func (c *Collection) pausesOutsideWindows() bool {
	var sum time.Duration
	for i := range c.Pauses {
		p := &c.Pauses[i]
		sum += p.Duration
		window := p.window.To - p.window.From
		if p.window.From < 0 || p.Start < p.window.From || p.Duration < 0 || p.Duration > p.window.To-p.Start ||
			p.Suspend.Or(0) < 0 || p.Suspend.Or(0) > window || p.Waited < 0 || p.Waited > window || p.Restart.Or(0) < 0 || sum < 0 {
			return true
		}
	}
	return c.PauseStart.Known() && c.Start.Known() && c.PauseStart.Or(0) > c.Start.Or(0)
}

func (c *Collection) followsNothing() bool {
	return c.SinceLast.Known() && (c.SinceLast.Or(0) < 0 || c.SinceLast.Or(0) > c.PauseStart.Or(0))
}

// survivesWhatWasNot reports whether more bytes survived than there were: before, or if the
// program ran meanwhile, after. Survivors are padded: up to 0.7 % more was seen.
func (c *Collection) survivesWhatWasNot() bool {
	for i := range c.Generations {
		g := &c.Generations[i]
		most := g.Before
		if c.Kind == Background || !g.Freed.Known() {
			most = max(most, g.After.Or(0))
		}
		if g.Out > most+most/50+padding {
			return true
		}
	}
	return false
}

// ticksFasterThanMemory reports whether more was counted than can be allocated
// in the time since the previous collection. The first second is free.
func (c *Collection) ticksFasterThanMemory() bool { return c.fasterThanMemory(c.AllocatedTicks) }

func (c *Collection) allocatesFasterThanMemory() bool { return c.fasterThanMemory(c.Allocated) }

func (c *Collection) fasterThanMemory(n Opt[int64]) bool {
	return n.Known() && c.SinceLast.Known() && float64(n.Or(0)) > clr.MaxRate*max(1, c.SinceLast.Or(0).Seconds())
}

func (c *Collection) forgetTicks() { c.AllocatedTicks = Opt[int64]{} }

// padding bounds how far survivors can exceed the objects of a small generation.
const padding = 1 << 20

func (b *building) exceedsAddressSpace() bool {
	c, limit := &b.Collection, clr.AddressSpace(b.Process.pointerSize)
	beyond := func(s Opt[int64]) bool { return s.Known() && (s.Or(0) < 0 || s.Or(0) >= limit) }
	return slices.ContainsFunc([]Opt[int64]{
		c.HeapBefore, c.HeapAfter, c.HeapPeak, c.Promoted, c.Freed, c.Allocated, c.AllocatedTicks,
		c.CommittedBefore, c.CommittedAfter, c.FinalizationPromoted, c.FinalizationPromotedObjs,
	}, beyond) || slices.ContainsFunc(c.Generations, func(g Generation) bool {
		return slices.ContainsFunc([]Opt[int64]{
			Some(g.Before), g.After, Some(g.In), Some(g.Out), g.Freed, g.Fragmentation, g.FreeList, Some(g.Budget), g.Pinned,
		}, beyond)
	}) || slices.ContainsFunc(c.Marks, func(m Mark) bool { return beyond(m.Bytes) })
}

// exceedsCommitted reports whether the heap is larger than the memory committed for it at the
// same time. A background collection's sizes are of other times, but while it runs, threads
// wait for it before the LOH has grown to more than ten times its size (gc.cpp,
// bgc_loh_allocate_spin).
func (c *Collection) exceedsCommitted() bool {
	if c.Kind == Background {
		return c.CommittedBefore.Known() && max(c.HeapBefore.Or(0), c.HeapAfter.Or(0)) > 16*c.CommittedBefore.Or(0)+1<<30
	}
	over := func(size, committed Opt[int64]) bool {
		return size.Known() && committed.Known() && clr.Exceeds(size.Or(0), committed.Or(0))
	}
	return over(c.HeapBefore, c.CommittedBefore) || over(c.HeapAfter, c.CommittedAfter)
}

// exceedsHardLimit reports whether the heap, or its committed memory, is larger than the
// process's settings allow. GC.RefreshMemoryLimit may change the limit in a suspension
// without a collection.
func (c *Collection) exceedsHardLimit() bool {
	s := c.Process.Settings
	if s == nil || s.HardLimit == 0 || s.HardLimit >= clr.MaxSize ||
		slices.ContainsFunc(c.Process.Suspensions, func(t SuspensionTotal) bool { return t.Reason == clr.SuspendReasonSuspendForGC }) {
		return false
	}
	most := max(c.HeapBefore.Or(0), c.HeapAfter.Or(0), c.CommittedBefore.Or(0), c.CommittedAfter.Or(0))
	return clr.Exceeds(most, int64(s.HardLimit))
}

// slightly returns by how much sizes of a generation that was not collected may differ from
// n. Up to 0.3 MB were seen.
func slightly(n int64) int64 { return n/8 + 1<<20 }

// shrinksUncollected reports whether a generation was smaller after the collection than
// before, although it was not collected.
func (c *Collection) shrinksUncollected() bool {
	generation, known := c.Generation.Get()
	if !known || c.Kind == Background || c.Kind == KindUnknown || generation == gen2 {
		return false
	}
	for i := generation + 1; i < len(c.Generations); i++ {
		g := &c.Generations[i]
		if after, ok := g.After.Get(); ok && g.Before > after+slightly(after) {
			return true
		}
	}
	return false
}

// growsWithoutAllocation reports whether gen1 or gen2, where programs do not allocate, is
// larger than the collection before left it, or gen0 grew far beyond its budget.
func (b *building) growsWithoutAllocation() bool {
	last := &b.rt.last
	if b.Kind == Background || b.Kind == KindUnknown || len(b.Generations) <= gen2 || len(last.left) <= gen2 || last.number+1 != b.Number {
		return false
	}
	for i := gen1; i <= gen2; i++ {
		if after, ok := last.left[i].After.Get(); ok && b.Generations[i].Before > after+slightly(after) {
			return true
		}
	}
	after, known := last.left[gen0].After.Get()
	budget := last.left[gen0].Budget
	if !known || budget == 0 || b.NoGCRegions > 0 || b.PauseMode == Some(clr.PauseModeNoGC) {
		return false
	}
	if last.heaps > 0 && b.Heaps.Or(0) > last.heaps { // DATAS added heaps after the budget was recorded
		budget = budget / int64(last.heaps) * int64(b.Heaps.Or(0))
	}
	return b.Generations[gen0].Before-after > 2*budget+maxOvershoot
}

// maxOvershoot bounds how far gen0 may grow beyond its budget: by what threads have begun to
// allocate when it is used up. Up to 0.1 MB was seen.
const maxOvershoot = 64 << 20

// contradictsItself reports whether events disagree about sizes: a part is larger than the
// whole, or the heap of another size than its generations together.
func (c *Collection) contradictsItself() bool {
	var after, marked int64
	whole := len(c.Generations) > 0 && c.HeapAfter.Known() && c.Kind != Background && c.Kind != KindUnknown
	for i := range c.Generations {
		g := &c.Generations[i]
		size, known := g.After.Get()
		if known && (clr.Exceeds(g.Fragmentation.Or(0), size) || clr.Exceeds(g.FreeList.Or(0), size)) ||
			clr.Exceeds(g.FreeBefore, g.Before) || clr.Exceeds(g.Pinned.Or(0), g.Out) ||
			c.Kind != Background && c.Promoted.Known() && clr.Exceeds(g.In, c.Promoted.Or(0)) || c.HeapPeak.Known() && clr.Exceeds(g.In, c.HeapPeak.Or(0)) ||
			c.HeapAfter.Known() && clr.Exceeds(size, c.HeapAfter.Or(0)) {
			return true
		}
		after += size
		whole = whole && known
	}
	if whole && (clr.Exceeds(c.HeapAfter.Or(0), after) || clr.Exceeds(after, c.HeapAfter.Or(0))) {
		return true
	}
	for i := range c.Marks {
		marked = units.AddCapped(marked, c.Marks[i].Bytes.Or(0))
	}
	before, known := c.HeapBefore.Get()
	return known && c.Kind != Background && (clr.Exceeds(marked, before) || clr.Exceeds(clr.MinObject*c.PinnedObjects.Or(0), before))
}

// budgetsBeyondUse reports whether a generation may grow by far more than the heap is large.
// Budgets depend on what survives and on the size of caches: up to 12 times the heap, and
// 1.4 GB on each heap, were seen for gen0, and 3.5 times the heap for others.
func (c *Collection) budgetsBeyondUse() bool {
	if !c.HeapPeak.Known() {
		return false
	}
	most := 64*c.HeapPeak.Or(0) + int64(c.Heaps.Or(1))<<33
	for i := range c.Generations {
		if c.Generations[i].Budget > most {
			return true
		}
		most = 16*c.HeapPeak.Or(0) + int64(c.Heaps.Or(1))<<31
	}
	return false
}

// commitsWithoutUse reports whether far more is committed than was before and than the heap
// needs. Up to 4.3 times as much was seen, and 160 MB more on each heap.
func (b *building) commitsWithoutUse() bool {
	beyond := func(committed, before, heap Opt[int64]) bool {
		return committed.Known() && before.Known() && heap.Known() && committed.Or(0) > 4*max(before.Or(0), heap.Or(0))+int64(b.Heaps.Or(1))<<31
	}
	return beyond(b.CommittedAfter, b.CommittedBefore, b.HeapPeak) ||
		b.rt.last.number+1 == b.Number && beyond(b.CommittedBefore, b.rt.last.committed, b.HeapPeak)
}

func (c *Collection) forgetStart() {
	c.Start, c.End = Opt[time.Duration]{}, Opt[time.Duration]{}
	c.Marks = nil
	c.forgetPauses()
	c.forgetAllocated()
}

func (c *Collection) forgetEnd() {
	c.End = Opt[time.Duration]{}
	if c.Kind == Background { // other collections meanwhile show its sweep
		c.Freed, c.FreedQuality, c.FreedLow, c.HeapPeak = Opt[int64]{}, Uncertain, Opt[int64]{}, Opt[int64]{}
	}
	c.forgetAllocated()
}

func (c *Collection) forgetPauses() {
	c.Pauses, c.PauseStart, c.AllPauses = nil, Opt[time.Duration]{}, false
	c.forgetSinceLast()
}

func (c *Collection) forgetSinceLast() { c.SinceLast = Opt[time.Duration]{} }

func (c *Collection) forgetAllocated() {
	c.Allocated, c.AllocatedQuality = Opt[int64]{}, Uncertain
	c.AllocatedLow, c.AllocatedHigh = Opt[int64]{}, Opt[int64]{}
}

func (c *Collection) forgetSizes() {
	unknown := Opt[int64]{}
	c.HeapBefore, c.HeapAfter, c.HeapPeak, c.Promoted = unknown, unknown, unknown, unknown
	c.Freed, c.FreedQuality, c.FreedLow, c.AllocatedTicks = unknown, Uncertain, unknown, unknown
	c.CommittedBefore, c.CommittedAfter = unknown, unknown
	c.FinalizationPromoted, c.FinalizationPromotedObjs = unknown, unknown
	c.Generations, c.PerHeap, c.Marks = nil, nil, nil
	c.forgetAllocated()
}
