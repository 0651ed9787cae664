package jsonl

import (
	"cmp"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/trace"
)

// Events writes the events of one trace. It must be used by one goroutine.
type Events struct {
	// Start is the trace's start.
	Start time.Time

	decoder clr.Decoder
	heads   map[*trace.Descriptor][]byte
	desc    *trace.Descriptor // of the last event
	head    []byte            // the members of its kind before the pid
	second  int64             // of the last event, in Unix time
	date    []byte            // that second up to its point
	stack   []uint64
}

// Name returns the name that events of this kind get.
func (e *Events) Name(d *trace.Descriptor) string { return e.decoder.Name(d) }

// AppendEvent appends ev as one line.
func (e *Events) AppendEvent(dst []byte, ev *trace.Event) []byte {
	dst = append(dst, `{"time_ms":`...)
	dst = appendMillis(dst, ev)
	dst = append(dst, `,"time":"`...)
	dst = e.appendTime(dst, ev.Time())
	dst = append(dst, e.headOf(ev.Desc)...)
	dst = appendID(dst, ev.PID)
	dst = append(dst, `,"tid":`...)
	dst = appendID(dst, ev.TID)
	if ev.CPU == trace.UnknownCPU {
		dst = append(dst, `,"cpu":null`...)
	} else {
		dst = append(dst, `,"cpu":`...)
		dst = strconv.AppendUint(dst, uint64(ev.CPU), 10)
	}
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
		return figure.AppendMillis(dst, time.Duration(t))
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
	t := e.Start.Add(d)
	if s := t.Unix(); s != e.second || e.date == nil {
		e.second, e.date = s, t.UTC().AppendFormat(e.date[:0], "2006-01-02T15:04:05.")
	}
	return append(appendNanos(append(dst, e.date...), t), 'Z')
}

// appendNanos appends the nine digits of t's nanoseconds, so that times sort as text.
func appendNanos(dst []byte, t time.Time) []byte {
	var digits [9]byte
	n := t.Nanosecond()
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, digits[:]...)
}

func (e *Events) headOf(d *trace.Descriptor) []byte {
	if d == e.desc {
		return e.head
	}
	head, ok := e.heads[d]
	if !ok {
		head = e.newHead(d)
		if e.heads == nil {
			e.heads = make(map[*trace.Descriptor][]byte)
		}
		e.heads[d] = head
	}
	e.desc, e.head = d, head
	return head
}

// newHead returns the common members of events of one kind, from the end of the time to
// the pid.
func (e *Events) newHead(d *trace.Descriptor) []byte {
	w := writer{[]byte(`",`)}
	w.dst = append(w.dst, `"provider":`...)
	w.dst = jsontext.AppendString(w.dst, d.Provider)
	w.uint("id", uint64(d.ID))
	w.uint("version", uint64(d.Version))
	w.text("name", e.decoder.Name(d))
	w.uint("opcode", uint64(cmp.Or(d.Opcode, clr.KindOf(d.Provider, d.ID).Opcode())))
	w.uint("level", uint64(d.Level))
	w.uint("keywords", d.Keywords)
	w.key("pid")
	return w.dst
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
