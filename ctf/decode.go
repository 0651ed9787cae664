package ctf

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/tsdl"
)

// A failure is why reading stopped.
type failure uint8

const (
	noFailure failure = iota
	failShort         // the input ends
	failOption
	failEndless
	failVarInt
	failEmpty
)

var failures = [...]error{
	failOption:  binread.Malformed("a value without an option of its variant"),
	failEndless: binread.Malformed("elements that take hardly any space"),
	failVarInt:  binread.Malformed("an integer of more than 64 bits"),
	failEmpty:   binread.Malformed("an event that takes no space"),
}

// A decoder reads the fields of one packet.
type decoder struct {
	buf   []byte // of the packet, from a byte that every alignment divides
	pos   int    // in bits
	end   int    // in bits: of buf, or of the packet's content
	fail  failure
	mute  bool // put out nothing
	slots []uint64
	out   *output
	work  int // of inner plans that were run

	roles [numRoles]uint64
	seen  uint32                  // roles with a value, as bits
	stamp int                     // bits of the time stamp
	width int                     // bits of the counter of discarded events
	spans [2]struct{ off, n int } // of the trace's UUID and the process's name, in bytes
}

// An output receives the payloads that decoders convert, one behind the other.
type output struct{ data []byte }

func (d *decoder) has(r role) bool { return d.seen&(1<<r) != 0 }

// run executes the nodes. It returns false if one failed.
func (d *decoder) run(nodes []node) bool {
	for i := range nodes {
		n := &nodes[i]
		pos := (d.pos + n.mask) &^ n.mask
		if n.op == opBytes {
			end := pos + n.size
			if end > d.end {
				return d.failed(failShort)
			}
			d.pos = end
			if n.width > 0 && !d.mute {
				d.out.data = append(d.out.data, d.buf[pos>>3:end>>3]...)
			}
			continue
		}
		if pos > d.end {
			return d.failed(failShort)
		}
		d.pos = pos
		if !d.step(n) {
			return false
		}
	}
	return true
}

// step executes a node other than opBytes, from the position on that it
// is aligned to.
func (d *decoder) step(n *node) bool {
	switch n.op {
	case opInt:
		return d.integer(n)
	case opCopy:
		return d.copied(n)
	case opVarInt:
		return d.varInt(n)
	case opString:
		return d.text(n)
	case opText:
		return d.boundedText(n)
	case opLoop:
		return d.loop(n)
	case opChoose:
		return d.choose(n)
	}
	return true
}

// inner reads an element or an option, and counts its cost against the bound.
func (d *decoder) inner(p inner) bool {
	d.work += p.work
	return d.run(p.nodes)
}

func (d *decoder) failed(f failure) bool {
	d.fail = f
	return false
}

func (d *decoder) integer(n *node) bool {
	pos := d.pos
	if n.size > d.end-pos {
		return d.failed(failShort)
	}
	d.pos = pos + n.size
	var v uint64
	b := d.buf[pos>>3:]
	switch {
	case pos&7 != 0 || n.size&7 != 0:
		v = bitField(b, pos&7, n.size, n.big)
	case n.size == 32 && !n.big:
		v = uint64(binary.LittleEndian.Uint32(b))
	case n.size == 16 && !n.big:
		v = uint64(binary.LittleEndian.Uint16(b))
	case n.size == 64 && !n.big:
		v = binary.LittleEndian.Uint64(b)
	default:
		v = bitField(b, 0, n.size, n.big)
	}
	if n.signed && n.size < 64 {
		v = uint64(int64(v<<(64-n.size)) >> (64 - n.size))
	}
	d.store(n, v)
	if n.width > 0 && !d.mute {
		d.out.data = appendUint(d.out.data, v, n.width)
	}
	return true
}

// store keeps a value for nodes that refer to it.
func (d *decoder) store(n *node, v uint64) {
	if n.slot > 0 {
		d.slots[n.slot-1] = v
	}
	if n.role > 0 {
		d.roles[n.role] = v
		d.seen |= 1 << n.role
		switch n.role {
		case role(tsdl.Timestamp):
			d.stamp = n.size
		case role(tsdl.Discarded):
			d.width = n.size
		}
	}
}

// bitField reads an integer of size bits that begins off bits into b. Fields
// fill bytes from the least significant bit, or in big-endian order from the
// most significant one (CTF 1.8.3, 4.1.5).
func bitField(b []byte, off, size int, big bool) uint64 {
	var v uint64
	for got := 0; got < size; {
		take := min(8-off, size-got)
		c := uint64(b[0])
		if big {
			c = c >> (8 - off - take) & (1<<take - 1)
			v = v<<take | c
		} else {
			c = c >> off & (1<<take - 1)
			v |= c << got
		}
		got += take
		off, b = 0, b[1:]
	}
	return v
}

func appendUint(b []byte, v uint64, width uint8) []byte {
	switch width {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// length returns the number of elements of a node.
func (d *decoder) length(n *node) uint64 {
	if n.dynamic {
		return d.slots[n.ref]
	}
	return n.count
}

// bytes skips as many bytes as the node says.
func (d *decoder) bytes(n *node) ([]byte, bool) {
	count := d.length(n)
	if count > uint64(d.end-d.pos)>>3 {
		return nil, d.failed(failShort)
	}
	at := d.pos >> 3
	d.pos += int(count) << 3
	if n.role > 0 {
		d.span(n, at, int(count))
	}
	return d.buf[at : at+int(count)], true
}

// span notes where the bytes are that a role is for.
func (d *decoder) span(n *node, off, count int) {
	i := 0
	if n.role == roleProcname {
		i = 1
	}
	d.spans[i].off, d.spans[i].n = off, count
	d.seen |= 1 << n.role
}

func (d *decoder) copied(n *node) bool {
	b, ok := d.bytes(n)
	if ok && n.width > 0 && !d.mute {
		if n.counted {
			b = b[:min(len(b), maxCount)]
			d.out.data = binary.LittleEndian.AppendUint16(d.out.data, uint16(len(b)))
		}
		d.out.data = append(d.out.data, b...)
	}
	return ok
}

// maxCount bounds the elements of arrays in payloads that describe themselves. Elements
// beyond it are left out.
const maxCount = 1<<16 - 1

func (d *decoder) varInt(n *node) bool {
	var v uint64
	for shift := 0; ; shift += 7 {
		if d.end-d.pos < 8 {
			return d.failed(failShort)
		}
		b := d.buf[d.pos>>3]
		d.pos += 8
		if shift == 63 && b > 1 || shift > 63 {
			return d.failed(failVarInt)
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n.signed && b&0x40 != 0 && shift < 57 {
				v |= ^uint64(0) << (shift + 7)
			}
			break
		}
	}
	d.store(n, v)
	if n.width > 0 && !d.mute {
		d.out.data = appendUint(d.out.data, v, n.width)
	}
	return true
}

// workPerBit and maxWork bound the work for an array by the space that it takes, because
// elements of no size could repeat any number of times.
const (
	workPerBit = 16
	maxWork    = 1 << 12
	maxPayload = 16 << 20
)

// loop reads the elements of an array. Each must take space, because otherwise a few bytes could
// declare any number of elements.
func (d *decoder) loop(n *node) bool {
	count, mute := d.length(n), d.mute
	from, work := d.pos, d.work
	if n.counted && !mute {
		d.out.data = binary.LittleEndian.AppendUint16(d.out.data, uint16(min(count, maxCount)))
	}
	for i := range count {
		if n.counted && i == maxCount {
			d.mute = true
		}
		pos := d.pos
		if !d.inner(n.kids) {
			d.mute = mute
			return false
		}
		if d.pos == pos || d.work-work > maxWork+workPerBit*(d.pos-from) || len(d.out.data) > maxPayload {
			d.mute = mute
			return d.failed(failEndless)
		}
	}
	d.mute = mute
	return true
}

// choose reads the option that a selector stands for.
func (d *decoder) choose(n *node) bool {
	v := d.slots[n.ref]
	for i := range n.options {
		o := &n.options[i]
		for _, r := range o.ranges {
			if n.signed && int64(r.Lo) <= int64(v) && int64(v) <= int64(r.Hi) ||
				!n.signed && r.Lo <= v && v <= r.Hi {
				return d.inner(o.inner)
			}
		}
	}
	return n.mayMiss || d.failed(failOption)
}

// lowBits returns a number with the n lowest bits set.
func lowBits(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
