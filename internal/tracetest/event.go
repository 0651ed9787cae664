package tracetest

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A Maker makes the events of one process. The zero Maker is ready for use.
type Maker struct {
	PID, TID uint64

	kinds map[clr.Kind]*trace.Descriptor
}

var clock = &trace.Clock{Frequency: int64(time.Second)}

// At returns the event that the runtime raises for e, in the newest version,
// with a stack, leaf first.
func (m *Maker) At(at time.Duration, e clr.Event, stack ...uint64) *trace.Event {
	k := e.EventKind()
	d := m.kinds[k]
	if d == nil {
		version := slices.Max(slices.Collect(k.Versions()))
		d = &trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: version, Level: k.Level(), Keywords: k.Keywords()}
		if m.kinds == nil {
			m.kinds = make(map[clr.Kind]*trace.Descriptor)
		}
		m.kinds[k] = d
	}
	ev := &trace.Event{Desc: d, Ticks: int64(at), Clock: clock, PID: m.PID, TID: m.TID, PointerSize: 8, Payload: e.Append(nil, d.Version, 8)}
	var b []byte
	for _, addr := range stack {
		b = binary.LittleEndian.AppendUint64(b, addr)
	}
	if b != nil {
		ev.SetStack(b, 8)
	}
	return ev
}
