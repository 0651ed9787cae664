package perfview

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// numGenerations counts gen0, gen1, gen2, LOH and POH.
const numGenerations = 5

// A GC is a collection as TraceEvent sees it. Sizes are in MB of 1,000,000
// bytes, and NaN if TraceEvent does not know them.
type GC struct {
	PID        uint64 // trace.UnknownID if unknown
	Number     uint32
	Generation int // that GCStart announced
	Type       clr.GCType
	Reason     clr.GCReason
	Heaps      int

	Start      time.Duration
	Duration   time.Duration // GCStart to GCEnd
	PauseStart time.Duration
	Pause      time.Duration // up to RestartEEEnd
	Suspend    time.Duration
	SinceLast  time.Duration // from the previous GCHeapStats

	SizeBefore [numGenerations]float64
	SizeAfter  [numGenerations]float64
	Survival   [numGenerations]float64 // percent, a whole number
	Free       [numGenerations]float64 // after
	In, Out    [numGenerations]float64
	Survived   [numGenerations]float64 // TotalPromotedSize of GCHeapStats
	Budget     [numGenerations]float64
	Allocated  [numGenerations]float64 // gen0, LOH and POH since the previous collection
	Ticks      float64                 // allocation ticks since then, without POH

	HeapBefore, HeapAfter, HeapPeak float64
	Promoted                        float64
	PauseShare                      float64 // percent of the time since the previous collection
	FinalizationPromoted            float64
	PinnedObjects                   uint32

	// ReasonHeap is the heap whose condemned reasons are shown, and Reasons are
	// these reasons, nil if there are none.
	ReasonHeap int
	Reasons    *[NumReasons]uint8

	// Committed is the first CommittedUsage of the collection, nil if there is
	// none.
	Committed *clr.CommittedUsage

	index             int
	ended, complete   bool
	stats             *heapStats
	heaps             []heapHistory
	objects           []([numGenerations]objects) // of heaps, for the next collection
	ticks             [3]int64
	committed         *clr.CommittedUsage
	global            bool
	globalReasons     clr.CondemnReasons1
	globalGenerations clr.CondemnReasons0
}

type heapStats struct {
	size, promoted [numGenerations]uint64
	finalization   uint64
	pinned         uint32
}

type heapHistory struct {
	generations clr.CondemnReasons0
	reasons     clr.CondemnReasons1
	count       int
	gen         [numGenerations]generation
}

type generation struct {
	before, objectsBefore, after, free, in, out, budget int64
}

// survival returns the share of the objects that survived, in percent without a
// fraction, as TraceEvent rounds it.
func (g *generation) survival() int64 {
	if g.objectsBefore == 0 {
		return 0
	}
	return g.out * 100 / g.objectsBefore
}

// objects are the bytes of objects of one generation on one heap.
type objects struct{ before, after int64 }

const megabyte = 1e6

func mb[T int64 | uint64](n T) float64 { return float64(n) / megabyte }

// has reports whether the histories include a generation.
func (g *GC) has(gen int) bool { return len(g.heaps) > 0 && g.heaps[0].count > gen }

// sum adds up a figure of a generation over the heaps, NaN if unknown.
func (g *GC) sum(gen int, of func(*generation) int64) float64 {
	if !g.has(gen) {
		return math.NaN()
	}
	var sum float64
	for i := range g.heaps {
		sum += mb(of(&g.heaps[i].gen[gen]))
	}
	return sum
}

// finish computes the figures of the nth pending collection, which is complete.
func (g *GC) finish(p *process, n int) {
	before := p.before
	for gen := range numGenerations {
		g.SizeBefore[gen] = g.sizeBefore(gen, p.known, before)
		g.Free[gen] = g.sum(gen, func(g *generation) int64 { return g.free })
		g.In[gen] = g.sum(gen, func(g *generation) int64 { return g.in })
		g.Out[gen] = g.sum(gen, func(g *generation) int64 { return g.out })
		g.Budget[gen] = g.sum(gen, func(g *generation) int64 { return g.budget })
		g.Survival[gen] = g.survival(gen)
		g.SizeAfter[gen], g.Survived[gen] = math.NaN(), math.NaN()
		if g.stats != nil {
			g.SizeAfter[gen], g.Survived[gen] = mb(g.stats.size[gen]), mb(g.stats.promoted[gen])
		}
	}
	for _, gen := range [...]int{0, 3, 4} {
		g.Allocated[gen] = g.allocated(gen, before)
	}
	g.Ticks = mb(g.ticks[0] + g.ticks[1])
	g.HeapBefore = total(g.SizeBefore)
	g.HeapAfter, g.Promoted = total(g.SizeAfter), total(g.Survived)
	g.HeapPeak = g.peak(p.gcs[n+1:], p.known)
	g.FinalizationPromoted = math.NaN()
	if g.stats != nil {
		g.FinalizationPromoted, g.PinnedObjects = mb(g.stats.finalization), g.stats.pinned
	}
	g.PauseShare = g.pauseShare(before)
	g.ReasonHeap, g.Reasons = g.condemned()
	g.Committed = g.committed
	g.objects = make([]([numGenerations]objects), len(g.heaps))
	for i := range g.heaps {
		for gen := range g.heaps[i].gen[:g.heaps[i].count] {
			r := &g.heaps[i].gen[gen]
			g.objects[i][gen] = objects{r.objectsBefore, r.after - r.free}
		}
	}
	if before != nil {
		before.objects, before.heaps = nil, nil
	}
}

func total(of [numGenerations]float64) (sum float64) {
	for _, v := range of {
		sum += v
	}
	return sum
}

// sizeBefore returns the size of a generation when the collection began.
// Without histories it is estimated from the statistics of the collection
// before, known, and allocation ticks. before is the collection before, which
// may lack statistics.
func (g *GC) sizeBefore(gen int, known *heapStats, before *GC) float64 {
	if g.has(gen) {
		return g.sum(gen, func(g *generation) int64 { return g.before })
	}
	ticks := 0.0
	if gen == 0 {
		ticks = mb(g.ticks[0])
	}
	switch {
	case before == nil:
		return ticks
	case known == nil:
		return 0
	case gen == 0:
		return max(mb(known.size[0]), ticks)
	case gen < 3 || g.stats == nil:
		return mb(known.size[gen])
	default:
		return mb(max(known.size[gen], g.stats.size[gen]))
	}
}

// peak returns the size of the heap before the collection; for a background one, the
// largest before any that began until it ended.
func (g *GC) peak(later []*GC, known *heapStats) float64 {
	top := g.HeapBefore
	if g.Type != clr.GCTypeBackgroundGC {
		return top
	}
	before := g
	for _, o := range later {
		if g.PauseStart+g.Duration < o.PauseStart {
			break
		}
		if before.stats != nil && before.index > 0 {
			known = before.stats
		}
		var sum float64
		for gen := range numGenerations {
			sum += o.sizeBefore(gen, known, before)
		}
		top, before = max(top, sum), o
	}
	return top
}

// survival returns the mean of the heaps' rates without fractions, whatever
// their sizes.
func (g *GC) survival(gen int) float64 {
	if !g.has(gen) || gen >= 3 && g.Generation < 2 || gen < 3 && gen > g.Generation {
		return math.NaN()
	}
	var sum int64
	for i := range g.heaps {
		sum += g.heaps[i].gen[gen].survival()
	}
	return float64(sum / int64(len(g.heaps)))
}

// allocated returns the bytes allocated in a generation since the collection before.
func (g *GC) allocated(gen int, before *GC) float64 {
	kind := 1
	if gen == 0 {
		kind = 0
	}
	if g.Type == clr.GCTypeBackgroundGC && gen == 0 || len(g.heaps) == 0 || before == nil || !before.hasHeaps() {
		return mb(g.ticks[kind])
	}
	if !g.has(gen) {
		return 0
	}
	var sum float64
	for i := range g.heaps {
		previous := before.left(i, gen)
		sum += mb(g.heaps[i].gen[gen].objectsBefore - previous)
	}
	return sum
}

// hasHeaps reports whether the collection had histories of heaps.
func (g *GC) hasHeaps() bool { return len(g.heaps) > 0 || len(g.objects) > 0 }

// left returns the bytes that the collection left on a heap in a generation. Up to .NET
// Core 3.1 a collection of gen0 does not write the large heap's size after it.
func (g *GC) left(heap, gen int) int64 {
	var o objects
	switch {
	case heap < len(g.objects):
		o = g.objects[heap][gen]
	case heap < len(g.heaps) && gen < g.heaps[heap].count:
		r := &g.heaps[heap].gen[gen]
		o = objects{r.objectsBefore, r.after - r.free}
	}
	if gen >= 3 && o.after == 0 && g.Generation < 1 {
		return o.before
	}
	return o.after
}

// pauseShare returns the pause's part of the time since the collection before.
func (g *GC) pauseShare(before *GC) float64 {
	whole := g.Pause + g.SinceLast
	if g.Type == clr.GCTypeBackgroundGC {
		since := g.Start
		if before != nil {
			since = before.Start + before.Duration
		}
		whole = g.Start + g.Duration - since
	}
	return float64(g.Pause) * 100 / float64(whole)
}
