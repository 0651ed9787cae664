package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestHeapDump checks that a collection is a heap dump if parts of the heap are written to
// the trace during it, and that no other collection is.
func TestHeapDump(t *testing.T) {
	const user = 5
	s := newScript()
	collect := func(ms float64, number uint32, dumps bool) {
		s.raise(ms, user, clr.RuntimeProvider, 9, 1, uint32(clr.SuspendReasonSuspendForGC), number-1, s.clr)
		s.suspendEnd(ms+0.1, user)
		s.start(ms+0.2, user, number, 2, clr.GCTypeNonConcurrentGC)
		if dumps {
			s.raise(ms+0.25, user, clr.RuntimeProvider, 18, 0, uint32(0), uint32(0), s.clr) // GCBulkNode without nodes
		}
		s.end(ms+0.3, user, number, 2)
		s.restartBegin(ms+0.4, user)
		s.restartEnd(ms+0.5, user)
	}
	collect(10, 1, false)
	collect(20, 2, true)
	s.raise(30, user, clr.RuntimeProvider, 18, 0, uint32(0), uint32(0), s.clr) // damaged: outside any
	collect(40, 3, false)
	var m gc.Model
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if c.HeapDump != (c.Number == 2) {
			t.Errorf("GC %d dumps the heap: %v", c.Number, c.HeapDump)
		}
	}
}
