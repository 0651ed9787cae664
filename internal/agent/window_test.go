package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// TestWindow has a program with trouble for four minutes and none afterwards: the
// findings last until the next window has lasted as long as the one with trouble.
func TestWindow(t *testing.T) {
	var w window
	troubled := func(minute int) bool {
		now := traceStart.Add(time.Duration(minute) * time.Minute)
		return slices.ContainsFunc(w.judge(now), func(f findings.Finding) bool { return f.ID == "R02" })
	}
	for second := range 12 * 60 {
		pause := time.Millisecond
		if second < 4*60 {
			pause = 500 * time.Millisecond
		}
		c := collectionOf(uint32(second), 0, pause)
		c.Reason = gc.Some(clr.GCReasonAllocSmall)
		w.add(c)
		if second%60 != 59 {
			continue
		}
		minute := (second + 1) / 60
		if got, want := troubled(minute), minute <= 10; got != want {
			t.Errorf("after %d minutes, pauses take much of the time: %v", minute, got)
		}
	}
	if troubled(30) || w.current != nil {
		t.Error("a process without collections has findings")
	}
}
