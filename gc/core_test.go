package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestSizesOfCore31: the histories of CoreCLR up to 3.1, which have four generations, have
// the sizes after a collection of the collected generations and the next older one. The
// other sizes are 0 there, and not known.
func TestSizesOfCore31(t *testing.T) {
	const size = 1 << 20
	for depth, want := range [][4]bool{
		0: {true, true, false, false},
		1: {true, true, true, false},
		2: {true, true, true, true},
	} {
		s := newScript()
		s.suspendBegin(0, 1, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(0.1, 1)
		s.start(0.2, 1, 1, uint32(depth), clr.GCTypeNonConcurrentGC)
		s.globalHistory(0.3, 1, uint32(depth), 0, 1)
		h := clr.GCPerHeapHistory{ClrInstanceID: s.clr, Values: make([]clr.GCPerHeapHistoryValue, 4), Count: 4}
		for i := range h.Values {
			h.Values[i].SizeBefore = size // everything that was collected died
		}
		s.raise(0.3, 1, clr.RuntimeProvider, 204, 3, h.Append(nil, 3, 8))
		s.end(0.4, 1, 1, uint32(depth))
		s.restartBegin(0.5, 1)
		s.restartEnd(0.6, 1)
		collections := 0
		for c, err := range new(gc.Model).Collections(s) {
			if err != nil {
				t.Fatal(err)
			}
			collections++
			if len(c.Generations) != len(want) {
				t.Fatalf("gen %d: %d generations", depth, len(c.Generations))
			}
			for i, g := range c.Generations {
				if known := g.After == gc.Some(int64(0)); known != want[i] || g.Before != size {
					t.Errorf("a collection of gen %d: %s had %d bytes, and has %v", depth, g.Name, g.Before, g.After)
				}
			}
		}
		if collections != 1 {
			t.Errorf("gen %d: %d collections", depth, collections)
		}
	}
}
