package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// MaxLongest is the largest length of Summary.Longest.
const MaxLongest = 10

// A Summary sums up the collections of one process. The zero Summary is empty;
// Process is set by the first collection.
//
// Its figures can be read at any time, without side effects. Unless noted otherwise,
// the cost does not grow with the number of collections.
// Totals belong to the Summary, and change as collections are added.
type Summary struct {
	Process *gc.Process

	// From and To narrow the time examined. The caller sets them if it adds
	// only the collections of a part of the trace.
	From, To gc.Opt[time.Duration]

	// SumsOnly leaves Longest, Timeline and Stalls empty, and Distributions without
	// percentiles: what remains takes some kB, however many collections there are. The
	// caller sets it before the first Add.
	SumsOnly bool

	// Longest are the collections with the longest pauses, the longest first.
	Longest []*gc.Collection
	// Last is the latest collection that has figures for each generation.
	Last     *gc.Collection
	Heap     Heap
	Timeline Timeline

	all         Totals
	generations [4]Totals    // 3 being unknown
	classes     [4][4]Totals // by generation and kind
	reasons     map[gc.Opt[clr.GCReason]]*Totals
	survival    [gc.NumGenerations]Survival
	stalls      stalls
	suspended   stalls // with suspensions outside collections
	doubt       doubt
	there       gc.Opt[int64] // the heap before the first collection whose heap is known

	sinceFirst            Bytes         // allocated, as counted by all collections but the first
	firstCounted          bool          // the first collection counts the bytes allocated before it
	firstStart, lastStart time.Duration // of collections
}

// Heap holds the sizes of the heap, in bytes, and the number of its parts.
type Heap struct {
	Peak         gc.Opt[int64] // the largest, before a collection or after
	After        gc.Opt[int64] // the latest collection
	Committed    gc.Opt[int64] // after the latest collection with a known value
	MaxCommitted gc.Opt[int64]
	MaxLoad      gc.Opt[int] // percent of memory in use, of the machine or the container
	MinHeaps     int         // 0 if unknown
	MaxHeaps     int         // 0 if unknown
	HeapChanges  int         // between one collection and the next

	heaps int
}

// Survival sums up the survivors of one generation in all its collections except
// background collections.
type Survival struct {
	Collections int
	Survived    int64
	Freed       int64
}

// Percent returns the share that survived, unknown if there were no objects.
func (s *Survival) Percent() gc.Opt[float64] {
	return gc.SomeIf(100*float64(s.Survived)/(float64(s.Survived)+float64(s.Freed)), s.Survived+s.Freed > 0)
}

// A Class has the totals of the collections of one generation and kind.
type Class struct {
	Generation gc.Opt[int]
	Kind       gc.Kind
	*Totals
}

// A Reason has the totals of the collections with one reason.
type Reason struct {
	Reason gc.Opt[clr.GCReason]
	*Totals
}

const unknownGeneration = 3

// knownKind returns k, or KindUnknown where k is none of the kinds.
func knownKind(k gc.Kind) gc.Kind {
	if k > gc.Foreground {
		return gc.KindUnknown
	}
	return k
}

// Add adds a collection and may keep it. Collections come in order of their
// start, as a gc.Model yields them.
func (p *Summary) Add(c *gc.Collection) {
	p.Process = c.Process
	generation := unknownGeneration
	if g, ok := c.Generation.Get(); ok && 0 <= g && g < unknownGeneration {
		generation = g
	}
	for _, t := range [...]*Totals{&p.all, &p.generations[generation], &p.classes[generation][knownKind(c.Kind)], p.ensureReason(c.Reason)} {
		t.Pause.sumsOnly = p.SumsOnly
		t.Add(c)
	}
	p.follow(c)
	p.conserve(c)
	p.doubt.add(c, max(c.Process.Started, p.From.Or(0)))
	p.Heap.add(c)
	if !p.SumsOnly {
		p.Timeline.Add(c)
		p.stalls.add(c)
		p.suspended.others = &scope{p.From, p.To}
		p.suspended.add(c)
		p.keepLongest(c)
	}
	if c.Generations == nil {
		return
	}
	p.Last = c
	if c.Kind != gc.Background {
		p.addSurvival(c)
	}
}

// SetIncomplete makes all sums lower bounds, because collections may be missing whose
// number nothing shows: the trace is truncated, damaged, or lacks parts.
func (p *Summary) SetIncomplete() {
	p.all.lowerBounds()
	for i := range p.classes {
		p.generations[i].lowerBounds()
		for j := range p.classes[i] {
			p.classes[i][j].lowerBounds()
		}
	}
	for _, t := range p.reasons {
		t.lowerBounds()
	}
	p.sinceFirst.AtLeast, p.sinceFirst.unbounded = true, true
}

// AddOutside adds the suspensions outside collections of a collection that is not added
// itself, because they may still lie between From and To.
func (p *Summary) AddOutside(all []gc.Outside) {
	if !p.SumsOnly {
		p.suspended.others = &scope{p.From, p.To}
		p.suspended.addOutside(all)
	}
}

// conserve raises a lower bound of the allocated bytes to the bytes freed beyond the
// initial heap.
func (p *Summary) conserve(c *gc.Collection) {
	if !p.there.Known() {
		p.there = c.HeapBefore
	}
	a, freed := &p.all.Allocated, &p.all.Freed
	if least := freed.Sum - p.there.Or(0); p.there.Known() && a.AtLeast && a.Known > 0 && least > a.Sum {
		a.Sum = least
		a.Estimated = a.Estimated || freed.Estimated
	}
}

func (p *Summary) ensureReason(r gc.Opt[clr.GCReason]) *Totals {
	t := p.reasons[r]
	if t == nil {
		if p.reasons == nil {
			p.reasons = make(map[gc.Opt[clr.GCReason]]*Totals)
		}
		if len(p.reasons) >= maxReasons {
			r = gc.Opt[clr.GCReason]{}
			if t = p.reasons[r]; t != nil {
				return t
			}
		}
		t = new(Totals)
		p.reasons[r] = t
	}
	return t
}

// maxReasons bounds the reasons that are distinguished: there are 18, and a damaged
// trace has any.
const maxReasons = 32

func (p *Summary) keepLongest(c *gc.Collection) {
	pause := c.Pause()
	if !pause.Known() {
		return
	}
	i := len(p.Longest)
	for i > 0 && p.Longest[i-1].Pause().Or(0) < pause.Or(0) {
		i--
	}
	if i == MaxLongest {
		return
	}
	p.Longest = slices.Insert(p.Longest, i, c)
	p.Longest = p.Longest[:min(len(p.Longest), MaxLongest)]
}

func (p *Summary) addSurvival(c *gc.Collection) {
	for i := range min(len(c.Generations), len(p.survival)) {
		g := &c.Generations[i]
		if !g.Freed.Known() {
			continue
		}
		s := &p.survival[i]
		s.Collections++
		s.Survived = units.AddCapped(s.Survived, max(0, g.Out))
		s.Freed = units.AddCapped(s.Freed, max(0, g.Freed.Or(0)))
	}
}

func (h *Heap) add(c *gc.Collection) {
	h.Peak = larger(h.Peak, c.LargestHeap())
	if c.HeapAfter.Known() {
		h.After = c.HeapAfter
	}
	h.MaxCommitted = larger(larger(h.MaxCommitted, c.CommittedBefore), c.CommittedAfter)
	switch {
	case c.CommittedAfter.Known():
		h.Committed = c.CommittedAfter
	case c.CommittedBefore.Known():
		h.Committed = c.CommittedBefore
	}
	if c.MemoryLoad.Or(0) > 0 { // up to .NET Core 3.1 most gen 0 GCs do not measure it
		h.MaxLoad = larger(h.MaxLoad, c.MemoryLoad)
	}
	if n := c.Heaps; n.Known() && n.Or(0) > 0 {
		if h.heaps > 0 && h.heaps != n.Or(0) {
			h.HeapChanges++
		}
		if h.heaps == 0 || n.Or(0) < h.MinHeaps {
			h.MinHeaps = n.Or(0)
		}
		h.heaps = n.Or(0)
		h.MaxHeaps = max(h.MaxHeaps, n.Or(0))
	}
}

// larger returns the larger of two figures, if one is known.
func larger[T cmp.Ordered](a, b gc.Opt[T]) gc.Opt[T] {
	was, known := a.Get()
	if v, ok := b.Get(); ok && (!known || v > was) {
		return b
	}
	return a
}

// All returns the totals of all collections.
func (p *Summary) All() *Totals { return &p.all }

// Generation returns the totals of the collections of generation 0, 1 or 2.
func (p *Summary) Generation(n int) *Totals {
	if n < 0 || n >= unknownGeneration {
		return new(Totals)
	}
	return &p.generations[n]
}

// Kind sums up the collections of a kind. It takes time and memory that grow
// with their number.
func (p *Summary) Kind(k gc.Kind) *Totals {
	var t Totals
	for g := range p.classes {
		t.Merge(&p.classes[g][knownKind(k)])
	}
	return &t
}

// Classes returns the generations and kinds that have collections.
func (p *Summary) Classes() []Class {
	var classes []Class
	for g := range p.classes {
		for k := range p.classes[g] {
			if t := &p.classes[g][k]; t.Count > 0 {
				class := Class{Kind: gc.Kind(k), Totals: t}
				if g < unknownGeneration {
					class.Generation = gc.Some(g)
				}
				classes = append(classes, class)
			}
		}
	}
	return classes
}

// Class returns the totals of one generation (0, 1 or 2) and kind.
func (p *Summary) Class(generation int, kind gc.Kind) *Totals {
	if generation < 0 || generation >= unknownGeneration {
		return new(Totals)
	}
	return &p.classes[generation][knownKind(kind)]
}

// Reasons returns the reasons of the collections, beginning with the longest
// total pause.
func (p *Summary) Reasons() []Reason {
	reasons := make([]Reason, 0, len(p.reasons))
	for r, t := range p.reasons {
		reasons = append(reasons, Reason{r, t})
	}
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Pause.Sum(), a.Pause.Sum()), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason.Or(0), b.Reason.Or(0)))
	})
	return reasons
}

// Survival returns the survival of the ith of gc.GenerationNames.
func (p *Summary) Survival(i int) *Survival {
	if i < 0 || i >= len(p.survival) {
		return new(Survival)
	}
	return &p.survival[i]
}

// Watched returns how long the process was watched, within From and To.
func (p *Summary) Watched() time.Duration {
	if p.Process == nil {
		return 0
	}
	return p.Process.Watched(p.From, p.To)
}

// PauseShare returns the share of the watched time in which threads were paused for
// collections, in percent. It is unknown if no time was watched, or if there are
// collections but no known pause.
func (p *Summary) PauseShare() gc.Opt[float64] {
	all := p.All()
	if all.Count > 0 && all.Pause.Count() == 0 {
		return gc.Opt[float64]{}
	}
	return p.share(all.Pause.Sum())
}

func (p *Summary) share(of time.Duration) gc.Opt[float64] {
	watched := p.Watched()
	return gc.SomeIf(min(100, 100*float64(of)/float64(watched)), watched > 0)
}

// Stalls returns the interval with the longest pauses of collections for each of the
// StallWindows that fits into the time watched. Other is 0 in them.
func (p *Summary) Stalls() []Stall { return p.stalls.worst(p.Watched(), nil) }

// Suspended returns the interval in which the program ran least for each of the
// StallWindows that fits into the time watched: pauses count, and suspensions outside
// collections.
func (p *Summary) Suspended() []Stall {
	if p.Process == nil {
		return nil
	}
	return p.suspended.worst(p.Watched(), p.Process.Outside)
}
