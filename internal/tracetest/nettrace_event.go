package tracetest

import (
	"encoding/binary"
	"strings"
)

// An event is the header of one.
type event struct {
	meta, seq         uint64
	capture, cpu      uint64
	thread, stack     uint64
	time              uint64
	activity, related [16]byte
	labels            uint64
	size              uint64 // of the payload
}

func (a *assembler) event(p *part, l *line) {
	prev := &p.prev
	meta := l.num("meta", prev.meta)
	a.addEvent(p, l, meta, l.payload())
}

// addEvent appends an event or, up to V4, a metadata record.
func (a *assembler) addEvent(p *part, l *line, meta uint64, payload []byte) {
	prev := &p.prev
	next := uint64(uint32(prev.seq + 1))
	if meta == 0 && a.version != 6 {
		next = prev.seq
	}
	e := event{
		meta:     meta,
		seq:      l.num("seq", next),
		capture:  l.num("capture", prev.capture),
		cpu:      l.num("cpu", prev.cpu),
		thread:   l.num("thread", prev.thread),
		time:     l.time("time", a.sync, prev.time),
		activity: l.id("activity", prev.activity),
		related:  l.id("related", prev.related),
		labels:   l.num("labels", prev.labels),
		size:     l.num("psize", uint64(len(payload))),
	}
	var inline []byte // V3
	if a.version == 3 {
		inline = a.stack(l, l.str("stack", "[]"))
	} else {
		e.stack = l.num("stack", prev.stack)
	}
	p.times = append(p.times, e.time)
	sorted := l.has("sorted")
	switch {
	case a.version == 3:
		a.fixedV3(p, l, &e, payload, inline)
	case p.line.has("uncompressed"):
		a.fixed(p, l, &e, sorted, payload)
	default:
		a.compressed(p, l, &e, sorted)
		p.body = append(p.body, payload...)
	}
	p.prev = e
}

func (a *assembler) fixedV3(p *part, l *line, e *event, payload, stack []byte) {
	size := 52 + len(payload) + 4 + len(stack)
	p.body = le.AppendUint32(p.body, uint32(l.num("size", uint64(size+-size&3))))
	p.body = le.AppendUint32(p.body, uint32(e.meta))
	p.body = le.AppendUint32(p.body, uint32(e.thread))
	p.body = le.AppendUint64(p.body, e.time)
	p.body = append(p.body, e.activity[:]...)
	p.body = append(p.body, e.related[:]...)
	p.body = le.AppendUint32(p.body, uint32(e.size))
	p.body = append(p.body, payload...)
	p.body = le.AppendUint32(p.body, uint32(len(stack)))
	p.body = append(p.body, stack...)
	p.body = append(p.body, make([]byte, -size&3)...)
}

// fixed appends an uncompressed event of V4 or V6.
func (a *assembler) fixed(p *part, l *line, e *event, sorted bool, payload []byte) {
	size, pad := 76+len(payload), -len(payload)&3
	if a.version == 6 {
		size = 48 + len(payload)
	}
	if a.version == 6 || p.line.has("unpadded") {
		pad = 0
	}
	meta := uint32(e.meta)
	if !sorted {
		meta |= 1 << 31
	}
	p.body = le.AppendUint32(p.body, uint32(l.num("size", uint64(size+pad))))
	p.body = le.AppendUint32(p.body, meta)
	p.body = le.AppendUint32(p.body, uint32(e.seq))
	p.body = le.AppendUint64(p.body, e.thread)
	p.body = le.AppendUint64(p.body, e.capture)
	p.body = le.AppendUint32(p.body, uint32(e.cpu))
	p.body = le.AppendUint32(p.body, uint32(e.stack))
	p.body = le.AppendUint64(p.body, e.time)
	if a.version == 6 {
		p.body = le.AppendUint32(p.body, uint32(e.labels))
	} else {
		p.body = append(p.body, e.activity[:]...)
		p.body = append(p.body, e.related[:]...)
	}
	p.body = le.AppendUint32(p.body, uint32(e.size))
	p.body = append(p.body, payload...)
	p.body = append(p.body, make([]byte, pad)...)
}

// compressed appends a compressed header: the fields in flags=, or the ones that differ
// from the event before.
func (a *assembler) compressed(p *part, l *line, e *event, sorted bool) {
	prev := &p.prev
	counted := prev.seq
	if e.meta != 0 || a.version == 6 {
		counted++
	}
	flags := uint64(0)
	for i, differs := range []bool{
		e.meta != prev.meta,
		e.seq != uint64(uint32(counted)) || e.capture != prev.capture || e.cpu != prev.cpu,
		e.thread != prev.thread,
		e.stack != prev.stack,
		e.activity != prev.activity || e.labels != prev.labels,
		e.related != prev.related,
		sorted,
		e.size != prev.size,
	} {
		if differs {
			flags |= 1 << i
		}
	}
	flags = l.num("flags", flags)

	b := append(p.body, byte(flags))
	varuint := func(bit int, v uint64) {
		if flags&(1<<bit) != 0 {
			b = binary.AppendUvarint(b, v)
		}
	}
	varuint(0, e.meta)
	varuint(1, uint64(uint32(e.seq-prev.seq-1)))
	varuint(1, e.capture)
	varuint(1, e.cpu)
	varuint(2, e.thread)
	varuint(3, e.stack)
	b = binary.AppendUvarint(b, e.time-prev.time)
	if a.version == 6 {
		varuint(4, e.labels)
	} else {
		if flags&(1<<4) != 0 {
			b = append(b, e.activity[:]...)
		}
		if flags&(1<<5) != 0 {
			b = append(b, e.related[:]...)
		}
	}
	varuint(7, e.size)
	p.body = b
}

// definition appends a metadata record.
func (a *assembler) definition(p *part, l *line) {
	if a.version == 6 {
		p.body = append(p.body, a.definitionV6(l)...)
		return
	}
	b := le.AppendUint32(nil, uint32(l.num("id", 0)))
	b = appendUTF16(b, l.str("provider", ""))
	b = le.AppendUint32(b, uint32(l.num("event", 0)))
	b = appendUTF16(b, l.str("name", ""))
	b = le.AppendUint64(b, l.num("keywords", 0))
	b = le.AppendUint32(b, uint32(l.num("version", 0)))
	b = le.AppendUint32(b, uint32(l.num("level", 0)))
	if !l.has("nofields") {
		b = appendFieldsV1(b, l.fields("field"))
	}
	if l.has("opcode") {
		b = append(b, 1, 0, 0, 0, 1, byte(l.num("opcode", 0)))
	}
	if l.has("v2field") {
		fields := appendFieldsV2(nil, l.fields("v2field"), int(l.num("pad", 0)))
		b = le.AppendUint32(b, uint32(len(fields)))
		b = append(b, 2)
		b = append(b, fields...)
	}
	for _, tag := range l.all("tag") {
		kind, digits, _ := strings.Cut(tag, ":")
		data := l.parseHex(digits)
		b = le.AppendUint32(b, uint32(len(data)))
		b = append(b, byte(l.parseNum(kind)))
		b = append(b, data...)
	}
	a.addEvent(p, l, 0, append(b, l.hex("surplus")...))
}

func (a *assembler) definitionV6(l *line) []byte {
	pad := int(l.num("pad", 0))
	b := binary.AppendUvarint(nil, l.num("id", 0))
	b = appendString(b, l.str("provider", ""))
	b = binary.AppendUvarint(b, l.num("event", 0))
	b = appendString(b, l.str("name", ""))
	b = appendFieldsV6(b, l.fields("field"), pad)

	o, _ := l.appendTagged(nil, optionTags)
	o = append(o, l.hex("option")...)
	b = le.AppendUint16(b, uint16(len(o)))
	b = append(b, o...)
	b = append(b, l.hex("surplus")...)
	return append(le.AppendUint16(nil, uint16(l.num("size", uint64(len(b))))), b...)
}
