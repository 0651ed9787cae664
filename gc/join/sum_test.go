package join

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// TestStraggler distinguishes the causes for which others wait for heap 1 by its marks,
// by the time that it takes to wake up, and by its work.
func TestStraggler(t *testing.T) {
	type marks map[clr.RootType][2]int64 // bytes of heaps 0 and 1
	for _, c := range []struct {
		name          string
		working, wake time.Duration // of heap 1, in a pause of 100 ms
		marks         marks
		cause         Cause
		root          clr.RootType
		ratio         float64
	}{
		{"uneven stacks", 90 * ms, 0, marks{clr.RootTypeStack: {10, 170}, clr.RootTypeOlder: {10, 10}}, UnevenRoots, clr.RootTypeStack, 1.8},
		{"uneven older objects", 90 * ms, 30 * ms, marks{clr.RootTypeStack: {30, 10}, clr.RootTypeOlder: {10, 150}}, UnevenRoots, clr.RootTypeOlder, 1.6},
		{"slow to wake", 60 * ms, 20 * ms, marks{clr.RootTypeStack: {90, 110}}, SlowWake, 0, 1.1},
		{"preempted", 95 * ms, 5 * ms, marks{clr.RootTypeStack: {100, 100}}, SlowWork, 0, 1},
		{"no marks", 95 * ms, 5 * ms, nil, SlowWork, 0, 0},
		{"balanced", 50 * ms, 5 * ms, marks{clr.RootTypeStack: {100, 100}}, CauseUnknown, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Sum
			for range 2 {
				s.Add(&Collection{Pause: 100 * ms, Rows: []Row{
					{Heap: 0, Phase: "done", Working: 45 * ms, Waiting: 55 * ms},
					{Heap: 1, Phase: "done", Working: c.working, Waking: c.wake, Last: 1, WaitedFor: 40 * ms},
				}})
				for root, bytes := range c.marks {
					s.Mark(0, root, bytes[0])
					s.Mark(1, root, bytes[1])
				}
			}
			of, ok := s.Straggler()
			if !ok || of.Heap != 1 || of.Held != 80*ms || of.Waking != 2*c.wake {
				t.Errorf("straggler %+v", of)
			}
			if of.Cause != c.cause || of.Root != c.root || of.MarkedRatio.Or(0) != c.ratio {
				t.Errorf("cause %v, root %v, marked %v times the mean; expected %v, %v, %v", of.Cause, of.Root, of.MarkedRatio, c.cause, c.root, c.ratio)
			}
			if s.Collections != 2 || s.Pause() != 200*ms {
				t.Errorf("%d collections, paused %v", s.Collections, s.Pause())
			}
			if rows := s.Rows(); len(rows) != 2 || rows[0].Heap != 1 || rows[0].Last != 2 {
				t.Errorf("rows %+v, expected heap 1 first", rows)
			}
		})
	}
}

// Where the threads of all heaps are slow to wake, it is not the straggler's fault.
func TestAllSlowToWake(t *testing.T) {
	var s Sum
	s.Add(&Collection{Pause: 100 * ms, Rows: []Row{
		{Heap: 0, Phase: "done", Working: 40 * ms, Waiting: 40 * ms, Waking: 20 * ms},
		{Heap: 1, Phase: "done", Working: 70 * ms, Waking: 30 * ms, Last: 1, WaitedFor: 40 * ms},
	}})
	if of, ok := s.Straggler(); !ok || of.Cause != AllSlowWake || of.Waking != 25*ms {
		t.Errorf("straggler %+v", of)
	}
}

// Where no heap waits, none is the straggler.
func TestNoStraggler(t *testing.T) {
	var s Sum
	s.Mark(0, clr.RootTypeStack, 100)
	s.Add(&Collection{Pause: 10 * ms, Rows: []Row{{Heap: 0, Phase: "done", Working: 10 * ms}}})
	if of, ok := s.Straggler(); ok {
		t.Errorf("straggler %+v", of)
	}
}
