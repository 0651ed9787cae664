package gc

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// TestPhaseTimes checks that the number of values decides which phases a collection
// had, and that for any other number the phases are unknown.
func TestPhaseTimes(t *testing.T) {
	values := func(n int) (all []clr.GCGlobalHeapHistoryValue) {
		for i := range n {
			all = append(all, clr.GCGlobalHeapHistoryValue{Time: uint32(i + 1)})
		}
		return all
	}
	for n, want := range map[int]PhaseTime{
		5: {"MarkLongWeak", Some(5 * time.Microsecond)},
		7: {"Sweep", Some(7 * time.Microsecond)},
		8: {"Compact", Some(8 * time.Microsecond)},
	} {
		if got := appendPhases(nil, values(n)); len(got) != n || got[n-1] != want {
			t.Errorf("%d times: %v, expected %v in the end", n, got, want)
		}
	}
	for _, n := range []int{0, 6, 9} {
		if got := appendPhases(nil, values(n)); len(got) > 0 {
			t.Errorf("%d times: %v", n, got)
		}
	}
}

// TestImpossiblePhases checks that a phase longer than its pause is unknown, as .NET 8
// writes some, and that the others are kept.
func TestImpossiblePhases(t *testing.T) {
	c := Collection{
		AllPauses: true, Pauses: []Pause{{Duration: 5 * time.Millisecond}},
		PhaseTimes: appendPhases(nil, []clr.GCGlobalHeapHistoryValue{{}, {Time: 2000}, {}, {}, {}, {Time: 1000}, {Time: 500}, {Time: 4_000_000_000}}),
	}
	c.rejectPhases()
	if plan, compact := c.PhaseTimes[5], c.PhaseTimes[7]; plan.Duration != Some(time.Millisecond) || compact.Phase != "Compact" || compact.Duration.Known() {
		t.Errorf("%v", c.PhaseTimes)
	}
	c.AllPauses = false // an unknown pause: the collection's own length is the bound
	c.Start, c.End = Some(time.Duration(0)), Some(500*time.Microsecond)
	c.rejectPhases()
	if roots, sweeps := c.PhaseTimes[1], c.PhaseTimes[6]; roots.Duration.Known() || !sweeps.Duration.Known() {
		t.Errorf("%v", c.PhaseTimes)
	}
}
