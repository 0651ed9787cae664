package compare

import (
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// MaxCollections bounds the compared collections of a run. Only the first ones of a
// longer run are compared.
const MaxCollections = 1 << 17

// A Run is one traced run of a program. It is the unit of comparison, because collections
// of one run resemble each other more than collections of different runs.
type Run struct {
	Name    string
	Process *gc.Process

	// Findings are the rules that fired on the run, such as "R21".
	Findings []string
	// Processors is the number of processors that the program could use; zero
	// if unknown.
	Processors int
	// Types are the bytes allocated of each type; empty if not recorded.
	Types map[string]int64
	// Work is how much work the run did, in any unit; zero if unknown. If all
	// runs have it, totals are compared per unit of work.
	Work float64
	// Allocated bounds the bytes that the run allocated, if the caller knows more than the
	// collections and their Process show.
	Allocated gc.Opt[Bounds]
	// From and To limit the run to a part of the trace. The caller sets them before it adds
	// the collections of that part.
	From, To gc.Opt[time.Duration]

	// Collections counts all collections, including ones that are not compared.
	Collections int
	// Affected counts the collections whose figures may be affected by lost
	// events.
	Affected int
	// Holes reports that collections may be missing: the trace ends early, is damaged, or
	// lacks events that nothing counts.
	Holes bool
	// FromStart reports that the trace has the runtime's first collection, and
	// with it the program's start-up.
	FromStart bool

	sums    stats.Summary // with the allocation after the last collection
	exact   float64       // bytes that collections count exactly, all allocated after From
	samples []sample
	first   gc.Opt[time.Duration]
	last    time.Duration
	heaps   int
	reasons map[string]int64
	kinds   map[string]int64
}

// The compared figures of a collection.
const (
	interval  = iota // seconds from the start of the previous collection
	pause            // ms
	suspend          // ms
	allocated        // bytes
	promoted
	heapAfter
	heapPeak
	committed
	numFigures
)

// A sample holds the compared figures of one collection. NaN is unknown.
type sample struct {
	figures    [numFigures]float32
	generation int8 // negative if unknown
}

var nan = float32(math.NaN())

// Incomplete reports whether the run may have cost more than its trace shows.
func (r *Run) Incomplete() bool { return r.Affected > 0 || r.Holes }

// Add adds a collection. Collections come in order of their start, as a gc.Model
// yields them.
func (r *Run) Add(c *gc.Collection) {
	r.Process = c.Process
	r.Collections++
	if c.AffectedByLoss {
		r.Affected++
	}
	r.FromStart = r.FromStart || c.Number == 1
	r.sums.SumsOnly = true
	r.sums.Add(c)
	if c.AllocatedQuality == gc.Exact && !c.AffectedByLoss && !(len(r.samples) == 0 && r.From.Known()) {
		r.exact += float64(c.Allocated.Or(0))
	}
	r.count(c)
	if len(r.samples) == MaxCollections {
		return
	}
	s := sample{generation: int8(min(max(c.Generation.Or(-1), -1), 2)), figures: [numFigures]float32{
		pause: milliseconds(c.Pause()), suspend: milliseconds(c.Suspend()), interval: nan,
		allocated: float(c.Allocated), promoted: float(c.Promoted), heapAfter: float(c.HeapAfter), heapPeak: float(c.LargestHeap()),
		committed: max(float(c.CommittedBefore), float(c.CommittedAfter)),
	}}
	if !c.CommittedAfter.Known() { // of a background collection
		s.figures[committed] = float(c.CommittedBefore)
	}
	if !c.Allocated.Known() {
		s.figures[allocated] = float(c.AllocatedTicks)
	}
	if c.Start.Known() {
		if r.first.Known() {
			s.figures[interval] = float32((c.Start.Or(0) - r.last).Seconds())
		} else {
			r.first = c.Start
		}
		r.last = c.Start.Or(0)
	}
	r.samples = append(r.samples, s)
}

func (r *Run) count(c *gc.Collection) {
	if r.reasons == nil {
		r.reasons, r.kinds = make(map[string]int64), make(map[string]int64)
	}
	if c.Reason.Known() && len(r.reasons) < maxWords {
		r.reasons[c.Reason.Or(0).String()]++
	}
	r.kinds[c.Kind.String()]++
	if c.Heaps.Known() {
		r.heaps = max(r.heaps, c.Heaps.Or(0))
	}
}

// maxWords bounds the reasons to distinguish. The runtime has 18, but a damaged trace may
// have any.
const maxWords = 64

func milliseconds(d gc.Opt[time.Duration]) float32 {
	if !d.Known() {
		return nan
	}
	return float32(d.Or(0).Seconds() * 1000)
}

func float(v gc.Opt[int64]) float32 {
	if !v.Known() {
		return nan
	}
	return float32(v.Or(0))
}

// Watched returns how long the run was watched.
func (r *Run) Watched() time.Duration {
	if r.Process == nil {
		return 0
	}
	return r.Process.Watched(r.From, r.To)
}

// compared returns the part of the watched time that the compared collections cover.
func (r *Run) compared() time.Duration {
	if r.Collections <= len(r.samples) || !r.first.Known() {
		return r.Watched()
	}
	return r.last - r.first.Or(0)
}

// worth returns how many independent pauses the run's pauses are worth.
func (r *Run) worth() float64 {
	known := make([]float64, 0, len(r.samples))
	for i := range r.samples {
		if p := float64(r.samples[i].figures[pause]); !math.IsNaN(p) {
			known = append(known, p)
		}
	}
	return effective(known)
}

// figures are sums over some of a run's collections, from which metrics are computed.
type figures struct {
	count             int
	seconds           float64
	work              float64
	generation        [3]int
	sums              [numFigures]known
	allocated, gcTime Bounds
	pauses            []float64 // ms, sorted
}

// known sums up the known values of a figure.
type known struct {
	sum   float64
	count int
	most  float64
}

func (k *known) add(v float32) {
	if v == v { // not NaN
		if k.count == 0 || float64(v) > k.most {
			k.most = float64(v)
		}
		k.sum += float64(v)
		k.count++
	}
}

// largest returns the largest value, NaN if none is known.
func (k *known) largest() float64 {
	if k.count == 0 {
		return math.NaN()
	}
	return k.most
}

// figures sums up the run's collections at the given positions, or all if there
// are none.
func (r *Run) figures(positions []int, scratch []float64) figures {
	f := figures{work: r.Work, pauses: scratch[:0]}
	add := func(s *sample) {
		f.count++
		for i := range s.figures {
			f.sums[i].add(s.figures[i])
		}
		if s.generation >= 0 {
			f.generation[s.generation]++
		}
		if p := s.figures[pause]; p == p {
			f.pauses = append(f.pauses, float64(p))
		}
	}
	if positions == nil {
		for i := range r.samples {
			add(&r.samples[i])
		}
		f.seconds = r.compared().Seconds()
	} else {
		for _, i := range positions {
			add(&r.samples[i])
		}
		f.seconds = f.sums[interval].sum
	}
	slices.Sort(f.pauses)
	f.allocated, f.gcTime = r.allocatedBounds(&f, positions == nil), r.gcTime()
	return f
}

// allocatedBounds bounds the bytes allocated up to the end of the whole run, or only up to
// the last of some of its collections.
func (r *Run) allocatedBounds(f *figures, whole bool) Bounds {
	switch known := Exactly(f.total(allocated)); {
	case !whole || r.Collections > len(r.samples):
		return known
	case r.Allocated.Known():
		return r.Allocated.Or(known)
	case f.count > 0 && f.sums[allocated].count == 0:
		return known
	}
	r.sums.From, r.sums.To = r.From, r.To
	sum := r.sums.Allocated()
	bounds := Bounds{Low: float64(sum.Min()), High: math.Inf(1)}
	if sum.Certainty() != gc.LowerBound {
		bounds.Likely = float64(sum.Sum)
	}
	if r.From.Known() {
		bounds.Low = r.exact
	}
	if most, bounded := sum.Max().Get(); bounded {
		bounds.High = float64(most)
	}
	return bounds
}

// gcTime bounds the share of the program's processor time that the GC used, in percent.
// Processor time is of the whole run.
func (r *Run) gcTime() Bounds {
	if r.Process == nil || r.From.Known() || r.To.Known() {
		return Exactly(math.NaN())
	}
	t, known := r.Process.GCTime().Get()
	if !known || t.Run <= 0 {
		return Exactly(math.NaN())
	}
	low := t.LeastPct().Or(0)
	switch high, bounded := t.MostPct().Get(); {
	case bounded:
		return Bounds{Low: low, High: high}
	case t.Source == gc.ThreadTimes && r.Process.Processor.GC.Or(gc.CollectorTime{}).Server > 0: // its threads do the work
		return Exactly(low)
	}
	return Bounds{Low: low, High: math.Inf(1)}
}

// estimate returns the bytes that the run likely allocated; NaN if unknown.
func (r *Run) estimate() float64 {
	if b, known := r.Allocated.Get(); known {
		return b.Low
	}
	sum := r.sums.Allocated()
	if sum.Known == 0 {
		return math.NaN()
	}
	return float64(sum.Sum)
}
