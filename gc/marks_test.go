package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
)

// TestOverflow checks that the time of a mark overflow inside the scan of dependent handles
// is divided by bytes, on each heap: the runtime raises its event also where the scan only
// drained a queue.
func TestOverflow(t *testing.T) {
	for name, tt := range map[string]struct {
		inside, all         uint64
		overflow, dependent float64 // ms
	}{
		"dependent handles": {0, 960_000, 0, 0.4},
		"nothing marked":    {0, 0, 0, 0.4},
		"some of both":      {250_000, 1_000_000, 0.1, 0.3},
		"an overflow":       {1_000_000, 1_000_000, 0.4, 0},
	} {
		s := newScript()
		s.suspendBegin(9, 1, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(9.5, 1)
		s.start(10, 1, 1, 0, clr.GCTypeNonConcurrentGC)
		mark := func(ms float64, heap uint32, root clr.RootType, bytes uint64) {
			s.raise(ms, 1, clr.RuntimeProvider, 202, 0, heap, s.clr, uint32(root), bytes)
		}
		for heap := range uint32(2) {
			mark(10.1, heap, clr.RootTypeHandles, 500)
			mark(10.4, heap, clr.RootTypeOverflow, tt.inside)
			mark(10.5, heap, clr.RootTypeDependentHandles, tt.all)
		}
		s.end(11, 1, 1, 0)
		s.stats(11, 1, 10)
		s.restartBegin(11.1, 1)
		s.restartEnd(11.2, 1)
		got, _, _ := s.run(t)
		if len(got[1].Marks) != 6 {
			t.Fatalf("%s: %+v", name, got[1].Marks)
		}
		for i := 0; i < 6; i += 3 {
			m := got[1].Marks[i : i+3]
			over, dependent := ms(m[1].Duration.Round(100)), ms(m[2].Duration.Round(100))
			if ms(m[0].Duration) != 0.1 || over != tt.overflow || dependent != tt.dependent ||
				m[1].Bytes.Or(0) != int64(tt.inside) || m[2].Bytes.Or(0) != int64(tt.all-tt.inside) {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}
