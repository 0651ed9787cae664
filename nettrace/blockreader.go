package nettrace

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/binread"
)

// blockCompressed is set in the flags of a block whose headers are compressed.
const blockCompressed = 1

// A blockReader reads the events of an event block, or of a metadata block of V4,
// one after the other.
type blockReader struct {
	header
	data       []byte
	base       int64 // of data in the input
	off        int   // of the next event
	at         int   // where the payload of the last one begins
	times      bounds
	version    int
	compressed bool
	overlong   bool // a varint of the header is longer than its type
	err        error
}

// readBlock reads a block's header, and returns a reader of its events.
func readBlock(data []byte, base int64, version int) (r blockReader, err error) {
	r = blockReader{data: data, base: base, version: version, times: unbounded}
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
	case size < eventBlockHeader:
		return r, malformed("header of %d bytes", size)
	}
	c.Skip(size - eventBlockHeader)
	r.off = c.Off()
	r.compressed = flags&blockCompressed != 0
	if from != 0 || to != 0 { // otherwise the writer left them out
		r.times = bounds{from, to - from}
	}
	return r, c.Err()
}

// spans reports whether the block's header has the range of its events. The
// runtime writes the range; in one-collect's traces, a block begins where the
// previous one ends.
func (r *blockReader) spans(first, last uint64) bool {
	if r.times == unbounded || first > last {
		return true
	}
	return last == r.times.span && (first == 0 || r.version == 6)
}

// next reads the next event. It returns false at the end of the block, and
// where what is left is not an event: then err is set.
func (r *blockReader) next() bool {
	if r.compressed && len(r.data)-r.off >= maxCompressed {
		return r.nextCompressed()
	}
	return r.off < len(r.data) && r.nextChecked()
}

// maxCompressed is the size of the longest compressed header.
const maxCompressed = 1 + 3*binary.MaxVarintLen64 + 5*binary.MaxVarintLen32 + 2*16

// nextCompressed is next for compressed headers where at least maxCompressed bytes
// are left, so that only the payload can pass the end. It reads what
// header.compressed does, with short integers in line: half the instructions.
func (r *blockReader) nextCompressed() bool {
	h, b, i := &r.header, r.data, r.off
	flags := b[i]
	i++
	if flags&flagMetadata != 0 {
		if v := b[i]; v < 0x80 {
			h.metadataID, i = uint32(v), i+1
		} else {
			h.metadataID, i = r.uvarint32(i)
		}
	}
	h.moved = flags&flagSequence != 0
	if h.moved {
		var delta uint32
		delta, i = r.uvarint32(i)
		h.seq += delta + 1
		h.capture, i = r.uvarint64(i)
		h.cpu, i = r.uvarint32(i)
	} else if h.metadataID != 0 || r.version == 6 {
		h.seq++
	}
	if flags&flagThread != 0 {
		h.thread, i = r.uvarint64(i)
	}
	if flags&flagStack != 0 {
		h.stack, i = r.uvarint32(i)
	}
	var delta uint64
	if v := b[i]; v < 0x80 {
		delta, i = uint64(v), i+1
	} else if w := b[i+1]; w < 0x80 {
		delta, i = uint64(v&0x7f)|uint64(w)<<7, i+2
	} else {
		delta, i = r.uvarint64(i)
	}
	h.ticks += delta
	if flags&(flagActivity|flagRelated) != 0 {
		i = r.context(i, flags)
	}
	h.sorted = flags&flagSorted != 0
	if flags&flagPayload != 0 {
		var size uint32
		if v := b[i]; v < 0x80 {
			size, i = uint32(v), i+1
		} else {
			size, i = r.uvarint32(i)
		}
		h.payload = int(size)
	}
	if r.overlong || len(b)-i < h.payload {
		return r.nextChecked() // to the same end, and with the error
	}
	r.at, r.off = i, i+h.payload
	return true
}

// uvarint32 reads a LEB128 integer of at most 5 bytes at i, and returns where it
// ends.
func (r *blockReader) uvarint32(i int) (uint32, int) {
	v, i := r.uvarint(i, binary.MaxVarintLen32)
	return uint32(v), i
}

// uvarint64 is uvarint32 for at most 10 bytes.
func (r *blockReader) uvarint64(i int) (uint64, int) { return r.uvarint(i, binary.MaxVarintLen64) }

func (r *blockReader) uvarint(i, longest int) (v uint64, end int) {
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
func (r *blockReader) context(i int, flags uint8) int {
	if r.version == 6 {
		if flags&flagActivity != 0 {
			r.labels, i = r.uvarint32(i)
		}
		return i
	}
	if flags&flagActivity != 0 {
		i += copy(r.activity[:], r.data[i:])
	}
	if flags&flagRelated != 0 {
		i += copy(r.related[:], r.data[i:])
	}
	return i
}

// nextChecked is next for headers of all kinds, with a check of each field.
func (r *blockReader) nextChecked() bool {
	c := binread.At(r.data[r.off:], r.base+int64(r.off))
	size := 0
	switch {
	case r.compressed:
		r.header.compressed(&c, r.version == 6)
	case r.version == 3:
		size = r.uncompressedV3(&c)
	case r.version == 4:
		size = r.uncompressedV4(&c)
	default:
		size = r.uncompressedV6(&c)
	}
	at := c.Off()
	c.Skip(r.payload)
	if r.version == 3 {
		r.stack = uint32(r.off + c.Off())
	}
	if !r.compressed {
		c.Skip(4 + size - c.Off())
	}
	if r.err = c.Err(); r.err != nil {
		return false
	}
	r.at, r.off = r.off+at, r.off+c.Off()
	if !r.compressed && r.version == 4 {
		r.off += r.padding()
	}
	return true
}

// padding returns how many bytes there are before the next uncompressed event of
// V4, which begins at a multiple of four. Some writers leave them out.
func (r *blockReader) padding() int {
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

// span returns where the payload is in the block.
func (r *blockReader) span() span { return span{uint32(r.at), uint32(r.payload)} }

// bytes returns the payload.
func (r *blockReader) bytes() []byte { return r.data[r.at : r.at+r.payload] }

// pos returns where the payload begins in the input.
func (r *blockReader) pos() int64 { return r.base + int64(r.at) }
