package etl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxEntries bounds the buffers of all files of a reader.
	maxEntries = 1 << 19
	// maxRatio and freely bound the expansion of a file, because it may claim any size:
	// real files grow to four times their size.
	maxRatio = 256
	freely   = maxBuffer
)

// An entry is a buffer with events.
type entry struct {
	ticks    int64 // of its first event
	from, to int64 // ticks between which all of its events are
	off      int64
	size     uint32 // with its header, as far as the file goes
	used     uint32
	seq      uint32
	cpu      uint16
	file     uint8
	flags    uint8
}

// order orders entries of equal time by processor, then as they were written.
func (e *entry) order() uint64 {
	return uint64(e.cpu)<<48 | uint64(e.file)<<40 | uint64(e.seq)
}

// An index lists the buffers of files in the order of their first events.
type index struct {
	second   int64 // in ticks
	alone    bool  // there is one file
	tailed   bool  // files are read while they are being written
	written  int64 // when the latest buffer was, in ticks
	entries  []entry
	damage   func(f *file, off int64, err error) // of a place without a buffer
	repeated func(f *file, off int64, err error) // of a buffer that is listed already
}

func (x *index) sort() {
	slices.SortStableFunc(x.entries, compareEntries)
}

// walking is how far the buffers of a file are listed.
type walking struct {
	pos      int64 // of the next
	previous int64 // position
	expands  int64 // bytes that all of them have once they are uncompressed
	ticks    int64 // of the first event of the last that has one
}

// A survey summarizes the buffer headers of one file.
type survey struct {
	buffers    uint32 // with the one that holds the file header
	lowest     uint32 // sequence number of a buffer with events, but the first
	anyMarked  bool   // a buffer but the first has the flush marker
	lastMarked bool
	short      bool  // the last buffer passes the end of the file
	lossFlags  bool  // a buffer says that events or buffers were lost
	damaged    bool  // there are places where no buffer could be found
	flushed    int64 // when the first of the buffers that are there was written, in ticks
	packed     bool  // buffers are compressed
	first      int64 // where the second buffer begins
}

// peekSize is how much of a buffer the index reads: its header, and at least the header
// of its first event, even if compressed.
const peekSize = bufferHeaderSize + 64

// add lists the buffers of f.
func (x *index) add(f *file) error {
	had := len(x.entries)
	err := x.walk(f)
	x.dropRepeated(f, had)
	if x.alone && !x.tailed {
		if err := f.mendStart(x.entries[had:], x.second); err != nil {
			x.damage(f, 0, err)
		}
	}
	f.confine(x.entries[had:], x.second)
	return err
}

// dropRepeated removes repeated buffers of f from the entries since had.
func (x *index) dropRepeated(f *file, had int) {
	own := x.entries[had:]
	order := make([]int32, len(own))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return own[a].compareIdentity(&own[b]) })
	var again []int32
	for i := 1; i < len(order); i++ {
		if own[order[i-1]].compareIdentity(&own[order[i]]) == 0 {
			again = append(again, order[i])
		}
	}
	for _, i := range again {
		e := &own[i]
		x.repeated(f, e.off, binread.Malformed("buffer %d of processor %d was there before", e.seq, e.cpu))
		e.used = 0
	}
	own = slices.DeleteFunc(own, func(e entry) bool { return e.used == 0 })
	x.entries = x.entries[:had+len(own)]
	f.survey.buffers -= uint32(len(again))
}

// compareIdentity orders buffers by the values that identify one within a session.
func (e *entry) compareIdentity(o *entry) int {
	return cmp.Or(cmp.Compare(e.seq, o.seq), cmp.Compare(e.cpu, o.cpu), cmp.Compare(e.ticks, o.ticks),
		cmp.Compare(e.used, o.used), cmp.Compare(e.to, o.to))
}

func (x *index) walk(f *file) error {
	var head [peekSize]byte
	w := &f.walked
	if w.pos == 0 {
		f.survey.lowest, f.survey.flushed = ^uint32(0), math.MaxInt64
		f.survey.first = int64(f.header.firstSize)
		f.survey.packed = f.header.mode&modeCompressed != 0
		w.ticks = f.ticks(f.header.time)
	}
	pos := w.pos
	defer func() { w.pos = pos }()
	for pos < f.size {
		n, err := f.r.ReadAt(head[:min(f.size-pos, peekSize)], pos)
		if f.growing && !f.wholeBuffer(head[:n], pos) {
			return nil
		}
		if n < bufferHeaderSize {
			f.survey.short = true
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		var h bufferHeader
		h.decode(head[:])
		if !h.plausible() || pos > 0 && f.survey.packed && !isBuffer(f, head[:n]) && !f.bufferAt(pos+int64(h.size)) {
			if pos, err = x.resync(f, w.previous, pos); err != nil || pos == f.size {
				return err
			}
			continue
		}
		if grid := f.header.bufferSize; pos > 0 && !f.survey.packed && !h.compressed() &&
			h.size != grid && grid >= h.used && f.bufferAt(pos+int64(grid)) {
			x.damage(f, pos, binread.Malformed("buffer of %d bytes among ones of %d", h.size, grid))
			h.size = grid
		}
		f.survey.take(&h)
		if err := f.compressionError(); err != nil {
			return err
		}
		f.survey.short = pos+int64(h.size) > f.size
		if h.holdsEvents() {
			if len(x.entries) == maxEntries {
				x.damage(f, pos, binread.Malformed("more than %d buffers", maxEntries))
				return nil
			}
			if w.expands += int64(h.used); h.compressed() && w.expands > freely+maxRatio*f.size {
				x.damage(f, pos, binread.Malformed("buffers that expand to more than %d times the file", maxRatio))
				return nil
			}
			if t, ok := h.firstTime(head[bufferHeaderSize:n]); ok {
				w.ticks = f.ticks(t)
			}
			e := h.entry(f, pos, w.ticks)
			x.entries = append(x.entries, e)
			if e.to == math.MaxInt64 { // unknown
				e.to = e.ticks
			}
			x.written = max(x.written, e.to)
			f.survey.flush(f.ticks(h.flushed), w.ticks, &h)
		}
		w.previous, pos = pos, pos+int64(h.size)
	}
	return nil
}

func (s *survey) take(h *bufferHeader) {
	s.lastMarked = h.flags&flagFlushMarker != 0
	if s.buffers > 0 {
		s.anyMarked = s.anyMarked || s.lastMarked
		s.lowest = min(s.lowest, h.seq)
	}
	s.lossFlags = s.lossFlags || h.flags&(flagEventsLost|flagBufferLost) != 0
	s.packed = s.packed || h.compressed()
	s.buffers++
}

// flush notes when a buffer was written, and that this is not known if it would
// have been before the buffer's first event: in a file that was merged, it is
// the time of day.
func (s *survey) flush(flushed, first int64, h *bufferHeader) {
	switch {
	case h.kind == typeHeader:
	case flushed < first:
		s.flushed = math.MinInt64
	default:
		s.flushed = min(s.flushed, flushed)
	}
}

// wrapped reports whether the file is circular and has come round: its first buffers were
// overwritten, and its last buffer lies anywhere.
func (f *file) wrapped() bool {
	s := &f.survey
	return f.header.mode&modeCircular != 0 &&
		(s.lowest > 1 || f.header.end != 0 && s.anyMarked && s.buffers < f.header.written)
}

// cut reports whether the end of the file is missing. A circular file that wrapped lacks its
// beginning only, and damage in the middle leaves the end in place.
func (f *file) cut() bool {
	s := &f.survey
	if f.wrapped() {
		return s.short || !s.anyMarked
	}
	return s.short || !s.lastMarked || !s.damaged && f.header.end != 0 && s.buffers < f.header.written
}

func (h *bufferHeader) entry(f *file, pos, ticks int64) entry {
	return entry{
		ticks: ticks, to: f.written(h), off: pos,
		size: uint32(min(int64(h.size), f.size-pos)), used: h.used,
		seq: h.seq, cpu: h.cpu, file: f.number, flags: uint8(h.flags),
	}
}

// firstTime returns the time of the first event in a buffer that begins with b.
func (h *bufferHeader) firstTime(b []byte) (int64, bool) {
	if h.compressed() {
		var plain [0x18]byte
		var x xpress
		n, _, _ := x.decode(plain[:], 0, b, true)
		return firstTime(plain[:n])
	}
	return firstTime(b)
}

// wholeBuffer reports whether all of the buffer at pos was written, which begins with
// head.
func (f *file) wholeBuffer(head []byte, pos int64) bool {
	h, ok := parseBuffer(head)
	return ok && pos+int64(h.size) <= f.size
}

// resync finds the next buffer after a place at which none begins. It searches beyond the
// start of a buffer, or of an apparent one, at previous. It returns the end of the file
// if there is none.
func (x *index) resync(f *file, previous, pos int64) (int64, error) {
	next, err := f.skipZeros(pos)
	if err != nil || next == f.size {
		return next, err // set aside, and not written
	}
	x.damage(f, pos, binread.Malformed("no buffer begins here"))
	if f.survey.packed {
		return f.scan(previous + bufferHeaderSize)
	}
	// Buffers that are not compressed are all of one size, except the first.
	grid, first := max(int64(f.header.bufferSize), bufferHeaderSize), f.survey.first
	after := max(previous, first-1)
	if pos >= first && (pos-first)%grid == 0 { // which is not a place to try again
		after = pos
	}
	at := first + (after-first+grid)/grid*grid
	return min(max(at, first+(next-first)/grid*grid), f.size), nil
}

// bufferAt reports whether a buffer may begin at pos, or the file ends there.
func (f *file) bufferAt(pos int64) bool {
	var b [bufferHeaderSize]byte
	if pos >= f.size {
		return pos == f.size
	}
	n, _ := f.r.ReadAt(b[:min(f.size-pos, bufferHeaderSize)], pos)
	_, ok := parseBuffer(b[:n])
	return ok
}

var zeros [64 << 10]byte

// skipZeros returns the offset of the first byte from pos on that is not zero.
func (f *file) skipZeros(pos int64) (int64, error) {
	buf := make([]byte, len(zeros))
	for pos < f.size {
		n, err := f.r.ReadAt(buf[:min(int64(len(buf)), f.size-pos)], pos)
		if n == 0 {
			return f.size, ignoreEOF(err)
		}
		if !bytes.Equal(buf[:n], zeros[:n]) { // which compares many bytes at once
			return pos + int64(n-len(bytes.TrimLeft(buf[:n], "\x00"))), nil
		}
		pos += int64(n)
	}
	return f.size, nil
}

// scan looks for the header of a compressed buffer of the same session, from
// pos on.
func (f *file) scan(pos int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for pos < f.size {
		n, err := f.r.ReadAt(buf[:min(int64(len(buf)), f.size-pos)], pos)
		for i := 0; i+bufferHeaderSize <= n; i++ {
			if isBuffer(f, buf[i:n]) {
				return pos + int64(i), nil
			}
		}
		if n < len(buf) {
			return f.size, ignoreEOF(err)
		}
		pos += int64(n - bufferHeaderSize + 1)
	}
	return f.size, nil
}

// isBuffer reports whether b is very likely the start of a buffer of a compressed file:
// its header must be consistent, and agree with the file's.
func isBuffer(f *file, b []byte) bool {
	if le.Uint32(b[0x04:]) != le.Uint32(b[0x30:]) { // quickly rejects most
		return false
	}
	h, ok := parseBuffer(b)
	return ok && h.kind == typeGeneric && h.logger == f.header.logger &&
		h.used <= f.header.bufferSize && h.size <= f.header.bufferSize+bufferHeaderSize &&
		h.flags&^(flagFlushMarker|flagEventsLost|flagBufferLost|flagProcIndex|flagCompressed) == 0
}

// compressionNames are the formats of RtlDecompressBuffer that are not read.
var compressionNames = map[uint16]string{2: "LZNT1", 4: "XPRESS Huffman"}

// compressionError returns an error if buffers are compressed by a method that is not
// read. It relies on the state of the first buffer only for compressed files, because
// otherwise the field has another meaning.
func (f *file) compressionError() error {
	name := compressionNames[uint16(f.header.state)]
	if !f.survey.packed || name == "" {
		return nil
	}
	return fmt.Errorf("%w: buffers compressed by %s, this reader knows XPRESS", trace.ErrUnsupported, name)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
