package findings

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/internal/units"
)

// A Case is the evidence on one process.
type Case struct {
	Summary stats.Summary
	Trace   Trace
	Details Details

	allowed   Budget
	retain    int // as of Options
	tallies   [numTallies]tally
	long      tally // pauses over the budget
	trends    [numTrends]trend
	marked    [numRoots]int64 // bytes by kind of root, of all heaps, in collections of gen0 and gen1
	parts     [stats.NumParts]stats.Spent
	burdens   [numBurdens]burden
	modes     modes
	noGC      noGC
	finalized int64                           // bytes kept alive for finalizers
	causes    [4][4][numReasons]time.Duration // pauses by generation (3 is unknown), kind and reason
	entry     [2]entryFragmentation           // of gen2 and the LOH
	large     [2]int64                        // bytes freed in the LOH and POH by collections that their allocation triggered
	pinned    freeSpace                       // of the POH after gen2 collections
	attempt   attempt                         // the latest before an OutOfMemoryException

	gen0Budget, mostGen0 int64 // of all heaps: after the latest collection that has it; the most for one heap
	budgets              int   // collections with one
	list                 gc.FreeList
	lists                int           // gen1 collections counted in list
	lateBy               time.Duration // of blocking collections: the heap that marked longest, over the mean
	waited               time.Duration // by suspensions, for other suspensions to end
	heaps                heapCounts
	startup              startup
	fits                 [6]pauseFit     // of blocking and foreground collections, by generation
	bounds               *whatif.Program // nil without Options.Expect
}

func (c *Case) add(col *gc.Collection) {
	c.Summary.Add(col)
	if c.bounds != nil {
		c.bounds.Add(col)
	}
	c.startup.add(col)
	for i, shows := range tallied {
		if shows(col) {
			c.tallies[i].add(col, c.retain)
		}
	}
	for i, figure := range trended {
		if v := figure(col); v.Known() && !c.startup.holds(col) {
			c.trends[i].add(v.Or(0), maxValues)
		}
	}
	if col.Pause().Or(0) > c.allowed.orDefault().Pause {
		c.long.add(col, c.retain)
	}
	c.mark(col)
	c.divide(col)
	c.modes.add(col)
	c.finalized = units.AddCapped(c.finalized, col.FinalizationPromoted.Or(0))
	c.noGC.add(col, c.retain)
	c.fit(col)
	c.attribute(col)
	c.entry[0].add(col, 2, c.retain)
	c.entry[1].add(col, 3, c.retain)
	c.pinned.addAfter(col, 4, c.retain)
	c.attempt.add(col)
	if g := generation(col, 0); g != nil && g.Budget > 0 {
		c.gen0Budget = g.Budget
		c.budgets++
		c.mostGen0 = max(c.mostGen0, g.Budget/int64(max(1, col.Heaps.Or(1))))
	}
	c.heaps.add(col, c.startup.holds(col))
	for i := range col.Pauses {
		c.waited = units.AddCapped(c.waited, col.Pauses[i].Waited)
	}
	if l, ok := col.FreeList.Get(); ok {
		c.list.Allocated = units.AddCapped(c.list.Allocated, l.Allocated)
		c.list.Rejected = units.AddCapped(c.list.Rejected, l.Rejected)
		c.lists++
	}
	if tallied[forLargeObjects](col) {
		for i := range c.large {
			if g := generation(col, 3+i); g != nil {
				c.large[i] = units.AddCapped(c.large[i], max(0, g.Freed.Or(0)))
			}
		}
	}
}

// fit compares a collection's pause with its promoted bytes.
func (c *Case) fit(col *gc.Collection) {
	generation, known := col.Generation.Get()
	if !known || generation < 0 || generation > 2 || col.Kind != gc.Blocking && col.Kind != gc.Foreground {
		return
	}
	i := generation
	if col.Kind == gc.Foreground {
		i += 3
	}
	c.fits[i].add(col, c.startup.holds(col))
}

// numReasons bounds the reasons counted separately; the runtime has 18.
const numReasons = 32

// attribute adds the pause of a collection to its generation, kind and reason.
func (c *Case) attribute(col *gc.Collection) {
	pause := col.Pause()
	if !pause.Known() {
		return
	}
	g := 3
	if classed(col) {
		g = col.Generation.Or(0)
	}
	reason := numReasons - 1
	if r, ok := col.Reason.Get(); ok && !stats.ForNoGC(col) {
		reason = min(reason, int(r))
	}
	spent := &c.causes[g][col.Kind&3][reason]
	*spent = units.AddCapped(*spent, pause.Or(0))
}

func classed(c *gc.Collection) bool {
	g, ok := c.Generation.Get()
	return ok && 0 <= g && g <= 2
}

// numRoots bounds the kinds of roots counted separately; the runtime has ten.
const numRoots = 16

// mark adds up the bytes that were marked from each kind of root, and how much longer
// than the mean the slowest heap took to mark. It skips background collections, because
// they mark while threads run.
func (c *Case) mark(col *gc.Collection) {
	if col.Kind == gc.Background {
		return
	}
	young := classed(col) && col.Generation.Or(0) < 2
	var heap, longest, sum time.Duration
	heaps := 0
	for i, m := range col.Marks {
		if i == 0 || m.Heap != col.Marks[i-1].Heap {
			heap, heaps = 0, heaps+1
		}
		if !afterRoots(&col.Marks[i]) {
			heap = units.AddCapped(heap, m.Duration)
			sum = units.AddCapped(sum, m.Duration)
			longest = max(longest, heap)
		}
		if young && m.Root < numRoots {
			c.marked[m.Root] = units.AddCapped(c.marked[m.Root], m.Bytes.Or(0))
		}
	}
	if heaps > 1 {
		c.lateBy = units.AddCapped(c.lateBy, longest-sum/time.Duration(heaps))
	}
}

// afterRoots reports whether a step of marking comes after a join of the heaps, so that it
// contains the time for which a heap waits for the slowest one. See gc.cpp, mark_phase. A heap
// that took over marking was busy in its step.
func afterRoots(m *gc.Mark) bool {
	switch m.Root {
	case clr.RootTypeStack, clr.RootTypeFinalizeQueue, clr.RootTypeHandles, clr.RootTypeOlder, clr.RootTypeSizedRef:
		return false
	case clr.RootTypeSteal:
		return m.Bytes.Or(0) == 0
	}
	return true
}

// An entryFragmentation is the free space of a generation when background gen2
// collections began: space that the previous one freed and nothing used. mem-doc
// judges fragmentation by it.
type entryFragmentation struct {
	freeSpace
	seen int // background collections with known sizes
}

func (e *entryFragmentation) add(c *gc.Collection, i, retain int) {
	g := generation(c, i)
	if g == nil || c.Kind != gc.Background || g.Before <= 0 {
		return
	}
	e.seen++
	if g.FreeBefore < someBytes || of(g.FreeBefore, g.Before) < fragmented {
		return
	}
	e.count(c, g.FreeBefore, g.Before, retain)
}

// A freeSpace counts collections with much free space in a generation.
type freeSpace struct {
	tally      tally
	free, size int64 // of the one with the most
}

func (s *freeSpace) count(c *gc.Collection, free, size int64, retain int) {
	s.tally.add(c, retain)
	if free > s.free {
		s.free, s.size = free, size
	}
}

// addAfter adds the free space after a gen2 collection.
func (s *freeSpace) addAfter(c *gc.Collection, i, retain int) {
	g := generation(c, i)
	if g == nil || !isFull(c) || !g.After.Known() || !g.Fragmentation.Known() || !c.HeapAfter.Known() {
		return
	}
	free := g.Fragmentation.Or(0)
	if free < someBytes || of(free, c.HeapAfter.Or(0)) < freeShare {
		return
	}
	s.count(c, free, g.After.Or(0), retain)
}

// heapCounts follows the number of heaps of a server GC.
type heapCounts struct {
	last, direction, reversals int
}

func (h *heapCounts) add(c *gc.Collection, startup bool) {
	n := c.Heaps.Or(0)
	if n == 0 {
		return
	}
	step := 0
	switch {
	case h.last == 0 || n == h.last:
	case n > h.last:
		step = 1
	default:
		step = -1
	}
	h.last = n
	if step == 0 {
		return
	}
	if h.direction == -step && !startup {
		h.reversals++
	}
	h.direction = step
}

// A startup is the first seconds of a program, which are judged apart because it loads
// code and fills caches. It is known only if the trace has the first collection of the
// process.
type startup struct {
	known bool
	until time.Duration
	seen  bool // a collection
	pause time.Duration
	count int
	old   [2]gc.Opt[int64] // bytes of objects in gen2, LOH and POH after its first and last collection
}

func (s *startup) add(c *gc.Collection) {
	if !s.seen {
		s.seen = true
		s.known = c.Number == 1 && c.Start.Known()
		s.until = c.Process.Started + startupTime
	}
	if s.holds(c) {
		s.pause = units.AddCapped(s.pause, c.Pause().Or(0))
		s.count++
		if v := objectsOld(c); v.Known() {
			if !s.old[0].Known() {
				s.old[0] = v
			}
			s.old[1] = v
		}
	}
}

func (s *startup) holds(c *gc.Collection) bool {
	return s.known && c.Start.Known() && c.Start.Or(0) < s.until
}

// generation returns c's ith generation, nil if unknown.
func generation(c *gc.Collection, i int) *gc.Generation {
	if c == nil || i >= len(c.Generations) {
		return nil
	}
	return &c.Generations[i]
}

// A tally counts collections and retains the ones with the longest pauses.
type tally struct {
	count   int
	pause   time.Duration
	longest []shownCollection
	latest  []uint32 // numbers; up to twice as many as are to be retained
}

type shownCollection struct {
	number uint32
	pause  time.Duration
}

// quoted is how many collections a finding names.
const quoted = 5

func (t *tally) add(c *gc.Collection, retain int) {
	t.show(shownCollection{c.Number, c.Pause().Or(0)}, retain)
}

func (t *tally) show(c shownCollection, retain int) {
	t.count++
	if retain > 0 {
		if len(t.latest) == 2*retain {
			t.latest = append(t.latest[:0], t.latest[retain:]...)
		}
		t.latest = append(t.latest, c.number)
	}
	t.pause = units.AddCapped(t.pause, c.pause)
	i := len(t.longest)
	for i > 0 && t.longest[i-1].pause < c.pause {
		i--
	}
	if i < quoted {
		t.longest = slices.Insert(t.longest, i, c)
		t.longest = t.longest[:min(len(t.longest), quoted)]
	}
}

func (t *tally) numbers() []uint32 {
	numbers := make([]uint32, len(t.longest))
	for i := range t.longest {
		numbers[i] = t.longest[i].number
	}
	return numbers
}

// quote fills in the collections behind f, if it has any. All keeps the latest retain of them.
func (f *Finding) quote(retain int) {
	if t := f.quotes; t != nil {
		f.Collections, f.Shown = t.numbers(), t.count
		f.All = slices.Clone(t.latest[max(0, len(t.latest)-retain):])
		f.quotes = nil // belongs to the Case, which goes on counting
	}
}

// The tallies count the collections with a property, and retain some.
const (
	slowSuspensions = iota
	full
	fullBlocking
	fullTooSmall
	fullFragmented
	fullConserving
	fullUninduced
	fullCondemned
	collects
	unforced
	forLargeObjects
	highMemory
	lowMemory
	provisional
	beforeOOM
	farPeak
	fragmentedGen0
	manyPinned
	manyFinalizers
	largeAndDead
	dearInterval
	numTallies
)

var tallied = [numTallies]func(*gc.Collection) bool{
	slowSuspensions: func(c *gc.Collection) bool { return stopping(c).Or(0) >= slowSuspension },
	full:            isFull,
	fullBlocking:    isFullBlocking,
	fullTooSmall: func(c *gc.Collection) bool {
		return isFullBlocking(c) && c.Condemned.Or(0)&clr.CondemnReasons1Gen2TooSmall != 0
	},
	fullFragmented: func(c *gc.Collection) bool {
		return isFullBlocking(c) && !stats.Induced(c) && c.Condemned.Or(0)&fragmentationReasons != 0
	},
	fullConserving: func(c *gc.Collection) bool {
		return isFullBlocking(c) && !stats.Induced(c) && c.Joint.Or(0)&clr.CondemnReasons1MaxGenerationHighFragmentation != 0
	},
	fullUninduced: func(c *gc.Collection) bool { return isFullBlocking(c) && !stats.Induced(c) && !stats.ForNoGC(c) },
	fullCondemned: func(c *gc.Collection) bool { return isFullBlocking(c) && c.Condemned.Or(0) != 0 },
	collects: func(c *gc.Collection) bool {
		return stats.Induced(c) && c.Reason.Or(0) != clr.GCReasonInducedNotForced
	},
	unforced: func(c *gc.Collection) bool { return c.Reason == gc.Some(clr.GCReasonInducedNotForced) },
	forLargeObjects: func(c *gc.Collection) bool {
		return isFull(c) && c.Reason == gc.Some(clr.GCReasonAllocLarge)
	},
	highMemory: func(c *gc.Collection) bool { return c.MemoryLoad.Or(0) >= highMemoryLoad(c.Process) },
	lowMemory: func(c *gc.Collection) bool {
		switch c.Reason.Or(0) {
		case clr.GCReasonLowMemory, clr.GCReasonInducedLowMemory, clr.GCReasonLowMemoryHost, clr.GCReasonLowMemoryHostBlocking:
			return true
		}
		return false
	},
	provisional: func(c *gc.Collection) bool {
		return c.Reason.Or(0) == clr.GCReasonPMFullGC || c.Condemned.Or(0)&provisionalReasons != 0
	},
	beforeOOM: (*gc.Collection).LastAttempt,
	farPeak: func(c *gc.Collection) bool {
		return c.HeapPeak.Known() && c.HeapAfter.Or(0) > 0 && c.HeapPeak.Or(0)-c.HeapAfter.Or(0) >= manyBytes &&
			c.HeapPeak.Or(0)/c.HeapAfter.Or(0) >= peakRatio
	},
	fragmentedGen0: func(c *gc.Collection) bool {
		g := generation(c, 0)
		return g != nil && c.HeapAfter.Known() && g.Fragmentation.Or(0) >= someBytes && 100*g.Fragmentation.Or(0) >= freeShare*c.HeapAfter.Or(0)
	},
	manyPinned:     func(c *gc.Collection) bool { return c.PinnedObjects.Or(0) >= pinnedObjects },
	manyFinalizers: func(c *gc.Collection) bool { return c.FinalizationPromotedObjs.Or(0) >= finalizedObjects },
	largeAndDead: func(c *gc.Collection) bool {
		g := generation(c, 3)
		return g != nil && isFull(c) && g.Freed.Known() && g.Freed.Or(0) >= someBytes && c.HeapBefore.Known() &&
			100*g.Before >= largeHeapShare*c.HeapBefore.Or(0) && float64(g.Freed.Or(0)) >= deadShare/100*float64(g.Freed.Or(0)+g.Out)
	},
	dearInterval: func(c *gc.Collection) bool {
		p := c.Pause()
		return p.Known() && c.SinceLast.Known() && p.Or(0) >= c.SinceLast.Or(0) && p.Or(0) > 0
	},
}

// The trends are figures that may grow over time.
const (
	oldObjects = iota
	heapAfter
	handles
	numTrends
)

var trended = [numTrends]func(*gc.Collection) gc.Opt[int64]{
	oldObjects: objectsOld,
	heapAfter:  func(c *gc.Collection) gc.Opt[int64] { return c.HeapAfter },
	handles:    func(c *gc.Collection) gc.Opt[int64] { return c.Handles },
}

// objectsOld returns the bytes of objects, live or dead, in gen2, LOH and POH after
// a collection.
func objectsOld(c *gc.Collection) gc.Opt[int64] {
	var sum int64
	for i := 2; i < gc.NumGenerations; i++ {
		g := generation(c, i)
		if g == nil {
			continue // no POH before .NET 5
		}
		if !g.After.Known() || !g.Fragmentation.Known() {
			return gc.Opt[int64]{}
		}
		sum += max(0, g.After.Or(0)-g.Fragmentation.Or(0))
	}
	if generation(c, 2) == nil {
		return gc.Opt[int64]{}
	}
	return gc.Some(sum)
}

// fragmentationReasons are the condemned reasons of blocking gen2 collections that
// run to compact it.
const fragmentationReasons = clr.CondemnReasons1MaxGenerationHighFragmentation |
	clr.CondemnReasons1MaxGenerationHighFragmentationEphemeralPromotion |
	clr.CondemnReasons1MaxGenerationHighFragmentationMemory |
	clr.CondemnReasons1MaxGenerationHighFragmentationVeryHighMemory

const provisionalReasons = clr.CondemnReasons1JoinedPMInducedFullGC | clr.CondemnReasons1JoinedPMAllocLOH | clr.CondemnReasons1JoinedGen1InPM

func isFullBlocking(c *gc.Collection) bool { return isFull(c) && c.Kind == gc.Blocking }

func isFull(c *gc.Collection) bool { return c.Generation == gc.Some(2) }

// stopping returns how long it took to suspend the threads, without the time spent
// waiting for another suspension.
func stopping(c *gc.Collection) gc.Opt[time.Duration] {
	s := c.Suspend()
	if !s.Known() {
		return s
	}
	d := s.Or(0)
	for i := range c.Pauses {
		d -= c.Pauses[i].Waited
	}
	return gc.Some(max(0, d))
}

// highMemoryLoad returns the memory load, in percent, from which the GC treats
// memory as scarce: as configured, or 90. On machines of 80 GB and more it is up
// to 97, but no event has the machine's size (gc.cpp, compute_memory_settings).
func highMemoryLoad(p *gc.Process) int {
	if p != nil && p.Settings != nil && p.Settings.HighMemPercentConfig > 0 && p.Settings.HighMemPercentConfig < 100 {
		return int(p.Settings.HighMemPercentConfig)
	}
	return highLoad
}
