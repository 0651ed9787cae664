package trace

import (
	"math"
	"math/bits"
	"time"
)

// Duration converts ticks to a duration, rounded to the nearest nanosecond.
// What a Duration cannot hold becomes the longest there is.
func (c *Clock) Duration(ticks int64) time.Duration {
	if c.Frequency == int64(time.Second) {
		return time.Duration(ticks)
	}
	neg, t := ticks < 0, uint64(ticks)
	if neg {
		t = -t
	}
	hi, lo := bits.Mul64(t, uint64(time.Second))
	lo, carry := bits.Add64(lo, uint64(c.Frequency)/2, 0)
	hi += carry
	if hi >= uint64(c.Frequency) {
		return saturated(neg)
	}
	ns, _ := bits.Div64(hi, lo, uint64(c.Frequency))
	if ns > math.MaxInt64 {
		return saturated(neg)
	}
	if neg {
		return -time.Duration(ns)
	}
	return time.Duration(ns)
}

// Millis converts ticks to milliseconds.
func (c *Clock) Millis(ticks int64) float64 {
	return float64(ticks) * 1000 / float64(c.Frequency)
}

// ticks converts a duration that is not negative to ticks, rounded down.
func (c *Clock) ticks(d time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(d%time.Second), uint64(c.Frequency))
	rest, _ := bits.Div64(hi, lo, uint64(time.Second))
	return int64(d/time.Second)*c.Frequency + int64(rest)
}

func saturated(neg bool) time.Duration {
	if neg {
		return math.MinInt64
	}
	return math.MaxInt64
}
