package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/saturate"
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

func (m *Model) allocWaitBegin(e *event) {
	v, ok := decode[clr.BGCAllocWaitBegin](m, e)
	if !ok || !ofLargeObjects(v.Reason) {
		return
	}
	rt := m.runtime(e, v.ClrInstanceID)
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

// allocWaitEnd has the fields of allocWaitBegin.
func (m *Model) allocWaitEnd(e *event) {
	v, ok := decode[clr.BGCAllocWaitBegin](m, e)
	if !ok || !ofLargeObjects(v.Reason) {
		return
	}
	rt := m.runtime(e, v.ClrInstanceID)
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
	w.Total = saturate.Add(w.Total, waited)
	w.Max = max(w.Max, waited)
}
