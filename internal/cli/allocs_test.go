package cli

import (
	"testing"

	"github.com/gctrail/gctrail/gc/alloc"
)

// TestOvercounts: only complete heap histories show that ticks count more than was allocated.
func TestOvercounts(t *testing.T) {
	for name, tt := range map[string]struct {
		source         alloc.Source
		events         float64
		lossy, atLeast bool
		want           bool
	}{
		"too many":            {source: alloc.Tick, events: 111, want: true},
		"ends of contexts":    {source: alloc.Tick, events: 110},
		"an estimate":         {source: alloc.Sampled, events: 300},
		"collections missing": {source: alloc.Tick, events: 300, lossy: true},
		"a lower bound":       {source: alloc.Tick, events: 300, atLeast: true},
	} {
		s := allocSection{lossy: tt.lossy}
		sum := s.sums.of(7)
		sum.histories, sum.atLeast, sum.events[tt.source] = 100, tt.atLeast, tt.events
		if got := s.overcounts(&alloc.Total{PID: 7, Source: tt.source}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (&allocSection{}).overcounts(&alloc.Total{PID: 7, Source: alloc.Tick}) {
		t.Error("without histories")
	}
}
