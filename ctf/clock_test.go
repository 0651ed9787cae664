package ctf

import (
	"math"
	"testing"

	"github.com/gctrail/gctrail/internal/tsdl"
)

// TestClock checks the times of a clock whose offset is in seconds and cycles, which may
// be negative, and of one without a description.
func TestClock(t *testing.T) {
	for _, tt := range []struct {
		clocks []*tsdl.Clock
		cycles uint64
		want   int64
	}{
		{nil, 7, 7},
		{[]*tsdl.Clock{{Frequency: 1e9, Seconds: 2, Cycles: 500}}, 7, 2e9 + 507},
		{[]*tsdl.Clock{{Frequency: 1000, Seconds: 2, Cycles: 500}}, 5, 2.505e9},
		{[]*tsdl.Clock{{Frequency: 1000, Seconds: 2, Cycles: -500}}, 5, 1.505e9},
		{[]*tsdl.Clock{{Frequency: 3}}, 1, 333_333_333},
		{[]*tsdl.Clock{{Frequency: 1}}, math.MaxUint64, math.MaxInt64},
	} {
		c := newClock(&tsdl.Trace{Clocks: tt.clocks}, &tsdl.Stream{})
		if got := c.ns(tt.cycles); got != tt.want {
			t.Errorf("%+v: cycle %d is at %d ns, want %d", c, tt.cycles, got, tt.want)
		}
	}
}
