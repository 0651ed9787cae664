package gc

import "time"

// maxSize is more than the memory of any machine, and what a process on x64 can
// address: a size beyond it, or a sum that overflowed, was not written by a runtime.
const maxSize = 1 << 47

// impossible lists figures that no collection can have, with the function that
// finds them and the function that makes them unknown. They come from damaged
// events.
var impossible = [...]struct {
	found  func(*Collection) bool
	forget func(*Collection)
}{
	{(*Collection).startsBeforeTrace, (*Collection).forgetStart},
	{(*Collection).endsBeforeStart, (*Collection).forgetEnd},
	{(*Collection).pausesOutsideWindows, (*Collection).forgetPauses},
	{(*Collection).followsNothing, (*Collection).forgetSinceLast},
	{(*Collection).survivesWhatWasNot, (*Collection).forgetSizes},
	{(*Collection).exceedsAddressSpace, (*Collection).forgetSizes},
	{(*Collection).contradictsItself, (*Collection).forgetSizes},
	{(*Collection).ticksFasterThanMemory, (*Collection).forgetTicks},
}

// reject makes impossible figures unknown, and reports whether there were any.
func (c *Collection) reject() (rejected bool) {
	for i := range impossible {
		if rule := &impossible[i]; rule.found(c) {
			rule.forget(c)
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

// survivesWhatWasNot reports whether more bytes survived than there were.
// Survivors are padded: up to 0.7 % more was seen.
func (c *Collection) survivesWhatWasNot() bool {
	for i := range c.Generations {
		g := &c.Generations[i]
		if c.Kind != Background && g.Freed.Known() && g.Out > g.Before+g.Before/50+padding {
			return true
		}
	}
	return false
}

// fastest is more than memory can be written by one machine: bytes a second.
const fastest = 1 << 40

// ticksFasterThanMemory reports whether more was counted than can be allocated
// in the time since the previous collection. The first second is free.
func (c *Collection) ticksFasterThanMemory() bool {
	return c.AllocatedTicks.Known() && c.SinceLast.Known() && float64(c.AllocatedTicks.Or(0)) > fastest*max(1, c.SinceLast.Or(0).Seconds())
}

func (c *Collection) forgetTicks() { c.AllocatedTicks = Opt[int64]{} }

// padding is what survivors may be larger than all objects of a small generation.
const padding = 1 << 20

func (c *Collection) exceedsAddressSpace() bool {
	sizes := []Opt[int64]{
		c.HeapBefore, c.HeapAfter, c.HeapPeak, c.Promoted, c.Freed, c.Allocated, c.AllocatedTicks,
		c.CommittedBefore, c.CommittedAfter, c.FinalizationPromoted, c.FinalizationPromotedObjs,
	}
	for i := range c.Generations {
		g := &c.Generations[i]
		sizes = append(sizes, Some(g.Before), g.After, Some(g.In), Some(g.Out), g.Freed, g.Fragmentation, g.FreeList, Some(g.Budget), g.Pinned)
	}
	for i := range c.Marks {
		sizes = append(sizes, c.Marks[i].Bytes)
	}
	for _, s := range sizes {
		if s.Known() && (s.Or(0) < 0 || s.Or(0) >= maxSize) {
			return true
		}
	}
	return false
}

// contradictsItself reports whether events disagree about sizes: more free space
// than a generation has, more that entered a generation than survived in all, or a
// heap of another size than its generations together.
func (c *Collection) contradictsItself() bool {
	var after int64
	whole := len(c.Generations) > 0 && c.HeapAfter.Known() && c.Kind != Background && c.Kind != KindUnknown
	for i := range c.Generations {
		g := &c.Generations[i]
		if g.After.Known() && (exceeds(g.Fragmentation.Or(0), g.After.Or(0)) || exceeds(g.FreeList.Or(0), g.After.Or(0))) ||
			c.Kind != Background && c.Promoted.Known() && exceeds(g.In, c.Promoted.Or(0)) {
			return true
		}
		after += g.After.Or(0)
		whole = whole && g.After.Known()
	}
	return whole && (exceeds(c.HeapAfter.Or(0), after) || exceeds(after, c.HeapAfter.Or(0)))
}

// exceeds reports whether a size is far beyond another that bounds it. The rules are
// those of the runtimes that were seen, so others may break them a little.
func exceeds(n, bound int64) bool { return n > 2*bound+64<<20 }

func (c *Collection) forgetStart() {
	c.Start, c.End = Opt[time.Duration]{}, Opt[time.Duration]{}
	c.Marks = nil
	c.forgetPauses()
	c.forgetAllocated()
}

func (c *Collection) forgetEnd() {
	c.End = Opt[time.Duration]{}
	if c.Kind == Background { // other collections meanwhile show what it swept
		c.Freed, c.FreedQuality, c.HeapPeak = Opt[int64]{}, Uncertain, Opt[int64]{}
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
	c.Freed, c.FreedQuality, c.AllocatedTicks = unknown, Uncertain, unknown
	c.CommittedBefore, c.CommittedAfter = unknown, unknown
	c.FinalizationPromoted, c.FinalizationPromotedObjs = unknown, unknown
	c.Generations, c.Marks = nil, nil
	c.forgetAllocated()
}
