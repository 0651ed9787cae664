package gc_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// TestNoGCRegions checks that suspensions without a collection are no-GC regions where
// they took numbers, and only as many as there are numbers and suspensions.
func TestNoGCRegions(t *testing.T) {
	const user = 5
	s := newScript()
	given := func(ms float64, count uint32) { // a suspension in which no collection begins
		s.raise(ms, user, clr.RuntimeProvider, 9, 1, uint32(clr.SuspendReasonSuspendForGC), count, s.clr)
		s.suspendEnd(ms+0.1, user)
		s.restartBegin(ms+0.2, user)
		s.restartEnd(ms+0.3, user)
	}
	collect := func(ms float64, number uint32) {
		s.raise(ms, user, clr.RuntimeProvider, 9, 1, uint32(clr.SuspendReasonSuspendForGC), number-1, s.clr)
		s.suspendEnd(ms+0.1, user)
		s.start(ms+0.2, user, number, 0, clr.GCTypeNonConcurrentGC)
		s.end(ms+0.3, user, number, 0)
		s.stats(ms+0.3, user, 1000)
		s.restartBegin(ms+0.4, user)
		s.restartEnd(ms+0.5, user)
	}
	collect(10, 4)
	given(20, 4) // took 5
	given(21, 5) // took 6
	collect(30, 7)
	given(40, 7) // took none
	collect(50, 8)
	collect(60, 11) // 9 and 10 were lost: no suspension took them
	given(70, 11)   // took 12, as the next one shows
	given(80, 12)   // may have taken 13

	var m gc.Model
	want := map[uint32]int{7: 2}
	var p *gc.Process
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if c.NoGCRegions != want[c.Number] {
			t.Errorf("GC %d follows %d regions, want %d", c.Number, c.NoGCRegions, want[c.Number])
		}
		p = c.Process
	}
	if want := []trace.Range{{From: 50_300_001, To: 59_999_999}}; p.Missing != 2 || !slices.Equal(s.loss.Ranges(), want) {
		t.Errorf("%d collections are missing, %v, want 2, %v", p.Missing, s.loss.Ranges(), want)
	}
	if want := (gc.NoGC{Regions: 3, Suspended: 600 * time.Microsecond, Perhaps: 1}); p.NoGC != want {
		t.Errorf("%+v, want %+v", p.NoGC, want)
	}
}

// TestMissingCollections checks that collections before the first of a trace are missing
// only if the trace has the start of the runtime, and collections before a later one
// always, unless the trace has no suspensions, because regions without a collection need
// them too. A number that so many collections could not have reached is damaged.
func TestMissingCollections(t *testing.T) {
	for _, c := range []struct {
		started bool
		numbers []uint32
		missing int
		without clr.Kind
	}{
		{false, []uint32{3, 4, 5}, 0, 0},
		{true, []uint32{1, 2, 3}, 0, 0},
		{true, []uint32{3, 4, 5}, 2, 0},
		{false, []uint32{3, 5, 9}, 4, 0},
		{false, []uint32{3, 5, 9}, 0, clr.KindGCSuspendEEBegin},
		{false, []uint32{3, 4, 5 | 1<<30, 6}, 1, 0},
	} {
		s := newScript()
		if c.started {
			v := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuCoreClr, ClrInstanceID: s.clr}
			s.raise(1, 1, clr.RuntimeProvider, 187, 0, v.Append(nil, 0, 8))
		}
		for i, n := range c.numbers {
			s.blocking(float64(10*i+10), 1, n)
		}
		s.events = slices.DeleteFunc(s.events, func(ev trace.Event) bool { return c.without != 0 && ev.Desc.ID == c.without.ID() })
		_, _, m := s.run(t)
		if p := m.Processes()[0]; p.Missing != c.missing || p.StartSeen != c.started || (len(s.loss.Ranges()) > 0) != (c.missing > 0) {
			t.Errorf("%v, started %v: %d missing, %v, want %d", c.numbers, p.StartSeen, p.Missing, s.loss.Ranges(), c.missing)
		}
	}
}
