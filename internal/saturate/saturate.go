// Package saturate adds figures of a trace, which can be of any size if it is
// damaged.
package saturate

import "math"

// Add returns a+b, or the largest number there is if that is more. Neither may
// be negative.
func Add[T ~int64](a, b T) T {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Int returns v without its fraction, or the largest or smallest number there is if v is
// beyond it. A conversion alone would turn a large figure into a negative one.
func Int(v float64) int64 {
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}
