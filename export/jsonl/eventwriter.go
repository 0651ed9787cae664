package jsonl

import (
	"io"
	"runtime"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// The bounds of a batch, and how many batches wait for each encoder.
const (
	batchEvents   = 256
	batchBytes    = 64 << 10
	batchesQueued = 4
)

// An EventWriter writes the events of one trace as Events does, one line for each, on all
// processors: it collects copies of events in batches, which goroutines encode, and writes
// the batches in order. Memory does not grow with the trace. It must be used by one
// goroutine, which alone calls the io.Writer, and closed.
type EventWriter struct {
	// Start is the trace's start, which must not change after the first event.
	Start time.Time

	w       io.Writer
	filling *batch
	queue   []*batch // in the order of the events, the ones that encoders have
	free    []*batch
	encode  chan *batch
	err     error // of w
}

// A batch of events becomes lines.
type batch struct {
	trace.Batch
	lines   []byte
	encoded chan struct{}
}

// NewEventWriter returns an EventWriter to w.
func NewEventWriter(w io.Writer) *EventWriter {
	encoders := runtime.GOMAXPROCS(0)
	e := &EventWriter{w: w, encode: make(chan *batch, encoders*batchesQueued)}
	for range cap(e.encode) {
		e.free = append(e.free, &batch{encoded: make(chan struct{}, 1)})
	}
	for range encoders {
		go e.encodeAll()
	}
	return e
}

// encodeAll encodes batches until the writer is closed.
func (e *EventWriter) encodeAll() {
	var events Events
	for b := range e.encode {
		events.Start = e.Start
		b.lines = b.lines[:0]
		for i := range b.Events {
			b.lines = events.AppendEvent(b.lines, &b.Events[i])
		}
		b.encoded <- struct{}{}
	}
}

// Write writes an event. An error of the io.Writer may be returned for a later event, and
// is returned by all calls after that.
func (e *EventWriter) Write(ev *trace.Event) error {
	if e.err != nil {
		return e.err
	}
	if e.filling == nil {
		e.filling = e.take()
	}
	b := e.filling
	b.Add(ev)
	if len(b.Events) == batchEvents || b.Size() >= batchBytes {
		e.send()
	}
	return e.err
}

// take returns an empty batch. If all are in the queue, it waits for the oldest.
func (e *EventWriter) take() *batch {
	if len(e.free) == 0 {
		<-e.queue[0].encoded
		e.writeOldest()
	}
	b := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	return b
}

// send passes on the batch being filled, and writes the ones that are ready.
func (e *EventWriter) send() {
	if e.filling != nil {
		e.queue = append(e.queue, e.filling)
		e.encode <- e.filling
		e.filling = nil
	}
	for len(e.queue) > 0 {
		select {
		case <-e.queue[0].encoded:
			e.writeOldest()
		default:
			return
		}
	}
}

// writeOldest writes the first batch of the queue, which is encoded.
func (e *EventWriter) writeOldest() {
	b := e.queue[0]
	e.queue = append(e.queue[:0], e.queue[1:]...)
	if e.err == nil {
		_, e.err = e.w.Write(b.lines)
	}
	b.Reset()
	e.free = append(e.free, b)
}

// Close writes the events that are still waiting. It does not close the io.Writer.
func (e *EventWriter) Close() error {
	e.send()
	close(e.encode)
	for len(e.queue) > 0 {
		<-e.queue[0].encoded
		e.writeOldest()
	}
	return e.err
}
