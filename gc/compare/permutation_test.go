package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The permeability constants of Hollander and Wolfe, Nonparametric Statistical Methods,
// 1973, p. 69, the example in the documentation of R's wilcox.test.
var (
	atTerm     = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	earlyWeeks = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

// slowTest counts, for each metric, the divisions in which any metric's t statistic, with
// a little added to the standard error, is as large.
func slowTest(before int, metrics [][]float64, matters []float64) []float64 {
	n := len(metrics[0])
	statistic := func(chosen uint, k int) float64 {
		var sides [2][]float64
		for i, v := range metrics[k] {
			side := chosen >> i & 1
			sides[side] = append(sides[side], v)
		}
		squares := 0.0
		for _, side := range sides {
			for _, v := range side {
				squares += (v - mean(side)) * (v - mean(side))
			}
		}
		shift := math.Abs(mean(sides[0]) - mean(sides[1]))
		if shift <= matters[k] {
			return 0
		}
		variance := squares / float64(n-2)
		a, b := float64(len(sides[0])), float64(len(sides[1]))
		return shift / (math.Sqrt(variance/a+variance/b) + leastError*matters[k])
	}
	p, all := make([]float64, len(metrics)), 0.0
	for chosen := range uint(1) << n {
		ones := 0
		for i := range n {
			ones += int(chosen >> i & 1)
		}
		if ones != before {
			continue
		}
		all++
		largest := 0.0
		for k := range metrics {
			largest = max(largest, statistic(chosen, k))
		}
		for k := range metrics {
			if largest >= statistic(1<<before-1, k)*(1-slack) {
				p[k]++
			}
		}
	}
	for k := range p {
		p[k] /= all
		// The statistic has leastError added to the standard error, which a t test has not.
		t := math.Inf(1)
		if s := statistic(1<<before-1, k); s > 0 {
			shift := sideShift(metrics[k], before)
			if e := shift/s - leastError*matters[k]; e > 1e-12 {
				t = shift / e
			}
			p[k] = max(p[k], min(1, float64(len(metrics))*2*studentTail(t, float64(n-2))))
		} else {
			p[k] = 1
		}
	}
	return p
}

func sideShift(values []float64, before int) float64 {
	return math.Abs(mean(values[:before]) - mean(values[before:]))
}

func TestPermutationAgainstSlow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		before, after := 1+random.IntN(5), 1+random.IntN(5)
		if before+after < 3 {
			continue
		}
		matters := []float64{0.11, 0.51, 2.07} // which no difference of means of whole numbers equals
		metrics := make([][]float64, len(matters))
		family := permuted{before: before}
		for k := range metrics {
			for range before + after {
				metrics[k] = append(metrics[k], float64(random.IntN(6))) // with ties
			}
			family.add(metrics[k][:before], metrics[k][before:], matters[k])
		}
		want := slowTest(before, metrics, matters)
		if got := family.test(); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Fatalf("%v of %v: p = %v, want %v", before, metrics, got, want)
		}
	}
}

func TestPermutationPublished(t *testing.T) {
	for _, test := range []struct {
		name      string
		a, b      []float64
		low, high float64
	}{
		// The t test of these values has p = 0.18, the Mann-Whitney test 0.25.
		{"permeability", atTerm, earlyWeeks, 0.1, 0.25},
		{"5 runs a side that do not overlap", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252, 2.0 / 252},
		{"4 runs a side that do not overlap", []float64{1, 2, 3, 4}, []float64{6, 7, 8, 9}, 2.0 / 70, 2.0 / 70},
		{"all equal", []float64{1, 1, 1}, []float64{1, 1, 1}, 1, 1},
	} {
		family := permuted{before: len(test.a)}
		family.add(test.a, test.b, 0)
		if p := family.test()[0]; !(p >= test.low-1e-9 && p <= test.high+1e-9) {
			t.Errorf("%s: p = %.4f, want %.4f to %.4f", test.name, p, test.low, test.high)
		}
	}
}

// TestManyDivisions: too many divisions are sampled. The sample is the same in each run, and
// includes the first division.
func TestManyDivisions(t *testing.T) {
	side := make([]int, 20)
	for i := range side {
		side[i] = i
	}
	n, first := 0, []int(nil)
	divisions(40, side, func(chosen []int) {
		if n++; n == 1 {
			first = slices.Clone(chosen)
		}
	})
	if n != drawnDivisions+1 || !slices.Equal(first, side) {
		t.Errorf("%d divisions, the first of them %v", n, first)
	}
	few := 0
	divisions(10, []int{0, 1, 2, 3, 4}, func([]int) { few++ })
	if few != 252 {
		t.Errorf("%d ways to choose 5 of 10", few)
	}
}
