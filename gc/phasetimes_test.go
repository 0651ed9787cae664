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
		5: {"MarkLongWeak", 5 * time.Microsecond},
		7: {"Sweep", 7 * time.Microsecond},
		8: {"Compact", 8 * time.Microsecond},
	} {
		if got := phaseTimes(values(n)); len(got) != n || got[n-1] != want {
			t.Errorf("%d times: %v, expected %v in the end", n, got, want)
		}
	}
	for _, n := range []int{0, 6, 9} {
		if got := phaseTimes(values(n)); len(got) > 0 {
			t.Errorf("%d times: %v", n, got)
		}
	}
}
