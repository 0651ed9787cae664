package tracetest

import (
	"fmt"
	"slices"
	"strings"
)

// tsdl returns the metadata in CTF 1.8.
func (t *traceText) tsdl() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("/* CTF 1.8 */\n")
	for _, n := range []int{8, 16, 32, 64} {
		p("typealias integer { size = %d; align = %d; signed = false; } := uint%d_t;", n, t.alignment(n), n)
	}
	p("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%x-%x-%x-%x-%x\";\n\tbyte_order = %s;", t.uuid[:4], t.uuid[4:6], t.uuid[6:8], t.uuid[8:10], t.uuid[10:], t.order())
	p("\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n")
	p("env {")
	for _, kv := range t.env {
		p("\t%s = %q;", kv[0], kv[1])
	}
	p("};\n\nclock {\n\tname = \"monotonic\";\n\tfreq = %d; /* Hz */\n\toffset_s = %d;\n\toffset = %d;\n};\n", t.freq, int64(t.seconds), int64(t.cycles))
	for _, n := range []int{27, 32, 64} {
		p("typealias integer {\n\tsize = %d; align = %d; signed = false;\n\tmap = clock.monotonic.value;\n} := clock%d_t;", n, t.alignment(n), n)
	}
	for _, s := range t.streams {
		t.tsdlStream(p, s)
	}
	for _, e := range t.events {
		p("event {\n\tname = %q;\n\tid = %d;\n\tstream_id = %d;\n\tloglevel = 13;\n\tfields := struct {", e.name, e.id, e.stream)
		for _, f := range e.fields {
			p("\t\t%s", t.tsdlField(f))
		}
		p("\t};\n};\n")
	}
	return b.String()
}

func (t *traceText) tsdlStream(p func(string, ...any), s *streamText) {
	p("struct packet_context_%d {\n\tclock64_t timestamp_begin;\n\tclock64_t timestamp_end;\n\tuint64_t content_size;\n\tuint64_t packet_size;", s.id)
	if s.seq {
		p("\tuint64_t packet_seq_num;")
	}
	if s.count > 0 {
		p("\tuint%d_t events_discarded;", s.count)
	}
	p("\tuint32_t cpu_id;\n};")
	switch s.header {
	case "compact":
		p("struct event_header_%d {\n\tenum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30, extended = 31 } id;", s.id)
		p("\tvariant <id> {\n\t\tstruct { clock27_t timestamp; } compact;\n\t\tstruct { uint32_t id; clock64_t timestamp; } extended;\n\t} v;\n} align(8);")
	case "large":
		p("struct event_header_%d {\n\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;", s.id)
		p("\tvariant <id> {\n\t\tstruct { clock32_t timestamp; } compact;\n\t\tstruct { uint32_t id; clock64_t timestamp; } extended;\n\t} v;\n} align(%d);", t.largeAlign())
	default:
		p("struct event_header_%d {\n\tuint32_t id;\n\tclock64_t timestamp;\n};", s.id)
	}
	p("stream {\n\tid = %d;\n\tevent.header := struct event_header_%d;\n\tpacket.context := struct packet_context_%d;", s.id, s.id, s.id)
	if s.context != nil {
		p("\tevent.context := struct {")
		for _, f := range s.context {
			p("\t\t%s", t.tsdlField(f))
		}
		p("\t};")
	}
	p("};\n")
}

func (t *traceText) tsdlField(f ctfField) string {
	name := "_" + f.name
	length := fmt.Sprintf("%s __%s_length; ", tsdlType(t.u(32)), f.name)
	switch f.typ.kind {
	case 's':
		return fmt.Sprintf("string %s;", name)
	case 't':
		return fmt.Sprintf("integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } %s[%d];", name, f.typ.size)
	case 'b', 'B':
		return length + fmt.Sprintf("integer { size = 8; align = 8; signed = 1; encoding = none; base = 10; } %s[ __%s_length ];", name, f.name)
	case 'a', 'q':
		elem, dims := f.typ, ""
		prefix := ""
		for elem.kind == 'a' || elem.kind == 'q' {
			if elem.kind == 'q' {
				prefix = length
				dims += fmt.Sprintf("[ __%s_length ]", f.name)
			} else {
				dims += fmt.Sprintf("[%d]", elem.size)
			}
			elem = *elem.elem
		}
		return prefix + fmt.Sprintf("%s %s%s;", tsdlType(elem), name, dims)
	}
	return fmt.Sprintf("%s %s;", tsdlType(f.typ), name)
}

func tsdlType(t typ) string {
	order := map[bool]string{false: "le", true: "be"}[t.big]
	switch t.kind {
	case 'f':
		exp := map[int]int{32: 8, 64: 11}[t.size]
		return fmt.Sprintf("floating_point { exp_dig = %d; mant_dig = %d; align = %d; byte_order = %s; }", exp, t.size-exp, t.align, order)
	case 's':
		return "string"
	}
	return fmt.Sprintf("integer { size = %d; align = %d; signed = %t; encoding = none; base = 10; byte_order = %s; }",
		t.size, t.align, t.kind == 'i', order)
}

// packetised puts metadata in packets of at most size bytes of text.
func (t *traceText) packetised(text string, size int) []byte {
	const header = 37
	var out []byte
	for chunk := range slices.Chunk([]byte(text), size) {
		var w bitWriter
		u32 := typ{kind: 'u', size: 32, align: 8, big: t.big}
		w.integer(u32, 0x75d11d57)
		w.bytes(t.uuid[:])
		whole := (header + len(chunk) + 63) / 64 * 64
		for _, v := range []int{0, 8 * (header + len(chunk)), 8 * whole} {
			w.integer(u32, uint64(v))
		}
		w.bytes([]byte{0, 0, 0, 1, 8})
		w.bytes(chunk)
		for len(w.b) < whole {
			w.b = append(w.b, '}')
		}
		out = append(out, w.b...)
	}
	return out
}
