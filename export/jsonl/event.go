package jsonl

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// Events writes the events of one trace. It must be used by one goroutine.
type Events struct {
	// Start is the trace's start.
	Start time.Time

	decoder clr.Decoder
	heads   map[*trace.Descriptor]*head
	desc    *trace.Descriptor // of the last event
	head    *head             // of that
	second  time.Duration     // when the second of the last event began
	date    []byte            // that second
	stack   []uint64
}

// A head holds the members of events of one kind from the end of the time to cpu. Most
// events come from the same thread as the one of their kind before them.
type head struct {
	members  []byte
	common   int // of members: up to the pid
	pid, tid uint64
	cpu      uint32
}

// Name returns the name that events of this kind get.
func (e *Events) Name(d *trace.Descriptor) string { return e.decoder.Name(d) }

// AppendEvent appends ev as one line.
func (e *Events) AppendEvent(dst []byte, ev *trace.Event) []byte {
	dst = append(dst, `{"time_ms":`...)
	dst = appendMillis(dst, ev)
	dst = append(dst, `,"time":"`...)
	dst = e.appendTime(dst, ev.Time())
	dst = append(dst, e.membersOf(ev)...)
	dst = e.decoder.AppendFields(dst, ev)
	if ev.StackLen() > 0 {
		dst = e.appendStack(dst, ev)
	}
	return append(dst, "}\n"...)
}

// exactTicks bounds the nanoseconds whose Millis have the digits of the number itself:
// a float64 holds 1,000 times as many exactly.
const exactTicks = 1 << 53 / 1000

// appendMillis appends ev.Millis. The digits of most are there without a search for the
// shortest ones.
func appendMillis(dst []byte, ev *trace.Event) []byte {
	if t := ev.Ticks; ev.Clock.Frequency == int64(time.Second) && -exactTicks < t && t < exactTicks {
		return trace.Millis(t).Append(dst)
	}
	return appendFloat(dst, ev.Millis())
}

// appendID appends the id of a process or thread.
func appendID(dst []byte, id uint64) []byte {
	if id == trace.UnknownID {
		return append(dst, "null"...)
	}
	return strconv.AppendUint(dst, id, 10)
}

// appendTime appends the time d after the trace's start. Most events share
// their second with the one before them.
func (e *Events) appendTime(dst []byte, d time.Duration) []byte {
	nanos := d - e.second
	if e.date == nil || nanos < 0 || nanos >= time.Second {
		t := e.Start.Add(d)
		nanos = time.Duration(t.Nanosecond())
		e.second, e.date = d-nanos, t.UTC().AppendFormat(e.date[:0], "2006-01-02T15:04:05")
	}
	return append(appendNanos(append(dst, e.date...), nanos), 'Z')
}

// appendNanos appends the part of a second, with nine digits, so that times sort as text.
func appendNanos(dst []byte, part time.Duration) []byte {
	ms := part / time.Millisecond
	dst = append(dst, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	return jsontext.AppendSix(dst, uint64(part))
}

// membersOf returns the members of an event from the end of the time to cpu.
func (e *Events) membersOf(ev *trace.Event) []byte {
	h := e.head
	if ev.Desc != e.desc {
		if h = e.heads[ev.Desc]; h == nil {
			if e.heads == nil {
				e.heads = make(map[*trace.Descriptor]*head)
			}
			common := e.newHead(ev.Desc)
			h = &head{members: common, common: len(common)}
			e.heads[ev.Desc] = h
		}
		e.desc, e.head = ev.Desc, h
	}
	if len(h.members) > h.common && ev.PID == h.pid && ev.TID == h.tid && ev.CPU == h.cpu {
		return h.members
	}
	h.pid, h.tid, h.cpu = ev.PID, ev.TID, ev.CPU
	h.members = append(appendID(h.members[:h.common], ev.PID), `,"tid":`...)
	h.members = append(appendID(h.members, ev.TID), `,"cpu":`...)
	if ev.CPU == trace.UnknownCPU {
		h.members = append(h.members, "null"...)
	} else {
		h.members = strconv.AppendUint(h.members, uint64(ev.CPU), 10)
	}
	return h.members
}

// newHead returns the common members of events of one kind, from the end of the time to
// the pid.
func (e *Events) newHead(d *trace.Descriptor) []byte {
	provider, name := jsontext.AppendString(nil, d.Provider), jsontext.AppendString(nil, e.decoder.Name(d))
	opcode := cmp.Or(d.Opcode, clr.KindOf(d.Provider, d.ID).Opcode())
	return fmt.Appendf(nil, `","provider":%s,"id":%d,"version":%d,"name":%s,"opcode":%d,"level":%d,"keywords":%d,"pid":`,
		provider, d.ID, d.Version, name, opcode, d.Level, d.Keywords)
}

func (e *Events) appendStack(dst []byte, ev *trace.Event) []byte {
	e.stack = ev.AppendStack(e.stack[:0])
	dst = append(dst, `,"stack":[`...)
	for i, address := range e.stack {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, address, 10)
	}
	return append(dst, ']')
}
