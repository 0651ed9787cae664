package attack

import (
	"fmt"
	"testing"
)

// nettraceHeaders returns the headers of the file, its objects or blocks, and its events.
// The records that describe kinds of events, stacks, threads and labels count too.
func nettraceHeaders(version int) func(testing.TB, []byte) []header {
	return func(tb testing.TB, data []byte) []header {
		w := &nettraceWalk{newWalk(tb, data), version}
		if version == 6 {
			w.blocks()
		} else {
			w.objects()
		}
		return w.ended()
	}
}

type nettraceWalk struct {
	*walk
	version int
}

// objects walks V3 and V4.
func (w *nettraceWalk) objects() {
	w.header("file", map[int]int{3: 24, 4: 32}[w.version])
	for w.c.OK() {
		if w.c.Len() == 1 {
			w.header("end", 1)
			return
		}
		from := w.c.Off()
		w.c.Skip(11)
		name := string(w.c.Bytes(int(w.c.U32())))
		w.c.Skip(1)
		if name == "Trace" {
			w.since(from, name)
			w.header("trace object", 48)
		} else {
			size := int(w.c.U32())
			w.c.Skip(-w.c.Off() & 3)
			w.since(from, name)
			w.contents(name, w.c.Off()+size)
		}
		w.header("end of "+name, 1)
	}
}

// blocks walks V6.
func (w *nettraceWalk) blocks() {
	w.header("file", 20)
	kinds := [...]string{"end", "Trace", "EventBlock", "MetadataBlock", "SPBlock", "StackBlock", "threads", "removed threads", "labels"}
	for w.c.OK() && w.c.Len() > 0 {
		h := le.Uint32(w.header("block", 4))
		w.contents(kinds[h>>24], w.c.Off()+int(h&0xffffff))
	}
}

// contents walks a block of the given kind, up to end.
func (w *nettraceWalk) contents(kind string, end int) {
	switch {
	case kind == "EventBlock" || kind == "MetadataBlock" && w.version != 6:
		w.events(kind, end)
	case kind == "MetadataBlock":
		from := w.c.Off()
		w.c.Skip(int(w.c.U16()))
		w.since(from, kind)
		for w.c.OK() && w.c.Off() < end {
			from := w.c.Off()
			w.c.Skip(int(w.c.U16()))
			w.since(from, "definition")
		}
	case kind == "StackBlock":
		w.header(kind, 8)
		for w.c.OK() && w.c.Off() < end {
			w.c.Skip(int(le.Uint32(w.header("stack", 4))))
		}
	default:
		w.header(kind, end-w.c.Off())
	}
}

func (w *nettraceWalk) events(kind string, end int) {
	compressed := false
	if w.version > 3 {
		from := w.c.Off()
		size := w.c.U16()
		compressed = w.c.U16()&1 != 0
		w.c.Skip(int(size) - 4)
		w.since(from, fmt.Sprint(kind, compressed))
	}
	var e nettraceEvent
	for w.c.OK() && w.c.Off() < end {
		from := w.c.Off()
		if compressed {
			w.compressed(&e)
		} else {
			w.fixed(&e)
		}
		w.since(from, fmt.Sprintf("%s %d, %#x", kind, e.meta, e.flags))
		payload := w.c.Off()
		w.c.Skip(e.size)
		if e.meta == 0 {
			w.since(payload, "definition")
		}
		if w.version == 3 {
			w.c.Skip(int(le.Uint32(w.header("stack size", 4))))
		}
		if !compressed && w.version < 6 {
			w.c.Skip((from - w.c.Off()) & 3)
		}
	}
}

// A nettraceEvent holds the fields of an event's header that a walk needs.
type nettraceEvent struct {
	flags byte   // of a compressed header: which fields it has
	meta  uint64 // 0 is a record that describes events
	size  int    // of the payload
}

// fixed reads a header that is not compressed.
func (w *nettraceWalk) fixed(e *nettraceEvent) {
	h := w.c.Bytes(map[int]int{3: 56, 4: 80, 6: 52}[w.version])
	e.meta = uint64(le.Uint32(h[4:]) &^ (1 << 31))
	e.size = int(le.Uint32(h[len(h)-4:]))
}

// compressed reads a compressed header.
func (w *nettraceWalk) compressed(e *nettraceEvent) {
	e.flags = w.c.U8()
	varint := func(of byte, v *uint64) {
		if e.flags&of != 0 {
			*v = w.c.Uvarint64()
		}
	}
	var number, capturing, cpu, thread, stack, labels uint64
	varint(1, &e.meta)
	varint(2, &number)
	varint(2, &capturing)
	varint(2, &cpu)
	varint(4, &thread)
	varint(8, &stack)
	w.c.Uvarint64() // time
	if w.version == 6 {
		varint(0x10, &labels)
	} else {
		for _, activity := range []byte{0x10, 0x20} {
			if e.flags&activity != 0 {
				w.c.Skip(16)
			}
		}
	}
	if e.flags&0x80 != 0 {
		e.size = int(w.c.Uvarint64())
	}
}
