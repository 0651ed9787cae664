package nettrace

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// labels is a V6 label list, or the activity ids of a V4 event.
type labels struct {
	trace.Labels
	override
}

// An override is a value in a V6 label list that replaces one in the event's metadata.
type override struct {
	set      uint8 // bits 1<<(label kind - labelOpcode)
	opcode   uint8
	level    uint8
	version  uint8
	keywords uint64
}

// Kinds of V6 labels; the highest bit marks the last of a list.
const (
	labelActivity = 1
	labelRelated  = 2
	labelTrace    = 3
	labelSpan     = 4
	labelText     = 5
	labelNumber   = 6
	labelOpcode   = 7
	labelKeywords = 8
	labelLevel    = 9
	labelVersion  = 10
	labelLast     = 0x80
)

// maxLabelBytes bounds the memory of the label lists between two sequence points.
const maxLabelBytes = 16 << 20

// A labelTable holds the V6 label lists since the last sequence point.
type labelTable struct {
	lists map[uint32]*labels
	size  int // bytes, about
}

func (t *labelTable) clear() {
	clear(t.lists)
	t.size = 0
}

// add reads a label list block: first index, count, lists. A label of an
// unknown kind ends it, because its length is unknown.
func (t *labelTable) add(data []byte, base int64) error {
	c := binread.At(data, base)
	index, n := c.U32(), c.U32()
	for range n {
		if !c.OK() {
			break
		}
		l := new(labels)
		if err := l.read(&c); err != nil {
			return err
		}
		if t.size += l.bytes(); t.size > maxLabelBytes {
			return binread.Malformed("more than %d MiB of label lists between sequence points", maxLabelBytes>>20)
		}
		t.lists[index] = l
		index++
	}
	return c.Err()
}

// bytes returns the memory of the list.
func (l *labels) bytes() int {
	n := int(unsafe.Sizeof(*l)) + 2*int(unsafe.Sizeof(uint64(0)))
	for _, p := range l.Text {
		n += int(unsafe.Sizeof(p)) + len(p.Name) + len(p.Value)
	}
	return n
}

func (l *labels) read(c *binread.Cursor) error {
	for c.OK() {
		k := c.U8()
		switch k &^ labelLast {
		case labelActivity:
			copy(l.ActivityID[:], c.Bytes(16))
		case labelRelated:
			copy(l.RelatedActivityID[:], c.Bytes(16))
		case labelTrace:
			copy(l.TraceID[:], c.Bytes(16))
		case labelSpan:
			l.SpanID = c.U64()
		case labelText:
			l.Text = append(l.Text, trace.Label{Name: eventpipe.UTF8(c), Value: eventpipe.UTF8(c)})
		case labelNumber:
			l.number(eventpipe.UTF8(c), c.Uvarint64())
		case labelOpcode:
			l.opcode, l.set = c.U8(), l.set|1<<0
		case labelKeywords:
			l.keywords, l.set = c.U64(), l.set|1<<1
		case labelLevel:
			l.level, l.set = c.U8(), l.set|1<<2
		case labelVersion:
			l.version, l.set = c.U8(), l.set|1<<3
		default:
			return binread.Malformed("label kind %d", k)
		}
		if k&labelLast != 0 {
			break
		}
	}
	return c.Err()
}

// number processes a label with a number. Versions and opcodes may be plain varints,
// because older builds of one-collect write them so; the format has zigzag ones.
func (l *labels) number(name string, raw uint64) {
	switch {
	case name == "Version" && raw <= math.MaxUint8:
		l.version, l.set = uint8(raw), l.set|1<<3
	case name == "OpCode" && raw <= math.MaxUint8:
		l.opcode, l.set = uint8(raw), l.set|1<<0
	default:
		v := int64(raw>>1) ^ -int64(raw&1)
		l.Text = append(l.Text, trace.Label{Name: name, Value: strconv.FormatInt(v, 10)})
	}
}

// apply returns the descriptor with the overrides in place.
func (o *override) apply(d trace.Descriptor) trace.Descriptor {
	if o.set&(1<<0) != 0 {
		d.Opcode = o.opcode
	}
	if o.set&(1<<1) != 0 {
		d.Keywords = o.keywords
	}
	if o.set&(1<<2) != 0 {
		d.Level = o.level
	}
	if o.set&(1<<3) != 0 {
		d.Version = uint32(o.version)
	}
	return d
}
