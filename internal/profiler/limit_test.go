package profiler

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestRestAfter: a process rests as long as its events would have taken at the allowed rate.
func TestRestAfter(t *testing.T) {
	for _, c := range []struct {
		events     uint64
		took, want time.Duration
	}{
		{0, 0, 0},
		{maxEvents, time.Second, 0},
		{2 * maxEvents, time.Second, time.Second},
		{3 * maxEvents, time.Second, 2 * time.Second},
		{16 * maxEvents, time.Second / 4, 15*time.Second + 3*time.Second/4},
		{100 * maxEvents, 100 * time.Second, 0},
	} {
		if got := restAfter(c.events, c.took); got != c.want {
			t.Errorf("after %d events in %v: %v, want %v", c.events, c.took, got, c.want)
		}
	}
}

// TestWindow: the session after one with very many events ends as soon as it has a burst of them;
// other sessions end when one is read.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		events     uint64
		took, want time.Duration
	}{
		{0, time.Second, 0},
		{maxEvents, time.Second, 0},
		{4 * maxEvents, time.Second, 0},
		{8 * maxEvents, time.Second, time.Second / 8},
		{8 * maxEvents, 2 * time.Second, 0},
		{100 * maxEvents, time.Second, time.Second / 10},
	} {
		if got := window(c.events, c.took); got != c.want {
			t.Errorf("after %d events in %v: %v, want %v", c.events, c.took, got, c.want)
		}
	}
}

// TestRested: samples of a part of an interval stand for the rest of it, also where a rest
// goes on in the next interval.
func TestRested(t *testing.T) {
	start := time.Now()
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	maker := tracetest.Maker{PID: 7}
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
	s.resume(at(36)) // a session begins
	sample(37)
	sample(40)
	if got := bytes(40); got != 10 {
		t.Errorf("%d MB, want 10: 4 s of 20 s were sampled since the interval began that only rested", got)
	}
	sample(45)
	if got := bytes(50); got != 1 {
		t.Errorf("%d MB, want 1: nothing rested", got)
	}
}

// TestIdleAfterRest: a process that samples nothing in a session after a rest was sampled in that
// time.
func TestIdleAfterRest(t *testing.T) {
	start := time.Now()
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	maker := tracetest.Maker{PID: 7}
	var s sampling
	s.begin(at(0))
	s.pass.Feed(maker.At(time.Second, &clr.AllocationSampled{ObjectSize: 8 << 20, TypeName: clr.NewUTF16("A")}))
	s.resume(at(2))
	s.resting = true
	s.resume(at(5)) // a session begins, without events
	i, _ := s.take(newNames(), at(15))
	if i == nil {
		t.Fatal("no profile")
	}
	if got := i.Rows[0].Bytes >> 20; got < 9 || got > 11 {
		t.Errorf("%d MB, want 10: 8 MB were sampled in 12 s of 15", got)
	}
}
