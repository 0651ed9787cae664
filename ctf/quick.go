package ctf

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/ctf/tsdl"
)

// A quickHeader reads the header and context of an event in one go, where these
// have the same size whenever the header's id is in a range: what LTTng writes
// for nearly all events. It takes a fifth of the time that the plans take.
type quickHeader struct {
	fields    []quickField
	size      int // in bytes
	lo, hi    uint64
	selector  quickField
	nameOff   int // of the process's name
	nameLen   int // 0 where there is none
	seen      uint32
	stampBits int
}

// A quickField is an integer of at most 64 bits within the 8 bytes at off.
type quickField struct {
	off   int
	shift uint8
	role  role
	mask  uint64
}

func (f *quickField) of(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b[f.off:]) >> f.shift & f.mask
}

// newQuickHeader returns nil where the events of a stream have another form.
func newQuickHeader(s *streamClass) *quickHeader {
	q := &quickHeader{hi: ^uint64(0)}
	bits, ok := q.add(s.eventHeader, 0)
	if ok {
		bits, ok = q.add(s.eventContext, bits)
	}
	if !ok || bits%8 != 0 {
		return nil
	}
	q.size = bits / 8
	return q
}

// add adds what nodes read, which begin after a number of bits.
func (q *quickHeader) add(nodes []node, bits int) (int, bool) {
	for i := range nodes {
		n := &nodes[i]
		if n.mask > 7 {
			return bits, false
		}
		bits = (bits + n.mask) &^ n.mask
		switch {
		case n.op == opAlign:
		case n.op == opInt && !n.big && bits%8+n.size <= 64:
			f := quickField{bits / 8, uint8(bits % 8), n.role, lowBits(n.size)}
			if n.role != 0 {
				q.fields = append(q.fields, f)
				q.seen |= 1 << n.role
			}
			if n.role == role(tsdl.EventID) {
				q.selector = f
			}
			if n.role == role(tsdl.Timestamp) {
				q.stampBits = n.size
			}
			bits += n.size
		case (n.op == opText || n.op == opCopy) && !n.dynamic && n.count <= maxHeader:
			if n.role == roleProcname {
				q.nameOff, q.nameLen = bits/8, int(n.count)
				q.seen |= 1 << n.role
			}
			bits += 8 * int(n.count)
		case n.op == opChoose:
			var ok bool
			if bits, ok = q.choose(n, bits); !ok {
				return bits, false
			}
		default:
			return bits, false
		}
	}
	return bits, true
}

// choose adds the first option of a variant that the event's id selects.
func (q *quickHeader) choose(n *node, bits int) (int, bool) {
	if len(n.options) == 0 || len(n.options[0].ranges) != 1 || n.signed ||
		len(q.fields) != 1 || q.fields[0].role != role(tsdl.EventID) {
		return bits, false
	}
	o := &n.options[0]
	q.lo, q.hi = o.ranges[0].Lo, o.ranges[0].Hi
	for i := range o.kids {
		if o.kids[i].role == role(tsdl.EventID) || o.kids[i].op == opChoose {
			return bits, false
		}
	}
	return q.add(o.kids, bits)
}

// read reads a header and context. It returns false where the plans must.
func (q *quickHeader) read(d *decoder) bool {
	at := (d.pos + 7) >> 3
	if at+q.size+8 > d.end>>3 {
		return false
	}
	b := d.buf[at:]
	if id := q.selector.of(b); id < q.lo || id > q.hi {
		return false
	}
	for i := range q.fields {
		f := &q.fields[i]
		d.roles[f.role] = f.of(b)
	}
	d.seen, d.stamp = q.seen, q.stampBits
	d.spans[1].off, d.spans[1].n = at+q.nameOff, q.nameLen
	d.pos = (at + q.size) << 3
	return true
}
