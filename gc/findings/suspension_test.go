package findings_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestSuspensions checks that suspensions in few background collections count as other
// suspensions, for every rule, and suspensions in most of them as heap walks.
func TestSuspensions(t *testing.T) {
	prep := gc.SuspensionTotal{Reason: clr.SuspendReasonSuspendForGCPrep, Kind: gc.PauseOther, Count: 2, Total: 5 * time.Second, Max: 300 * time.Millisecond}
	for _, tt := range []struct {
		walks    int
		want     []gc.SuspensionTotal
		reported bool    // as heap walks
		others   float64 // the suspensions reported as others
	}{
		{1, []gc.SuspensionTotal{{Reason: prep.Reason, Kind: gc.PauseOther, Count: 3, Total: 5*time.Second + time.Millisecond, Max: prep.Max}}, false, 3},
		{10, []gc.SuspensionTotal{{Reason: prep.Reason, Kind: gc.PauseHeapWalk, Count: 10, Total: 10 * time.Millisecond, Max: time.Millisecond}, prep}, true, 2},
	} {
		h := walked(tt.walks)
		h.process.Suspensions = append(h.process.Suspensions, prep)
		result := h.judged()
		if got := result.Suspensions(); !slices.Equal(got, tt.want) {
			t.Errorf("%d walks: %+v, want %+v", tt.walks, got, tt.want)
		}
		if f := find(result.Findings, "R80"); (f != nil) != tt.reported {
			t.Errorf("%d walks: R80: %+v", tt.walks, f)
		}
		if f := find(result.Findings, "R14"); f == nil || f.Evidence[0].Value != tt.others {
			t.Errorf("%d walks: R14: %+v", tt.walks, f)
		}
	}
}
