package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

func TestPressure(t *testing.T) {
	s := newScript()
	s.raise(1, 1, clr.RuntimeProvider, 200, 0, uint64(1000), s.clr)
	s.raise(2, 1, clr.RuntimeProvider, 200, 0, uint64(500), s.clr)
	s.raise(3, 1, clr.RuntimeProvider, 201, 0, uint64(700), s.clr)
	s.raise(4, 1, clr.RuntimeProvider, 200, 0, uint64(1<<60), s.clr) // damage
	_, _, m := s.run(t)
	if got, want := m.Processes()[0].Pressure, (gc.Pressure{Increases: 2, Decreases: 1, Added: 1500, Removed: 700}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestOutOfMemory counts the exceptions that failed allocations throw, and no others.
func TestOutOfMemory(t *testing.T) {
	s := newScript()
	for _, name := range []string{"System.OutOfMemoryException", "System.InvalidOperationException", "App.OutOfMemoryException", "System.OutOfMemoryExceptions"} {
		s.raise(1, 1, clr.RuntimeProvider, 80, 1, []byte(clr.NewUTF16(name+"\x00text\x00")), uint64(0), uint32(0x8007000e), uint16(0), s.clr)
	}
	_, _, m := s.run(t)
	if got := m.Processes()[0].OutOfMemory; got != 1 {
		t.Errorf("%d OutOfMemoryExceptions, want 1", got)
	}
}

func TestAllocWaits(t *testing.T) {
	s := newScript()
	wait := func(ms float64, tid uint64, id uint32, reason clr.BGCAllocWaitReason) {
		s.raise(ms, tid, clr.PrivateProvider, id, 0, uint32(reason), s.clr)
	}
	wait(1, 1, 23, clr.BGCAllocWaitReasonUOHAllocDuringBGC)
	wait(2, 2, 23, clr.BGCAllocWaitReasonLOHAllocDuringPlan)
	wait(3, 3, 23, clr.BGCAllocWaitReasonFGCWaitForBGC) // the collector waits, no thread that allocates
	wait(5, 2, 24, clr.BGCAllocWaitReasonLOHAllocDuringPlan)
	wait(6, 1, 24, clr.BGCAllocWaitReasonUOHAllocDuringBGC)
	wait(7, 3, 24, clr.BGCAllocWaitReasonFGCWaitForBGC)
	wait(8, 4, 24, clr.BGCAllocWaitReasonUOHAllocDuringBGC) // which began before the trace
	_, _, m := s.run(t)
	if got, want := m.Processes()[0].AllocWaits, (gc.AllocWaits{Count: 2, Total: 8 * time.Millisecond, Max: 5 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAdaptation(t *testing.T) {
	s := newScript()
	raise := func(name string, data []byte) {
		fields := []any{}
		for _, r := range name {
			fields = append(fields, uint16(r))
		}
		s.raise(1, 1, clr.RuntimeProvider, 39, 0, append(fields, uint16(0), uint32(len(data)), data, s.clr)...)
	}
	for _, cost := range []float32{10, 30, -1, 1e9} { // the last two are damage
		raise("SizeAdaptationTuning", (&clr.SizeAdaptationTuning{Version: 1, MedianThroughputCostPercent: cost}).Append(nil))
	}
	raise("SizeAdaptationFullGCTuning", (&clr.SizeAdaptationFullGCTuning{Version: 1, MedianGen2Tcp: 7}).Append(nil))
	_, _, m := s.run(t)
	a := m.Processes()[0].Adaptation
	if a.MeanCost() != gc.Some(20.0) || a.MeanFullCost() != gc.Some(7.0) {
		t.Errorf("%+v", a)
	}
	if none := new(gc.Adaptation); none.MeanCost().Known() {
		t.Error("no tuning has a cost")
	}
}

// TestWaitsForAnotherSuspension checks that the time in which a suspension has to
// wait for one that is under way is distinguished.
func TestWaitsForAnotherSuspension(t *testing.T) {
	s := newScript()
	s.suspendBegin(1, 1, clr.SuspendReasonSuspendOther)
	s.suspendEnd(2, 1)
	s.suspendBegin(3, 2, clr.SuspendReasonSuspendForGC)
	s.restartBegin(7, 1)
	s.restartEnd(8, 1)
	s.suspendEnd(9, 2)
	s.start(9.5, 2, 1, 0, clr.GCTypeNonConcurrentGC)
	s.end(10, 2, 1, 0)
	s.stats(10, 2, 100)
	s.restartBegin(11, 2)
	s.restartEnd(12, 2)
	collections, _, _ := s.run(t)
	p := collections[1].Pauses[0]
	if p.Suspend != gc.Some(6*time.Millisecond) || p.Waited != 5*time.Millisecond {
		t.Errorf("suspend %v, of which %v waiting", p.Suspend, p.Waited)
	}
}
