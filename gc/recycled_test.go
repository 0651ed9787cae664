package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// TestReuse checks that the figures of collections do not depend on whether these have memory of
// their own. Live, because otherwise small traces end before any memory is free.
func TestReuse(t *testing.T) {
	for name, of := range map[string]func(t *testing.T, live, reuse bool) string{"traces": figuresOfTraces, "parts": figuresOfParts} {
		if of(t, true, true) != of(t, true, false) {
			t.Errorf("%s: other figures with Reuse", name)
		}
	}
}

// TestReuseAfterRejectedPauses checks that the restart of a suspension finds none of the pauses of a
// collection that has the memory of its own collection, whose pauses were rejected.
func TestReuseAfterRejectedPauses(t *testing.T) {
	s := newScript()
	s.suspendBegin(-1, 1, clr.SuspendReasonSuspendForGC) // before the trace: it is damaged
	s.suspendEnd(-0.9, 1)
	s.start(-0.8, 1, 1, 0, clr.GCTypeNonConcurrentGC)
	s.end(1, 1, 1, 0)
	s.stats(1, 1, 100)
	s.restartBegin(2, 1)
	for i := range 3 {
		s.blocking(float64(10*i+10), 2, uint32(i+2))
	}
	for i := range 4 { // take the memory of all four
		s.start(100, 2, uint32(i+5), 0, clr.GCTypeNonConcurrentGC)
	}
	s.restartEnd(101, 1)
	m := gc.Model{Live: true}
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Number == 1 && (len(c.Pauses) > 0 || !c.AffectedByLoss) {
			t.Errorf("%+v", c)
		}
	}
}

// TestReuseMemory checks that Reuse saves most allocations, and that each collection has its own
// memory without it.
func TestReuseMemory(t *testing.T) {
	path := gunzipped(t, "../testdata/net10-wks-induced-collect.nettrace.gz")
	var allocs [2]float64
	for i, reuse := range []bool{false, true} {
		n := 0
		allocs[i] = testing.AllocsPerRun(1, func() {
			m := gc.Model{Live: true, Reuse: reuse}
			in, err := open.File(path, open.Options{Want: pass.Wants(&m), Head: pass.Head(&m), Runs: pass.Runs(&m)})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			n = 0
			distinct := make(map[*gc.Collection]bool)
			for c, err := range m.Collections(in.Source) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				distinct[c] = true
			}
			if reuse == (len(distinct) == n) {
				t.Errorf("Reuse %v: %d collections in the memory of %d", reuse, n, len(distinct))
			}
		})
		allocs[i] /= float64(n)
	}
	if allocs[1] > allocs[0]/2 {
		t.Errorf("%.1f allocations a collection, %.1f with Reuse", allocs[0], allocs[1])
	}
	t.Logf("%.1f allocations a collection, %.1f with Reuse", allocs[0], allocs[1])
}
