package nettrace

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxQueue bounds the bytes of queued events.
	maxQueue = 256 << 10
	// maxQueued bounds the number of these events.
	maxQueued = 4096
	// maxContext bounds the stack and the labels of an event, in bytes.
	maxContext = 64<<10 - 1
)

// A queue holds events until a flush puts them in the order of a trace.
type queue struct {
	events []queuedEvent
	bytes  []byte          // payload, stack and labels of the events
	heads  []*writerThread // threads with events in the queue
}

// A queuedEvent waits to be written. Its bytes lie in queue.bytes.
type queuedEvent struct {
	eventpipe.Header
	off       int // of the payload, which the stack and the labels follow
	stackSize int
	labelSize int
	next      int // the next event of its thread, or noEvent
}

const noEvent = -1

// A writerThread is a thread that captures events, or that events refer to.
type writerThread struct {
	key      threadKey
	id       uint64 // as events refer to it: the system's, in V6 an index
	seq      uint32 // of its last event
	newest   int64  // time of its last event, in ticks since Start
	written  int64  // time of the last one that left the queue, or math.MinInt64
	first    int    // its first event in the queue, or noEvent
	last     int    // its last event in the queue, if there is a first
	captures bool
	ended    bool
}

type threadKey struct{ pid, tid uint64 }

// A writerThreads finds the threads of a trace.
type writerThreads struct {
	byKey   map[threadKey]*writerThread
	order   []*writerThread // by first sight
	indexes uint64          // given out so far, in V6
	recent  *writerThread
}

// thread finds a thread, or makes it known.
func (w *Writer) thread(pid, tid uint64) *writerThread {
	key := threadKey{tid: tid}
	if w.v6 {
		key.pid = cmp.Or(pid, w.opt.PID)
	}
	tt := &w.threads
	if tt.recent != nil && tt.recent.key == key {
		return tt.recent
	}
	t := tt.byKey[key]
	if t == nil {
		t = &writerThread{key: key, id: tid, newest: w.floor, written: math.MinInt64, first: noEvent}
		if w.v6 {
			tt.indexes++
			t.id = tt.indexes
			w.threadV6(t)
		}
		tt.byKey[key] = t
		tt.order = append(tt.order, t)
	}
	tt.recent = t
	return t
}

// forgetEnded removes the threads that have ended, and calls gone with each.
func (tt *writerThreads) forgetEnded(gone func(*writerThread)) {
	tt.order = slices.DeleteFunc(tt.order, func(t *writerThread) bool {
		if t.ended {
			gone(t)
			delete(tt.byKey, t.key)
		}
		return t.ended
	})
	tt.recent = nil
}

// enqueue takes an event whose header lacks only its stack and labels.
func (w *Writer) enqueue(by *writerThread, h *eventpipe.Header, ev *trace.Event) error {
	q := &w.queue
	e := queuedEvent{Header: *h, off: len(q.bytes), next: noEvent}
	q.bytes = append(q.bytes, ev.Payload...)

	w.addresses = ev.AppendStack(w.addresses[:0])
	e.stackSize = len(w.addresses) * w.opt.PointerSize
	for _, a := range w.addresses {
		q.bytes = appendPointer(q.bytes, a, w.opt.PointerSize)
	}
	if ev.Labels != nil {
		e.labelSize = -len(q.bytes)
		if w.v6 {
			q.bytes = appendLabels(q.bytes, ev.Labels)
		} else {
			e.Activity, e.Related = ev.Labels.ActivityID, ev.Labels.RelatedActivityID
		}
		e.labelSize += len(q.bytes)
	}
	if e.stackSize > maxContext || e.labelSize > maxContext {
		q.bytes = q.bytes[:e.off]
		return trace.ErrTooLarge
	}

	i := len(q.events)
	q.events = append(q.events, e)
	if by.first == noEvent {
		by.first = i
		q.heads = append(q.heads, by)
	} else {
		q.events[by.last].next = i
	}
	by.last = i
	return nil
}

func appendPointer(dst []byte, v uint64, size int) []byte {
	if size == 4 {
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, v)
}

// drain moves the queue into blocks, thread by thread, the one with the oldest event
// first. The first event of each thread is therefore older than all that follow, and is
// marked as sorted; within a block, readers rely on the capture thread changing at such
// events only.
//
// An event of the same time as such an event of its own thread is not marked, and begins
// a block, because TraceEvent would emit a sorted event before the queued ones of the
// same time.
func (w *Writer) drain() {
	q := &w.queue
	slices.SortStableFunc(q.heads, func(a, b *writerThread) int {
		return cmp.Compare(int64(q.events[a.first].Ticks), int64(q.events[b.first].Ticks))
	})
	for _, t := range q.heads {
		head := &q.events[t.first]
		at := int64(head.Ticks) - w.opt.SyncTicks
		w.floor = max(w.floor, at)
		if head.Sorted = at > t.written; !head.Sorted {
			w.flushBlocks()
		}
		for i := t.first; i != noEvent; i = q.events[i].next {
			w.writeEvent(&q.events[i])
		}
		t.first, t.written = noEvent, t.newest
	}
	q.events, q.bytes, q.heads = q.events[:0], q.bytes[:0], q.heads[:0]
	w.due = w.off-w.region >= regionSize || max(len(w.stacks.ids), len(w.labels.ids)) >= maxRegionEntries
}

func (w *Writer) writeEvent(e *queuedEvent) {
	payload := w.queue.bytes[e.off : e.off+e.Payload]
	context := w.queue.bytes[e.off+e.Payload:]
	stack, labels := context[:e.stackSize], context[e.stackSize:e.stackSize+e.labelSize]

	e.Stack = w.intern(&w.stacks, stack)
	if len(labels) > 0 {
		e.Header.Labels = w.intern(&w.labels, labels)
	}
	if !w.eventBlock.fits(eventpipe.MaxHeader + len(payload)) {
		w.flushBlocks()
	}
	w.addEvent(&w.eventBlock, &e.Header, payload)
}
