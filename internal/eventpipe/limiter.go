package eventpipe

import (
	"bytes"
	"encoding/binary"
	"io"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// A Limiter reads a V4 trace from a runtime, and leaves out the events after a time: a
// runtime that gets little of a processor raises events long after it was asked to stop.
// The objects before that time stay as they are, byte for byte. A trace that is not V4, or
// is damaged, passes unchanged.
//
// Sequence numbers count no event that is left out, so that only what the runtime lost
// counts as lost.
type Limiter struct {
	// Keep reports whether events of a kind stay, moved to the limit if they are later.
	// It is meant for the events that runtimes raise at the end of a trace.
	Keep func(*trace.Descriptor) bool
	// Began is called with the time at which the trace began. It may be nil.
	Began func(time.Time)

	filter
	length  time.Duration
	limit   uint64 // ticks; 0 before the Trace object
	over    bool   // an object was changed, which moves the later ones
	off     int64  // in the trace that Read returns
	keeps   map[uint32]bool
	dropped map[uint64]uint32 // events that were left out, by capture thread
}

// maxDropped bounds the threads whose events are counted. Events of further threads count
// as lost.
const maxDropped = 1 << 16

// NewLimiter returns a Limiter for a trace that has not begun, with its length.
func NewLimiter(from io.Reader, length time.Duration) *Limiter {
	return &Limiter{filter: newFilter(from), length: length, keeps: make(map[uint32]bool), dropped: make(map[uint64]uint32)}
}

// Read returns whole objects of the trace. At the end of the input it returns the rest
// unchanged.
func (l *Limiter) Read(p []byte) (int, error) { return l.read(p, l.pass) }

// pass appends whole objects to the output, without the events after the limit.
func (l *Limiter) pass(objects []byte) {
	rest := l.each(objects, l.add)
	if !l.over || l.failed || bytes.Equal(rest, EndMark(4, l.off, false)) {
		l.appendRaw(rest)
	}
}

// add appends an object, with its bytes in raw.
func (l *Limiter) add(o *Object, raw []byte) {
	data := o.data
	switch o.kind {
	case BlockTrace:
		l.limit = l.in.Ticks(l.length)
		if l.Began != nil {
			l.Began(l.in.start)
		}
	case BlockMetadata:
		l.define(o)
	case BlockEvents:
		if o.Last > l.limit {
			l.over = true
			data = l.limited(o)
		}
	case BlockSequencePoint:
		if l.over {
			data = l.sequencePoint(data)
		}
	}
	switch {
	case !l.over:
		l.appendRaw(raw)
	case data != nil:
		at := len(l.out)
		l.out = AppendFrameV4(l.out, o.kind, len(data), l.off)
		l.out = append(append(l.out, data...), TagEnd)
		l.off += int64(len(l.out) - at)
	}
}

func (l *Limiter) appendRaw(b []byte) {
	l.out = append(l.out, b...)
	l.off += int64(len(b))
}

// define finds the kinds of events to keep.
func (l *Limiter) define(o *Object) {
	_ = o.each(func(_ *Header, payload []byte) { // the reader reports damage
		if id, d, err := ParseMetadataV4(payload, 0); err == nil && l.Keep(d) {
			l.keeps[id] = true
		}
	})
}

// limited returns an event block without the events after the limit, nil if none is left.
func (l *Limiter) limited(o *Object) []byte {
	data := make([]byte, EventBlockHeader)
	var first, last uint64
	var prev Header
	err := o.each(func(h *Header, payload []byte) {
		if h.Ticks > l.limit && !l.keeps[h.MetadataID] {
			if n, counted := l.dropped[h.Capture]; counted || len(l.dropped) < maxDropped {
				l.dropped[h.Capture] = n + 1
			}
			return
		}
		e := *h
		e.Ticks = min(e.Ticks, l.limit)
		e.Seq -= l.dropped[e.Capture]
		if len(data) == EventBlockHeader {
			first = e.Ticks
		}
		first, last = min(first, e.Ticks), max(last, e.Ticks)
		data = e.AppendCompressed(data, &prev, false)
		data = append(data, payload...)
		prev = e
	})
	switch {
	case err != nil:
		return o.data // the reader reports damage
	case len(data) == EventBlockHeader:
		return nil
	}
	PutBlockHeader(data, true, first, last)
	return data
}

// sequencePoint returns a sequence point without the events that were left out: a time,
// and the last number of each thread.
func (l *Limiter) sequencePoint(data []byte) []byte {
	const head, thread = 8 + 4, 8 + 4
	if len(data) < head {
		return data
	}
	le := binary.LittleEndian
	data = bytes.Clone(data)
	le.PutUint64(data, min(le.Uint64(data), l.limit))
	for t := data[head:]; len(t) >= thread; t = t[thread:] {
		le.PutUint32(t[8:], le.Uint32(t[8:])-l.dropped[le.Uint64(t)])
	}
	return data
}
