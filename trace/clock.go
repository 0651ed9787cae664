package trace

import (
	"math/bits"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// MaxTime bounds times before and after a trace's start: 146 years. It exists so that the
// time of an event, and the difference between two, fit a Duration even if the trace is
// damaged.
const MaxTime = time.Duration(1<<62 - 1)

// Bound returns the time nearest to t that lies within MaxTime.
func Bound(t time.Duration) time.Duration { return min(max(t, -MaxTime), MaxTime) }

// Duration converts ticks to a time, rounded to the nearest nanosecond, within
// MaxTime.
func (c *Clock) Duration(ticks int64) time.Duration {
	if c.Frequency == int64(time.Second) {
		return Bound(time.Duration(ticks))
	}
	neg, t := ticks < 0, uint64(ticks)
	if neg {
		t = -t
	}
	hi, lo := bits.Mul64(t, uint64(time.Second))
	lo, carry := bits.Add64(lo, uint64(c.Frequency)/2, 0)
	hi += carry
	ns := uint64(MaxTime)
	if hi < uint64(c.Frequency) {
		ns, _ = bits.Div64(hi, lo, uint64(c.Frequency))
		ns = min(ns, uint64(MaxTime))
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

// ticks converts a duration that is not negative to ticks, rounded down. A result that
// overflows becomes the largest int64.
func (c *Clock) ticks(d time.Duration) int64 {
	return units.MulDiv(uint64(d), uint64(c.Frequency), uint64(time.Second))
}
