// Package binread holds the Cursor that the readers of all formats share. It reads
// little-endian fields from a byte slice without ever going past its end.
package binread

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	// ErrTruncated reports a field that does not fit in what is left.
	ErrTruncated = errors.New("truncated")
	// ErrMalformed reports bytes that the format does not allow.
	ErrMalformed = errors.New("malformed")
	// ErrVarint is the ErrMalformed of a variable-length integer that is longer
	// than its type.
	ErrVarint = fmt.Errorf("%w: varint too long", ErrMalformed)
)

// An Error describes where in the input a field could not be read.
type Error struct {
	Off int64 // from the start of the input
	Err error // ErrTruncated or ErrVarint
}

func (e *Error) Error() string { return fmt.Sprintf("offset %#x: %v", e.Off, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Malformed returns an ErrMalformed with the particulars.
func Malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// A Cursor reads consecutive fields. After the first failure every read returns zero and Err
// reports that failure, so that callers check once per record. The zero Cursor is empty. Slices
// that it returns share the input's memory.
type Cursor struct {
	buf    []byte
	off    int
	failed int // 1 + offset in buf of the first field that did not fit; negative for an overlong varint
	base   int64
}

// At returns a cursor over buf, whose first byte is at offset base of the
// input; base serves error messages only.
func At(buf []byte, base int64) Cursor { return Cursor{buf: buf, base: base} }

// Err returns the first failure as an *Error, or nil.
func (c *Cursor) Err() error {
	switch {
	case c.failed == 0:
		return nil
	case c.failed < 0:
		return &Error{Off: c.base + int64(-c.failed-1), Err: ErrVarint}
	default:
		return &Error{Off: c.base + int64(c.failed-1), Err: ErrTruncated}
	}
}

// OK reports whether every read so far succeeded.
func (c *Cursor) OK() bool { return c.failed == 0 }

// Len returns the number of bytes left.
func (c *Cursor) Len() int { return len(c.buf) - c.off }

// Off returns the offset of the next byte in the slice given to At.
func (c *Cursor) Off() int { return c.off }

// Pos returns the offset of the next byte in the input.
func (c *Cursor) Pos() int64 { return c.base + int64(c.off) }

// U8 reads a byte.
func (c *Cursor) U8() uint8 {
	if c.off >= len(c.buf) {
		c.fail()
		return 0
	}
	v := c.buf[c.off]
	c.off++
	return v
}

// U16 reads a uint16.
func (c *Cursor) U16() uint16 {
	if len(c.buf)-c.off < 2 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint16(c.buf[c.off:])
	c.off += 2
	return v
}

// U32 reads a uint32.
func (c *Cursor) U32() uint32 {
	if len(c.buf)-c.off < 4 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(c.buf[c.off:])
	c.off += 4
	return v
}

// U64 reads a uint64.
func (c *Cursor) U64() uint64 {
	if len(c.buf)-c.off < 8 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(c.buf[c.off:])
	c.off += 8
	return v
}

// Ptr reads an unsigned integer of size bytes: 4, or else 8.
func (c *Cursor) Ptr(size int) uint64 {
	if size == 4 {
		return uint64(c.U32())
	}
	return c.U64()
}

// Bytes returns the next n bytes. A negative n fails.
func (c *Cursor) Bytes(n int) []byte {
	if n < 0 || len(c.buf)-c.off < n {
		c.fail()
		return nil
	}
	b := c.buf[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// Sub returns a cursor over the next n bytes, which is empty if there are not so many.
func (c *Cursor) Sub(n int) Cursor {
	at := c.Pos()
	return At(c.Bytes(n), at)
}

// Skip skips n bytes. A negative n fails.
func (c *Cursor) Skip(n int) {
	if n < 0 || len(c.buf)-c.off < n {
		c.fail()
		return
	}
	c.off += n
}

// Uvarint32 reads a LEB128 integer of at most 5 bytes. Bits past the 32nd are
// dropped, as the runtime's own reader does.
func (c *Cursor) Uvarint32() uint32 {
	if c.off < len(c.buf) && c.buf[c.off] < 0x80 {
		v := c.buf[c.off]
		c.off++
		return uint32(v)
	}
	return uint32(c.uvarint(5))
}

// Uvarint64 reads a LEB128 integer of at most 10 bytes.
func (c *Cursor) Uvarint64() uint64 {
	if c.off < len(c.buf) && c.buf[c.off] < 0x80 {
		v := c.buf[c.off]
		c.off++
		return uint64(v)
	}
	return c.uvarint(10)
}

// Varint64 reads a zigzag LEB128 integer of at most 10 bytes.
func (c *Cursor) Varint64() int64 {
	v := c.Uvarint64()
	return int64(v>>1) ^ -int64(v&1)
}

// UTF16 reads UTF-16LE code units up to a terminating zero unit, and returns
// them without it. A string without a terminator fails.
func (c *Cursor) UTF16() []byte {
	for i := c.off; i+1 < len(c.buf); i += 2 {
		if c.buf[i] == 0 && c.buf[i+1] == 0 {
			s := c.buf[c.off:i:i]
			c.off = i + 2
			return s
		}
	}
	c.fail()
	return nil
}

// Text reads what UTF16 does, and returns it in UTF-8.
func (c *Cursor) Text() string { return string(AppendUTF8(nil, c.UTF16())) }

// uvarint returns the slow path: more than one byte, or none.
func (c *Cursor) uvarint(longest int) uint64 {
	var v uint64
	for i := range longest {
		if c.off+i >= len(c.buf) {
			c.fail()
			return 0
		}
		b := c.buf[c.off+i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.off += i + 1
			return v
		}
	}
	if c.failed == 0 {
		c.failed = -(c.off + 1)
	}
	c.off = len(c.buf)
	return 0
}

// fail records where reading stopped. It builds no error, so that it and its
// callers stay within the inlining budget.
func (c *Cursor) fail() {
	if c.failed == 0 {
		c.failed = c.off + 1
	}
	c.off = len(c.buf)
}
