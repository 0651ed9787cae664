package pass

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// Events are events in a row, on their way to models that take them together: one, or as many
// as a source yields as one. They have their process in common, and all that trace.Event has
// but Desc, Ticks, Payload, TID and CPU, which it has of the first one only.
type Events struct {
	*trace.Event
	Process *Process

	pass    *Pass
	records []trace.Record
	descs   []*trace.Descriptor
	kinds   []clr.Kind // of descs
	bytes   []byte
}

// Len returns the number of events.
func (r *Events) Len() int { return len(r.records) }

// Kind returns the kind of event i. It can be one that the model does not read.
func (r *Events) Kind(i int) clr.Kind { return r.kinds[r.records[i].Desc] }

// Time returns the time of event i since the start of the trace.
func (r *Events) Time(i int) time.Duration { return r.Clock.Duration(r.records[i].Ticks) }

// Payload returns the payload of event i. It is valid as long as r is.
func (r *Events) Payload(i int) []byte { return r.records[i].Payload(r.bytes) }

// Version returns the version of the payload of event i, for kinds of which there are several.
func (r *Events) Version(i int) uint32 {
	of := r.records[i].Desc
	return clr.VersionOf(r.kinds[of], r.descs[of].Version, r.Payload(i), r.PointerSize)
}

// Runtime returns the runtime that one of the events is of, by the ClrInstanceID in its payload,
// and nil if there is no room for one more.
func (r *Events) Runtime(instance uint16) *Runtime { return r.pass.runtime(r.Process, instance) }

// part returns the events from one to before another.
func (r *Events) part(from, to int) *Events {
	p := *r
	p.records = p.records[from:to]
	return &p
}

// runOf returns an event, or as many as it is, as a run.
func (p *Pass) runOf(ev *trace.Event, kind clr.Kind, of *Process) *Events {
	r := &p.run
	r.Event, r.Process = ev, of
	if ev.Run == nil {
		p.one = oneEvent{[1]trace.Record{{Ticks: ev.Ticks, Len: uint32(len(ev.Payload))}}, [1]*trace.Descriptor{ev.Desc}, [1]clr.Kind{kind}}
		r.records, r.descs, r.kinds, r.bytes = p.one.records[:], p.one.descs[:], p.one.kinds[:], ev.Payload
		return r
	}
	for _, d := range ev.Run.Descs[len(p.kinds):] {
		p.kinds = append(p.kinds, clr.KindOf(d.Provider, d.ID))
	}
	r.records, r.descs, r.kinds, r.bytes = ev.Run.Records, ev.Run.Descs, p.kinds, ev.Run.Bytes
	return r
}

// A oneEvent is the memory of Events of one event.
type oneEvent struct {
	records [1]trace.Record
	descs   [1]*trace.Descriptor
	kinds   [1]clr.Kind
}
