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

func TestRescale(t *testing.T) {
	for _, tt := range []struct {
		n      int64
		by, of uint64
		want   int64
	}{
		{7, 3, 2, 10},
		{-7, 3, 2, -10},
		{math.MinInt64, 1, 2, math.MinInt64 / 2},
		{math.MaxInt64, 10, 3, math.MaxInt64},
		{math.MinInt64, 10, 3, -math.MaxInt64},
	} {
		if got := Rescale(tt.n, tt.by, tt.of); got != tt.want {
			t.Errorf("%d * %d / %d: %d, want %d", tt.n, tt.by, tt.of, got, tt.want)
		}
	}
}
