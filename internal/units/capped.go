package units

import (
	"math"
	"math/bits"
)

// AddCapped returns a+b, or the largest number there is if that is more, because the figures of
// a damaged trace can be of any size. b may not be negative.
func AddCapped[T ~int64](a, b T) T {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// IntCapped returns v without its fraction, or the largest or smallest number there is if v is
// beyond it. A conversion alone would turn a large figure into a negative one.
func IntCapped(v float64) int64 {
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// Rescale returns n*by/of, rounded toward zero and limited to ±math.MaxInt64.
func Rescale(n int64, by, of uint64) int64 {
	if n < 0 {
		return -MulDiv(-uint64(n), by, of)
	}
	return MulDiv(uint64(n), by, of)
}

// MulDiv returns a*b/c, rounded down, or the largest number there is if that is more.
func MulDiv(a, b, c uint64) int64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, c)
	return int64(min(q, math.MaxInt64))
}
