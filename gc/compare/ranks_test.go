package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestHodgesLehmannCoverage: the interval holds the shift at least as often as promised.
// It may do so more often, because it is exact and the distribution is discrete.
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

// TestHodgesLehmann has values whose differences can be listed: of five and five values,
// the interval of 95 % leaves out two differences at each end (2/252 + … ≤ 2.5 %), and
// the one of 80 % leaves out five.
func TestHodgesLehmann(t *testing.T) {
	a, b := []float64{16, 1, 4, 2, 8}, []float64{411, 101, 523, 307, 203}
	for confidence, want := range map[float64][3]float64{0.95: {303, 101 - 4, 523 - 4}, 0.80: {303, 203 - 16, 411 - 1}} {
		if shift, low, high := hodgesLehmann(a, b, confidence); [3]float64{shift, low, high} != want {
			t.Errorf("with a confidence of %v: %v in [%v, %v], want %v", confidence, shift, low, high, want)
		}
	}
}

func TestHodgesLehmannTooFew(t *testing.T) {
	shift, low, high := hodgesLehmann([]float64{1, 2}, []float64{3, 5}, 0.95)
	if shift != 2.5 || !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("shift %v in [%v, %v], want 2.5 in an unbounded interval", shift, low, high)
	}
}
