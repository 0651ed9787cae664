package attack

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/tsdl"
)

// metadataHeaders returns the headers of the packets of CTF 1.8 metadata, and the first
// and last lines.
func metadataHeaders(tb testing.TB, data []byte) []header {
	const head, tail = 160, 64
	if le.Uint32(data) != 0x75d11d57 {
		return []header{{0, head, "head"}, {len(data) - tail, len(data), "tail"}}
	}
	w := newWalk(tb, data)
	for w.c.OK() && w.c.Len() > 0 {
		h := w.header("packet", 37)
		w.c.Skip(int(le.Uint32(h[28:])/8) - len(h))
	}
	return append(w.ended(), header{37, 37 + head, "head"})
}

// streamHeaders returns the headers and contexts of a stream's packets and events.
func streamHeaders(metadata []byte) func(testing.TB, []byte) []header {
	return func(tb testing.TB, data []byte) []header {
		t, err := tsdl.Parse(metadata)
		if err != nil {
			tb.Fatal(err)
		}
		w := &ctfWalk{tb: tb, trace: t}
		for len(data) > w.from {
			w.data = data[w.from:]
			w.packet()
		}
		return w.list
	}
}

// A ctfWalk reads the fields of one packet after the other.
type ctfWalk struct {
	tb    testing.TB
	trace *tsdl.Trace
	data  []byte // from the packet's beginning
	from  int    // of the packet in the file
	pos   int    // bits, in the packet

	named map[string]uint64     // the latest integer of each name
	last  map[string]*tsdl.Type // and its type
	list  []header
}

func (w *ctfWalk) packet() {
	w.pos, w.named, w.last = 0, map[string]uint64{}, map[string]*tsdl.Type{}
	w.value("", w.trace.PacketHeader)
	stream := w.trace.Streams[slices.IndexFunc(w.trace.Streams, func(s *tsdl.Stream) bool { return s.ID == w.named["stream_id"] })]
	w.value("", stream.PacketContext)
	w.since(0, "packet")
	content, size := int(w.named["content_size"]), int(w.named["packet_size"])
	if content < w.pos || size < content || size > 8*len(w.data) {
		w.tb.Fatalf("headers: packet of %d and %d bits at %#x", content, size, w.from)
	}
	for w.pos < content {
		w.event(stream)
	}
	if w.pos != content {
		w.tb.Fatalf("headers: the events at %#x end at bit %d, not %d", w.from, w.pos, content)
	}
	w.from += size / 8
}

func (w *ctfWalk) event(stream *tsdl.Stream) {
	from := w.pos
	delete(w.named, "v.id")
	w.value("", stream.EventHeader)
	id, form := w.named["id"], "compact"
	if extended, is := w.named["v.id"]; is {
		id, form = extended, "extended"
	}
	w.value("", stream.EventContext)
	w.since(from, fmt.Sprint(id, form))
	e := stream.Events[slices.IndexFunc(stream.Events, func(e *tsdl.Event) bool { return e.ID == id })]
	w.value("", e.Context)
	w.value("", e.Payload)
}

// since adds the bits since bit as a header.
func (w *ctfWalk) since(bit int, shape string) {
	w.list = append(w.list, header{w.from + bit/8, w.from + (w.pos+7)/8, shape})
}

// value skips a value of the given type, or none.
func (w *ctfWalk) value(name string, t *tsdl.Type) {
	if t == nil {
		return
	}
	w.pos = (w.pos + t.Align - 1) / t.Align * t.Align
	switch t.Kind {
	case tsdl.Int:
		w.named[name], w.last[name] = w.integer(t), t
	case tsdl.Float:
		w.pos += t.Size
	case tsdl.String:
		for zero := false; !zero; w.pos += t.Size {
			zero = w.data[w.pos/8] == 0 && (t.Size == 8 || w.data[w.pos/8+1] == 0)
		}
	case tsdl.Struct:
		for _, f := range t.Fields {
			w.value(join(name, f.Name), f.Type)
		}
	case tsdl.Array:
		for range t.Length {
			w.value("", t.Elem)
		}
	case tsdl.Dynamic:
		for range w.named[join(prefix(name), t.Ref.Path[len(t.Ref.Path)-1])] {
			w.value("", t.Elem)
		}
	case tsdl.Variant:
		w.value(name, w.option(t))
	default:
		w.tb.Fatalf("headers: no test has a field of kind %d", t.Kind)
	}
}

// integer reads a little-endian integer.
func (w *ctfWalk) integer(t *tsdl.Type) (v uint64) {
	for i := range t.Size {
		at := w.pos + i
		v |= uint64(w.data[at/8]>>(at%8)&1) << i
	}
	w.pos += t.Size
	return v
}

// option returns the type that a variant's selector stands for.
func (w *ctfWalk) option(t *tsdl.Type) *tsdl.Type {
	selector := t.Ref.Path[len(t.Ref.Path)-1]
	v := w.named[selector]
	within := func(r tsdl.Range) bool { return r.Lo <= v && v <= r.Hi }
	for _, o := range t.Options {
		ranges := o.Ranges
		for _, l := range w.last[selector].Labels {
			if len(o.Ranges) == 0 && l.Label == o.Name {
				ranges = l.Ranges
			}
		}
		if slices.ContainsFunc(ranges, within) {
			return o.Type
		}
	}
	w.tb.Fatalf("headers: no option of %s for %d", selector, v)
	return nil
}

func join(outer, name string) string {
	if outer == "" {
		return name
	}
	return outer + "." + name
}

// prefix returns the name of the structure that a field is in.
func prefix(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}
