package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
)

// swept raises a background collection of gen2 from ms to ms+3 whose pauses
// both last 0.2 ms, and the histories that write raises.
func (s *script) swept(ms float64, tid uint64, number uint32, write func(ms float64)) {
	s.suspendBegin(ms-0.1, tid, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(ms-0.05, tid)
	s.start(ms, tid, number, 2, clr.GCTypeBackgroundGC)
	s.restartBegin(ms+0.05, tid)
	s.restartEnd(ms+0.1, tid)
	s.suspendBegin(ms+1, tid, clr.SuspendReasonSuspendForGCPrep)
	s.suspendEnd(ms+1.1, tid)
	s.restartBegin(ms+1.15, tid)
	s.restartEnd(ms+1.2, tid)
	write(ms + 2)
	s.end(ms+3, tid, number, 2)
	s.stats(ms+3, tid, 1000)
}

// A damaged history may have no generations, or fewer than all runtimes write.
func TestShortHistories(t *testing.T) {
	for n := range 6 {
		s := newScript()
		s.blocking(1, 1, 1)
		s.swept(3, 2, 2, func(ms float64) {
			s.globalHistory(ms, 2, 2, clr.GlobalMechanismsConcurrent, 1)
			fields := []any{s.clr, [6]uint64{}, [5]uint32{}, uint32(0), uint64(0), uint32(n)}
			for range n {
				fields = append(fields, [10]uint64{1000})
			}
			s.raise(ms, 2, clr.RuntimeProvider, 204, 3, fields...)
		})
		s.blocking(8, 1, 3)
		s.blocking(10, 1, 4)
		got, _, _ := s.run(t)
		if c := got[2]; c == nil || (len(c.Generations) > 0) != (n >= 4) || c.AffectedByLoss != (n < 4) {
			t.Errorf("history of %d generations: %#v", n, c)
		}
	}
}

// A collection without histories is marked as affected by loss if others have theirs, because
// there may be no other sign that events were lost.
func TestMissingHistories(t *testing.T) {
	s := newScript()
	for n := range uint32(4) {
		s.blocking(1+4*float64(n), 1, 1+n)
	}
	for i := range s.events {
		if s.events[i].Desc.ID == 205 && s.events[i].Ticks > 4e6 && s.events[i].Ticks < 8e6 {
			s.events[i].TID = 9 // the history that follows is on another thread
		}
	}
	got, _, _ := s.run(t)
	for n, affected := range map[uint32]bool{1: false, 2: true, 4: false} { // the third looks back to the second
		if c := got[n]; !c.Complete || c.AffectedByLoss != affected || c.HeapBefore.Known() == affected {
			t.Errorf("collection %d: complete %v, affected %v, before %v", n, c.Complete, c.AffectedByLoss, c.HeapBefore)
		}
	}
}

// Sizes that contradict each other are unknown, and the collection is marked.
func TestContradictions(t *testing.T) {
	const far = 1 << 40
	for name, test := range map[string]struct {
		size
		stats   uint64
		unknown bool
	}{
		"agree":             {size{before: 1000, after: 1000, out: 100}, 1000, false},
		"a little apart":    {size{before: 1000, after: 900, freeAfter: 950, in: 150, out: 100}, 1000, false},
		"free, not there":   {size{before: 1000, after: 1000, freeAfter: far, out: 100}, 1000, true},
		"came from nowhere": {size{before: 1000, after: 1000, in: far, out: 100}, 1000, true},
		"generation larger": {size{before: 1000, after: far, out: 100}, 1000, true},
		"heap larger":       {size{before: 1000, after: 1000, out: 100}, far, true},
		"no machine's":      {size{before: 1 << 47, after: 1000, out: 100}, 1000, true},
	} {
		s := newScript()
		s.blocking(1, 1, 1)
		s.suspendBegin(4.9, 1, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(4.95, 1)
		s.start(5, 1, 2, 0, clr.GCTypeNonConcurrentGC)
		s.history(5.5, 1, 0, clr.GlobalMechanismsCompaction, [5]size{test.size})
		s.end(6, 1, 2, 0)
		s.stats(6, 1, test.stats)
		s.restartBegin(6.1, 1)
		s.restartEnd(6.2, 1)
		s.blocking(9, 1, 3)
		got, _, _ := s.run(t)
		if c := got[2]; c.HeapBefore.Known() == test.unknown || c.AffectedByLoss != test.unknown {
			t.Errorf("%s: %v before, %v after, affected %v", name, c.HeapBefore, c.HeapAfter, c.AffectedByLoss)
		}
	}
}
