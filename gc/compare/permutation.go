package compare

import (
	"math"
	"math/rand/v2"
)

// maxDivisions is up to how many divisions of the runs are all tried. If there are more,
// drawnDivisions of them are drawn at random.
const maxDivisions = 100_000

// drawnDivisions is the number of divisions drawn if there are more than maxDivisions.
const drawnDivisions = 9_999

// permuted tests several metrics of the same runs together: a metric's p-value is the
// share of all ways to divide the runs into two sides in which any of the metrics differs
// as clearly. It holds for any distribution of equal runs, and however the metrics depend
// on each other. See Westfall and Young, Resampling-Based Multiple Testing, 1993
// (single-step maxT).
//
// With five runs a side that share is at least one in 126, and noise reaches it as often.
// Therefore the p-value of Student's t test, times the number of metrics, must be as
// small.
type permuted struct {
	before  int // runs on the first side
	metrics []centred
}

// centred holds a metric's values of all runs, less their mean.
type centred struct {
	values  []float64
	squares float64 // their sum
	matters float64
}

func (f *permuted) add(before, after []float64, matters float64) {
	m := centred{matters: matters}
	m.values = append(append(m.values, before...), after...)
	center := mean(m.values)
	for i := range m.values {
		m.values[i] -= center
		m.squares += m.values[i] * m.values[i]
	}
	f.metrics = append(f.metrics, m)
}

// slack is the relative error of sums that still count as equal.
const slack = 1e-9

// test returns the p-values of the metrics.
func (f *permuted) test() []float64 {
	if len(f.metrics) == 0 {
		return nil
	}
	n := len(f.metrics[0].values)
	first := make([]int, f.before)
	for i := range first {
		first[i] = i
	}
	observed, byT := make([]float64, len(f.metrics)), make([]float64, len(f.metrics))
	for k := range f.metrics {
		observed[k] = f.metrics[k].distance(first)
		byT[k] = min(1, float64(len(f.metrics))*f.metrics[k].studentP(first))
	}
	p, all := make([]float64, len(f.metrics)), 0.0
	count := func(side []int) {
		all++
		largest := 0.0
		for k := range f.metrics {
			largest = max(largest, f.metrics[k].distance(side))
		}
		for k := range p {
			if largest >= observed[k]*(1-slack) {
				p[k]++
			}
		}
	}
	divisions(n, first, count)
	for k := range p {
		p[k] = max(p[k]/all, byT[k])
	}
	return p
}

// divisions calls count with each way to choose len(side) of n runs, beginning with side,
// the first ones. If there are too many, it calls it with a sample. The caller must not
// keep the slice.
func divisions(n int, side []int, count func([]int)) {
	ways := 1.0
	for i := range side {
		ways *= float64(n-i) / float64(i+1)
	}
	if ways <= maxDivisions {
		for more := true; more; more = nextCombination(side, n) {
			count(side)
		}
		return
	}
	count(side)
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	for range drawnDivisions {
		count(random.Perm(n)[:len(side)])
	}
}

// nextCombination moves to the next choice of numbers below n in lexical order.
func nextCombination(chosen []int, n int) bool {
	for i := len(chosen) - 1; i >= 0; i-- {
		if chosen[i] < n-len(chosen)+i {
			chosen[i]++
			for j := i + 1; j < len(chosen); j++ {
				chosen[j] = chosen[j-1] + 1
			}
			return true
		}
	}
	return false
}

// leastError is the share of the difference that matters by which distance increases the
// standard error, so that values that agree by chance do not stand out. See Tusher,
// Tibshirani and Chu, Significance analysis of microarrays, 2001.
const leastError = 0.05

// distance returns how clearly the chosen values differ from the others: the difference of
// the means in standard errors, or 0 if the difference does not matter.
func (m *centred) distance(chosen []int) float64 {
	shift, standardError := m.divided(chosen)
	if !(shift > m.matters) {
		return 0
	}
	return shift / (standardError + leastError*m.matters)
}

// studentP returns the two-sided p-value of Student's t test that the chosen values and the
// others have the same mean.
func (m *centred) studentP(chosen []int) float64 {
	shift, standardError := m.divided(chosen)
	if shift == 0 {
		return 1
	}
	return 2 * studentTail(shift/standardError, float64(len(m.values)-2))
}

// divided returns the difference between the means of the chosen values and the others, and
// its standard error.
func (m *centred) divided(chosen []int) (shift, standardError float64) {
	sum := 0.0
	for _, i := range chosen {
		sum += m.values[i]
	}
	// All values add up to zero, so the others add up to -sum.
	a, b := float64(len(chosen)), float64(len(m.values)-len(chosen))
	within := max(0, m.squares-sum*sum/a-sum*sum/b) / (a + b - 2)
	return math.Abs(sum/a + sum/b), math.Sqrt(within * (1/a + 1/b))
}
