package trace_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/trace"
)

// TestClockDuration compares times with exact ones, computed in integers of any size:
// they are rounded to the nearest nanosecond, and bounded.
func TestClockDuration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := trace.Clock{Frequency: rapid.OneOf(rapid.Int64Min(1), rapid.SampledFrom([]int64{1, 1e7, 3124099, 1e9})).Draw(t, "frequency")}
		ticks := rapid.Int64().Draw(t, "ticks")
		n := new(big.Int).Mul(new(big.Int).Abs(big.NewInt(ticks)), big.NewInt(int64(time.Second)))
		n.Add(n, big.NewInt(c.Frequency/2)).Quo(n, big.NewInt(c.Frequency))
		want := trace.MaxTime
		if n.IsInt64() {
			want = min(want, time.Duration(n.Int64()))
		}
		if ticks < 0 {
			want = -want
		}
		if got := c.Duration(ticks); got != want {
			t.Fatalf("%d ticks of %d Hz: %d, want %d", ticks, c.Frequency, got, want)
		}
	})
}

// TestTimesCanBeCompared checks that the distance between any two times is
// right, however damaged the ticks are.
func TestTimesCanBeCompared(t *testing.T) {
	c := trace.Clock{Frequency: 1}
	first, last := c.Duration(math.MinInt64), c.Duration(math.MaxInt64)
	if last-first != 2*trace.MaxTime || first-last != -2*trace.MaxTime {
		t.Errorf("from %v to %v: %v", first, last, last-first)
	}
}
