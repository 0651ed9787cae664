package compare

import (
	"math"
	"slices"
)

// A Unit is the unit of a metric's values.
type Unit string

// The units of metrics. Totals become rates, or are divided by the work done,
// depending on the Basis.
const (
	Bytes        Unit = "bytes"
	Milliseconds Unit = "ms"
	Percent      Unit = "%"
	Count        Unit = "count"
)

// A Metric is a figure of a run that is compared.
type Metric struct {
	Name string // with its unit, as in JSON
	Text string // in words
	Unit Unit
	// Explains names the primary metric that this one explains; empty for a
	// primary metric. Only primary metrics decide the verdict of a comparison.
	// The others are tested only if their primary metric has changed, so that
	// many metrics do not cause many false alarms.
	Explains string
	// Total reports that the value grows with the length of the run.
	Total bool

	band  float64 // relative change that is too small to matter
	floor float64 // the same in the metric's unit
	noise float64 // relative deviation between equal runs, where too few runs show it
	quant float64 // the share of the pauses that a percentile is of, else 0
	of    func(*figures) Bounds
}

// Metrics returns the compared metrics, each primary metric followed by the ones that
// explain it. Bands and the noise between runs were measured; see docs/compare.md.
func Metrics() []Metric { return slices.Clone(metrics[:]) }

const (
	allocatedTotal = "allocated_bytes"
	collections    = "collections"
	pauseShare     = "pause_pct"
	pauseTail      = "pause_p99_ms"
	gcTime         = "gc_cpu_pct"
	heapMean       = "heap_after_mean_bytes"
)

var metrics = [...]Metric{
	{Name: allocatedTotal, Text: "allocated", Unit: Bytes, Total: true, band: 0.03, floor: 1e6, noise: 0.02, of: allocatedBytes},
	{Name: collections, Text: "collections", Unit: Count, Total: true, band: 0.05, floor: 2, noise: 0.03, of: count},
	{Name: "gen0_collections", Text: "gen 0 collections", Unit: Count, Explains: collections, Total: true, band: 0.05, floor: 2, noise: 0.03, of: countOf(0)},
	{Name: "gen1_collections", Text: "gen 1 collections", Unit: Count, Explains: collections, Total: true, band: 0.10, floor: 2, noise: 0.10, of: countOf(1)},
	{Name: "gen2_collections", Text: "gen 2 collections", Unit: Count, Explains: collections, Total: true, band: 0.10, floor: 2, noise: 0.10, of: countOf(2)},
	{Name: pauseShare, Text: "GC pause time", Unit: Percent, band: 0.10, floor: 0.2, noise: 0.10, of: pausedPct},
	{Name: "pause_mean_ms", Text: "mean pause", Unit: Milliseconds, Explains: pauseShare, band: 0.10, floor: 0.02, noise: 0.10, of: meanOf(pause)},
	percentileOfPauses(Metric{Name: "pause_p50_ms", Text: "median pause", Explains: pauseShare, band: 0.10, floor: 0.02, noise: 0.10, quant: 0.50}),
	percentileOfPauses(Metric{Name: "pause_p90_ms", Text: "p90 pause", Explains: pauseShare, band: 0.15, floor: 0.05, noise: 0.15, quant: 0.90}),
	{Name: "suspend_mean_ms", Text: "mean suspension", Unit: Milliseconds, Explains: pauseShare, band: 0.20, floor: 0.05, noise: 0.25, of: meanOf(suspend)},
	{Name: "promoted_mean_bytes", Text: "promoted by a collection", Unit: Bytes, Explains: pauseShare, band: 0.10, floor: 1e5, noise: 0.10, of: meanOf(promoted)},
	percentileOfPauses(Metric{Name: pauseTail, Text: "p99 pause", band: 0.20, floor: 0.1, noise: 0.25, quant: 0.99}),
	percentileOfPauses(Metric{Name: "pause_max_ms", Text: "longest pause", Explains: pauseTail, band: 0.25, floor: 0.1, noise: 0.50, quant: 1}),
	{Name: gcTime, Text: "GC processor time", Unit: Percent, band: 0.15, floor: 1, noise: 0.15, of: gcTimePct},
	{Name: heapMean, Text: "heap after collections", Unit: Bytes, band: 0.10, floor: 1e6, noise: 0.10, of: meanOf(heapAfter)},
	{Name: "heap_peak_bytes", Text: "largest heap", Unit: Bytes, Explains: heapMean, band: 0.10, floor: 1e6, noise: 0.15, of: largestOf(heapPeak)},
	{Name: "committed_peak_bytes", Text: "most committed", Unit: Bytes, Explains: heapMean, band: 0.10, floor: 1e6, noise: 0.15, of: largestOf(committed)},
}

func allocatedBytes(f *figures) Bounds { return f.allocated }
func gcTimePct(f *figures) Bounds      { return f.gcTime }
func count(f *figures) Bounds          { return Exactly(float64(f.count)) }
func pausedPct(f *figures) Bounds      { return Exactly(100 * f.total(pause) / 1000 / f.seconds) }

// countOf returns the number of collections of a generation.
func countOf(generation int) func(*figures) Bounds {
	return func(f *figures) Bounds { return Exactly(float64(f.generation[generation])) }
}

// meanOf returns the mean of a figure over the collections.
func meanOf(figure int) func(*figures) Bounds {
	return func(f *figures) Bounds { return Exactly(f.total(figure) / float64(f.sums[figure].count)) }
}

// largestOf returns the largest of a figure; NaN if no collection has it.
func largestOf(figure int) func(*figures) Bounds {
	return func(f *figures) Bounds { return Exactly(f.sums[figure].largest()) }
}

// percentileOfPauses completes a metric that is a percentile.
func percentileOfPauses(m Metric) Metric {
	m.Unit, m.of = Milliseconds, func(f *figures) Bounds { return Exactly(percentile(f.pauses, m.quant)) }
	return m
}

// missing is the share of collections that may lack a figure before the run's is unknown.
// It is not zero, because the first and the last collection of a trace are often cut.
const missing = 0.02

// total returns the sum of a figure; NaN if too many collections lack it.
func (f *figures) total(figure int) float64 {
	k := &f.sums[figure]
	if k.count == 0 || float64(f.count-k.count) > max(2, missing*float64(f.count)) {
		return math.NaN()
	}
	return k.sum
}

// Band returns the relative change that is too small to matter.
func (m *Metric) Band() float64 { return m.band }

// Noise returns the relative deviation between equal runs that is assumed if there are
// too few runs to measure it.
func (m *Metric) Noise() float64 { return m.noise }

// Enough reports whether the run has enough independent pauses for the metric: only
// percentiles need them.
func (m *Metric) Enough(r *Run) bool {
	return m.quant == 0 || m.quant == 1 || r.worth() > m.needed()
}

// needed returns how many independent pauses a percentile is compared from: infinitely
// many for the longest pause, so that it is never compared.
func (m *Metric) needed() float64 {
	if m.quant == 0 {
		return 0
	}
	return 10 / (1 - m.quant)
}

// Matters returns the least difference from the value before that matters, if the totals
// of a run are divided by scale.
func (m *Metric) Matters(before, scale float64) float64 {
	floor := m.floor
	if m.Total {
		floor /= scale
	}
	return max(m.band*math.Abs(before), floor)
}

// Bounds returns the value of the metric for a run, on a basis.
func (m *Metric) Bounds(r *Run, basis Basis) Bounds {
	f := r.figures(nil, nil)
	return m.bounds(&f, basis)
}

func (m *Metric) bounds(f *figures, basis Basis) Bounds {
	divisor := 1.0
	switch {
	case m.Total && basis == PerSecond:
		divisor = f.seconds
	case m.Total && basis == PerWork:
		divisor = f.work
	}
	return m.of(f).scaled(divisor)
}

// UnitOn returns the unit of the metric's values on a basis.
func (m *Metric) UnitOn(basis Basis) Unit {
	if m.Total && basis != PerRun {
		return m.Unit + "_per_" + Unit(basis)
	}
	return m.Unit
}
