package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// pause raises GCPause, as it is proposed for .NET 11.
func (s *script) pause(ms float64, tid uint64, number, us uint64, generation uint32, kind clr.GCPauseKind) {
	s.raise(ms, tid, clr.RuntimeProvider, 304, 1, number, us, generation, uint32(kind), s.clr)
}

// background raises a background collection whose pauses take 2 ms and 3 ms.
func (s *script) background(ms float64, tid uint64, number uint32, reported ...uint64) {
	s.suspendBegin(ms, tid, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(ms+0.1, tid)
	s.start(ms+0.2, tid, number, 2, clr.GCTypeBackgroundGC)
	for _, us := range reported[:min(1, len(reported))] {
		s.pause(ms+1.9, tid, uint64(number), us, 2, clr.GCPauseKindBackground)
	}
	s.restartBegin(ms+2, tid)
	s.restartEnd(ms+2.1, tid)
	s.suspendBegin(ms+5, tid, clr.SuspendReasonSuspendForGCPrep)
	s.suspendEnd(ms+5.1, tid)
	for _, us := range reported[min(1, len(reported)):] {
		s.pause(ms+7.9, tid, uint64(number), us, 2, clr.GCPauseKindBackground)
	}
	s.restartBegin(ms+8, tid)
	s.restartEnd(ms+8.1, tid)
	s.history(ms+9, tid, 2, clr.GlobalMechanismsConcurrent, [5]size{{before: 1000, out: 100}})
	s.end(ms+9.1, tid, number, 2)
	s.stats(ms+9.1, tid, 100)
}

// TestReportedPauses: the runtime's own time is the length of a pause, measured or not,
// if all pauses of a collection are reported.
func TestReportedPauses(t *testing.T) {
	s := newScript()
	s.pause(5, 1, 1, 1150, 0, clr.GCPauseKindBlocking) // before its collection starts: it belongs to none
	s.blocking(10, 1, 1)
	s.suspendBegin(20, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(20.1, 1)
	s.start(20.2, 1, 2, 0, clr.GCTypeNonConcurrentGC)
	s.history(20.5, 1, 0, clr.GlobalMechanismsCompaction, [5]size{{before: 1000, out: 100}})
	s.pause(21, 1, 2, 1150, 0, clr.GCPauseKindBlocking)
	s.end(21, 1, 2, 0)
	s.stats(21, 1, 100)
	s.restartBegin(21.1, 1)
	s.restartEnd(21.2, 1)
	// The suspension of collection 3 is not in the trace.
	s.start(30, 1, 3, 0, clr.GCTypeNonConcurrentGC)
	s.history(30.5, 1, 0, clr.GlobalMechanismsCompaction, [5]size{{before: 1000, out: 100}})
	s.pause(31, 1, 3, 1250, 0, clr.GCPauseKindBlocking)
	s.end(31, 1, 3, 0)
	s.stats(31, 1, 100)
	s.background(40, 1, 4, 1900, 2950)
	s.background(60, 1, 5, 1900) // the second report is lost
	s.blocking(80, 1, 6)
	s.pause(81.15, 1, 6, 1<<60, 0, clr.GCPauseKindBlocking) // impossible
	s.blocking(90, 1, 7)
	s.blocking(100, 1, 8)
	s.blocking(110, 1, 9)
	all, _, _ := s.run(t)
	for _, tt := range []struct {
		number uint32
		pauses []float64 // ms
		start  float64
	}{
		{1, []float64{1.2}, 9.9},
		{2, []float64{1.15}, 20},
		{3, []float64{1.25}, 29.75},
		{4, []float64{1.9, 2.95}, 40},
		{5, []float64{2, 3}, 60},
		{6, []float64{1.2}, 79.9},
	} {
		c := all[tt.number]
		if c == nil || len(c.Pauses) != len(tt.pauses) || !c.AllPauses {
			t.Fatalf("collection %d: %#v", tt.number, c)
		}
		sum := 0.0
		for i, want := range tt.pauses {
			sum += want
			if got := ms(c.Pauses[i].Duration); !near(got, want) {
				t.Errorf("collection %d: pause %d took %v ms, want %v", tt.number, i, got, want)
			}
		}
		if got, known := c.Pause().Get(); !known || !near(ms(got), sum) || !near(ms(c.PauseStart.Or(0)), tt.start) {
			t.Errorf("collection %d: %v ms from %v, want %v from %v", tt.number, ms(got), ms(c.PauseStart.Or(0)), sum, tt.start)
		}
	}
	if kinds := all[4].Pauses; kinds[0].Kind != gc.PauseInitial || kinds[1].Kind != gc.PauseFinal {
		t.Errorf("the pauses of a background collection are %v and %v", kinds[0].Kind, kinds[1].Kind)
	}
}

func near(a, b float64) bool { return a-b < 1e-5 && b-a < 1e-5 }

// TestReportedPausesAreBounded raises more reports than a collection has pauses.
func TestReportedPausesAreBounded(t *testing.T) {
	s := newScript()
	s.suspendBegin(1, 1, clr.SuspendReasonSuspendForGC)
	s.start(2, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	for range 100 {
		s.pause(3, 1, 1, 500, 0, clr.GCPauseKindBlocking)
	}
	s.end(4, 1, 1, 0)
	s.stats(4, 1, 100)
	s.restartBegin(5, 1)
	s.restartEnd(6, 1)
	all, _, _ := s.run(t)
	if c := all[1]; c == nil || c.Pause().Or(0) != 4*time.Millisecond {
		t.Errorf("%#v", c)
	}
}
