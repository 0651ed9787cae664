package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

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
