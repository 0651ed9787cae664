package convert

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// EventOptions select the events to write.
type EventOptions struct {
	// Selected limits the time: the new trace begins and ends there. Events before and after that
	// name processes, settings, types and methods are also written, at the nearest time inside.
	Selected *selection.Selection
	// PIDs are the processes, nil for all. A trace of one process is written in version 4 of the
	// format, which all tools read. Otherwise it is version 6, unless the source itself has only
	// one process.
	PIDs   map[uint64]bool
	Redact *Redactor   // nil to leave names as they are; else it has learned from an earlier reading
	Lost   *trace.Loss // of an earlier reading, which the new trace reports too; nil if there was none
}

// A Written has the number of events that were written, that were left out because
// their fields are unknown or identify the program, and that the format cannot hold.
type Written struct{ Events, LeftOut, Refused uint64 }

// Events writes the events of a source as a .nettrace.
func Events(src trace.Source, w io.Writer, o EventOptions) (Written, error) {
	var out *eventWriter
	for ev, err := range src.Events() {
		if err != nil {
			return Written{}, err
		}
		if out == nil {
			out = newEventWriter(w, src, o)
		}
		if o.PIDs != nil && !o.PIDs[ev.PID] {
			continue
		}
		if err := out.Event(ev); err != nil {
			return Written{}, err
		}
	}
	if out == nil {
		return Written{}, ErrNothing
	}
	err := out.Close()
	if err == nil && out.Events == 0 {
		err = ErrNothing
	}
	return out.Written, err
}

// frequency is that of the written clock: ticks are nanoseconds.
const frequency = 1e9

// nobody is the id of a thread that raises no events. Losses are recorded for
// this thread, because the next event of any other thread would end the range
// in which events may be missing.
const nobody = 1<<63 - 1

// An eventWriter writes the events of one source, in order.
type eventWriter struct {
	Written
	opts EventOptions
	out  io.Writer
	src  trace.Source
	w    *nettrace.Writer

	from, to time.Duration // the time that is selected
	start    time.Duration // of the new trace
	last     time.Duration // of the events written
	capture  uint64        // the thread of the last one
	losses   []trace.Range // the losses still to be recorded, including the current one
	inside   bool          // the first of the losses has begun
	lost     uint64        // missing events that have not been recorded yet
	named    map[uint64]bool
	pids     map[uint64]bool
	threads  map[threadKey]bool
	event    trace.Event

	pointerSize int // of the new trace; an .etl may have processes of both
	decoded     map[clr.Kind]clr.Event
	payload     []byte
	addresses   []uint64
	stack       []byte
}

type threadKey struct{ pid, tid uint64 }

// newEventWriter returns a writer of the events that src yields, of which the first was read.
func newEventWriter(w io.Writer, src trace.Source, o EventOptions) *eventWriter {
	from, to := o.Selected.Span(src.Info())
	writer := &eventWriter{
		opts: o, out: w, src: src, from: from.Or(math.MinInt64), to: to.Or(math.MaxInt64), start: max(0, from.Or(0)),
		named: make(map[uint64]bool), pids: make(map[uint64]bool), threads: make(map[threadKey]bool), decoded: make(map[clr.Kind]clr.Event),
	}
	if o.Lost != nil {
		writer.losses, writer.lost = o.Lost.Ranges(), o.Lost.Events
	}
	return writer
}

// Wants reports whether events of a kind are needed to read others: they name
// processes, settings, types, methods and modules.
func Wants(d *trace.Descriptor) bool {
	return gc.Identifies(d) || symbol.Wants(d) || symbol.WantsTypes(d)
}

// Event writes an event, or leaves it out.
func (w *eventWriter) Event(ev *trace.Event) error {
	at := ev.Time()
	if at < w.from || at > w.to {
		if !Wants(ev.Desc) {
			return nil
		}
		at = min(max(at, w.from), w.to)
	}
	if err := w.begin(ev); err != nil {
		return err
	}
	if err := w.recordLost(at); err != nil {
		return err
	}
	desc, payload := ev.Desc, ev.Payload
	if w.opts.Redact != nil {
		desc = w.opts.Redact.Descriptor(desc)
	}
	if w.opts.Redact != nil || ev.PointerSize != w.pointerSize {
		rewritten, ok := w.rewrite(w.payload[:0], ev)
		if !ok || desc == nil {
			w.LeftOut++
			return nil
		}
		w.payload, payload = rewritten, rewritten
	}
	w.pids[ev.PID] = true
	if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindProcessInfo {
		w.named[ev.PID] = true
	}
	w.event = *ev
	w.event.Desc, w.event.Ticks, w.event.PID, w.event.Payload = desc, int64(at-w.start), ev.PID, payload
	if w.opts.Redact != nil {
		w.event.Labels = nil
	}
	if w.opts.Redact != nil || ev.PointerSize != w.pointerSize {
		w.setStack(ev)
	}
	w.capture = ev.TID
	if err := w.bound(threadKey{w.event.PID, w.capture}, at); err != nil {
		return err
	}
	w.last = max(w.last, at)
	return w.write(&w.event)
}

// The nettrace.Writer counts the events of each thread. Once it has someThreads
// threads, the next event that is newer than all before it begins new counts;
// at maxThreads, any event does, and events of the same time would be late.
const (
	someThreads = 1 << 14
	maxThreads  = 1 << 16
)

// bound makes room for the thread of an event: a sequence point resets the
// counts of all other threads.
func (w *eventWriter) bound(k threadKey, at time.Duration) error {
	if w.threads[k] {
		return nil
	}
	if n := len(w.threads); n == maxThreads || n >= someThreads && at > w.last {
		for k := range w.threads {
			w.w.EndThread(k.pid, k.tid)
		}
		clear(w.threads)
		if err := w.w.SequencePoint(int64(w.last - w.start)); err != nil {
			return err
		}
		if w.inside { // the loss continues after it
			w.w.Lost(k.pid, nobody, 1)
		}
	}
	w.threads[k] = true
	return nil
}

// recordLost records the losses that began before an event. Each loss is
// between two sequence points, so that it affects no other time. If the number
// of lost events is unknown, it records one.
func (w *eventWriter) recordLost(at time.Duration) error {
	for len(w.losses) > 0 && at >= w.losses[0].From {
		r := w.losses[0]
		if !w.inside {
			if err := w.w.SequencePoint(int64(r.From - w.start)); err != nil {
				return err
			}
			n := max(1, w.lost/uint64(len(w.losses)))
			w.w.Lost(w.event.PID, nobody, uint32(min(n, 1<<31)))
			w.inside, w.lost = true, w.lost-min(n, w.lost)
		}
		if at <= r.To {
			return nil
		}
		if err := w.w.SequencePoint(int64(r.To - w.start)); err != nil {
			return err
		}
		w.losses, w.inside = w.losses[1:], false
	}
	return nil
}

// setStack sets the stack of the written event, redacted, with addresses of the new
// trace's size.
func (w *eventWriter) setStack(ev *trace.Event) {
	w.stack = w.stack[:0]
	if w.opts.Redact != nil {
		w.addresses = w.opts.Redact.AppendStack(w.addresses[:0], ev)
	} else {
		w.addresses = ev.AppendStack(w.addresses[:0])
	}
	for _, a := range w.addresses {
		if w.pointerSize == 4 {
			w.stack = binary.LittleEndian.AppendUint32(w.stack, uint32(a))
		} else {
			w.stack = binary.LittleEndian.AppendUint64(w.stack, a)
		}
	}
	w.event.SetStack(w.stack, w.pointerSize)
}

// write writes an event. An event that is too large for the format, or too
// late, counts as lost in the new trace.
func (w *eventWriter) write(ev *trace.Event) error {
	err := w.w.Write(ev.TID, ev)
	switch {
	case errors.Is(err, trace.ErrLate), errors.Is(err, trace.ErrTooLarge):
		w.Refused++
		return nil
	case err == nil:
		w.Events++
	}
	return err
}

// begin writes the head of the trace, once the first event has shown what
// belongs there.
func (w *eventWriter) begin(ev *trace.Event) error {
	if w.w != nil {
		return nil
	}
	info := w.src.Info()
	single := len(w.opts.PIDs) == 1
	w.pointerSize = info.PointerSize
	if single || w.pointerSize == 0 {
		w.pointerSize = cmp.Or(ev.PointerSize, 8)
	}
	opts := nettrace.WriterOptions{
		Version: 6, Start: info.Start.Add(w.start), Frequency: frequency, PointerSize: w.pointerSize, CPUs: info.CPUs,
		MaxPayload: nettrace.MaxLargePayload,
	}
	if single || info.PID != trace.UnknownID {
		opts.Version, opts.PID = 4, ev.PID
	}
	var err error
	w.w, err = nettrace.NewWriter(w.out, opts)
	return err
}

// Close names the processes whose names were not among the events, and ends the
// trace unless the source is truncated. It does not close the underlying
// writer.
func (w *eventWriter) Close() error {
	if w.w == nil {
		if err := w.begin(&trace.Event{PID: w.src.Info().PID}); err != nil {
			return err
		}
	}
	for pid := range w.pids {
		if err := w.name(pid); err != nil {
			return err
		}
	}
	if err := w.recordLost(w.last); err != nil {
		return err
	}
	switch {
	case !w.src.Loss().Truncated:
		return w.w.Close()
	case w.opts.Lost == nil: // later losses are not recorded as such: they stay in doubt
		return w.w.Flush()
	default:
		return w.w.SequencePoint(int64(w.last - w.start))
	}
}

// processInfo describes the event that names a process, as the runtime raises it
// at the end of a trace.
var processInfo = &trace.Descriptor{
	Provider: clr.KindProcessInfo.Provider(), ID: clr.KindProcessInfo.ID(), Version: 1, Name: "ProcessInfo", Level: 4,
	Fields: clr.KindProcessInfo.Fields(1),
}

func (w *eventWriter) name(pid uint64) error {
	p := w.src.Info().Processes[pid]
	line := cmp.Or(p.CommandLine, p.Name)
	if w.named[pid] || line == "" {
		return nil
	}
	if w.opts.Redact != nil {
		line = w.opts.Redact.Name(line)
	}
	info := clr.ProcessInfo{CommandLine: clr.NewUTF16(line)}
	w.last++
	return w.write(&trace.Event{
		Desc: processInfo, Ticks: int64(w.last - w.start), PID: pid, TID: w.capture, CPU: trace.UnknownCPU,
		Payload: info.Append(nil, processInfo.Version, w.pointerSize),
	})
}

// rewrite decodes an event's payload and appends it encoded again, redacted or with another
// pointer size. It returns false if the fields are not known.
func (w *eventWriter) rewrite(dst []byte, ev *trace.Event) ([]byte, bool) {
	kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
	switch {
	case kind == clr.KindUnknown && w.opts.Redact != nil:
		return w.opts.Redact.Sample(dst, ev)
	case kind == clr.KindUnknown:
		return dst, len(ev.Payload) == 0
	}
	e := w.decoded[kind]
	if e == nil {
		e = kind.New()
		w.decoded[kind] = e
	}
	version := clr.VersionOf(kind, ev.Desc.Version, ev.Payload, ev.PointerSize)
	if e.Decode(version, ev.Payload, ev.PointerSize) != nil {
		return dst, false
	}
	if w.opts.Redact != nil && !w.opts.Redact.Fields(ev, e) {
		return dst, false
	}
	return e.Append(dst, version, w.pointerSize), true
}
