package report

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// TestPausesOutside: suspensions after the last selected collection count, up to the end
// of the selected time, though they come with a collection that does not.
func TestPausesOutside(t *testing.T) {
	const ms = time.Millisecond
	p := NewPauses(90, 100*ms, gc.Some(0*ms), gc.Some(1000*ms))
	process := &gc.Process{Stopped: 2000 * ms}
	p.Add(&gc.Collection{Process: process, Start: gc.Some(100 * ms), PauseStart: gc.Some(100 * ms), Pauses: []gc.Pause{{Start: 100 * ms, Duration: 10 * ms}}})
	p.AddOutside([]gc.Outside{{From: 400 * ms, To: 600 * ms, Suspended: 200 * ms}, {From: 1400 * ms, To: 1800 * ms, Suspended: 400 * ms}})
	list, count := p.Bottlenecks()
	if count != 1 || list[0].From != 400*ms || list[0].Other != 200*ms {
		t.Errorf("%d bottlenecks: %+v", count, list)
	}
	stalls := p.Suspended()
	if len(stalls) == 0 || stalls[len(stalls)-1].Other != 200*ms {
		t.Errorf("worst windows: %+v", stalls)
	}
}
