package comparison

import (
	"fmt"
	"math"
	"slices"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/units"
)

// exceeding is the largest share of later equal runs that may exceed any limit of a budget.
const exceeding = 0.01

// looseness is how many times as much as a run may cost without notice is too much.
const looseness = 2

// initialLimits lists the metrics that BudgetFromRuns limits.
var initialLimits = []string{
	"pause_max_ms", "pause_p99_ms", "pause_pct", "allocated_bytes", "gen2_collections", "heap_peak_bytes", "committed_peak_bytes",
}

// BudgetFromRuns returns a budget that later runs of the same program keep: at most one in a
// hundred exceeds any of its limits, if there are compare.MinRuns runs. With fewer, that
// rests on the noise between equal runs that was measured on other programs. It sets no
// limit for metrics that a run lacks, for percentiles of too few pauses, or that nothing can
// exceed. Runs that are Incomplete do not belong here: equal whole runs cost more.
func BudgetFromRuns(runs []*compare.Run) *Budget {
	b := &Budget{Version: BudgetVersion, Limits: make(map[string]float64)}
	basis := compare.PerRun
	if !slices.ContainsFunc(runs, func(r *compare.Run) bool { return r.Work <= 0 }) {
		basis = compare.PerWork
	}
	var samples []sample
	for _, m := range compare.Metrics() {
		if s := newSample(&m, runs, basis); slices.Contains(initialLimits, m.Name) && s.usable() {
			samples = append(samples, s)
		}
	}
	for _, s := range samples {
		limit := s.limit(exceeding / float64(len(samples)))
		if limit.value < s.possible() {
			b.Limits[s.name()] = limit.value
		}
		if limit.loose {
			b.loose = append(b.loose, s.varying(limit.value))
		}
	}
	b.comment = fmt.Sprintf("# of each run; from %d runs: at most 1 in 100 equal runs exceeds any", len(runs))
	if len(runs) < compare.MinRuns {
		b.comment = fmt.Sprintf("# of each run; a guess: %d of %d runs needed, so equal runs may exceed them", len(runs), compare.MinRuns)
	}
	return b
}

// A sample holds the values of a metric of several runs.
type sample struct {
	metric *compare.Metric
	basis  compare.Basis
	scale  float64   // divisor of the totals of a median run
	values []float64 // upper bounds
	enough bool      // whether all runs have pauses enough for the metric
}

func newSample(m *compare.Metric, runs []*compare.Run, basis compare.Basis) sample {
	s := sample{metric: m, basis: compare.PerRun, scale: 1, enough: true}
	if m.Total {
		s.basis, s.scale = basis, compare.Scale(runs, basis)
	}
	for _, r := range runs {
		s.values = append(s.values, m.Bounds(r, basis).High)
		s.enough = s.enough && m.Enough(r)
	}
	return s
}

// usable reports whether all runs have the metric, with an upper bound.
func (s *sample) usable() bool {
	return s.enough && len(s.values) > 0 && !slices.ContainsFunc(s.values, func(v float64) bool { return !finite(v) })
}

// name returns the metric as the budget has it.
func (s *sample) name() string {
	suffix, _ := suffixOn(s.basis)
	return s.metric.Name + suffix
}

// possible returns the smallest value that the metric cannot exceed.
func (s *sample) possible() float64 {
	if s.metric.Unit == compare.Percent {
		return 100
	}
	return math.Inf(1)
}

// A limit is what one later equal run exceeds with some probability.
type limit struct {
	value float64
	loose bool // because the runs vary, a run that costs much more than all of them keeps it
}

// limit returns the upper prediction limit of a normal sample, of logarithms unless the
// metric is a count. It exceeds the largest run by at least the band, because few runs may
// agree by chance.
func (s *sample) limit(probability float64) limit {
	largest := slices.Max(s.values)
	room := largest + s.metric.Matters(largest, s.scale)
	logs := s.metric.Unit != compare.Count && slices.Min(s.values) > 0
	values := slices.Clone(s.values)
	if logs {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	center, measured := moments(values)
	free := float64(len(values) - 1)
	noise := s.metric.Noise()
	if !logs {
		noise *= center
	}
	assumed := 0.0
	switch {
	case len(values) < compare.MinRuns:
		assumed, free = noise, math.Inf(1)
	case !s.metric.Total: // a few GCs decide it, and five runs often have none of the odd ones
		assumed = noise / 2
	}
	most := center + compare.StudentQuantile(probability, free)*max(measured, assumed)*math.Sqrt(1+1/float64(len(values)))
	if logs {
		most = math.Exp(most)
	}
	value := roundUp(max(room, most), s.metric.UnitOn(s.basis))
	return limit{value, measured > assumed && looseness*room < min(value, s.possible())}
}

// varying says how much the metric varies between the runs, and what that does to its limit.
func (s *sample) varying(limit float64) string {
	unit := s.metric.UnitOn(s.basis)
	least, largest := slices.Min(s.values), slices.Max(s.values)
	said := fmt.Sprintf("%s varies from %s to %s between runs; ", metricName(s.metric, s.basis), figure(least, unit), figure(largest, unit))
	if limit >= s.possible() {
		return said + "it has no limit, because that would be 100 % or more"
	}
	return said + "its limit is " + figure(limit, unit) + ", " + units.Number(limit/largest) + " times the largest"
}

// moments returns the mean of the values and their standard deviation; 0 for one value.
func moments(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1))
}

// roundUp rounds up to three significant digits, and the counts and bytes of a run to whole
// ones.
func roundUp(v float64, unit compare.Unit) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit == compare.Count || unit == compare.Bytes {
		scale = max(scale, 1)
	}
	if scale < 1 {
		return math.Ceil(v/scale) / math.Round(1/scale)
	}
	return math.Ceil(v/scale) * scale
}
