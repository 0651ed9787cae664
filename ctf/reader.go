package ctf

import (
	"io/fs"
	"iter"
	"maps"
	"math"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// Options configure a Reader. The zero value emits all events, each as its tracepoint
// describes it.
type Options struct {
	// Want reports whether events of a kind are wanted. It is called once for each kind.
	// Unwanted events still count in Loss and Counts. Nil means all.
	Want func(*trace.Descriptor) bool
	// Head returns how many bytes of the payloads of a kind are needed. It is called once
	// for each kind. The rest may be left out, so that the reader need not convert it.
	// Nil means whole payloads.
	Head func(*trace.Descriptor) int
	// Runs reports whether events of a kind that is wanted may be yielded together, if they
	// are of one process and follow one another: see trace.Run. It is called once for each
	// kind that is wanted. Nil means none.
	Runs func(*trace.Descriptor) bool
	// Resolve returns the event of a tracepoint, such as
	// "DotNETRuntime:GCStart_V2". If it returns true, the payload has the
	// layout that the descriptor implies; otherwise the reader adds a
	// description of the tracepoint's fields, and the tracepoint's own names if
	// the descriptor has none. It may be nil.
	Resolve func(tracepoint string) (trace.Descriptor, bool)
}

// A Reader reads a trace, or several that it merges by time. It is a trace.Source, to be
// used by one goroutine.
//
// A separate goroutine decodes packets and merges events, up to a few thousand events
// ahead, and others read the files ahead of that; they end with the range over Events.
// Memory does not grow with the trace or with its packets, because each stream has a window
// of bounded size.
type Reader struct {
	opts  Options
	m     *merger
	info  trace.Info
	loss  trace.Loss
	kinds []*kind
	used  bool
	event trace.Event
	run   trace.Run

	// These have an element for each kind. They are not fields of kind, because the merger's
	// goroutine writes to kinds: sharing a cache line with it would slow down each event.
	descs  []*trace.Descriptor
	counts []uint64
	runs   []bool
}

// Open opens the traces in a folder and its subfolders. Different files of fsys are read by
// several goroutines at once. The error wraps trace.ErrNotTrace if there is none, and is a
// *trace.FormatError if none of them can be read.
func Open(fsys fs.FS, opts Options) (*Reader, error) {
	m, err := newMerger(fsys)
	if err != nil {
		return nil, err
	}
	r := &Reader{opts: opts, m: m, info: m.info, loss: m.loss.Clone()}
	r.info.Processes = maps.Clone(m.processes)
	r.info.Declared = m.declared(opts.Resolve)
	r.event.Clock = r.info.Clock
	return r, nil
}

// Info describes the trace; see trace.Source. Its start is the time of the
// first event.
func (r *Reader) Info() *trace.Info { return &r.info }

// Loss returns the missing events; see trace.Source.
func (r *Reader) Loss() *trace.Loss { return &r.loss }

// Counts yields the kinds of events in the order of their first events; see
// trace.Source.
func (r *Reader) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(yield func(*trace.Descriptor, uint64) bool) {
		for i, n := range r.counts {
			if !yield(r.descs[i], n) {
				return
			}
		}
	}
}

// Size returns the size of the trace's files in bytes, as far as the file system reports
// it.
func (r *Reader) Size() int64 { return r.m.size }

// Events yields the events in time order; see trace.Source. Events with equal
// times are in the order of their streams. All files are closed when the
// sequence ends.
func (r *Reader) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		if r.used {
			yield(nil, trace.ErrUsed)
			return
		}
		r.used = true
		q := newQueue()
		go r.m.run(q)
		defer q.close()
		for b := range q.full {
			r.learn(b)
			for items := b.items; len(items) > 0; {
				n := r.together(b, items)
				r.fill(b, items[:n])
				if !yield(&r.event, nil) {
					return
				}
				items = items[n:]
			}
			if b.ask != nil {
				r.define(b.ask)
				q.answered <- struct{}{}
			}
			q.recycle(b)
		}
	}
}

// learn processes everything in a batch except its events.
func (r *Reader) learn(b *batch) {
	if b.loss != nil {
		r.loss = *b.loss
	}
	for _, n := range b.skipped {
		r.counts[n.kind.index] += n.count
	}
	for _, p := range b.processes {
		r.info.Processes[p.pid] = p.process
	}
	if b.start != nil {
		r.info.Start = time.Unix(0, *b.start).UTC()
	}
	r.info.Last = b.last
}

// together returns how many of the items, at least one, are yielded as one event.
func (r *Reader) together(b *batch, items []item) int {
	desc, ctx := items[0].Desc, items[0].Context
	if !r.runs[desc] || ctx&lateItem != 0 {
		r.counts[desc]++
		return 1
	}
	n, counted := 1, 0
	for ; n < len(items); n++ {
		it := &items[n]
		if it.Context != ctx && (it.Context&lateItem != 0 || !b.contexts[ctx].joins(&b.contexts[it.Context])) {
			break
		}
		if it.Desc != desc {
			if !r.runs[it.Desc] {
				break
			}
			r.counts[desc] += uint64(n - counted)
			desc, counted = it.Desc, n
		}
		ctx = it.Context
	}
	r.counts[desc] += uint64(n - counted)
	return n
}

// joins reports whether events of both contexts may be in one run.
func (c *context) joins(o *context) bool { return c.pid == o.pid && c.pointerSize == o.pointerSize }

// fill sets r.event to the event of an item, or of several that are a run.
func (r *Reader) fill(b *batch, items []item) {
	it := &items[0]
	ctx := &b.contexts[it.Context&^lateItem]
	ev := &r.event
	ev.Desc, ev.Ticks, ev.Payload = r.descs[it.Desc], it.Ticks, it.Payload(b.data)
	ev.PID, ev.TID, ev.CPU, ev.PointerSize = ctx.pid, ctx.tid, ctx.cpu, ctx.pointerSize
	ev.Late = it.Context&lateItem != 0
	ev.Run = nil
	if len(items) > 1 {
		r.run = trace.Run{Records: items, Descs: r.descs, Bytes: b.data}
		ev.Run = &r.run
	}
	if ctx.pid == trace.UnknownID {
		r.unknown(items)
	}
}

// unknown notes that the process of some events is not known.
func (r *Reader) unknown(items []item) {
	for i := range items {
		if r.kinds[items[i].Desc].known {
			r.info.ProcessesUnknown = true
		}
	}
}

// define resolves a new kind of event, and asks whether it is wanted.
func (r *Reader) define(k *kind) {
	desc, known := describe(k.tracepoint, k.domain, r.opts.Resolve)
	if k.known = known; !known {
		desc.Fields = k.fields
	}
	k.desc = &desc
	k.want = r.opts.Want == nil || r.opts.Want(k.desc)
	k.head = math.MaxInt
	if r.opts.Head != nil {
		k.head = r.opts.Head(k.desc)
	}
	k.index = uint32(len(r.kinds))
	r.kinds = append(r.kinds, k)
	r.descs = append(r.descs, k.desc)
	r.counts = append(r.counts, 0)
	r.runs = append(r.runs, k.want && r.opts.Runs != nil && r.opts.Runs(k.desc))
}
