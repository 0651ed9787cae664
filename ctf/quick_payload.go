package ctf

import (
	"bytes"
	"encoding/binary"
)

// A quickPayload reads a payload that is bytes as the wire has them, followed by bytes,
// strings and sequences that nobody wants, as most events of LTTng traces have. It exists
// because it takes three fifths of the time of the plans.
type quickPayload struct {
	copied int // bytes
	fixed  int // bytes up to the first part, copied ones too
	parts  []quickPart
}

// A quickPart is a string, or a sequence behind its length, and the bytes that follow.
type quickPart struct {
	length int // bytes of the length, 0 for a string
	elem   int // bytes of an element
	fixed  int // bytes that follow
}

// newQuickPayload returns nil if the plan must be used. Its payloads take space.
func newQuickPayload(nodes plan) *quickPayload {
	q := &quickPayload{}
	fixed := &q.fixed
	for i := 0; i < len(nodes); i++ {
		n := &nodes[i]
		part, ok := newQuickPart(nodes[i:])
		switch {
		case n.mask > 7:
			return nil
		case n.op == opBytes && n.width > 0 && i == 0:
			q.copied = n.size / 8
			q.fixed = q.copied
		case n.op == opBytes && n.width == 0:
			*fixed += n.size / 8
		case ok:
			q.parts = append(q.parts, part)
			fixed = &q.parts[len(q.parts)-1].fixed
			if part.length > 0 {
				i++ // the sequence
			}
		default:
			return nil
		}
	}
	if q.fixed == 0 && len(q.parts) == 0 {
		return nil
	}
	return q
}

// newQuickPart returns the part that a plan begins with. It returns false if there is none.
func newQuickPart(nodes plan) (part quickPart, ok bool) {
	n := &nodes[0]
	if n.width > 0 || n.role != 0 || n.size%8 != 0 {
		return part, false
	}
	if n.op == opString {
		return part, n.size == 8
	}
	if n.op != opInt || n.big || n.signed || n.mask != 7 || len(nodes) == 1 || n.size != 8 && n.size != 16 && n.size != 32 {
		return part, false
	}
	s := &nodes[1]
	part = quickPart{length: n.size / 8, elem: s.elem()}
	return part, part.elem > 0 && s.dynamic && s.ref == n.slot-1 && s.role == 0 && s.width == 0 && s.mask <= 7
}

// maxQuickElem bounds the bytes of an element, so that no size overflows.
const maxQuickElem = 1 << 10

// elem returns the bytes of an element of a sequence that nobody wants, 0 if they differ.
func (n *node) elem() int {
	switch {
	case n.op == opCopy:
		return 1
	case n.op == opLoop && !n.counted && len(n.kids.nodes) == 1:
		if of := &n.kids.nodes[0]; of.op == opBytes && of.mask <= 7 && of.width == 0 && of.size <= 8*maxQuickElem {
			return of.size / 8
		}
	}
	return 0
}

// read reads a payload. It returns false, and has done nothing, if the plan has to do it.
func (q *quickPayload) read(d *decoder) bool {
	from := (d.pos + 7) >> 3
	end := q.end(d.buf[:d.end>>3], from)
	if end < 0 {
		return false
	}
	d.out.data = append(d.out.data, d.buf[from:from+q.copied]...)
	d.pos = end << 3
	return true
}

// end returns where the payload that begins at an offset of b ends, -1 if it is not whole.
func (q *quickPayload) end(b []byte, at int) int {
	at += q.fixed
	for i := range q.parts {
		if at > len(b) {
			return -1
		}
		p, rest := &q.parts[i], b[at:]
		if p.length == 0 {
			n := bytes.IndexByte(rest, 0)
			if n < 0 {
				return -1
			}
			at += n + 1 + p.fixed
			continue
		}
		size := p.size(rest)
		if size > int64(len(rest)) {
			return -1
		}
		at += int(size) + p.fixed
	}
	if at > len(b) {
		return -1
	}
	return at
}

// size returns the size of the sequence that b begins with, as its length in front of it says.
func (p *quickPart) size(b []byte) int64 {
	if len(b) < p.length {
		return int64(p.length)
	}
	var count uint32
	switch p.length {
	case 1:
		count = uint32(b[0])
	case 2:
		count = uint32(binary.LittleEndian.Uint16(b))
	case 4:
		count = binary.LittleEndian.Uint32(b)
	}
	return int64(p.length) + int64(count)*int64(p.elem)
}
