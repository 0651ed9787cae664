package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A monoCollection is a collection inside a stop of the world: its generation, and whether it
// begins and ends there.
type monoCollection struct {
	generation   uint32
	starts, ends bool
}

// monoStop raises a stop of the world as Mono does: what happens in it comes after the restart.
func (s *script) monoStop(from, to float64, inside ...monoCollection) {
	const tid = 5
	step := func(ms float64, step clr.MonoGCStep, generation uint32) {
		s.raise(ms, tid, clr.MonoProfilerProvider, 38, 0, uint8(step), generation)
	}
	step(from-0.01, clr.MonoGCStepPreStopWorld, 0)
	step(from, clr.MonoGCStepPreStopWorldLocked, 0)
	step(to, clr.MonoGCStepPostStopWorld, 0)
	for _, c := range inside {
		if c.starts {
			step(to+0.001, clr.MonoGCStepStart, c.generation)
		}
		if c.ends {
			step(to+0.002, clr.MonoGCStepEnd, c.generation)
		}
	}
	step(to+0.003, clr.MonoGCStepPreStartWorld, 0)
	step(to+0.004, clr.MonoGCStepPostStartWorld, 0)
	step(to+0.005, clr.MonoGCStepPostStartWorldUnlocked, 0)
}

// TestMonoCollections: collections are counted by generation, and have the pauses of their stops.
func TestMonoCollections(t *testing.T) {
	s := newScript()
	nursery, whole := monoCollection{0, true, true}, monoCollection{1, true, true}
	s.monoStop(10, 13, nursery)
	s.monoStop(20, 21)                                                       // another reason
	s.monoStop(30, 36, nursery, whole)                                       // of an overflow
	s.monoStop(40, 42, nursery, monoCollection{generation: 1, starts: true}) // goes on in the background
	s.monoStop(50, 51, nursery)
	s.monoStop(60, 64, nursery, monoCollection{generation: 1, ends: true})
	s.monoStop(70, 72, whole)
	got, order, m := s.run(t)
	type figures struct {
		generation   int
		kind         gc.Kind
		start, pause float64
		pauses       int
	}
	want := map[uint32]figures{
		1: {0, gc.Blocking, 10, 3, 1},
		2: {0, gc.Blocking, 30, 0, 1}, 3: {1, gc.Blocking, 30, 6, 1},
		4: {0, gc.Blocking, 40, 0, 1}, 5: {1, gc.Background, 40, 6, 2},
		6: {0, gc.Foreground, 50, 1, 1},
		7: {0, gc.Foreground, 60, 0, 1},
		8: {1, gc.Blocking, 70, 2, 1},
	}
	if len(order) != len(want) {
		t.Errorf("%d collections, want %d", len(order), len(want))
	}
	for number, w := range want {
		c := got[number]
		if c == nil {
			t.Errorf("GC %d is missing", number)
			continue
		}
		f := figures{c.Generation.Or(-1), c.Kind, ms(c.Start.Or(0)), ms(c.Pause().Or(-1)), len(c.Pauses)}
		if f != w || !c.Complete || c.AffectedByLoss {
			t.Errorf("GC %d: %+v, want %+v; complete %v, affected by loss %v", number, f, w, c.Complete, c.AffectedByLoss)
		}
		if c.Reason.Known() || c.HeapAfter.Known() || c.HeapBefore.Known() || c.Promoted.Known() || c.Allocated.Known() || c.Generations != nil {
			t.Errorf("GC %d has figures that Mono does not raise: %+v", number, c)
		}
	}
	if since := got[6].SinceLast; since != gc.Some(8*time.Millisecond) {
		t.Errorf("GC 6 comes %v after the one before, want 8ms", since)
	}
	if o := got[2].Outside; len(o) != 1 || o[0].Suspended != time.Millisecond {
		t.Errorf("outside collections: %v, want 1ms", o)
	}
	for _, p := range m.Processes() {
		if len(p.Suspensions) != 1 || p.Suspensions[0].Count != 1 {
			t.Errorf("suspensions %+v", p.Suspensions)
		}
	}
}

// TestMonoInPart: a trace that begins in a stop, and one that lacks the end of a collection in the
// background, have collections that are incomplete.
func TestMonoInPart(t *testing.T) {
	s := newScript()
	s.monoStop(10, 13, monoCollection{0, true, true})
	s.events = s.events[2:] // the threads are stopped
	s.monoStop(20, 21, monoCollection{generation: 1, ends: true})
	s.monoStop(30, 31, monoCollection{generation: 1, starts: true})
	s.monoStop(40, 41, monoCollection{generation: 1, starts: true})
	s.monoStop(50, 51, monoCollection{generation: 1, ends: true})
	got, order, _ := s.run(t)
	if len(order) != 3 || got[1] == nil || got[2] == nil || got[3] == nil {
		t.Fatalf("collections %v", order)
	}
	if c := got[1]; c.Complete || c.Pause().Known() || c.Generation != gc.Some(0) || c.End != gc.Some(13*time.Millisecond) {
		t.Errorf("in a stop that began before the trace: %+v", c)
	}
	if c := got[2]; c.Complete || c.Pause().Known() || c.End.Known() {
		t.Errorf("without its end: %+v", c)
	}
	if c := got[3]; !c.Complete || c.Kind != gc.Background || c.Pause() != gc.Some(2*time.Millisecond) {
		t.Errorf("after it: %+v", c)
	}
}
