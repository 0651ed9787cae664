package tracetest

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

var le = binary.LittleEndian

// Nettrace returns the .netperf or .nettrace file that a text describes. Errors name the line.
func Nettrace(text string) ([]byte, error) {
	a := &assembler{}
	for i, s := range strings.Split(text, "\n") {
		l := parse(s, i+1, "")
		if l.word == "" {
			continue
		}
		if err := a.line(l); err != nil {
			return nil, err
		}
	}
	if err := a.close(); err != nil {
		return nil, err
	}
	return a.out, nil
}

// MustNettrace is Nettrace for texts that belong to a test.
func MustNettrace(t testing.TB, text string) []byte {
	t.Helper()
	b, err := Nettrace(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An assembler holds the file so far, and the part that records go to.
type assembler struct {
	out     []byte
	version int
	pointer int
	sync    uint64
	part    *part
}

// A part is an object of V3 and V4, or a block of V6.
type part struct {
	line    *line
	name    string // of the object's type
	kind    uint64 // of the block
	header  func(*part) []byte
	body    []byte
	records uint64
	prev    event // the base that the next header is compressed against
	times   []uint64
}

var parts = map[string]func(*assembler, *line){
	"nettrace":      (*assembler).head,
	"netperf":       (*assembler).head,
	"events":        (*assembler).events,
	"metadata":      (*assembler).metadata,
	"stacks":        (*assembler).stacks,
	"sp":            (*assembler).sequencePoint,
	"threads":       func(a *assembler, l *line) { a.begin(l, "", 6, nil) },
	"labels":        func(a *assembler, l *line) { a.begin(l, "", 8, (*part).tableHeader) },
	"removethreads": (*assembler).removeThreads,
	"object":        func(a *assembler, l *line) { a.begin(l, l.next(), 0, nil) },
	"block":         func(a *assembler, l *line) { a.begin(l, "", l.num("kind", 0), nil) },
	"raw":           func(a *assembler, l *line) { a.out = append(a.out, l.hexWords()...) },
	"end":           (*assembler).end,
	"cut":           func(a *assembler, l *line) { a.out = a.out[:max(0, len(a.out)-int(l.parseNum(l.next())))] },
}

var records = map[string]func(*assembler, *part, *line){
	"event":  (*assembler).event,
	"def":    (*assembler).definition,
	"thread": (*assembler).thread,
	"list":   (*assembler).labelList,
	"raw":    func(_ *assembler, p *part, l *line) { p.body = append(p.body, l.hexWords()...) },
}

func (a *assembler) line(l *line) error {
	if l.indented {
		write, known := records[l.word]
		if a.part == nil || !known {
			l.fail("no such record here")
			return l.err
		}
		write(a, a.part, l)
		a.part.records++
		return l.done()
	}
	if err := a.close(); err != nil {
		return err
	}
	begin, known := parts[l.word]
	switch {
	case !known:
		l.fail("no such part")
	case a.version == 0 && l.word != "nettrace" && l.word != "netperf" && l.word != "raw":
		l.fail("the head is missing")
	default:
		begin(a, l)
	}
	if a.part != nil {
		return l.err // the rest of the line is for close
	}
	return l.done()
}

// begin starts an object or block.
func (a *assembler) begin(l *line, name string, kind uint64, header func(*part) []byte) *part {
	a.part = &part{line: l, name: name, kind: kind, header: header}
	return a.part
}

// close writes the open part.
func (a *assembler) close() error {
	p := a.part
	if p == nil {
		return nil
	}
	a.part = nil
	var body []byte
	if p.header != nil && a.version != 3 {
		body = p.header(p)
	}
	body = append(body, p.body...)
	body = append(body, p.line.payload()...)
	size := p.line.num("size", uint64(len(body)))
	if a.version == 6 {
		a.out = le.AppendUint32(a.out, uint32(size)&0xffffff|uint32(p.kind)<<24)
		a.out = append(a.out, body...)
		return p.line.done()
	}
	version, least := uint64(2), uint64(2)
	if a.version == 3 {
		version, least = 1, 0
	}
	a.beginObject(p.line, p.name, version, least)
	a.out = le.AppendUint32(a.out, uint32(size))
	a.out = append(a.out, make([]byte, p.line.num("pad", uint64(-len(a.out)&3)))...)
	a.out = append(a.out, body...)
	a.out = append(a.out, byte(p.line.num("endtag", 6)))
	return p.line.done()
}

func (a *assembler) beginObject(l *line, name string, version, least uint64) {
	tag := byte(5)
	if a.version == 3 {
		tag = 4
	}
	a.out = append(a.out, tag, tag, 1)
	a.out = le.AppendUint32(a.out, uint32(l.num("version", version)))
	a.out = le.AppendUint32(a.out, uint32(l.num("minver", least)))
	a.out = le.AppendUint32(a.out, uint32(len(name)))
	a.out = append(a.out, name...)
	a.out = append(a.out, 6)
}

func (a *assembler) head(l *line) {
	version := l.next()
	if len(version) != 2 || version[0] != 'v' {
		l.fail("version %q", version)
		return
	}
	a.version = int(version[1] - '0')
	a.pointer = int(l.num("pointer", 8))
	a.sync = l.num("sync", 0)
	if l.word == "nettrace" {
		a.out = append(a.out, "Nettrace"...)
	}
	start, err := time.Parse(time.RFC3339Nano, l.str("start", "2024-05-01T10:00:00Z"))
	if err != nil {
		l.fail("%v", err)
	}
	if a.version == 6 {
		a.headV6(l, start)
		return
	}
	a.out = le.AppendUint32(a.out, 20)
	a.out = append(a.out, "!FastSerialization.1"...)
	least := uint64(a.version)
	if a.version == 3 {
		least = 0
	}
	a.beginObject(l, l.str("name", "Trace"), uint64(a.version), least)
	a.out = a.clock(a.out, l, start)
	a.out = le.AppendUint32(a.out, uint32(l.num("pid", 42)))
	a.out = le.AppendUint32(a.out, uint32(l.num("cpus", 2)))
	a.out = le.AppendUint32(a.out, uint32(l.num("rate", 1000000)))
	a.out = append(a.out, 6)
}

func (a *assembler) headV6(l *line, start time.Time) {
	a.out = le.AppendUint32(a.out, 0)
	a.out = le.AppendUint32(a.out, uint32(l.num("major", 6)))
	a.out = le.AppendUint32(a.out, uint32(l.num("minor", 0)))
	p := a.begin(l, "", 1, nil)
	p.body = a.clock(nil, l, start)
	pairs := l.all("kv")
	p.body = le.AppendUint32(p.body, uint32(len(pairs)))
	for _, kv := range pairs {
		p.body = appendPair(p.body, kv)
	}
}

func (a *assembler) clock(b []byte, l *line, t time.Time) []byte {
	for _, v := range []int{
		t.Year(), int(t.Month()), int(t.Weekday()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1e6,
	} {
		b = le.AppendUint16(b, uint16(v))
	}
	b = le.AppendUint64(b, a.sync)
	b = le.AppendUint64(b, l.num("freq", 1e9))
	return le.AppendUint32(b, uint32(a.pointer))
}

func (a *assembler) end(*line) {
	if a.version == 6 {
		a.out = append(a.out, 0, 0, 0, 0)
		return
	}
	a.out = append(a.out, 1)
}

func (a *assembler) events(l *line) {
	l.has("compressed")
	a.begin(l, "EventBlock", 2, (*part).eventHeader)
}

func (a *assembler) metadata(l *line) {
	l.has("compressed")
	header := (*part).eventHeader
	if a.version == 6 {
		header = func(p *part) []byte {
			n := p.line.num("header", 0)
			return append(le.AppendUint16(nil, uint16(n)), make([]byte, n)...)
		}
	}
	a.begin(l, "MetadataBlock", 3, header)
}

// eventHeader returns the header of event blocks, and of metadata blocks up to
// V4.
func (p *part) eventHeader() []byte {
	var earliest, latest uint64
	for i, t := range p.times {
		if i == 0 || int64(t) < int64(earliest) {
			earliest = t
		}
		if i == 0 || int64(t) > int64(latest) {
			latest = t
		}
	}
	flags := uint64(1)
	if p.line.has("uncompressed") {
		flags = 0
	}
	size := p.line.num("header", 20)
	b := le.AppendUint16(nil, uint16(size))
	b = le.AppendUint16(b, uint16(p.line.num("flags", flags)))
	b = le.AppendUint64(b, p.line.num("min", earliest))
	b = le.AppendUint64(b, p.line.num("max", latest))
	for uint64(len(b)) < size {
		b = append(b, 0xee)
	}
	return b
}

// tableHeader returns the header of stack and label list blocks.
func (p *part) tableHeader() []byte {
	b := le.AppendUint32(nil, uint32(p.line.num("first", 1)))
	return le.AppendUint32(b, uint32(p.line.num("count", p.records)))
}

func (a *assembler) stacks(l *line) {
	p := a.begin(l, "StackBlock", 5, (*part).tableHeader)
	for w := l.next(); w != ""; w = l.next() {
		s := a.stack(l, w)
		p.body = le.AppendUint32(p.body, uint32(len(s)))
		p.body = append(p.body, s...)
		p.records++
	}
}

// stack returns the bytes of a list of addresses.
func (a *assembler) stack(l *line, list string) []byte {
	var b []byte
	for _, w := range strings.Fields(strings.Trim(list, "[]")) {
		b = le.AppendUint64(b, l.parseNum(w))
		b = b[:len(b)-8+a.pointer]
	}
	return b
}

func (a *assembler) sequencePoint(l *line) {
	p := a.begin(l, "SPBlock", 4, nil)
	p.body = le.AppendUint64(nil, l.time("time", a.sync, 0))
	if a.version == 6 {
		p.body = le.AppendUint32(p.body, uint32(l.num("flags", 0)))
	}
	threads := l.numbered()
	p.body = le.AppendUint32(p.body, uint32(l.num("count", uint64(len(threads)))))
	for _, t := range threads {
		if a.version == 6 {
			p.body = binary.AppendUvarint(p.body, t[0])
			p.body = binary.AppendUvarint(p.body, t[1])
			continue
		}
		p.body = le.AppendUint64(p.body, t[0])
		p.body = le.AppendUint32(p.body, uint32(t[1]))
	}
}

func (a *assembler) removeThreads(l *line) {
	p := a.begin(l, "", 7, nil)
	for _, t := range l.numbered() {
		p.body = binary.AppendUvarint(p.body, t[0])
		p.body = binary.AppendUvarint(p.body, t[1])
	}
}

// A tag is the name of pairs that become values, each behind a byte with their kind.
type tag struct {
	name  string
	kind  byte
	value string // how it is written: see appendValue
}

var (
	threadTags = []tag{{"name", 1, "utf8"}, {"pid", 2, "varuint"}, {"tid", 3, "varuint"}, {"kv", 4, "pair"}}
	labelTags  = []tag{
		{"activity", 1, "id"},
		{"related", 2, "id"},
		{"trace", 3, "id"},
		{"span", 4, "u64"},
		{"text", 5, "pair"},
		{"number", 6, "number"},
		{"opcode", 7, "u8"},
		{"keywords", 8, "u64"},
		{"level", 9, "u8"},
		{"version", 10, "u8"},
	}
	optionTags = []tag{
		{"opcode", 1, "u8"},
		{"keywords", 3, "u64"},
		{"template", 4, "utf8"},
		{"description", 5, "utf8"},
		{"kv", 6, "pair"},
		{"guid", 7, "id"},
		{"level", 8, "u8"},
		{"version", 9, "u8"},
	}
)

// appendTagged appends the values of pairs, and returns where the kind of the last one is, -1 if
// there are none.
func (l *line) appendTagged(b []byte, tags []tag) (out []byte, last int) {
	last = -1
	for _, t := range tags {
		for _, v := range l.all(t.name) {
			last = len(b)
			b = l.appendValue(append(b, t.kind), t.value, v)
		}
	}
	return b, last
}

func (a *assembler) thread(p *part, l *line) {
	b, _ := l.appendTagged(binary.AppendUvarint(nil, l.num("index", 0)), threadTags)
	b = append(b, l.hex("info")...)
	p.body = le.AppendUint16(p.body, uint16(l.num("size", uint64(len(b)))))
	p.body = append(p.body, b...)
}

func (a *assembler) labelList(p *part, l *line) {
	var last int
	p.body, last = l.appendTagged(p.body, labelTags)
	if l.has("label") {
		last = len(p.body)
		p.body = append(p.body, l.hex("label")...)
	}
	if !l.has("open") && last >= 0 {
		p.body[last] |= 0x80
	}
}
