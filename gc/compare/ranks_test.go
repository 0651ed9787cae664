package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The permeability constants of Hollander and Wolfe, Nonparametric Statistical
// Methods, 1973, p. 69, which the documentation of R's wilcox.test has as its
// example: W = 35, one-sided p-value = 0.1272.
var (
	atTerm     = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	earlyWeeks = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

func TestMannWhitneyPublished(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []float64
		p    float64
	}{
		{"R, wilcox.test", atTerm, earlyWeeks, 2 * 0.1272},
		{"benchstat, 5 runs a side that do not overlap", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 0.008},
		{"4 runs a side that do not overlap", []float64{1, 2, 3, 4}, []float64{6, 7, 8, 9}, 2.0 / 70},
		{"all equal", []float64{1, 1, 1}, []float64{1, 1, 1}, 1},
	} {
		if got := mannWhitney(test.a, test.b); math.Abs(got-test.p) > 0.0005 {
			t.Errorf("%s: p = %.4f, want %.4f", test.name, got, test.p)
		}
	}
}

// slowMannWhitney counts pairs in all ways to divide the values.
func slowMannWhitney(a, b []float64) float64 {
	pooled := append(slices.Clone(a), b...)
	pairs := func(chosen uint) float64 {
		u := 0.0
		for i, x := range pooled {
			for j, y := range pooled {
				if chosen>>i&1 == 0 || chosen>>j&1 == 1 {
					continue
				}
				if x > y {
					u++
				} else if x == y {
					u += 0.5
				}
			}
		}
		return math.Abs(u - float64(len(a)*len(b))/2)
	}
	observed := pairs(1<<len(a) - 1)
	all, extreme := 0, 0
	for chosen := range uint(1) << len(pooled) {
		n := 0
		for i := range pooled {
			n += int(chosen >> i & 1)
		}
		if n != len(a) {
			continue
		}
		all++
		if pairs(chosen) >= observed {
			extreme++
		}
	}
	return float64(extreme) / float64(all)
}

func TestMannWhitneyAgainstSlow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, b := make([]float64, 1+random.IntN(5)), make([]float64, 1+random.IntN(5))
		for i := range a {
			a[i] = float64(random.IntN(6)) // with ties
		}
		for i := range b {
			b[i] = float64(random.IntN(6))
		}
		if got, want := mannWhitney(a, b), slowMannWhitney(a, b); math.Abs(got-want) > 1e-12 {
			t.Fatalf("mannWhitney(%v, %v) = %v, want %v", a, b, got, want)
		}
	}
}

func TestSmallestP(t *testing.T) {
	for n := 1; n < 8; n++ {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(i+n)
		}
		if got, want := smallestP(n, n), mannWhitney(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("smallestP(%d, %d) = %v, want %v", n, n, got, want)
		}
	}
}

// The interval holds the shift as often as it says: at least, for it is exact
// and the distribution is discrete.
func TestHodgesLehmannCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	const trials = 4000
	for _, n := range []int{4, 5, 8, 12} {
		inside := 0
		for range trials {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = random.ExpFloat64(), random.ExpFloat64()+3
			}
			if _, low, high := hodgesLehmann(a, b, 0.95); low <= 3 && 3 <= high {
				inside++
			}
		}
		if share := float64(inside) / trials; share < 0.94 || share > 0.99 {
			t.Errorf("%d a side: the 95 %% interval holds the shift in %.1f %%", n, 100*share)
		}
	}
}

func TestHodgesLehmannTooFew(t *testing.T) {
	shift, low, high := hodgesLehmann([]float64{1, 2}, []float64{3, 5}, 0.95)
	if shift != 2.5 || !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("shift %v in [%v, %v], want 2.5 in an unbounded interval", shift, low, high)
	}
}

// The values are those of R's p.adjust(p, "holm").
func TestHolm(t *testing.T) {
	for _, test := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.5, 0.001, 0.9}, []float64{1, 0.003, 1}},
		{nil, []float64{}},
	} {
		got := holm(test.p)
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("holm(%v) = %v, want %v", test.p, got, test.want)
		}
	}
}
