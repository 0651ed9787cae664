package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// AllocWaits sums up how long threads that allocate large objects waited for
// background collections, from events of the runtime's private provider.
type AllocWaits struct {
	Count      int
	Total, Max time.Duration
}

// ofLargeObjects reports whether a thread waits to allocate in the large or
// pinned object heap.
func ofLargeObjects(r clr.BGCAllocWaitReason) bool {
	switch r {
	case clr.BGCAllocWaitReasonGetLOHSeg, clr.BGCAllocWaitReasonLOHAllocDuringPlan, clr.BGCAllocWaitReasonUOHAllocDuringBGC:
		return true
	}
	return false
}

// allocWait returns the runtime in which a thread begins or ends to wait, for which there are
// two events with the same fields. It is nil if the wait does not count.
func (m *Model) allocWait(e *event) *runtime {
	v, ok := decode[clr.BGCAllocWaitBegin](m, e)
	return m.raisedBy(e, v.ClrInstanceID, ok && ofLargeObjects(v.Reason))
}

func (m *Model) allocWaitBegin(e *event) {
	rt := m.allocWait(e)
	if rt == nil {
		return
	}
	if _, waits := rt.allocating[e.TID]; !waits {
		if m.room.allocWaits == maxAllocWaits {
			m.drop(e.Time)
			return
		}
		m.room.allocWaits++
	}
	rt.allocating[e.TID] = e.Time
}

func (m *Model) allocWaitEnd(e *event) {
	rt := m.allocWait(e)
	if rt == nil {
		return
	}
	begin, ok := rt.allocating[e.TID]
	if !ok {
		return
	}
	delete(rt.allocating, e.TID)
	m.room.allocWaits--
	w, waited := &e.process.AllocWaits, max(0, e.Time-begin)
	w.Count++
	w.Total = units.AddCapped(w.Total, waited)
	w.Max = max(w.Max, waited)
}
