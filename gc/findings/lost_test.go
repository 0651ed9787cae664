package findings

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/trace"
)

// TestEventsLost: a finding counts the unreadable places, and the GCs that they are known
// to touch.
func TestEventsLost(t *testing.T) {
	for affected, want := range map[bool]string{
		false: "1 unreadable place: no GC is known to lack events.",
		true:  "1 unreadable place: the figures of 1 of 1 GC may be too low.",
	} {
		var s stats.Summary
		s.Add(&gc.Collection{Process: new(gc.Process), AffectedByLoss: affected})
		j := &judgement{Case: &Case{Summary: s}, all: s.All()}
		j.Trace.Loss.Damaged = 1
		if f, fires := eventsLost(j); !fires || !strings.HasPrefix(f.Description, want) {
			t.Errorf("%v: %q, want %q", affected, f.Description, want)
		}
	}
}

// TestLeftOut: if processes were left out, there is no verdict.
func TestLeftOut(t *testing.T) {
	left := Trace{Loss: trace.Loss{Events: 10, LeftOut: 10}}
	if why := left.incomplete(); !left.Loss.Incomplete() || why != "only the first 1,024 processes are read" {
		t.Errorf("incomplete %t: %s", left.Loss.Incomplete(), why)
	}
}
