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
	c          binread.Cursor
	data       []byte
	base       int64
	version    int
	compressed bool
	times      bounds // of the block's events, as its header tells them
	at         int    // where the payload begins
}

// readBlock returns a reader of a block's events, of which it has read the
// block's own header.
func readBlock(data []byte, base int64, version int) (r blockReader, err error) {
	r = blockReader{c: binread.At(data, base), data: data, base: base, version: version, times: unbounded}
	if version == 3 {
		return r, nil
	}
	size := int(r.c.U16())
	flags := r.c.U16()
	from, to := r.c.U64(), r.c.U64()
	switch {
	case !r.c.OK():
		return r, r.c.Err()
	case size < eventBlockHeader:
		return r, malformed("header of %d bytes", size)
	}
	r.c.Skip(size - eventBlockHeader)
	r.compressed = flags&blockCompressed != 0
	if from != 0 || to != 0 { // else the writer does not tell
		r.times = bounds{from, to - from}
	}
	return r, r.c.Err()
}

// next reads the next event. It returns false at the end of the block, and where
// what is left is no event.
func (r *blockReader) next() bool {
	if r.c.Len() == 0 {
		return false
	}
	if !r.compressed {
		return r.nextFixed()
	}
	r.header.compressed(&r.c, r.version == 6)
	r.at = r.c.Off()
	r.c.Skip(r.payload)
	return r.c.OK()
}

// nextFixed is next for uncompressed headers.
func (r *blockReader) nextFixed() bool {
	c := &r.c
	start := c.Off()
	var size int
	switch r.version {
	case 3:
		size = r.uncompressedV3(c)
	case 4:
		size = r.uncompressedV4(c)
	default:
		size = r.uncompressedV6(c)
	}
	r.at = c.Off()
	c.Skip(r.payload)
	if r.version == 3 {
		r.stack = uint32(c.Off())
	}
	c.Skip(start + 4 + size - c.Off())
	if r.version == 4 {
		c.Skip(r.padding())
	}
	return c.OK()
}

// padding returns how many bytes there are before the next uncompressed event of
// V4, which begins at a multiple of four. Some writers leave them out.
func (r *blockReader) padding() int {
	n := -r.c.Off() & 3
	if n == 0 || n >= r.c.Len() {
		return min(n, r.c.Len())
	}
	next := r.c
	next.Skip(n)
	if b := next.Bytes(headerSizeV4); b != nil {
		payload := binary.LittleEndian.Uint32(b[headerSizeV4-4:])
		if extra := binary.LittleEndian.Uint32(b) - (headerSizeV4 - 4) - payload; extra < 4 {
			return n
		}
	}
	return 0
}

// span returns where the payload is in the block.
func (r *blockReader) span() span { return span{uint32(r.at), uint32(r.payload)} }

// bytes returns the payload.
func (r *blockReader) bytes() []byte { return r.data[r.at : r.at+r.payload] }

// pos returns where the payload begins in the input.
func (r *blockReader) pos() int64 { return r.base + int64(r.at) }
