package etl

import (
	"errors"
	"io"
	"iter"
	"math"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// Options configure a Reader. The zero value selects everything except stacks.
type Options struct {
	// Want reports whether events of a kind are wanted. It is called once for each kind.
	// Only the headers of unwanted events are read; they still count in Counts. Nil means
	// all.
	Want func(*trace.Descriptor) bool
	// Stacks makes events carry their stacks.
	Stacks bool
	// Tail, if not nil, reports the growth of files that are still being written.
	Tail *Tail
}

// A Reader reads one trace, of one file or of several. It is a trace.Source, to
// be used by one goroutine.
//
// Its memory does not grow with the trace, except for 48 bytes per buffer. It
// holds a part of each buffer that has events of the current time, usually one
// buffer per processor.
type Reader struct {
	opts      Options
	files     []*file
	info      trace.Info
	loss      trace.Loss
	kinds     kindTable
	processes processes
	threads   threads
	used      bool

	index   index
	loader  loader
	heap    mergeHeap
	pending int   // memory of the batches in use, as batch.cost counts it
	limit   int   // of pending
	emitted int64 // ticks of the latest event emitted
	latest  int64 // ticks of the latest event read
	doubt   int64 // ticks from which on events may be missing anywhere
	tail    tail

	waiting stacks
	event   trace.Event
	ext     extended
	labels  trace.Labels
}

// NewReader returns a reader of the file r of the given size. r is read by
// several goroutines at once.
func NewReader(r io.ReaderAt, size int64, opts Options) *Reader {
	return NewMergedReader([]File{{ReaderAt: r, Size: size}}, opts)
}

// NewMergedReader returns a reader of files that were recorded together, such
// as the kernel's and the programs' parts of one trace. At least one file is
// required.
func NewMergedReader(files []File, opts Options) *Reader {
	r := &Reader{opts: opts, kinds: kindTable{want: opts.Want}}
	r.processes = processes{byPID: make(map[uint64]trace.Process), uses: make(map[uint64]*pidUse)}
	r.info = trace.Info{Format: "etl", PID: trace.UnknownID, Clock: &trace.Clock{Frequency: fileTimeTicks}, PointerSize: 8}
	r.info.Processes = r.processes.byPID
	for i, f := range files {
		name := f.Name
		if len(files) == 1 {
			name = ""
		}
		r.files = append(r.files, &file{r: f.ReaderAt, size: f.Size, name: name, number: uint8(i)})
	}
	return r
}

// Info describes the trace; see trace.Source.
func (r *Reader) Info() *trace.Info { return &r.info }

// Loss returns the missing events; see trace.Source.
func (r *Reader) Loss() *trace.Loss { return &r.loss }

// Counts yields the kinds of events in the order of the first of each in the
// file; see trace.Source.
func (r *Reader) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(yield func(*trace.Descriptor, uint64) bool) {
		for _, k := range r.kinds.all {
			if !yield(&k.desc, k.count) {
				return
			}
		}
	}
}

// Bounds on the memory of waiting events: for each processor, for each byte of a file
// (because it may lie about its processors), and in total. Beyond them the oldest events
// are emitted, although older ones may still come.
const (
	processorPending = 2*window + 64<<10 // two stretches of a buffer, and their items
	bytePending      = 16
	minPending       = 24 << 20
	maxPending       = 256 << 20
)

// Events yields the trace's events in time order; see trace.Source. The error
// is a *trace.FormatError if the input is not a trace that this package can
// read.
func (r *Reader) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		if r.used {
			yield(nil, trace.ErrUsed)
			return
		}
		r.used = true
		if err := r.open(); err != nil {
			yield(nil, err)
			return
		}
		defer r.loader.stop()
		for {
			r.fetch()
			switch {
			case r.settled():
				if !r.step(yield) {
					return
				}
				continue
			case r.grow():
				continue
			}
			break
		}
		for !r.waiting.empty() {
			if !r.emit(r.waiting.pop(), yield) {
				return
			}
		}
		r.end()
	}
}

// open reads the file headers and lists the buffers.
func (r *Reader) open() error {
	r.awaitHeaders()
	for _, f := range r.files {
		if err := f.open(); err != nil {
			return err
		}
	}
	clock, first := align(r.files)
	r.info.Clock = clock
	r.info.Start = fileTime(first.header.start)
	r.info.PointerSize = first.header.pointerSize
	r.index = index{
		damage: r.unindexed, repeated: r.indexed, second: clock.Frequency,
		alone: len(r.files) == 1, tailed: r.opts.Tail != nil, written: math.MinInt64,
	}
	for _, f := range r.files {
		r.info.CPUs = max(r.info.CPUs, f.header.cpus)
		size := f.size
		if r.index.tailed {
			size = math.MaxInt64 / bytePending
		}
		r.limit += int(min(int64(f.header.cpus)*processorPending, size*bytePending))
	}
	r.limit = min(max(r.limit, minPending), maxPending)
	r.latest, r.emitted = math.MinInt64, math.MinInt64
	r.loader.files, r.loader.second = r.files, r.info.Clock.Frequency
	r.doubt = math.MaxInt64
	if r.index.tailed {
		r.loader.scratch = make([]byte, chunk)
		return r.follow()
	}
	if err := r.list(); err != nil {
		return err
	}
	r.account(r.index.entries)
	r.loader.start(r.index.entries)
	return nil
}

// list lists the buffers of all files.
func (r *Reader) list() error {
	for _, f := range r.files {
		err := r.index.add(f)
		if errors.Is(err, trace.ErrUnsupported) {
			return &trace.FormatError{Format: "etl", File: f.name, Section: "file header", Err: err}
		}
		if err != nil {
			r.unindexed(f, 0, err)
		}
	}
	r.index.sort()
	return nil
}

// fetch loads all buffers that the next event may be in.
func (r *Reader) fetch() {
	slack := r.info.Clock.Frequency / disorder
	for {
		next := r.loader.peek()
		if next == nil || len(r.heap.Heap) > 0 && (since(next.ticks, slack) > r.heap.Heap[0].Time || r.pending > r.limit) {
			return
		}
		ticks := next.ticks
		r.take(r.loader.next())
		r.loss.Settled = r.time(ticks)
	}
}

// step merges one event.
func (r *Reader) step(yield func(*trace.Event, error) bool) bool {
	b, it, last := r.heap.pop()
	h := held{batch: b, item: *it, last: last}
	if last && b.rest > 0 {
		r.take(r.loader.after(b))
	}
	if !r.opts.Stacks {
		return r.emit(h, yield)
	}
	w := &r.waiting
	delay := r.info.Clock.Frequency / stackDelay
	for !w.empty() && (w.full() || h.item.ticks-w.at(w.head).item.ticks > delay) {
		if !r.emit(w.pop(), yield) {
			return false
		}
	}
	w.push(h, r.kinds.all[it.kind])
	return true
}

// emit emits an event, if it is wanted, and releases its batch.
func (r *Reader) emit(h held, yield func(*trace.Event, error) bool) bool {
	k := r.kinds.all[h.item.kind]
	if k.want {
		r.fill(k, &h)
		if r.event.Late = h.item.late || h.item.ticks < r.emitted; r.event.Late {
			r.loss.Late++
			r.loss.Add(0, r.time(min(h.item.ticks, r.emitted)), r.time(r.emitted))
		}
		r.emitted = max(r.emitted, h.item.ticks)
		if !yield(&r.event, nil) {
			return false
		}
	}
	if h.batch.held--; h.batch.held == 0 {
		r.pending -= h.batch.owed
		r.loader.recycle(h.batch)
	}
	return true
}

// event returns the event at off, without what follows it.
func (b *batch) event(off uint32) []byte {
	e := b.data[off:]
	size := le.Uint16(e[formatOf(e).sizeAt:])
	return e[:size:size]
}

// fill makes r.event the event of an item.
func (r *Reader) fill(k *kind, h *held) {
	e := h.batch.event(h.item.off)
	f := formatOf(e)
	ev := &r.event
	ev.Desc = &k.desc
	ev.Ticks, ev.Clock = h.item.ticks, r.info.Clock
	ev.PID, ev.TID = f.threadOf(e)
	ev.CPU = uint32(h.batch.entry.cpu)
	ev.PointerSize = int(f.pointer)
	r.ext = extended{}
	ev.Payload = f.payload(e, &r.ext)
	if k.tid != inHeader {
		ev.PID, ev.TID = trace.UnknownID, k.tid.threadIn(ev.Payload, ev.PointerSize)
	}
	if ev.PID == trace.UnknownID && ev.TID != trace.UnknownID {
		ev.PID = r.threads.processOf(ev.TID, ev.Ticks)
	}
	ev.Labels = nil
	if f.form == formEvent {
		r.label(e)
	}
	switch {
	case !r.opts.Stacks:
	case r.ext.stack != nil:
		ev.SetStack(r.ext.stack, r.ext.stackSize)
	default:
		ev.SetStack(h.stack, ev.PointerSize)
	}
}

// label sets the labels of r.event from an EVENT_HEADER, if any.
func (r *Reader) label(e []byte) {
	l := &r.labels
	copy(l.ActivityID[:], e[0x40:])
	l.RelatedActivityID = [16]byte{}
	copy(l.RelatedActivityID[:], r.ext.related)
	if l.ActivityID != [16]byte{} || r.ext.related != nil {
		r.event.Labels = l
	}
}

func (r *Reader) time(ticks int64) time.Duration { return r.info.Clock.Duration(ticks) }
