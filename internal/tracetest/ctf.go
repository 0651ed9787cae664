package tracetest

import (
	"encoding/hex"
	"path"
	"strings"
	"testing/fstest"
)

// A traceText is the parsed description of one trace.
type traceText struct {
	dir                   string
	version               string
	big, natural          bool
	uuid                  [16]byte
	packets               int
	env                   [][2]string
	freq, seconds, cycles uint64
	streams               []*streamText
	events                []*eventText
	metadata              string // in place of the rest

	files  fstest.MapFS
	file   string
	packet *packetText
}

type streamText struct {
	id      uint64
	header  string
	context []ctfField
	count   int
	seq     bool
	values  []string // of the context of the event before
}

type eventText struct {
	id, stream uint64
	name       string
	fields     []ctfField
}

// A packetText is a packet that is being written.
type packetText struct {
	line          *line
	stream        *streamText
	w             bitWriter
	content, size int // where the sizes stand, in bits
}

// CTF returns the files of the traces of CTF that a text describes. Errors name the line.
func CTF(text string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	var t *traceText
	n := 0
	for s := range strings.Lines(text) {
		n++
		l := parse(s, n, "metadata")
		if l.word == "" {
			continue
		}
		if l.word == "trace" {
			t.end()
			t = newTrace(l, files)
			continue
		}
		if t == nil {
			return nil, l.wrong("no trace before it")
		}
		if err := t.line(l); err != nil {
			return nil, err
		}
	}
	t.end()
	return files, nil
}

func newTrace(l *line, files fstest.MapFS) *traceText {
	t := &traceText{files: files, dir: l.str("dir", "."), version: l.str("ctf", "1.8"), freq: 1e9, packets: int(l.num("packets", 0))}
	t.big, t.natural = l.str("order", "le") == "be", l.str("align", "packed") == "natural"
	for i := range t.uuid {
		t.uuid[i] = byte(l.num("uuid", 1)) + byte(i)
	}
	return t
}

func (t *traceText) order() string {
	if t.big {
		return "be"
	}
	return "le"
}

// largeAlign returns the alignment of LTTng's large header.
func (t *traceText) largeAlign() int { return t.alignment(16) }

func (t *traceText) line(l *line) error {
	switch l.word {
	case "env":
		for _, p := range l.pairs {
			t.env = append(t.env, [2]string{p.name, p.value})
		}
	case "clock":
		t.freq, t.seconds, t.cycles = l.num("freq", 1e9), l.num("seconds", 0), l.num("cycles", 0)
	case "stream":
		s := &streamText{id: l.first(), header: l.str("header", "large"), count: int(l.num("count", 64)), seq: l.str("seq", "yes") == "yes"}
		if c := l.all("context"); len(c) > 0 {
			s.context = t.fields(c[0])
		}
		t.streams = append(t.streams, s)
	case "event":
		t.events = append(t.events, &eventText{id: l.first(), stream: l.num("stream", 0), name: l.words[1], fields: t.fields(l.str("fields", "[]"))})
	case "metadata":
		t.metadata += strings.Join(l.words, " ") + "\n"
	case "file":
		t.endPacket()
		t.file = path.Join(t.dir, l.words[0])
		t.files[t.file] = &fstest.MapFile{Mode: 0o644}
	case "packet":
		t.endPacket()
		return t.beginPacket(l)
	case "ev":
		return t.event(l)
	case "raw":
		b, err := hex.DecodeString(l.words[0])
		if err != nil {
			return l.wrong("%v", err)
		}
		if t.packet == nil {
			t.files[t.file].Data = append(t.files[t.file].Data, b...)
			return nil
		}
		t.packet.w.bytes(b)
	default:
		return l.wrong("unknown word")
	}
	return l.err
}

func (t *traceText) beginPacket(l *line) error {
	if t.file == "" {
		return l.wrong("packet without a file")
	}
	p := &packetText{line: l}
	for _, s := range t.streams {
		if s.id == l.num("stream", 0) {
			p.stream = s
		}
	}
	if p.stream == nil {
		return l.wrong("stream is not defined")
	}
	w := &p.w
	w.integer(t.u(32), l.num("magic", 0xc1fc1fc1))
	w.bytes(t.uuid[:])
	w.integer(t.u(32), l.num("stream", 0))
	w.integer(t.u(64), l.num("instance", 0))
	w.integer(t.u(64), l.num("begin", 0))
	w.integer(t.u(64), l.num("end", 0))
	w.align(t.u(64).align)
	p.content = w.pos
	w.integer(t.u(64), 0)
	p.size = w.pos
	w.integer(t.u(64), 0)
	if p.stream.seq {
		w.integer(t.u(64), l.num("seq", 0))
	}
	if p.stream.count > 0 {
		w.integer(t.u(p.stream.count), l.num("discarded", 0))
	}
	w.integer(t.u(32), l.num("cpu", 0))
	t.packet = p
	return l.err
}

func (t *traceText) event(l *line) error {
	p := t.packet
	var e *eventText
	for _, known := range t.events {
		if p != nil && known.id == l.first() && known.stream == p.stream.id {
			e = known
		}
	}
	if e == nil {
		return l.wrong("event is not defined")
	}
	values := l.words[1:]
	full := len(values) > 0 && values[0] == "full"
	if full {
		values = values[1:]
	}
	if len(values) != len(e.fields) {
		return l.wrong("%d values for %d fields", len(values), len(e.fields))
	}
	w, time := &p.w, l.num("time", 0)
	t.eventHeader(w, p.stream, e.id, time, full)
	if c := l.all("context"); len(c) > 0 {
		p.stream.values = list(c[0])
	}
	t.structure(w, p.stream.context, p.stream.values)
	t.structure(w, e.fields, values)
	return l.err
}

func (t *traceText) eventHeader(w *bitWriter, s *streamText, id, time uint64, full bool) {
	small, stamp, extended := t.u(16), t.u(32), uint64(65535)
	switch s.header {
	case "none":
		w.align(max(t.u(32).align, t.u(64).align))
		w.integer(t.u(32), id)
		w.integer(t.u(64), time)
		return
	case "compact":
		small, stamp, extended = t.u(5), t.u(27), 31
		w.align(8)
	default:
		w.align(t.largeAlign())
	}
	if !full && id < extended {
		w.integer(small, id)
		w.align(stamp.align)
		w.integer(stamp, time)
		return
	}
	w.integer(small, extended)
	w.align(max(t.u(32).align, t.u(64).align))
	w.integer(t.u(32), id)
	w.integer(t.u(64), time)
}

func (t *traceText) structure(w *bitWriter, fields []ctfField, values []string) {
	length := t.u(32)
	w.align(structAlign(fields, length))
	for i, f := range fields {
		w.value(f.typ, length, values[i])
	}
}

// endPacket fills in the sizes and pads the packet.
func (t *traceText) endPacket() {
	p := t.packet
	if p == nil {
		return
	}
	t.packet = nil
	content := p.w.pos
	size := (content + 63) / 64 * 64
	p.patch(t, p.content, p.line.num("content", uint64(content)))
	p.patch(t, p.size, p.line.num("size", uint64(size)))
	for len(p.w.b) < size/8 {
		p.w.b = append(p.w.b, 0xee)
	}
	f := t.files[t.file]
	f.Data = append(f.Data, p.w.b...)
}

func (p *packetText) patch(t *traceText, at int, v uint64) {
	var w bitWriter
	w.integer(typ{kind: 'u', size: 64, align: 8, big: t.big}, v)
	copy(p.w.b[at/8:], w.b)
}

// end writes the metadata.
func (t *traceText) end() {
	if t == nil {
		return
	}
	t.endPacket()
	text := t.metadata
	switch {
	case text != "":
	case t.version == "2":
		text = t.json()
	default:
		text = t.tsdl()
	}
	b := []byte(text)
	if t.packets > 0 {
		b = t.packetised(text, t.packets)
	}
	t.files[path.Join(t.dir, "metadata")] = &fstest.MapFile{Data: b, Mode: 0o644}
}
