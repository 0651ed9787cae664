package compare

import (
	"math"
	"slices"
	"time"
)

// A Basis is the divisor of totals before they are compared.
type Basis string

// The bases of comparison.
const (
	PerRun    Basis = "run"    // runs are equally long, or do the same work
	PerSecond Basis = "second" // runs differ in length
	PerWork   Basis = "work"   // all runs state how much work they did
)

// tolerance is the largest relative difference in length at which runs are compared by
// their totals.
const tolerance = 0.05

// steadier is the factor by which totals must agree better than rates for runs of
// different lengths to be compared per run. It is below 1, because both agree equally
// well if only the sides differ in length.
const steadier = 0.5

// basisOf chooses the basis on which to compare totals. Runs that differ in length may have
// done the same work at different speeds, or have been watched for different times: the
// former agree in their totals, the latter in their rates.
func basisOf(sides ...[]*Run) Basis {
	all := slices.Concat(sides...)
	shortest, longest := extremes(all, (*Run).compared)
	switch {
	case len(all) > 0 && !slices.ContainsFunc(all, func(r *Run) bool { return !(r.Work > 0) }):
		return PerWork
	case longest <= (1+tolerance)*shortest:
		return PerRun
	}
	byRun, bySecond := spread(sides, PerRun), spread(sides, PerSecond)
	if byRun <= steadier*bySecond {
		return PerRun
	}
	return PerSecond
}

// extremes returns the shortest and the longest of times of runs, in seconds.
func extremes(runs []*Run, of func(*Run) time.Duration) (shortest, longest float64) {
	shortest = math.Inf(1)
	for _, r := range runs {
		shortest, longest = min(shortest, of(r).Seconds()), max(longest, of(r).Seconds())
	}
	return shortest, longest
}

// spread returns the typical difference between neighbouring runs of a side: the median of
// the logarithms of the ratios of their allocated bytes, or of their numbers of collections
// if bytes are not recorded. A change of level between two runs hardly affects it. With one
// run a side, spread compares the two sides.
func spread(sides [][]*Run, basis Basis) float64 {
	allocated := func(r *Run) float64 { return r.estimate() / r.divisor(basis) }
	count := func(r *Run) float64 { return float64(r.Collections) / r.divisor(basis) }
	for _, of := range [...]func(*Run) float64{allocated, count} {
		var ratios []float64
		for _, runs := range sides {
			ratios = append(ratios, logRatios(runs, of)...)
		}
		if ratios == nil {
			ratios = logRatios(slices.Concat(sides...), of)
		}
		if m := medianOf(ratios); !math.IsNaN(m) {
			return m
		}
	}
	return math.Inf(1)
}

func logRatios(runs []*Run, of func(*Run) float64) []float64 {
	var ratios []float64
	for i, r := range runs {
		if i > 0 {
			ratios = append(ratios, math.Abs(math.Log(of(r)/of(runs[i-1]))))
		}
	}
	return ratios
}

// Scale returns the divisor of the totals of a median run.
func Scale(runs []*Run, basis Basis) float64 {
	divisors := make([]float64, 0, len(runs))
	for _, r := range runs {
		divisors = append(divisors, r.divisor(basis))
	}
	if m := medianOf(divisors); m > 0 {
		return m
	}
	return 1
}

// divisor returns the divisor of the run's totals on a basis.
func (r *Run) divisor(basis Basis) float64 {
	switch basis {
	case PerSecond:
		return r.compared().Seconds()
	case PerWork:
		return r.Work
	}
	return 1
}
