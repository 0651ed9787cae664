package ctf

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// A quickHeader reads the header and context of an event in one go, if these have the
// same size whenever the header's id is in a range, as in nearly all of LTTng's events.
// It exists because it takes a seventh of the instructions of the plans.
type quickHeader struct {
	id, stamp, pid, tid quickField

	lo, hi  uint64 // ids that this holds for
	size    int    // in bytes
	nameOff int    // of the process's name
	nameLen int    // 0 if there is none

	usual *usualHeader // nil if it has another form
}

// fieldSize is the size of what a quickField is read from.
const fieldSize = 8

// A quickField is an integer of at most 64 bits within the 8 bytes at off. A missing one
// has no bits, and a constant value instead.
type quickField struct {
	off     int
	shift   uint8
	mask    uint64
	instead uint64
}

func (f *quickField) of(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b[f.off:])>>f.shift&f.mask | f.instead
}

// A quickPlanner determines whether a stream can have a quickHeader.
type quickPlanner struct {
	quickHeader
	fields map[role]quickField
	idSlot int // 1 + where the id is kept
}

// newQuickHeader returns nil if the events of a stream have another form.
func newQuickHeader(s *streamClass) *quickHeader {
	q := quickPlanner{quickHeader: quickHeader{hi: ^uint64(0)}, fields: map[role]quickField{}}
	bits, ok := q.add(s.eventHeader, 0)
	if ok {
		bits, ok = q.add(s.eventContext, bits)
	}
	if !ok || bits == 0 || bits%8 != 0 {
		return nil
	}
	q.size = bits / 8
	q.id, q.stamp = q.fields[role(tsdl.EventID)], q.fields[role(tsdl.Timestamp)]
	q.pid = q.first(processRoles[:], s.member.processID())
	q.tid = q.first(threadRoles[:], trace.UnknownID)
	q.usual = newUsualHeader(&q.quickHeader)
	return &q.quickHeader
}

// first returns the first field that is present, or else a constant.
func (q *quickPlanner) first(roles []role, value uint64) quickField {
	for _, r := range roles {
		if f, ok := q.fields[r]; ok {
			f.mask &= r.mask()
			return f
		}
	}
	return quickField{instead: value}
}

// add adds the fields that nodes read, starting at a bit offset.
func (q *quickPlanner) add(nodes []node, bits int) (int, bool) {
	for i := range nodes {
		n := &nodes[i]
		if n.mask > 7 {
			return bits, false
		}
		bits = (bits + n.mask) &^ n.mask
		switch {
		case n.op == opAlign:
		case n.op == opInt && !n.big && bits%8+n.size <= 64 && (n.role == 0 || !n.signed || n.size >= 32):
			if n.role != 0 {
				q.fields[n.role] = quickField{off: bits / 8, shift: uint8(bits % 8), mask: lowBits(n.size)}
			}
			if n.role == role(tsdl.EventID) {
				q.idSlot = n.slot
			}
			bits += n.size
		case n.op == opBytes && n.size <= 8*maxHeader:
			bits += n.size
		case (n.op == opText || n.op == opCopy) && !n.dynamic && n.count <= maxHeader:
			if n.role == roleProcname {
				q.nameOff, q.nameLen = bits/8, int(n.count)
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
func (q *quickPlanner) choose(n *node, bits int) (int, bool) {
	if n.ref != q.idSlot-1 || len(q.fields) != 1 || len(n.options) == 0 || len(n.options[0].ranges) != 1 || n.signed {
		return bits, false
	}
	o := &n.options[0]
	q.lo, q.hi = o.ranges[0].Lo, o.ranges[0].Hi
	for i := range o.nodes {
		if n := &o.nodes[i]; n.role == role(tsdl.EventID) || n.op == opChoose {
			return bits, false
		}
	}
	return q.add(o.nodes, bits)
}

// read reads a header and context. It returns false if the plans have to do it.
func (q *quickHeader) read(d *decoder, h *header) bool {
	at := (d.pos + 7) >> 3
	b := d.buf[at:]
	if at+q.size > d.end>>3 || len(b) < q.size+fieldSize {
		return false
	}
	id := q.id.of(b)
	if id < q.lo || id > q.hi {
		return false
	}
	h.id, h.stamp, h.low = id, q.stamp.of(b), q.stamp.mask
	h.pid, h.tid = identity(q.pid.of(b)), identity(q.tid.of(b))
	h.nameOff, h.nameLen = at+q.nameOff, q.nameLen
	d.pos = (at + q.size) << 3
	return true
}
