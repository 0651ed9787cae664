package perfview

import (
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/timeline"
)

// A Metric is one of the run metrics of Microsoft's GC.Infrastructure, by its
// name there. It is unknown if no collection has the figures that it is
// computed from.
type Metric struct {
	Name  string
	Unit  string
	Value gc.Opt[float64]
}

// A Run computes the run metrics of one process from its collections: from package gc's
// with Add, or from TraceEvent's with AddTraceEvent. Percentiles are interpolated as
// GC.Infrastructure does (GC.Analysis.API, Statistics.cs). The zero Run is empty.
type Run struct {
	all        sums
	classes    [numClasses]sums
	first      gc.Opt[time.Duration] // GCStart
	last       time.Duration
	heapBefore mean
	heapAfter  mean
	committed  [5]mean
	allocated  mean
	heaps      int
	watched    time.Duration // that the share of pauses is of
	duration   time.Duration
}

// The collections that metrics distinguish. Blocking gen 2 collections exclude background
// ones.
const (
	gen0 = iota
	gen1
	background
	blockingGen2
	numClasses
)

// sums are the sums of one class of collections.
type sums struct {
	count    int
	pause    mean // ms
	promoted mean // MB
	pauses   []float64
	every    int // the sample of pauses has one of so many
	seen     int
}

// maxPauses bounds the pauses that percentiles are made of. Beyond it, every second
// one is dropped.
const maxPauses = 1 << 18

// A mean is a sum with its number of summands.
type mean struct {
	sum   float64
	count int
}

func (m *mean) add(v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		m.sum += v
		m.count++
	}
}

func (m *mean) mean() gc.Opt[float64] { return gc.SomeIf(m.sum/float64(m.count), m.count > 0) }

func (m *mean) total() gc.Opt[float64] { return gc.SomeIf(m.sum, m.count > 0) }

func (s *sums) add(pause, promoted float64) {
	s.count++
	s.pause.add(pause)
	s.promoted.add(promoted)
	if math.IsNaN(pause) {
		return
	}
	s.every = max(1, s.every)
	if s.seen%s.every == 0 {
		s.pauses = append(s.pauses, pause)
	}
	s.seen++
	if len(s.pauses) == maxPauses {
		s.pauses, s.every = timeline.Halve(s.pauses, func(_, _ *float64) {}), 2*s.every
	}
}

// p95 returns the 95th percentile, interpolated between the two pauses next to it.
func (s *sums) p95() gc.Opt[float64] {
	if len(s.pauses) == 0 {
		return gc.Opt[float64]{}
	}
	sorted := slices.Sorted(slices.Values(s.pauses))
	at := 0.95 * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return gc.Some(sorted[len(sorted)-1])
	}
	fraction := at - float64(i)
	return gc.Some(sorted[i]*(1-fraction) + sorted[i+1]*fraction)
}

// Add adds a collection of package gc. Its committed memory comes from
// TraceEvent's view of the same collection, which may be nil.
func (r *Run) Add(c *gc.Collection, g *GC) {
	class := numClasses
	switch generation, known := c.Generation.Get(); {
	case !known:
	case c.Kind == gc.Background:
		class = background
	case generation < 2:
		class = generation
	default:
		class = blockingGen2
	}
	allocated := sizeOf(c.Allocated)
	if !allocated.Known() {
		allocated = sizeOf(c.AllocatedTicks)
	}
	r.add(class, c.Start, orNaN(ms(c.Pause())), orNaN(sizeOf(c.Promoted)), orNaN(sizeOf(c.HeapBefore)), orNaN(sizeOf(c.HeapAfter)), orNaN(allocated))
	r.heaps = max(r.heaps, c.Heaps.Or(0))
	if g != nil {
		r.commit(g.Committed)
	}
}

// AddTraceEvent adds a collection as TraceEvent sees it.
func (r *Run) AddTraceEvent(g *GC) {
	class := blockingGen2
	switch {
	case g.Type == clr.GCTypeBackgroundGC:
		class = background
	case g.Generation < 2:
		class = g.Generation
	}
	r.add(class, gc.Some(g.Start), millis(g.Pause), g.Promoted, g.HeapBefore, g.HeapAfter, g.Allocated[0]+g.Allocated[3]+g.Allocated[4])
	if r.heaps == 0 {
		r.heaps = g.Heaps // the first that has it
	}
	r.commit(g.Committed)
}

func (r *Run) add(class int, start gc.Opt[time.Duration], pause, promoted, before, after, allocated float64) {
	if at, known := start.Get(); known {
		if !r.first.Known() {
			r.first = start
		}
		r.last = at
	}
	r.all.add(pause, promoted)
	if class < numClasses {
		r.classes[class].add(pause, promoted)
	}
	r.heapBefore.add(before)
	r.heapAfter.add(after)
	r.allocated.add(allocated)
}

func (r *Run) commit(u *clr.CommittedUsage) {
	if u == nil {
		return
	}
	for i, n := range [...]uint64{u.TotalCommittedInUse, u.TotalBookkeepingCommitted, u.TotalCommittedInGlobalDecommit, u.TotalCommittedInFree, u.TotalCommittedInGlobalFree} {
		r.committed[i].add(float64(n))
	}
}

// Watch sets how long the process was watched, and the time that the share of
// pauses refers to: all of it, or, for TraceEvent's definition, from the pause
// of the first collection to the statistics of the last. 0 means unknown.
func (r *Run) Watch(duration, watched time.Duration) { r.duration, r.watched = duration, watched }

// Metrics returns all metrics, in the order of GCTraceMetrics.cs.
func (r *Run) Metrics() []Metric {
	c := &r.classes
	ephemeral := mean{c[gen0].pause.sum + c[gen1].pause.sum, c[gen0].pause.count + c[gen1].pause.count}
	count := func(n int) gc.Opt[float64] { return gc.Some(float64(n)) }
	first, known := r.first.Get()
	span := gc.SomeIf((r.last - first).Seconds(), known)
	share := gc.SomeIf(100*r.all.pause.sum/millis(r.watched), r.watched > 0 && r.all.pause.count > 0)
	duration, heaps := gc.SomeIf(millis(r.duration), r.duration > 0), gc.SomeIf(float64(r.heaps), r.heaps > 0)
	return []Metric{
		{"PctTimePausedInGC", "%", share},
		{"FirstToLastGCSeconds", "s", span},
		{"HeapSizeBeforeMB_Mean", "MB", r.heapBefore.mean()},
		{"HeapSizeAfter_Mean", "MB", r.heapAfter.mean()},
		{"TotalCommittedInUse", "bytes", r.committed[0].mean()},
		{"TotalBookkeepingCommitted", "bytes", r.committed[1].mean()},
		{"TotalCommittedInGlobalDecommit", "bytes", r.committed[2].mean()},
		{"TotalCommittedInFree", "bytes", r.committed[3].mean()},
		{"TotalCommittedInGlobalFree", "bytes", r.committed[4].mean()},
		{"PauseDurationMSec_95PWhereIsGen0", "ms", c[gen0].p95()},
		{"PauseDurationMSec_95PWhereIsGen1", "ms", c[gen1].p95()},
		{"PauseDurationMSec_95PWhereIsBackground", "ms", c[background].p95()},
		{"PauseDurationMSec_MeanWhereIsBackground", "ms", c[background].pause.mean()},
		{"PauseDurationMSec_95PWhereIsBlockingGen2", "ms", c[blockingGen2].p95()},
		{"PauseDurationMSec_MeanWhereIsBlockingGen2", "ms", c[blockingGen2].pause.mean()},
		{"CountIsBlockingGen2", "count", count(c[blockingGen2].count)},
		{"PauseDurationMSec_SumWhereIsGen1", "ms", c[gen1].pause.total()},
		{"PauseDurationMSec_MeanWhereIsEphemeral", "ms", ephemeral.mean()},
		{"PromotedMB_MeanWhereIsGen1", "MB", c[gen1].promoted.mean()},
		{"CountIsGen1", "count", count(c[gen1].count)},
		{"CountIsGen0", "count", count(c[gen0].count)},
		{"HeapCount", "count", heaps},
		{"PauseDurationMSec_Sum", "ms", r.all.pause.total()},
		{"TotalAllocatedMB", "MB", r.allocated.total()},
		{"TotalNumberGCs", "count", count(r.all.count)},
		{"Speed_MBPerMSec", "MB/ms", quotient(r.all.promoted.total(), r.all.pause.total())},
		{"ExecutionTimeMSec", "ms", duration},
	}
}

func orNaN(v gc.Opt[float64]) float64 { return v.Or(math.NaN()) }
