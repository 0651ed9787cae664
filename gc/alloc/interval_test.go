package alloc

import (
	"math"
	"testing"
)

// TestPoisson compares bounds with Garwood's exact 95 % intervals (Biometrika 28, 1936).
func TestPoisson(t *testing.T) {
	for _, tt := range []struct{ n, low, high float64 }{{10, 4.795, 18.390}, {20, 12.217, 30.888}, {100, 81.364, 121.627}} {
		low, high := poisson(tt.n)
		if !near(low*tt.n, tt.low) || !near(high*tt.n, tt.high) {
			t.Errorf("%v: %.3f to %.3f, expected %.3f to %.3f", tt.n, low*tt.n, high*tt.n, tt.low, tt.high)
		}
	}
	if low, high := poisson(1); low > 0.05 || !near(high, 5.572) {
		t.Errorf("1: %.3f to %.3f", low, high)
	}
	if low, high := poisson(math.Inf(1)); low != 1 || high != 1 {
		t.Errorf("all: %v to %v", low, high)
	}
}

// TestProportion compares bounds with Wilson's 95 % intervals, and stays between 0 and 1.
func TestProportion(t *testing.T) {
	for _, tt := range []struct{ p, n, low, high float64 }{{0.5, 10, 0.2366, 0.7634}, {0.1, 50, 0.0435, 0.2136}, {0, 10, 0, 0.2775}, {1, 10, 0.7225, 1}} {
		low, high := proportion(tt.p, tt.n)
		if math.Abs(low-tt.low) > 1e-4 || math.Abs(high-tt.high) > 1e-4 || low < 0 || high > 1 {
			t.Errorf("%v of %v: %.4f to %.4f, expected %.4f to %.4f", tt.p, tt.n, low, high, tt.low, tt.high)
		}
	}
	if low, high := proportion(0.25, math.Inf(1)); low != 0.25 || high != 0.25 {
		t.Errorf("of all: %v to %v", low, high)
	}
}

// near reports whether got is want, to 1 %.
func near(got, want float64) bool { return math.Abs(got-want) <= want/100 }
