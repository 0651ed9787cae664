package handle

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestManyProcesses: the events of more processes than are distinguished count as left out,
// once for all models.
func TestManyProcesses(t *testing.T) {
	const more = 500
	var (
		handles    Handles
		pins       Pins
		finalizers Finalizers
	)
	p := pass.New(&handles, &pins, &finalizers)
	for n := range pass.MaxProcesses + more {
		maker := tracetest.Maker{PID: uint64(1 + n), TID: 1}
		for _, e := range []clr.Event{
			&clr.GCStart{Count: 1}, &clr.PinObjectAtGCTime{ObjectID: uint64(8 * (1 + n)), ObjectSize: 8},
			&clr.SetGCHandle{HandleID: uint64(1 + n), Kind: clr.HandleKindStrong}, &clr.FinalizeObject{TypeID: 1},
		} {
			p.Feed(maker.At(0, e))
		}
	}
	var loss trace.Loss
	p.End(&loss)
	counts, totals, work := handles.Processes(), pins.Processes(), finalizers.Processes()
	if len(counts) != pass.MaxProcesses || len(totals) != pass.MaxProcesses || len(work) != pass.MaxProcesses || loss.LeftOut != 4*more {
		t.Fatalf("%d, %d and %d processes, %d events left out", len(counts), len(totals), len(work), loss.LeftOut)
	}
}
