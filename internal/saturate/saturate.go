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
