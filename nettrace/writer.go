package nettrace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

var errClosed = errors.New("writer is closed")

// MaxPayload is the largest payload that a Writer takes, in bytes. .NET Core
// 3.0 to .NET 5 write as much; later runtimes stop at 64 KiB.
const MaxPayload = 100 << 10

// MaxLargePayload is the largest payload that WriterOptions.MaxPayload permits. The
// format has room for it, and a Reader reads it, but TraceEvent sees only the beginning,
// because it stores the size in 16 bits.
const MaxLargePayload = 4 << 20

// WriterOptions select the format and the contents of the trace's header.
type WriterOptions struct {
	Version      int       // 4 or 6; zero means 4
	Start        time.Time // origin of Event.Ticks
	SyncTicks    int64     // the clock's reading at Start
	Frequency    int64     // of the clock, in ticks per second; zero means 1e9
	PointerSize  int       // 4 or 8; zero means 8
	PID          uint64    // of the traced process; zero or trace.UnknownID if unknown
	CPUs         int       // 0 if unknown
	Uncompressed bool      // write event headers of fixed size, which readers must accept though no runtime writes them
	MaxPayload   int       // the largest payload, in bytes, at most MaxLargePayload; zero means MaxPayload
}

// A Writer writes a trace as the runtime does (ep-file.c, ep-block.c and
// ep-buffer-manager.c in dotnet/runtime's src/native/eventpipe): events are queued and
// written thread by thread, beginning with the thread that has the oldest event.
// Metadata, stacks and labels are always written before an event that refers to them.
//
// Events of one thread must come in time order. Events of different threads may come out
// of order between two flushes; the writer flushes on its own whenever its queue, of
// bounded size, is full.
//
// The format stores the start in whole milliseconds. A Start between two milliseconds is
// moved to the earlier one together with SyncTicks: absolute times stay the same, and the
// ticks that a reader counts grow by the difference.
//
// After an error of the underlying writer every method returns that error. A Writer must
// not be used by several goroutines at once.
type Writer struct {
	out    io.Writer
	off    int64 // bytes written
	err    error
	opt    WriterOptions
	v6     bool
	floor  int64 // no event may be older, in ticks since Start
	newest int64 // of all events, in ticks since Start
	region int64 // value of off at the last sequence point
	due    bool  // the next sequence point is

	threads  writerThreads
	queue    queue
	metadata map[*trace.Descriptor]uint32
	stacks   internTable
	labels   internTable // V6

	metadataBlock blockBuffer
	threadBlock   blockBuffer // V6
	eventBlock    blockBuffer
	otherBlock    blockBuffer // written at once
	addresses     []uint64    // of a stack
}

// A sequence point follows after so many bytes, or after so many different stacks or
// label lists, so that readers and the writer can forget them.
const (
	regionSize       = 10 << 20
	maxRegionEntries = 32 << 10
)

// NewWriter starts a trace on w by writing its head.
func NewWriter(w io.Writer, opt WriterOptions) (*Writer, error) {
	if opt.Version == 0 {
		opt.Version = 4
	}
	if opt.Frequency == 0 {
		opt.Frequency = int64(time.Second)
	}
	if opt.PointerSize == 0 {
		opt.PointerSize = 8
	}
	opt.PID = orZero(opt.PID)
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("nettrace: %w", err)
	}
	nw := &Writer{
		out:           w,
		opt:           opt,
		v6:            opt.Version == 6,
		floor:         math.MinInt64,
		newest:        math.MinInt64,
		threads:       writerThreads{byKey: map[threadKey]*writerThread{}},
		metadata:      map[*trace.Descriptor]uint32{},
		stacks:        internTable{ids: map[string]uint32{}, block: newBlock(eventpipe.BlockStacks, tableBlockHeader)},
		labels:        internTable{ids: map[string]uint32{}, block: newBlock(eventpipe.BlockLabels, tableBlockHeader)},
		metadataBlock: newBlock(eventpipe.BlockMetadata, pick(opt.Version == 6, metadataHeaderV6, eventpipe.EventBlockHeader)),
		threadBlock:   newBlock(eventpipe.BlockThreads, 0),
		eventBlock:    newBlock(eventpipe.BlockEvents, eventpipe.EventBlockHeader),
	}
	if nw.v6 {
		nw.headV6()
	} else {
		nw.headV4()
	}
	return nw, nw.err
}

func (o *WriterOptions) check() error {
	switch {
	case o.Version != 4 && o.Version != 6:
		return fmt.Errorf("%w: V%d, this writer knows V4 and V6", trace.ErrUnsupportedVersion, o.Version)
	case o.PointerSize != 4 && o.PointerSize != 8:
		return fmt.Errorf("pointer size %d", o.PointerSize)
	case o.Frequency < 0:
		return fmt.Errorf("clock frequency %d", o.Frequency)
	case o.Start.UTC().Year() < 1601 || o.Start.UTC().Year() > 9999:
		return fmt.Errorf("start time %v", o.Start)
	}
	return nil
}

// sync returns the start of the trace as its head has it: in whole
// milliseconds.
func (o *WriterOptions) sync() (start time.Time, ticks int64) {
	start = o.Start.UTC().Truncate(time.Millisecond)
	back := o.Start.Sub(start).Seconds() * float64(o.Frequency)
	return start, o.SyncTicks - int64(math.Round(back))
}

// maxPayload returns the largest payload that is taken.
func (w *Writer) maxPayload() int {
	return min(cmp.Or(w.opt.MaxPayload, MaxPayload), MaxLargePayload)
}

// Write adds an event, captured by the thread with the given id, which is usually the
// event's own thread. It uses Desc, Ticks, PID (V6; zero means the traced process), TID,
// which may be trace.UnknownID, CPU, Payload, Labels and the stack, and copies them;
// Ticks count the writer's clock. V4 stores only the activity ids of the labels. The
// descriptor must not change while the writer is in use.
//
// If Write returns trace.ErrLate or trace.ErrTooLarge, the event is not written, and
// readers count it as lost.
func (w *Writer) Write(capture uint64, ev *trace.Event) error {
	if w.err != nil {
		return w.err
	}
	if w.due && ev.Ticks > w.newest { // it must be later than any event before
		w.drain()
		w.sequencePoint(math.MinInt64)
	}
	by := w.thread(ev.PID, capture)
	by.seq++
	by.captures, by.ended = true, false
	switch {
	case ev.Ticks < max(by.newest, w.floor):
		return trace.ErrLate
	case len(ev.Payload) > w.maxPayload():
		return trace.ErrTooLarge
	}
	h := eventpipe.Header{
		Seq:     by.seq,
		Capture: by.id,
		CPU:     ev.CPU,
		Thread:  by.id,
		Ticks:   uint64(w.opt.SyncTicks + ev.Ticks),
		Payload: len(ev.Payload),
	}
	if ev.TID != capture {
		h.Thread = w.thread(ev.PID, ev.TID).id
	}
	if err := w.define(ev.Desc, &h); err != nil {
		return err
	}
	if err := w.enqueue(by, &h, ev); err != nil {
		return err
	}
	by.newest = ev.Ticks
	w.newest = max(w.newest, ev.Ticks)
	if len(w.queue.bytes) >= maxQueue || len(w.queue.events) >= maxQueued {
		w.drain()
	}
	return w.err
}

// define sets the metadata id of h to the id of d, and writes the definition when d is
// first used.
func (w *Writer) define(d *trace.Descriptor, h *eventpipe.Header) error {
	id, known := w.metadata[d]
	if !known {
		id = uint32(len(w.metadata) + 1)
		var err error
		if w.v6 {
			err = w.metadataV6(id, d)
		} else {
			err = w.metadataV4(id, d, h)
		}
		if err != nil {
			return err
		}
		w.metadata[d] = id
	}
	h.MetadataID = id
	return nil
}

// Lost records that n events of a thread are missing at this point, so that
// readers count them as lost.
func (w *Writer) Lost(pid, capture uint64, n uint32) {
	by := w.thread(pid, capture)
	by.seq += n
	by.captures = true
}

// EndThread states that a thread raises no more events. The writer forgets it
// at the next sequence point; a later thread with the same id is a different
// thread.
func (w *Writer) EndThread(pid, tid uint64) { w.thread(pid, tid).ended = true }

// Flush writes every event given so far. Later events may be older than these only as far
// as the format allows.
func (w *Writer) Flush() error {
	w.drain()
	w.flushBlocks()
	return w.err
}

// SequencePoint flushes, and records how many events each thread has raised
// before the given time, or up to the newest event if that is later. Later
// events must not be older than that. The writer also does this itself, after
// 10 MiB, as soon as one event is newer than all others.
func (w *Writer) SequencePoint(ticks int64) error {
	w.drain()
	w.sequencePoint(ticks)
	return w.err
}

// Close flushes and ends the trace. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.drain()
	w.sequencePoint(0)
	w.emit(eventpipe.EndMark(w.opt.Version, w.off, false))
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}

// emit writes b to the underlying writer, unless an earlier write failed.
func (w *Writer) emit(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.off += int64(n)
	w.err = err
}
