package handle

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventtest"
	"github.com/gctrail/gctrail/trace"
)

// TestManyProcesses: more processes than a model distinguishes are summed up as an
// unknown one.
func TestManyProcesses(t *testing.T) {
	const more = 500
	var (
		handles    Handles
		pins       Pins
		finalizers Finalizers
	)
	for n := range maxProcesses + more {
		maker := eventtest.Maker{PID: uint64(1 + n), TID: 1}
		for _, e := range []clr.Event{
			&clr.GCStart{Count: 1}, &clr.PinObjectAtGCTime{ObjectID: uint64(8 * (1 + n)), ObjectSize: 8},
			&clr.SetGCHandle{HandleID: uint64(1 + n), Kind: clr.HandleKindStrong}, &clr.FinalizeObject{TypeID: 1},
		} {
			ev := maker.At(0, e)
			handles.Feed(ev)
			pins.Feed(ev)
			finalizers.Feed(ev)
		}
	}
	counts, totals, work := handles.Processes(), pins.Processes(), finalizers.Processes()
	if len(counts) != maxProcesses+1 || len(totals) != maxProcesses+1 || len(work) != maxProcesses+1 {
		t.Fatalf("%d, %d and %d processes", len(counts), len(totals), len(work))
	}
	for _, c := range counts {
		if c.PID == trace.UnknownID && c.Created != more {
			t.Errorf("%d handles, want %d", c.Created, more)
		}
	}
	for _, p := range totals {
		if p.PID == trace.UnknownID && p.Count != more {
			t.Errorf("%d pins, want %d", p.Count, more)
		}
	}
	for _, w := range work {
		if w.PID == trace.UnknownID && w.Objects != more {
			t.Errorf("%d finalized objects, want %d", w.Objects, more)
		}
	}
}
