package findings

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/saturate"
)

// A Case collects the evidence on one process. The zero Case is empty. Its
// memory does not grow with the number of collections.
type Case struct {
	Process stats.Process
	Trace   Trace

	tallies [numTallies]tally
	trends  [numTrends]trend
	marking [numRoots]time.Duration // in blocking pauses, of the slowest heap
}

// A Trace is what the trace as a whole tells.
type Trace struct {
	Keywords uint64 // of the events of the runtime's provider that it holds
	Lost     uint64 // events
	Damaged  int    // places that could not be read
	Cut      bool   // it ends early
	Sampled  bool   // the runtime's sample profiler ran
	CPUs     int    // 0 where unknown
}

// Add takes in a collection and may keep it. Collections come in order of their
// start.
func (c *Case) Add(col *gc.Collection) {
	c.Process.Add(col)
	for i, shows := range tallied {
		if shows(col) {
			c.tallies[i].add(col)
		}
	}
	c.mark(col)
	for i, figure := range trended {
		if v := figure(col); v.Known {
			c.trends[i].add(v.V)
		}
	}
}

// numRoots bounds the kinds of roots that are told apart; there are ten.
const numRoots = 16

// mark sums the time that marking from each kind of root took, of the heap that
// took longest. Background collections mark while threads run.
func (c *Case) mark(col *gc.Collection) {
	if col.Kind == gc.Background {
		return
	}
	var slowest [numRoots]time.Duration
	for _, m := range col.Marks {
		if m.Root < numRoots {
			slowest[m.Root] = max(slowest[m.Root], m.Duration)
		}
	}
	for root, d := range slowest {
		c.marking[root] = saturate.Add(c.marking[root], d)
	}
}

// The tallies: how many collections show something, and which.
const (
	longPauses = iota
	slowSuspensions
	mostlySuspended
	full
	fullBlocking
	fullTooSmall
	fullHoled
	induced
	forLargeObjects
	highMemory
	lowMemory
	farPeak
	holedGen0
	manyPinned
	manyFinalizers
	ticked
	numTallies
)

var tallied = [numTallies]func(*gc.Collection) bool{
	longPauses: func(c *gc.Collection) bool { p := c.Pause(); return p.Known && p.V > longPause },
	slowSuspensions: func(c *gc.Collection) bool {
		s := c.Suspend()
		return s.Known && s.V >= slowSuspension
	},
	mostlySuspended: func(c *gc.Collection) bool {
		s, p := c.Suspend(), c.Pause()
		return s.Known && p.Known && s.V >= normalSuspension && 2*s.V > p.V
	},
	full:         isFull,
	fullBlocking: isFullBlocking,
	fullTooSmall: func(c *gc.Collection) bool {
		return isFullBlocking(c) && c.Condemned.V&clr.CondemnReasons1Gen2TooSmall != 0
	},
	fullHoled: func(c *gc.Collection) bool { return isFullBlocking(c) && c.Condemned.V&holedReasons != 0 },
	induced:   stats.Induced,
	forLargeObjects: func(c *gc.Collection) bool {
		return isFull(c) && c.Reason.Known && c.Reason.V == clr.GCReasonAllocLarge
	},
	highMemory: func(c *gc.Collection) bool { return c.MemoryLoad.V >= highMemoryLoad },
	lowMemory: func(c *gc.Collection) bool {
		switch c.Reason.V {
		case clr.GCReasonLowMemory, clr.GCReasonInducedLowMemory, clr.GCReasonLowMemoryHost, clr.GCReasonLowMemoryHostBlocking:
			return true
		}
		return false
	},
	farPeak: func(c *gc.Collection) bool {
		return c.HeapPeak.Known && c.HeapAfter.V > 0 && c.HeapPeak.V-c.HeapAfter.V >= manyBytes &&
			c.HeapPeak.V/c.HeapAfter.V >= peakRatio
	},
	holedGen0: func(c *gc.Collection) bool {
		g := generation(c, 0)
		return g != nil && c.HeapAfter.Known && g.Fragmentation.V >= someBytes && 100*g.Fragmentation.V >= holedShare*c.HeapAfter.V
	},
	manyPinned:     func(c *gc.Collection) bool { return c.PinnedObjects.V >= pinnedObjects },
	manyFinalizers: func(c *gc.Collection) bool { return c.FinalizationPromotedObjs.V >= finalizedObjects },
	ticked:         func(c *gc.Collection) bool { return c.AllocatedTicks.Known },
}

// The trends: figures that grow or do not.
const (
	liveBytes = iota
	handles
	numTrends
)

var trended = [numTrends]func(*gc.Collection) gc.Opt[int64]{
	liveBytes: func(c *gc.Collection) gc.Opt[int64] { return ofFull(c, c.Promoted) },
	handles:   func(c *gc.Collection) gc.Opt[int64] { return ofFull(c, c.Handles) },
}

// holedReasons say that a full collection was to close the holes in generation 2.
const holedReasons = clr.CondemnReasons1MaxGenerationHighFragmentation |
	clr.CondemnReasons1MaxGenerationHighFragmentationEphemeralPromotion |
	clr.CondemnReasons1MaxGenerationHighFragmentationMemory |
	clr.CondemnReasons1MaxGenerationHighFragmentationVeryHighMemory

func isFullBlocking(c *gc.Collection) bool { return isFull(c) && c.Kind == gc.Blocking }

func isFull(c *gc.Collection) bool { return c.Generation.Known && c.Generation.V == 2 }

// ofFull is v of a full collection: of others it tells only of some objects.
func ofFull(c *gc.Collection, v gc.Opt[int64]) gc.Opt[int64] {
	if !isFull(c) {
		return gc.Opt[int64]{}
	}
	return v
}

// generation is the ith of c's generations, nil where it is unknown.
func generation(c *gc.Collection, i int) *gc.Generation {
	if c == nil || i >= len(c.Generations) {
		return nil
	}
	return &c.Generations[i]
}

// A tally counts collections and keeps those with the longest pauses.
type tally struct {
	count int
	pause time.Duration
	kept  []kept
}

type kept struct {
	number uint32
	pause  time.Duration
}

// quoted is how many collections a finding names.
const quoted = 5

func (t *tally) add(c *gc.Collection) {
	t.count++
	p := c.Pause().V
	t.pause = saturate.Add(t.pause, p)
	i := len(t.kept)
	for i > 0 && t.kept[i-1].pause < p {
		i--
	}
	if i < quoted {
		t.kept = slices.Insert(t.kept, i, kept{c.Number, p})
		t.kept = t.kept[:min(len(t.kept), quoted)]
	}
}

func (t *tally) numbers() []uint32 {
	numbers := make([]uint32, len(t.kept))
	for i := range t.kept {
		numbers[i] = t.kept[i].number
	}
	return numbers
}

// A trend keeps a figure's values, evenly thinned out.
type trend struct {
	values []int64
	every  int // keeps one value of so many
	skip   int // values to pass over before the next is kept
	count  int
}

// maxValues bounds trend.values.
const maxValues = 120

func (t *trend) add(v int64) {
	t.count++
	if t.skip > 0 {
		t.skip--
		return
	}
	if len(t.values) == maxValues {
		for i := range maxValues / 2 {
			t.values[i] = t.values[2*i]
		}
		t.values = t.values[:maxValues/2]
		t.every = max(1, t.every) * 2
	}
	t.values = append(t.values, v)
	t.skip = max(1, t.every) - 1
}

// thirds are the medians of the first, second and last third of the values.
func (t *trend) thirds() (first, middle, last int64) {
	n := len(t.values)
	return median(t.values[:n/3]), median(t.values[n/3 : n-n/3]), median(t.values[n-n/3:])
}

func median(values []int64) int64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s[len(s)/2]
}
