package nettrace

import (
	"errors"
	"io"
	"iter"
	"math"
	"runtime"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// Options configure a Reader. The zero value selects everything except stacks.
type Options struct {
	// Want reports whether events of a kind are wanted. It is called once for each kind
	// that the trace defines. Only the headers of unwanted events are read; they still
	// count in Loss and Counts. Nil means all.
	Want func(*trace.Descriptor) bool
	// Complete is called with each kind of event of a V6 trace before Want. It completes
	// the description, because one-collect records neither the keywords nor the levels of
	// the runtime's events. If Complete is nil, they stay unknown.
	Complete func(*trace.Descriptor)
	// Runs reports whether events of a kind that is wanted may be yielded together, if they
	// follow each other: then an Event with a Run is as many events as the Run has Records,
	// which costs a caller a fraction of the time. Nil means none.
	Runs func(*trace.Descriptor) bool
	// Stacks makes events carry their stacks.
	Stacks bool
	// Ahead reads the input in a separate goroutine, and decodes blocks of V4 on all
	// processors. They are at most 3 MiB, or three blocks if these are larger, ahead of
	// the events emitted. The input should be a file, because Events waits for a Read in
	// progress before it returns. Ahead has no effect with Idle.
	Ahead bool
	// Idle is for a trace that is still being written. If the input, which must
	// have net.Conn's SetReadDeadline, returns nothing for this long, the
	// reader emits all events that wait for older ones. Otherwise the last
	// events of an idle process would wait until it raises another. An older
	// event that arrives after that is Late. 0 means to wait without limit.
	Idle time.Duration
}

// A Reader reads one trace, from its first byte to its last. It is a trace.Source, to be
// used by one goroutine.
//
// Its memory does not grow with the trace, because it reuses the buffer of a block once
// the events of the block have been emitted.
type Reader struct {
	opts  Options
	in    *eventpipe.Framer
	ahead *ahead // nil unless a goroutine uses in
	info  trace.Info
	loss  trace.Loss
	kinds kindTable
	used  bool

	stacks  stackTable
	labels  labelTable
	threads threadTable
	seqs    sequences
	merged  map[mergedKind]*kind
	names   int // bytes of the names of processes

	walkers int  // goroutines that walk blocks, with Options.Ahead
	careful bool // readEvents reads all blocks: tests compare with it
	walker  walker
	view    *view // of the input so far; nil if outdated
	shown   int64 // offset of the block from which on walkers have their view
	summary summary

	queue    mergeQueue
	repeats  repeats
	sync     uint64          // ticks of Info.Start
	session  eventpipe.Times // of all times of the trace
	jump     jump
	doubts   int             // jumps so far
	gap      bool            // events could not be read, of times from gapFrom on
	gapFrom  uint64          // sort key
	unsure   eventpipe.Times // of the events of the block, if some of them cannot be read
	sorted   uint64          // sort key that no later event is older than
	emitted  int64           // ticks of the latest event emitted, from the start
	latest   uint64          // sort key of the latest event read
	point    bool            // the last block was a sequence point
	anchored bool            // the start was compared with the first events
	stopped  bool            // the caller wants no more
	ended    bool            // the trace's own end was read
	idle     *idleInput
	event    trace.Event
	run      trace.Run // of event
}

// A mergedKind is a kind whose metadata a V6 label list overrides.
type mergedKind struct {
	kind *kind
	override
}

// NewReader returns a reader of the uncompressed trace r.
func NewReader(r io.Reader, opts Options) *Reader {
	nr := &Reader{opts: opts, labels: labelTable{lists: make(map[uint32]*labels)}, threads: threadTable{}}
	nr.emitted, nr.unsure = math.MinInt64, eventpipe.AllTimes
	nr.walkers = runtime.GOMAXPROCS(0) - 1
	if limited, ok := r.(limitedReader); ok && opts.Idle > 0 {
		nr.idle = &idleInput{in: limited, after: opts.Idle}
		nr.in = eventpipe.NewFramer(nr.idle, eventpipe.LiveWindow)
	} else {
		nr.in = eventpipe.NewFramer(r, eventpipe.FileWindow)
	}
	nr.seqs = sequences{threads: make(map[uint64]*sequence), lost: nr.lost, introduced: nr.threads.has}
	nr.info.Clock, nr.info.PID = &trace.Clock{Frequency: int64(time.Second)}, trace.UnknownID
	return nr
}

// Info returns the trace's description of itself; see trace.Source.
func (r *Reader) Info() *trace.Info { return &r.info }

// Loss returns the missing events; see trace.Source.
func (r *Reader) Loss() *trace.Loss { return &r.loss }

// Counts yields the kinds of events in the order of their definition; see
// trace.Source.
func (r *Reader) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(yield func(*trace.Descriptor, uint64) bool) {
		for _, k := range r.kinds.all {
			if !yield(k.desc, k.count) {
				return
			}
		}
	}
}

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
		if r.idle != nil {
			r.idle.flush = func() bool { return r.flush(math.MaxUint64, yield) }
			r.idle.waiting = func() bool { return len(r.queue.heap) > 0 }
			r.idle.rest = r.queue.free.lend
		}
		if err := r.open(); err != nil {
			yield(nil, err)
			return
		}
		if r.opts.Ahead && r.idle == nil {
			r.ahead = newAhead(r.in, &r.queue, pick(r.in.Version == 4, r.walkers, 0))
			defer r.ahead.close()
		}
		for {
			ended, err := r.step()
			if r.stopped {
				return
			}
			if ended || err != nil {
				r.end(ended, err)
				r.flush(math.MaxUint64, yield)
				return
			}
			upTo := r.sorted
			if r.point {
				upTo = math.MaxUint64
			}
			if !r.flush(upTo, yield) {
				return
			}
			if r.point {
				r.stacks.clear()
			}
		}
	}
}

// open reads up to the Trace object.
func (r *Reader) open() error {
	if err := r.in.Open(); err != nil {
		return err
	}
	var b eventpipe.Block
	if err := r.in.Next(&b); err != nil {
		var f *trace.FormatError
		if errors.As(err, &f) {
			return err
		}
		return r.in.Fail("trace object", eventpipe.CutShort(err))
	}
	if b.Kind != eventpipe.BlockTrace {
		return r.in.Fail("trace object", binread.Malformed("%v where it belongs", b.Kind))
	}
	return r.traceObject(&b)
}

// errMore reports bytes after the mark of the end. Where they are another trace, its clock
// and its numbers of kinds and threads differ, so that it cannot continue this one.
var errMore = errors.New("the trace ends there, but more data follows; store each trace in its own file")

// step reads and processes a block. It returns an error if reading cannot continue.
func (r *Reader) step() (ended bool, err error) {
	var b walkedBlock
	r.unsure = eventpipe.AllTimes
	if err := r.next(&b); err != nil {
		var damage *trace.FormatError
		if r.in.Version == 6 || !errors.As(err, &damage) {
			return false, err
		}
		r.damaged(damage.Off, damage.Section, damage.Err)
		r.unreadV3(err)
		return false, nil
	}
	if b.Kind == eventpipe.BlockEnd {
		r.ended = true
		if b.More {
			r.loss.AddDamage(trace.Damage{Off: b.Off, Err: errMore})
		}
		return true, nil
	}
	if b.Mended != "" {
		r.damaged(b.Off, b.Kind.String(), binread.Malformed("%s", b.Mended))
	}
	if b.Moved {
		err := binread.Malformed("its padding shows that bytes are missing before it")
		r.damaged(b.Off, b.Kind.String(), err)
		r.unreadV3(err)
	}
	if err := r.take(&b); err != nil {
		r.damaged(b.Off, b.Kind.String(), err)
	}
	r.point = b.Kind == eventpipe.BlockSequencePoint && !b.Cut
	if b.Cut {
		return false, io.ErrUnexpectedEOF
	}
	return false, nil
}

// next reads a block, which is valid until the next call.
func (r *Reader) next(b *walkedBlock) error {
	if r.ahead != nil {
		return r.ahead.next(b)
	}
	b.summary = nil
	return r.in.Read(&b.Block)
}

// take processes one block.
func (r *Reader) take(b *walkedBlock) error {
	switch b.Kind {
	case eventpipe.BlockEvents:
		return r.eventBlock(b)
	case eventpipe.BlockMetadata:
		return r.metadataBlock(&b.Block)
	case eventpipe.BlockStacks:
		if r.opts.Stacks {
			return r.stacks.add(b.Data, b.Off)
		}
	case eventpipe.BlockSequencePoint:
		return r.sequencePoint(&b.Block)
	case eventpipe.BlockThreads:
		return r.threads.add(b.Data, b.Off)
	case eventpipe.BlockRemoveThreads:
		return r.removeThreads(&b.Block)
	case eventpipe.BlockLabels:
		return r.labels.add(b.Data, b.Off)
	}
	return nil
}

// end settles the account when nothing more will come.
func (r *Reader) end(ended bool, err error) {
	r.loss.Truncated = !ended || r.in.Version == 4 && !r.point
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.loss.AddDamage(trace.Damage{Off: r.in.Off, Err: err})
	}
	switch {
	case r.in.Version == 3, r.in.Version == 6 && !r.seqs.numbered && r.loss.Events == 0:
		r.loss.Exactness = trace.Unknown
	case r.loss.Truncated, r.loss.Damaged > 0, r.seqs.full, r.seqs.unnumbered, !r.seqs.numbered && r.loss.Events > 0:
		r.loss.Exactness = trace.LowerBound
	default:
		r.loss.Exactness = trace.Exact
	}
	r.readAgain(r.latest)
	if r.loss.Truncated && !r.point && r.latest > r.sorted {
		// Other threads' events up to the latest one may be missing. Events after a
		// sequence point are later.
		r.lost(0, r.unkey(r.sorted), r.unkey(r.latest))
	}
	r.loss.Settled = math.MaxInt64
	r.info.Last = max(0, r.info.Clock.Duration(signed(r.latest)))
}

// flush emits the events that are no later than upTo, and then the oldest ones while too
// many wait. It reports whether to continue.
func (r *Reader) flush(upTo uint64, yield func(*trace.Event, error) bool) bool {
	q := &r.queue
	for len(q.heap) > 0 && (q.heap[0].Time <= signed(upTo) || q.pending > maxPending) {
		first := q.first()
		r.event.Late = first.Ticks < r.emitted || first.Context&lateItem != 0
		n := 1
		switch {
		case r.event.Late:
			r.loss.Late++
			r.lost(0, r.sync+uint64(first.Ticks), r.sync+uint64(r.emitted))
		case r.kinds.runs[first.Desc]:
			n = q.run(signed(upTo), r.kinds.runs, r.opts.Stacks)
		}
		b, items := q.pop(n)
		r.emitted = max(r.emitted, items[n-1].Ticks)
		r.fill(b, items)
		if !yield(&r.event, nil) {
			r.stopped = true
			return false
		}
		if b.left == 0 {
			q.release(b)
		}
	}
	return true
}

// fill makes r.event the event of an item, or of several that are a run.
func (r *Reader) fill(b *batch, items []item) {
	it := &items[0]
	ctx := &b.contexts[it.Context&^lateItem]
	ev := &r.event
	ev.Desc = r.kinds.descs[it.Desc]
	ev.Ticks = it.Ticks
	ev.PID, ev.TID, ev.CPU = ctx.pid, ctx.tid, ctx.cpu
	ev.Payload = it.Payload(b.data)
	ev.Run = nil
	if len(items) > 1 {
		r.run = trace.Run{Records: items, Descs: r.kinds.descs, Bytes: b.data}
		ev.Run = &r.run
	}
	ev.Labels = nil
	if ctx.labels != nil {
		ev.Labels = &ctx.labels.Labels
	}
	if !r.opts.Stacks {
		return
	}
	var stack []byte
	if r.in.Version == 3 {
		c := binread.At(b.data[it.Stack:], 0)
		stack = c.Bytes(int(int32(c.U32())))
	} else {
		stack = r.stacks.get(it.Stack)
	}
	ev.SetStack(stack, r.info.PointerSize)
}

// lost notes lost events between two times in ticks.
func (r *Reader) lost(n uint64, from, to uint64) {
	r.loss.Add(n, r.time(from), r.time(to))
}

func (r *Reader) time(ticks uint64) time.Duration {
	return r.info.Clock.Duration(int64(ticks - r.sync))
}

// sequencePoint processes a sequence point. Everything before it in the file is older,
// and it lists the numbers of all threads.
func (r *Reader) sequencePoint(b *eventpipe.Block) error {
	c := binread.At(b.Data, b.Off)
	ticks := c.U64()
	v6 := r.in.Version == 6
	var flags uint32
	if v6 {
		flags = c.U32()
	}
	n := c.U32()
	if !c.OK() {
		return c.Err()
	}
	if v6 && ticks == math.MaxUint64 { // one-collect ends its files so
		ticks = r.unkey(r.latest)
	}
	r.dropLater(r.key(ticks), b.Off)
	r.readAgain(r.key(ticks))
	r.seqs.sequencePoint(ticks, threadList(c, n, v6))
	if v6 {
		r.dropTables(flags)
	}
	if !r.seqs.unnumbered {
		r.loss.Settled = r.time(ticks)
	}
	return nil
}

// Flags of a V6 sequence point.
const (
	pointDropThreads  = 1
	pointDropMetadata = 2
)

func (r *Reader) dropTables(flags uint32) {
	r.labels.clear()
	if flags&pointDropThreads != 0 {
		clear(r.threads)
		r.seqs.drop()
	}
	if flags&pointDropMetadata != 0 {
		r.kinds.clear()
		r.view = nil
	}
}

func (r *Reader) removeThreads(b *eventpipe.Block) error {
	c := binread.At(b.Data, b.Off)
	for c.Len() > 0 && c.OK() {
		index, seq := c.Uvarint64(), c.Uvarint32()
		if !c.OK() {
			break
		}
		r.seqs.remove(index, seq, r.unkey(r.latest))
		delete(r.threads, index)
	}
	return c.Err()
}

// key makes ticks comparable, because they are signed distances from the trace's start.
func (r *Reader) key(ticks uint64) uint64 { return (ticks - r.sync) ^ 1<<63 }

// signed returns the distance from the trace's start that has key as its sort key.
func signed(key uint64) int64 { return int64(key ^ 1<<63) }

func (r *Reader) unkey(key uint64) uint64 { return (key ^ 1<<63) + r.sync }
