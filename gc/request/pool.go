package request

import (
	"encoding/binary"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The adjustment of the number of the thread pool's threads, and where its payload has the reason,
// behind the throughput and the number. See ThreadAdjustmentReason in PortableThreadPool.
const (
	adjustment = 55
	reasonAt   = 12
	starvation = 6
)

// stallTime is how long work waits in the pool's queue at least, while none begins, before the
// pool adds a thread for starvation: GateActivitiesPeriodMs of PortableThreadPool.GateThread, and
// GATE_THREAD_DELAY of the native pool before .NET 6 (win32threadpool.cpp).
const stallTime = 500 * time.Millisecond

// WantsPool reports whether a Model reads events of a kind about the thread pool.
func WantsPool(d *trace.Descriptor) bool {
	return d.Provider == clr.RuntimeProvider && d.ID == adjustment
}

// pool notes when the thread pool's queue did not move, before the pool added a thread. That it
// moved at other times is not known, because it may have moved slowly.
func (m *Model) pool(ev *trace.Event) {
	if ev.Late || len(ev.Payload) < reasonAt+4 || binary.LittleEndian.Uint32(ev.Payload[reasonAt:]) != starvation {
		return
	}
	p := m.process(ev.PID)
	if p == nil {
		m.leftOut++
		return
	}
	end := ev.Time()
	begin := end - stallTime
	if n := len(p.stalls); n > 0 && begin <= p.stalls[n-1].end {
		p.stalls[n-1].end = max(end, p.stalls[n-1].end)
		return
	}
	m.keep(&p.stalls, interval{begin: begin, end: end})
}
