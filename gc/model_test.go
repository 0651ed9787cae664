package gc_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// pauses checks the kinds and durations of a collection's pauses, in ms.
func pauses(t *testing.T, c *gc.Collection, want ...any) {
	t.Helper()
	if len(c.Pauses) != len(want)/2 {
		t.Fatalf("collection %d: pauses %+v, want %v", c.Number, c.Pauses, want)
	}
	var sum time.Duration
	for i, p := range c.Pauses {
		sum += p.Duration
		if p.Kind != want[2*i] || math.Abs(ms(p.Duration)-want[2*i+1].(float64)) > 1e-6 {
			t.Errorf("collection %d: pause %d is %v of %v, want %v of %v ms", c.Number, i, p.Kind, p.Duration, want[2*i], want[2*i+1])
		}
	}
	if got := c.Pause(); got.Known() && got.Or(0) != sum {
		t.Errorf("collection %d: pause %v, the sum is %v", c.Number, got.Or(0), sum)
	}
}

func TestBlocking(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	s.blocking(20, 1, 2)
	got, _, m := s.run(t)
	c := got[2]
	pauses(t, c, gc.PauseBlocking, 1.2)
	if !c.Complete || c.AffectedByLoss || c.Kind != gc.Blocking || c.Freed != gc.Some(int64(900)) || c.FreedQuality != gc.Exact {
		t.Errorf("%#v", c)
	}
	if c.SinceLast != gc.Some(8800*time.Microsecond) { // 11.1 to 19.9
		t.Errorf("since last %v", c.SinceLast)
	}
	if s := c.Pauses[0].Suspend; s != gc.Some(50*time.Microsecond) {
		t.Errorf("suspend %v", s)
	}
	if r := c.Pauses[0].Restart; r != gc.Some(100*time.Microsecond) {
		t.Errorf("restart %v", r)
	}
	if p := m.Processes(); len(p) != 1 || p[0].PID != 7 || len(p[0].Suspensions) != 0 {
		t.Errorf("processes %+v", p[0])
	}
}

// background raises a background collection 5 with the ephemeral collection 6
// in its first pause, the foreground collection 7 while it runs, its final
// pause, and its end. Ten heaps' histories come after the end, as a server's do.
func background(s *script, privateEvents bool) {
	const user, bgc = 1, 2
	s.suspendBegin(10, user, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(10.2, user)
	s.start(10.5, user, 5, 2, clr.GCTypeBackgroundGC)
	s.start(11, user, 6, 1, clr.GCTypeNonConcurrentGC)
	s.history(13, user, 1, clr.GlobalMechanismsCompaction, [5]size{{before: 500, out: 50}, {before: 300, out: 30}, {before: 1000, after: 1030, in: 30}})
	s.end(14, user, 6, 1)
	s.stats(14, user, 1080)
	if privateEvents {
		s.raise(14.5, bgc, clr.PrivateProvider, 11, 0, s.clr)
	}
	s.restartBegin(15, user)
	s.restartEnd(15.5, user)

	s.suspendBegin(20, user, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(20.1, user)
	s.start(20.2, user, 7, 1, clr.GCTypeForegroundGC)
	s.history(20.5, user, 1, clr.GlobalMechanismsCompaction, [5]size{{before: 400, out: 40}, {before: 90, out: 70}, {before: 1030, after: 1100, in: 70}})
	s.end(20.8, user, 7, 1)
	s.stats(20.8, user, 1140)
	s.restartBegin(21, user)

	s.suspendBegin(30, bgc, clr.SuspendReasonSuspendForGCPrep)
	s.restartEnd(30.05, user) // late: the thread was scheduled away
	s.suspendEnd(30.1, bgc)
	if privateEvents {
		s.raise(30.2, bgc, clr.PrivateProvider, 14, 0, s.clr)
	}
	s.restartBegin(31, bgc)
	s.restartEnd(31.1, bgc)
	s.end(40, bgc, 5, 2)
	s.stats(40, bgc, 700)
	s.history(40.1, 3, 2, clr.GlobalMechanismsConcurrent,
		[5]size{{before: 500}, {before: 300}, {before: 1000, freeBefore: 100, after: 1100, freeAfter: 500, out: 600}, {before: 50, after: 50, freeAfter: 10}})
}

func TestBackground(t *testing.T) {
	for _, private := range []bool{false, true} {
		s := newScript()
		background(s, private)
		got, order, m := s.run(t)
		if !slices.Equal(order, []uint32{5, 6, 7}) {
			t.Errorf("order %v", order)
		}
		pauses(t, got[5], gc.PauseInitial, 2.0, gc.PauseFinal, 1.0) // 5 less the 3 of the ephemeral one
		pauses(t, got[6], gc.PauseBlocking, 3.0)
		pauses(t, got[7], gc.PauseBlocking, 1.0)
		for n, kind := range map[uint32]gc.Kind{5: gc.Background, 6: gc.Blocking, 7: gc.Foreground} {
			if got[n].Kind != kind || !got[n].Complete {
				t.Errorf("collection %d: %v, complete %v", n, got[n].Kind, got[n].Complete)
			}
		}
		// 900 in objects, 30+70 promoted into gen2 meanwhile, 600 in objects after.
		if c := got[5]; c.Generations[2].Freed != gc.Some(int64(400)) || c.Freed != gc.Some(int64(410)) || c.FreedQuality != gc.LowerBound {
			t.Errorf("freed %+v (%v)", c.Freed, c.FreedQuality)
		}
		if c := got[5]; c.HeapPeak != gc.Some(int64(1850)) || c.HeapAfter != gc.Some(int64(700)) {
			t.Errorf("peak %v, after %v", c.HeapPeak, c.HeapAfter)
		}
		if len(m.Processes()[0].Suspensions) != 0 {
			t.Errorf("suspensions %+v", m.Processes()[0].Suspensions)
		}
	}
}

// TestHeapAddedMeanwhile: a heap that was not there when a background collection
// began has the number 0 in its history, as another one has.
func TestHeapAddedMeanwhile(t *testing.T) {
	s := newScript()
	s.suspendBegin(10, 1, clr.SuspendReasonSuspendForGCPrep)
	s.suspendEnd(10.1, 1)
	s.start(10.2, 1, 1, 2, clr.GCTypeBackgroundGC)
	s.restartBegin(10.5, 1)
	s.restartEnd(10.6, 1)
	s.suspendBegin(20, 2, clr.SuspendReasonSuspendForGCPrep)
	s.suspendEnd(20.1, 2)
	s.restartBegin(20.5, 2)
	s.restartEnd(20.6, 2)
	s.end(30, 2, 1, 2)
	s.stats(30, 2, 700)
	s.globalHistory(30, 2, 2, clr.GlobalMechanismsConcurrent, 2)
	s.heap(30, 2, 0, [5]size{2: {before: 900, after: 300}})
	s.heap(30, 2, 0, [5]size{2: {after: 400}})
	byNumber, _, _ := s.run(t)
	c := byNumber[1]
	if c == nil || !c.Complete || c.HeapBefore != gc.Some(int64(900)) || len(c.Generations) == 0 || c.Generations[2].After != gc.Some(int64(700)) {
		t.Errorf("%#v", c)
	}
}

// TestHeapWalk: sessions with survival events stop the program once more, at the
// end of a background collection.
func TestHeapWalk(t *testing.T) {
	for _, private := range []bool{false, true} {
		s := newScript()
		background(s, private)
		i := slices.IndexFunc(s.events, func(e trace.Event) bool { return e.Desc.ID == 2 && ms(e.Time()) == 40 })
		tail := slices.Clone(s.events[i:])
		s.events = s.events[:i]
		s.suspendBegin(35, 2, clr.SuspendReasonSuspendForGCPrep)
		s.suspendEnd(35.1, 2)
		s.restartBegin(37, 2)
		s.restartEnd(37.1, 2)
		s.events = append(s.events, tail...)
		got, _, m := s.run(t)
		pauses(t, got[5], gc.PauseInitial, 2.0, gc.PauseFinal, 1.0)
		want := gc.SuspensionTotal{Reason: clr.SuspendReasonSuspendForGCPrep, Kind: gc.PauseHeapWalk, Count: 1, Total: 2 * time.Millisecond, Max: 2 * time.Millisecond}
		if got := m.Processes()[0].Suspensions; len(got) != 1 || got[0] != want {
			t.Errorf("suspensions %+v", got)
		}
	}
}

// TestBackgroundRanBlocking: the first background collection of a process may
// find no thread to run on.
func TestBackgroundRanBlocking(t *testing.T) {
	s := newScript()
	s.suspendBegin(10, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(10.1, 1)
	s.start(10.2, 1, 3, 2, clr.GCTypeBackgroundGC)
	s.history(11, 1, 2, clr.GlobalMechanismsPromotion, [5]size{{before: 10}, {before: 10}, {before: 80, out: 60}})
	s.end(12, 1, 3, 2)
	s.stats(12, 1, 60)
	s.restartBegin(12.5, 1)
	s.restartEnd(12.6, 1)
	got, _, _ := s.run(t)
	c := got[3]
	pauses(t, c, gc.PauseBlocking, 2.5)
	if c.Kind != gc.Blocking || c.Requested != gc.Background || !c.Complete || c.Freed != gc.Some(int64(40)) {
		t.Errorf("%#v", c)
	}
}

// TestOverlappingSuspensions: a thread raises SuspendEEBegin for another reason
// while it waits for a collection to end.
func TestOverlappingSuspensions(t *testing.T) {
	s := newScript()
	s.suspendBegin(10, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(10.1, 1)
	s.suspendBegin(10.2, 9, clr.SuspendReasonSuspendOther)
	s.start(10.3, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	s.end(11, 1, 1, 0)
	s.stats(11, 1, 10)
	s.restartBegin(11.1, 1)
	s.restartEnd(11.15, 1)
	s.suspendEnd(11.2, 9)
	s.restartBegin(11.5, 9)
	s.restartEnd(11.6, 9)
	got, _, m := s.run(t)
	pauses(t, got[1], gc.PauseBlocking, 1.1)
	if n := m.Processes()[0].Suspensions; len(n) != 1 || n[0].Reason != clr.SuspendReasonSuspendOther || n[0].Kind != gc.PauseOther {
		t.Errorf("suspensions %+v", n)
	}
}

// TestLostRestart: a suspension whose restart is not in the trace must not
// swallow the time up to the next one.
func TestLostRestart(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	s.events = s.events[:len(s.events)-2] // no restart
	s.blocking(5000, 2, 2)
	got, _, _ := s.run(t)
	if c := got[1]; c.Complete || c.Pause().Known() || len(c.Pauses) != 0 {
		t.Errorf("collection 1: %#v", c)
	}
	pauses(t, got[2], gc.PauseBlocking, 1.2)
}

// TestStartsInside: the trace begins while a collection is under way.
func TestStartsInside(t *testing.T) {
	s := newScript()
	s.end(1, 1, 4, 1)
	s.stats(1, 1, 50)
	s.restartBegin(1.1, 1)
	s.restartEnd(1.2, 1)
	s.blocking(10, 1, 5)
	got, order, _ := s.run(t)
	if !slices.Equal(order, []uint32{4, 5}) {
		t.Fatalf("order %v", order)
	}
	c := got[4]
	if c.Start.Known() || c.Complete || c.Kind != gc.KindUnknown || c.Generation != gc.Some(1) || c.Pause().Known() || c.HeapAfter != gc.Some(int64(50)) {
		t.Errorf("%#v", c)
	}
	if c := got[5]; c.Allocated.Known() || c.SinceLast.Known() || !c.Complete {
		t.Errorf("allocated %v, since last %v, complete %v", c.Allocated, c.SinceLast, c.Complete)
	}
}

// TestTwoStarts: .NET Framework 4.5.2 raises GCStart in two versions.
func TestTwoStarts(t *testing.T) {
	s := newScript()
	s.suspendBegin(10, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(10.1, 1)
	s.raise(10.2, 1, clr.RuntimeProvider, 1, 1, uint32(1), uint32(0), uint32(0), uint32(0), s.clr)
	s.start(10.3, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	s.end(11, 1, 1, 0)
	s.stats(11, 1, 10)
	s.restartBegin(11.1, 1)
	s.restartEnd(11.2, 1)
	got, order, _ := s.run(t)
	if len(order) != 1 || ms(got[1].Start.Or(0)) != 10.2 {
		t.Errorf("order %v, start %v", order, got[1].Start)
	}
	pauses(t, got[1], gc.PauseBlocking, 1.1)
}

// TestFirstVersions: .NET Framework 2.0 raises the events in version 0, no end
// of the suspension, and no beginning of the restart.
func TestFirstVersions(t *testing.T) {
	s := newScript()
	s.raise(10, 1, clr.RuntimeProvider, 9, 0, uint16(clr.SuspendReasonSuspendForGC))
	s.raise(10.1, 1, clr.RuntimeProvider, 1, 0, uint32(3), uint32(clr.GCReasonInduced))
	s.raise(12, 1, clr.RuntimeProvider, 2, 0, uint32(3), uint16(1))
	s.raise(12, 1, clr.RuntimeProvider, 4, 0, [10]uint64{100, 10, 200, 20, 300, 0, 400, 0, 0, 0}, [3]uint32{1, 2, 3})
	s.raise(12.5, 1, clr.RuntimeProvider, 3, 0)
	got, _, _ := s.run(t)
	c := got[3]
	pauses(t, c, gc.PauseBlocking, 2.5)
	if !c.Complete || c.Generation != gc.Some(1) || c.Reason != gc.Some(clr.GCReasonInduced) ||
		c.HeapAfter != gc.Some(int64(1000)) || c.Promoted != gc.Some(int64(30)) || c.Freed.Known() {
		t.Errorf("%+v", c)
	}
	if c.Kind != gc.KindUnknown || c.Suspend().Known() {
		t.Errorf("kind %v, suspend %v: neither is told", c.Kind, c.Suspend())
	}
}

// TestSecondStartInPause: provisional mode turns a gen1 collection into a full
// one without restarting the threads.
func TestSecondStartInPause(t *testing.T) {
	s := newScript()
	s.suspendBegin(10, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(10.1, 1)
	s.start(10.2, 1, 1, 1, clr.GCTypeNonConcurrentGC)
	s.end(11, 1, 1, 1)
	s.stats(11, 1, 10)
	s.start(11.5, 1, 2, 2, clr.GCTypeNonConcurrentGC)
	s.end(13, 1, 2, 2)
	s.stats(13, 1, 10)
	s.restartBegin(14, 1)
	s.restartEnd(14.2, 1)
	got, _, _ := s.run(t)
	pauses(t, got[1], gc.PauseBlocking, 1.5)
	pauses(t, got[2], gc.PauseBlocking, 2.5)
	if !got[1].Complete || !got[2].Complete || got[2].Pauses[0].Restart != gc.Some(200*time.Microsecond) {
		t.Errorf("%+v\n%+v", got[1], got[2])
	}
}

// TestRuntimesApart: two runtimes of one process, and two processes, count for
// themselves, and come in order of start all the same.
func TestRuntimesApart(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	s.clr = 1
	s.blocking(20, 1, 2)
	s.pid, s.clr = 8, 0
	s.blocking(30, 1, 3)
	got, order, m := s.run(t)
	if !slices.Equal(order, []uint32{1, 2, 3}) || len(m.Processes()) != 2 {
		t.Fatalf("order %v, %d processes", order, len(m.Processes()))
	}
	if got[1].ClrInstance != 0 || got[2].ClrInstance != 1 || got[3].Process.PID != 8 {
		t.Error("a collection is in the wrong place")
	}
	if got[2].SinceLast.Known() {
		t.Error("a collection follows one of another runtime")
	}
}

func TestAllocated(t *testing.T) {
	s := newScript()
	s.tick(1, 1, clr.AllocationKindSmall, 700)
	s.blocking(10, 1, 1)
	s.tick(15, 1, clr.AllocationKindLarge, 300)
	s.blocking(20, 1, 2)
	got, _, _ := s.run(t)
	for number, want := range map[uint32][2]int64{1: {1000, 700}, 2: {1000, 300}} {
		c := got[number]
		if c.Allocated != gc.Some(want[0]) || c.AllocatedTicks != gc.Some(want[1]) {
			t.Errorf("collection %d: allocated %v, by ticks %v, want %v", number, c.Allocated, c.AllocatedTicks, want)
		}
	}
}

// TestLoss: a figure that lost events may have changed is marked, and not guessed.
func TestLoss(t *testing.T) {
	s := newScript()
	s.tick(1, 1, clr.AllocationKindSmall, 700)
	s.blocking(10, 1, 1)
	s.blocking(20, 1, 2)
	s.blocking(30, 1, 4) // 3 was lost
	s.blocking(40, 1, 5)
	s.loss.Add(12, 22*time.Millisecond, 28*time.Millisecond)
	got, _, _ := s.run(t)
	for number, want := range map[uint32]bool{1: false, 2: false, 4: true, 5: false} {
		if got[number].AffectedByLoss != want {
			t.Errorf("collection %d: affected by loss %v, want %v", number, got[number].AffectedByLoss, want)
		}
	}
	if c := got[4]; c.Allocated.Known() || c.AllocatedTicks.Known() || c.SinceLast.Known() {
		t.Errorf("allocated %v, by ticks %v, since last %v", c.Allocated, c.AllocatedTicks, c.SinceLast)
	}
	if c := got[5]; !c.Allocated.Known() || !c.SinceLast.Known() {
		t.Errorf("allocated %v, since last %v", c.Allocated, c.SinceLast)
	}
}

// TestLossInsidePause: where the end of a pause is lost with the beginning of the
// next, on the same thread, the two look like one, in which both collections
// began.
func TestLossInsidePause(t *testing.T) {
	s := newScript()
	s.suspendBegin(9, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(9.1, 1)
	s.start(10, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	s.history(10.5, 1, 0, 0, [5]size{})
	s.end(11, 1, 1, 0)
	s.stats(11.1, 1, 0)
	s.loss.Add(3, 11100*time.Microsecond, 20*time.Millisecond)
	s.suspendEnd(20, 1)
	s.start(21, 1, 2, 2, clr.GCTypeBackgroundGC)
	s.restartBegin(22, 1)
	s.restartEnd(22.1, 1)
	got, _, _ := s.run(t)
	for number, c := range got {
		if !c.AffectedByLoss {
			t.Errorf("collection %d: %+v", number, c.Pauses)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d collections", len(got))
	}
}

// TestManyCollections: a model holds back a bounded number of collections. It completes
// the ones that it yields early by reading the trace a second time.
func TestManyCollections(t *testing.T) {
	const n = 20_000
	s := newScript()
	s.loss.Settled = 0
	for i := range n {
		s.blocking(10*float64(i+1), 1, uint32(i+1))
	}
	s.raise(10*(n+2), 1, clr.RundownProvider, 187, 0, s.clr, uint16(2), [4]uint16{9, 0, 4, 0}, [4]uint16{}, uint32(0), uint8(0), uint16(0), [16]byte{}, uint16(0))
	read, ahead := 0, 0
	var m gc.Model
	m.Ahead = func() (trace.Source, error) {
		ahead++
		again := *s
		return &again, nil
	}
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if read++; c.Process.Runtime != ".NET 9.0.4" {
			t.Fatalf("collection %d handed out without its runtime: %q", c.Number, c.Process.Runtime)
		}
	}
	if read != n || ahead != 1 {
		t.Errorf("%d collections, %d further readings", read, ahead)
	}
}

// TestManyBehindOpen: a trace is not read a second time for a collection that never ends,
// because a second reading does not end it.
func TestManyBehindOpen(t *testing.T) {
	const n = 20_000
	s := newScript()
	s.info.Processes = map[uint64]trace.Process{7: {Name: "app"}, 8: {Name: "app"}}
	for _, s.pid = range []uint64{7, 8} {
		s.raise(1, 1, clr.RuntimeProvider, 187, 0, s.clr, uint16(2), [4]uint16{9, 0, 4, 0}, [4]uint16{}, uint32(0), uint8(0), uint16(0), [16]byte{}, uint16(0))
	}
	s.pid = 7
	s.start(2, 1, 1, 2, clr.GCTypeBackgroundGC)
	s.pid = 8
	for i := range n {
		s.blocking(10*float64(i+1), 1, uint32(i+1))
	}
	var m gc.Model
	m.Ahead = func() (trace.Source, error) {
		t.Error("read again")
		return s, nil
	}
	read := 0
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if read++; c.Process.Name != "app" || c.Process.Runtime != ".NET 9.0.4" {
			t.Fatalf("collection %d of %q, %q", c.Number, c.Process.Name, c.Process.Runtime)
		}
	}
	if read != n+1 {
		t.Errorf("%d collections", read)
	}
}

// TestLive: collections of a trace that is still being written do not wait for its end.
func TestLive(t *testing.T) {
	s := newScript()
	s.loss.Settled = 0
	s.blocking(10, 1, 1)
	s.blocking(20, 1, 2)
	s.tick(30, 1, clr.AllocationKindSmall, 700)
	var at []time.Duration
	m := gc.Model{Live: true}
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, s.info.Last)
		if p := c.Process.Snapshot(); p == c.Process || p.PID != 7 {
			t.Errorf("snapshot %+v", p)
		}
	}
	// Each when its threads have restarted.
	if !slices.Equal(at, []time.Duration{11_200 * time.Microsecond, 21_200 * time.Microsecond}) {
		t.Errorf("handed out at %v", at)
	}
}

// TestUnsetFinalization: one figure that cannot be does not cost the others.
func TestUnsetFinalization(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	i := slices.IndexFunc(s.events, func(e trace.Event) bool { return e.Desc.ID == 4 })
	const finalizationPromotedSize = 64
	copy(s.events[i].Payload[finalizationPromotedSize:], "\x1d\xd1\xad\xba\x0d\xf0\xad\xba")
	got, _, _ := s.run(t)
	c := got[1]
	if !c.Complete || c.HeapAfter != gc.Some(int64(100)) || c.FinalizationPromoted.Known() || c.FinalizationPromotedObjs.Known() {
		t.Errorf("%+v", c)
	}
}

// TestFrameworkMemoryLoad: the memory load comes from the private histories of .NET
// Framework, which write 0 if the GC did not query it; more than 100 % is unknown.
func TestFrameworkMemoryLoad(t *testing.T) {
	for told, want := range map[uint32]gc.Opt[int]{0: {}, 71: gc.Some(71), 101: {}} {
		s := newScript()
		s.suspendBegin(0.9, 1, clr.SuspendReasonSuspendForGC)
		s.start(1, 1, 1, 0, clr.GCTypeNonConcurrentGC)
		global := clr.PrivateGCGlobalHeapHistory{NumHeaps: 1, ClrInstanceID: s.clr}
		s.raise(1.5, 1, clr.PrivateProvider, 5, 1, global.Append(nil, 1, 8))
		heap := clr.PrivateGCPerHeapHistory{
			GenData: make([]clr.PrivateGCPerHeapHistoryGenData, 5), MemoryPressure: told, ClrInstanceID: uint8(s.clr),
		}
		s.raise(1.5, 1, clr.PrivateProvider, 4, 2, heap.Append(nil, 2, 8))
		s.end(2, 1, 1, 0)
		s.restartBegin(2.1, 1)
		gcs, _, _ := s.run(t)
		if c := gcs[1]; c == nil || c.Generations == nil || c.MemoryLoad != want {
			t.Errorf("a load of %d is %+v", told, c)
		}
	}
}

// TestStrangeHeap: if a global history was lost, its heaps' histories do not belong to
// the collection before it on the thread.
func TestStrangeHeap(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	s.heap(15, 1, 0, [5]size{{before: 7, out: 7}})
	got, _, _ := s.run(t)
	if c := got[1]; !c.Complete || c.HeapBefore != gc.Some(int64(1000)) {
		t.Errorf("%+v", c)
	}
}

// TestLossBeforeBackground: the collections in a background collection's first pause
// refer to events before it, and a loss in a collection touches the ticks that the next
// one counts from its start on.
func TestLossBeforeBackground(t *testing.T) {
	s := newScript()
	s.blocking(2, 1, 3)
	s.loss.Add(9, 5*time.Millisecond, 8*time.Millisecond)
	background(s, false) // 5, in its first pause 6; 4 was lost
	s.blocking(50, 1, 8)
	s.blocking(60, 1, 9)
	s.loss.Add(1, 50_200*time.Microsecond, 50_300*time.Microsecond)
	s.tick(61, 1, clr.AllocationKindSmall, 700)
	got, _, _ := s.run(t)
	for number, want := range map[uint32]bool{3: false, 5: true, 6: true, 7: false, 8: true, 9: false} {
		if got[number].AffectedByLoss != want {
			t.Errorf("collection %d: affected by loss %v, want %v", number, got[number].AffectedByLoss, want)
		}
	}
	s = newScript()
	s.tick(1, 1, clr.AllocationKindSmall, 700)
	s.blocking(50, 1, 1)
	s.blocking(60, 1, 2)
	s.loss.Add(1, 50_200*time.Microsecond, 50_300*time.Microsecond)
	if got, _, _ := s.run(t); !got[2].AffectedByLoss || got[2].AllocatedTicks.Known() {
		t.Errorf("%+v", got[2])
	}
}

// TestLostRestarts: the time since the collection before is unknown if that
// one's restart was not seen.
func TestLostRestarts(t *testing.T) {
	s := newScript()
	s.blocking(10, 1, 1)
	s.blocking(20, 1, 2)
	s.events = s.events[:len(s.events)-2] // no restart
	s.blocking(30, 2, 3)
	s.blocking(40, 2, 4)
	got, _, _ := s.run(t)
	if got[3].SinceLast.Known() || !got[4].SinceLast.Known() {
		t.Errorf("since last %v, then %v", got[3].SinceLast, got[4].SinceLast)
	}
}

// TestCoreVersion: .NET Core up to 3.1 reports that it is 4.0.0.0, and its version is
// only in the path of its folder.
func TestCoreVersion(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.2/libcoreclr.so":                       ".NET Core 3.1.2",
		`C:\Program Files\dotnet\shared\Microsoft.NETCore.App\3.0.0-preview7-27912-14\coreclr.dll`: ".NET Core 3.0.0-preview7-27912-14",
		"/app/libcoreclr.so":                       ".NET Core",
		"/shared/Microsoft.NETCore.App/\x1b[31m/x": ".NET Core",
	} {
		s := newScript()
		s.blocking(10, 1, 1)
		v := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuCoreClr, BclMajorVersion: 4, RuntimeDllPath: clr.NewUTF16(path)}
		s.raise(20, 1, clr.RundownProvider, 187, 0, v.Append(nil, 0, 8))
		if _, _, m := s.run(t); m.Processes()[0].Runtime != want {
			t.Errorf("%q: %q, want %q", path, m.Processes()[0].Runtime, want)
		}
	}
}

// TestMono: Mono is not taken for .NET Framework, whose kind of runtime has neither bit.
func TestMono(t *testing.T) {
	for sku, want := range map[clr.RuntimeSku]string{
		clr.RuntimeSkuMono: "Mono (.NET 9.0.4)", clr.RuntimeSkuCoreClr: ".NET 9.0.4", clr.RuntimeSkuDesktopClr: ".NET Framework 4.0.30319.18408",
	} {
		s := newScript()
		v := clr.RuntimeInformationStart{
			Sku: sku, BclMajorVersion: 9, BclBuildNumber: 4, VMMajorVersion: 4, VMBuildNumber: 30319, VMQfeNumber: 18408,
		}
		s.raise(20, 1, clr.RundownProvider, 187, 0, v.Append(nil, 0, 8))
		if _, _, m := s.run(t); m.Processes()[0].Runtime != want {
			t.Errorf("%v: %q, want %q", sku, m.Processes()[0].Runtime, want)
		}
	}
}

// TestSecondStart: the start of another runtime in a process, or of a later process with its id,
// does not make the process be watched only from then on.
func TestSecondStart(t *testing.T) {
	s := newScript()
	v := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuCoreClr, ClrInstanceID: s.clr}
	start := func(ms float64) { s.raise(ms, 1, clr.RuntimeProvider, 187, 0, v.Append(nil, 0, 8)) }
	start(2)
	start(5)
	s.blocking(10, 1, 1)
	start(15)
	s.blocking(20, 1, 2)
	_, _, m := s.run(t)
	if p := m.Processes()[0]; p.Started != 5*time.Millisecond || p.Watched(gc.Opt[time.Duration]{}, gc.Opt[time.Duration]{}) < 15*time.Millisecond {
		t.Errorf("watched from %v to %v", p.Started, p.Stopped)
	}
}

// TestOrderOfRuntimes: while a collection of one runtime is under way, later ones of another
// wait for it.
func TestOrderOfRuntimes(t *testing.T) {
	s := newScript()
	s.clr = 1
	s.suspendBegin(1, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(1.1, 1)
	s.start(1.2, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	s.clr = 2
	for n := range uint32(9) {
		s.blocking(float64(10+10*n), 2, 10+n)
	}
	s.clr = 1
	s.end(200, 1, 1, 0)
	s.stats(200, 1, 100)
	s.restartBegin(201, 1)
	s.restartEnd(202, 1)
	for n := range uint32(9) {
		s.blocking(float64(300+10*n), 1, 2+n)
	}
	for _, live := range []bool{false, true} {
		m, last := gc.Model{Live: live}, gc.Some(time.Duration(0))
		for c, err := range m.Collections(s) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Start.Or(0) < last.Or(0) {
				t.Errorf("live %v: GC %d of %d after a later one", live, c.Number, c.ClrInstance)
			}
			last = c.Start
		}
	}
}
