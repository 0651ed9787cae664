package eventpipe

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/binread"
)

// blockCompressed is set in the flags of a block whose headers are compressed.
const blockCompressed = 1

// A Span is a part of a block.
type Span struct{ Off, N uint32 }

// Of returns the bytes of the span.
func (s Span) Of(b []byte) []byte { return b[s.Off : s.Off+s.N : s.Off+s.N] }

// A BlockReader reads the events of an event block, or of a metadata block of V4,
// one after the other.
type BlockReader struct {
	Header
	data       []byte
	base       int64 // of data in the input
	off        int   // of the next event
	at         int   // where the payload of the last one begins
	Times      Times
	Version    int
	Compressed bool
	overlong   bool // a varint of the header is longer than its type
	Err        error
}

// ReadBlock reads a block's header, and returns a reader of its events.
func ReadBlock(data []byte, base int64, version int) (r BlockReader, err error) {
	r = BlockReader{data: data, base: base, Version: version, Times: AllTimes}
	if version == 3 {
		return r, nil
	}
	c := binread.At(data, base)
	size := int(c.U16())
	flags := c.U16()
	from, to := c.U64(), c.U64()
	switch {
	case !c.OK():
		return r, c.Err()
	case size < EventBlockHeader:
		return r, binread.Malformed("header of %d bytes", size)
	}
	c.Skip(size - EventBlockHeader)
	r.off = c.Off()
	r.Compressed = flags&blockCompressed != 0
	if from != 0 || to != 0 { // otherwise the writer left them out
		r.Times = Times{from, to - from}
	}
	return r, c.Err()
}

// Empty reports whether no events are left.
func (r *BlockReader) Empty() bool { return r.off == len(r.data) }

// Matches reports whether the block's header has the range of its events. The
// runtime writes the range; in one-collect's traces, a block begins where the
// previous one ends.
func (r *BlockReader) Matches(first, last uint64) bool {
	if r.Times == AllTimes || first > last {
		return true
	}
	return last == r.Times.Span && (first == 0 || r.Version == 6)
}

// Next reads the next event. It returns false at the end of the block, or with err set if
// the rest is not an event.
func (r *BlockReader) Next() bool {
	if r.Compressed && len(r.data)-r.off >= MaxHeader {
		return r.nextCompressed()
	}
	return r.off < len(r.data) && r.nextChecked()
}

// nextCompressed is Next for compressed headers where at least maxHeader bytes
// are left, so that only the payload can pass the end. It reads what
// Header.compressed does, with short integers in line: half the instructions.
func (r *BlockReader) nextCompressed() bool {
	h, b, i := &r.Header, r.data, r.off
	flags := b[i]
	i++
	if flags&flagMetadata != 0 {
		if v := b[i]; v < 0x80 {
			h.MetadataID, i = uint32(v), i+1
		} else {
			h.MetadataID, i = r.uvarint32(i)
		}
	}
	h.Moved = flags&flagSequence != 0
	if h.Moved {
		var delta uint32
		delta, i = r.uvarint32(i)
		h.Seq += delta + 1
		h.Capture, i = r.uvarint64(i)
		h.CPU, i = r.uvarint32(i)
	} else if h.MetadataID != 0 || r.Version == 6 {
		h.Seq++
	}
	if flags&flagThread != 0 {
		h.Thread, i = r.uvarint64(i)
	}
	if flags&flagStack != 0 {
		h.Stack, i = r.uvarint32(i)
	}
	var delta uint64
	if v := b[i]; v < 0x80 {
		delta, i = uint64(v), i+1
	} else if w := b[i+1]; w < 0x80 {
		delta, i = uint64(v&0x7f)|uint64(w)<<7, i+2
	} else {
		delta, i = r.uvarint64(i)
	}
	h.Ticks += delta
	if flags&(flagActivity|flagRelated) != 0 {
		i = r.context(i, flags)
	}
	h.Sorted = flags&flagSorted != 0
	if flags&flagPayload != 0 {
		var size uint32
		if v := b[i]; v < 0x80 {
			size, i = uint32(v), i+1
		} else {
			size, i = r.uvarint32(i)
		}
		h.Payload = int(size)
	}
	if r.overlong || len(b)-i < h.Payload {
		return r.nextChecked() // to the same end, and with the error
	}
	r.at, r.off = i, i+h.Payload
	return true
}

// uvarint32 reads a LEB128 integer of at most 5 bytes at i, and returns where it
// ends.
func (r *BlockReader) uvarint32(i int) (uint32, int) {
	v, i := r.uvarint(i, binary.MaxVarintLen32)
	return uint32(v), i
}

// uvarint64 is uvarint32 for at most 10 bytes.
func (r *BlockReader) uvarint64(i int) (uint64, int) { return r.uvarint(i, binary.MaxVarintLen64) }

func (r *BlockReader) uvarint(i, longest int) (v uint64, end int) {
	for n, b := range r.data[i : i+longest] {
		v |= uint64(b&0x7f) << (7 * n)
		if b < 0x80 {
			return v, i + n + 1
		}
	}
	r.overlong = true
	return 0, i + 1
}

// context returns the rarer part of nextCompressed.
func (r *BlockReader) context(i int, flags uint8) int {
	if r.Version == 6 {
		if flags&flagActivity != 0 {
			r.Labels, i = r.uvarint32(i)
		}
		return i
	}
	if flags&flagActivity != 0 {
		i += copy(r.Activity[:], r.data[i:])
	}
	if flags&flagRelated != 0 {
		i += copy(r.Related[:], r.data[i:])
	}
	return i
}

// nextChecked is next for headers of all kinds, and checks each field.
func (r *BlockReader) nextChecked() bool {
	c := binread.At(r.data[r.off:], r.base+int64(r.off))
	size := 0
	switch {
	case r.Compressed:
		r.Header.compressed(&c, r.Version == 6)
	case r.Version == 3:
		size = r.uncompressedV3(&c)
	default:
		size = r.uncompressed(&c, r.Version == 6)
	}
	at := c.Off()
	c.Skip(r.Payload)
	if r.Version == 3 {
		r.Stack = uint32(r.off + c.Off())
	}
	if !r.Compressed {
		c.Skip(4 + size - c.Off())
	}
	if r.Err = c.Err(); r.Err != nil {
		return false
	}
	r.at, r.off = r.off+at, r.off+c.Off()
	if !r.Compressed && r.Version == 4 {
		r.off += r.padding()
	}
	return true
}

// padding returns how many bytes there are before the next uncompressed event of
// V4, which begins at a multiple of four. Some writers leave them out.
func (r *BlockReader) padding() int {
	n := -r.off & 3
	rest := r.data[r.off:]
	switch {
	case n >= len(rest):
		return len(rest)
	case len(rest) < n+headerSizeV4:
		return 0
	}
	size, payload := binary.LittleEndian.Uint32(rest[n:]), binary.LittleEndian.Uint32(rest[n+headerSizeV4-4:])
	if extra := size - (headerSizeV4 - 4) - payload; extra > 3 {
		return 0
	}
	return n
}

// Span returns where the payload is in the block.
func (r *BlockReader) Span() Span { return Span{uint32(r.at), uint32(r.Payload)} }

// Bytes returns the payload.
func (r *BlockReader) Bytes() []byte { return r.data[r.at : r.at+r.Payload] }

// Pos returns where the payload begins in the input.
func (r *BlockReader) Pos() int64 { return r.base + int64(r.at) }
