package eventpipe

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A Splicer writes traces that begin within another trace. It takes the objects
// of a V4 trace in order, and Begin starts a trace at one of them. The new
// trace contains what its events refer to from before that object, namely the
// metadata and the stacks since the last sequence point. It contains no earlier
// sequence point, so what is left out does not count as lost. Its start is
// moved to its first event.
//
// The zero Splicer skips objects until Begin. It holds the metadata and the
// stacks in memory, at most 16 MiB and 32 MiB: a runtime writes a sequence
// point for every 10 MB of events, and rarely has more than 1 MB of stacks
// between two. After an error it must not be used.
type Splicer struct {
	// Keep reports whether the first event of a kind is copied to the beginning of each
	// trace that would otherwise lack it, with the time of that trace's first event,
	// without a stack and as of no thread. It is for events that a process raises only
	// once, such as the ones that name its runtime. It may be nil.
	Keep func(*trace.Descriptor) bool

	w   io.Writer // nil before Begin
	off int64     // in the trace that is being written
	buf []byte

	head     []byte // payload of the Trace object
	metadata carried
	stacks   carried
	latest   uint64 // time of the latest event
	floor    uint64 // time of a sorted event: no later event is older

	wanted   map[uint32]bool // metadata ids of kinds to keep, until one was met
	retained []retainedEvent
}

// carried are blocks that later ones refer to.
type carried struct {
	data []byte
	ends []int
}

// A retainedEvent is an event that every trace is to have.
type retainedEvent struct {
	Header
	data []byte
}

const (
	// maxCarriedMetadata bounds the metadata of a trace that is spliced.
	maxCarriedMetadata = 16 << 20
	// retainedThread is the capture thread of retained events, so that their numbers do
	// not belong to a thread of the process.
	retainedThread = ^uint64(0)
)

func (c *carried) add(data []byte) {
	c.data = append(c.data, data...)
	c.ends = append(c.ends, len(c.data))
}

func (c *carried) clear() { c.data, c.ends = c.data[:0], c.ends[:0] }

// Latest returns the time of the latest event so far, in ticks of the trace's
// clock.
func (s *Splicer) Latest() uint64 { return s.latest }

// Add takes the next object, and writes it if a trace has begun. It returns the
// writer's error or a *trace.FormatError.
func (s *Splicer) Add(o *Object) error {
	switch o.kind {
	case BlockTrace:
		s.head = append(s.head[:0], o.data...)
		return nil
	case BlockMetadata:
		if len(s.metadata.data)+len(o.data) > maxCarriedMetadata {
			return &trace.FormatError{Format: "nettrace", Section: o.kind.String(), Err: binread.Malformed("more than %d MiB of metadata", maxCarriedMetadata>>20)}
		}
		s.metadata.add(o.data)
		s.define(o)
	case BlockStacks:
		if len(s.stacks.data)+len(o.data) <= MaxStackBytes {
			s.stacks.add(o.data)
		}
	case BlockSequencePoint:
		s.stacks.clear()
	case BlockEvents:
		s.look(o)
		s.latest = max(s.latest, o.Last)
		if o.Sorted {
			s.floor = o.First
		}
	}
	if s.w == nil {
		return nil
	}
	s.buf = s.appendObject(s.buf[:0], o.kind, o.data)
	return s.flush()
}

// Begin ends the trace that is being written, if any, and begins another one at
// o, an event block that the caller then passes to Add. All earlier objects
// must have been added.
func (s *Splicer) Begin(w io.Writer, o *Object) error {
	if s.head == nil {
		return ErrNoTrace
	}
	from := s.floor
	if o.Sorted {
		from = o.First
	}
	s.w, s.off = w, 0
	b := AppendHeadV4(s.buf[:0])
	b = appendHead(b, s.head, from)
	b = append(b, TagEnd)
	b = s.appendCarried(b, BlockMetadata, &s.metadata)
	b = s.appendCarried(b, BlockStacks, &s.stacks)
	if len(s.retained) > 0 {
		b = s.appendObject(b, BlockEvents, s.retainedBlock(from))
	}
	s.buf = b
	return s.flush()
}

// Whole returns the size of the trace begun last, and the bytes that complete
// it; see nettrace.Reader.Whole.
func (s *Splicer) Whole() (size int64, end []byte) { return s.off, EndMark(4, s.off, false) }

func (s *Splicer) flush() error {
	n, err := s.w.Write(s.buf)
	s.off += int64(n)
	return err
}

// appendObject appends an object that begins at the end of the trace plus b.
func (s *Splicer) appendObject(b []byte, kind BlockKind, data []byte) []byte {
	b = AppendFrameV4(b, kind, len(data), s.off+int64(len(b)))
	b = append(b, data...)
	return append(b, TagEnd)
}

func (s *Splicer) appendCarried(b []byte, kind BlockKind, c *carried) []byte {
	start := 0
	for _, end := range c.ends {
		b = s.appendObject(b, kind, c.data[start:end])
		start = end
	}
	return b
}

// define finds the kinds of events to keep.
func (s *Splicer) define(o *Object) {
	if s.Keep == nil {
		return
	}
	_ = o.each(func(_ *Header, payload []byte) { // the reader reports damage
		id, d, err := ParseMetadataV4(payload, 0)
		if err != nil || !s.Keep(d) {
			return
		}
		if s.wanted == nil {
			s.wanted = make(map[uint32]bool)
		}
		for i := range s.retained {
			if s.retained[i].MetadataID == id {
				return
			}
		}
		s.wanted[id] = true
	})
}

// look finds the first event of each kind to keep. Once all of them have been
// found, it does not examine blocks.
func (s *Splicer) look(o *Object) {
	if len(s.wanted) == 0 {
		return
	}
	_ = o.each(func(h *Header, payload []byte) { // as above
		if !s.wanted[h.MetadataID] {
			return
		}
		delete(s.wanted, h.MetadataID)
		e := retainedEvent{*h, append([]byte(nil), payload...)}
		e.Capture, e.Seq, e.Thread, e.Stack = retainedThread, uint32(len(s.retained)+1), 0, 0
		s.retained = append(s.retained, e)
	})
}

// retainedBlock returns an event block with the kept events, at the time of the
// earliest event.
func (s *Splicer) retainedBlock(at uint64) []byte {
	b := make([]byte, EventBlockHeader)
	PutBlockHeader(b, true, at, at)
	var prev Header
	for i := range s.retained {
		h := s.retained[i].Header
		h.Ticks, h.Sorted = at, true
		b = h.AppendCompressed(b, &prev, false)
		b = append(b, s.retained[i].data...)
		prev = h
	}
	return b
}

// appendHead appends the payload of a Trace object with the start moved to a
// time, rounded down to a whole number of milliseconds. If the clock does not
// have a whole number of ticks per millisecond, the start moves by whole
// seconds, so that times of events stay the same.
func appendHead(dst, head []byte, to uint64) []byte {
	c := binread.At(head, 0)
	start := SystemTime(c.Bytes(syncOffset))
	sync, second := c.U64(), c.U64()
	step, unit := second/1000, time.Millisecond
	if second%1000 != 0 {
		step, unit = second, time.Second
	}
	if by := int64(to - sync); by > 0 && step > 0 {
		steps := uint64(by) / step
		if steps < uint64(maxMove/unit) {
			start = start.Add(time.Duration(steps) * unit)
			sync += steps * step
		}
	}
	dst = AppendSystemTime(dst, start)
	dst = binary.LittleEndian.AppendUint64(dst, sync)
	return append(dst, head[frequencyOffset:]...)
}

// maxMove bounds how far the start of a trace is moved. It is close to the limit of
// time.Duration.
const maxMove = 290 * 365 * 24 * time.Hour
