package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestFinalizing checks that a process has the run of its finalizer thread that has not
// ended, with the objects found for it, and none after the run has ended.
func TestFinalizing(t *testing.T) {
	const user, finalizer = 5, 6
	s := newScript()
	number := uint32(0)
	finds := func(ms float64, objects uint64) {
		number++
		s.suspendBegin(ms, user, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(ms+0.1, user)
		s.start(ms+0.2, user, number, 0, clr.GCTypeNonConcurrentGC)
		s.end(ms+0.3, user, number, 0)
		s.raise(ms+0.3, user, clr.RuntimeProvider, 4, 2, [8]uint64{}, uint64(0), objects, [3]uint32{}, s.clr, [2]uint64{})
		s.restartBegin(ms+0.4, user)
		s.restartEnd(ms+0.5, user)
	}
	finds(10, 3)
	s.raise(11, finalizer, clr.RuntimeProvider, 14, 1, s.clr)
	finds(12, 2)
	s.raise(13, finalizer, clr.RuntimeProvider, 13, 1, uint32(5), s.clr)
	finds(20, 7)
	s.raise(21, finalizer, clr.RuntimeProvider, 14, 1, s.clr)
	finds(30, 0)
	finds(40, 4)
	byNumber, _, _ := s.run(t)
	want := gc.Finalizing{Since: 21 * time.Millisecond, Objects: 11, Found: 1, Latest: 40*time.Millisecond + 300*time.Microsecond}
	if got, running := byNumber[1].Process.Finalizing.Get(); !running || got != want {
		t.Errorf("%+v, %v, want %+v", got, running, want)
	}
}
