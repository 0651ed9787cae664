package units

import (
	"math"
	"testing"
)

func TestAddCapped(t *testing.T) {
	for _, tt := range [][3]int64{{0, 0, 0}, {1, 2, 3}, {math.MaxInt64, 0, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}, {1 << 62, 1 << 62, math.MaxInt64}} {
		if got := AddCapped(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%d + %d: %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestIntCapped(t *testing.T) {
	for v, want := range map[float64]int64{0: 0, 1.9: 1, -1.9: -1, 1e18: 1e18, 1e19: math.MaxInt64, math.Inf(1): math.MaxInt64, -1e19: math.MinInt64} {
		if got := IntCapped(v); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
}
