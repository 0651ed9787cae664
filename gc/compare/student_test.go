package compare

import (
	"math"
	"testing"
)

// TestStudent compares quantiles with printed tables.
func TestStudent(t *testing.T) {
	for _, test := range []struct{ probability, freedom, want float64 }{
		{0.025, 1, 12.706}, {0.025, 4, 2.776}, {0.005, 4, 4.604}, {0.01, 9, 2.821}, {0.0005, 4, 8.610}, {0.025, 30, 2.042}, {0.025, math.Inf(1), 1.960},
	} {
		if got := StudentQuantile(test.probability, test.freedom); math.Abs(got-test.want) > 0.001*test.want {
			t.Errorf("t(%v, %v) = %.4f, want %.3f", test.probability, test.freedom, got, test.want)
		}
		if got := studentTail(test.want, test.freedom); !math.IsInf(test.freedom, 1) && math.Abs(got-test.probability) > 0.005*test.probability {
			t.Errorf("P(t > %v), %v degrees of freedom: %v, want %v", test.want, test.freedom, got, test.probability)
		}
	}
}
