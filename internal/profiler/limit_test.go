package profiler

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventtest"
)

// TestRestAfter: a process rests as long as its events would have taken at the allowed rate,
// unless they came in a short burst.
func TestRestAfter(t *testing.T) {
	for _, c := range []struct {
		events     uint64
		took, want time.Duration
	}{
		{0, 0, 0},
		{maxEvents, time.Second, 0},
		{2 * maxEvents, time.Second, 0},
		{3 * maxEvents, time.Second, 2 * time.Second},
		{16 * maxEvents, time.Second / 4, 15*time.Second + 3*time.Second/4},
		{100 * maxEvents, 100 * time.Second, 0},
	} {
		if got := restAfter(c.events, c.took); got != c.want {
			t.Errorf("after %d events in %v: %v, want %v", c.events, c.took, got, c.want)
		}
	}
}

// TestRested: samples of a part of an interval stand for the rest of it, also where a rest
// goes on in the next interval.
func TestRested(t *testing.T) {
	start := time.Now()
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	maker := eventtest.Maker{PID: 7}
	var s sampling
	sample := func(second int) {
		s.resume(at(second))
		s.pass.Feed(maker.At(at(second).Sub(start), &clr.AllocationSampled{ObjectSize: 1 << 20, TypeName: clr.NewUTF16("A")}))
	}
	bytes := func(second int) int64 {
		i, _ := s.take(newNames(), at(second))
		if i == nil {
			return 0
		}
		return i.Rows[0].Bytes >> 20
	}
	s.begin(at(0))
	sample(10)
	s.resting = true
	if got := bytes(20); got != 2 {
		t.Errorf("%d MB, want 2: half of the interval was sampled", got)
	}
	if got := bytes(30); got != 0 {
		t.Errorf("%d MB in a rest", got)
	}
	sample(36)
	sample(40)
	if got := bytes(40); got != 5 {
		t.Errorf("%d MB, want 5: 4 s of 10 s were sampled", got)
	}
	sample(45)
	if got := bytes(50); got != 1 {
		t.Errorf("%d MB, want 1: nothing rested", got)
	}
}
