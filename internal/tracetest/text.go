package tracetest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A line is a word, single words after it, and pairs. It remembers its first fault.
type line struct {
	number   int
	indented bool
	word     string
	words    []string
	pairs    []pair
	err      error
}

type pair struct {
	name, value string
	used        bool
}

// parse splits a line into its parts. A line that begins with the word whole has no pairs.
func parse(s string, number int, whole string) *line {
	l := &line{number: number, indented: s != strings.TrimLeft(s, " \t")}
	for s = strings.TrimSpace(s); s != "" && s[0] != '#'; s = strings.TrimSpace(s) {
		var tok string
		var closed bool
		if tok, s, closed = token(s); !closed {
			l.fail("open quote or bracket")
		}
		name, value, isPair := strings.Cut(tok, "=")
		switch {
		case l.word == "":
			l.word = tok
		case isPair && name != "" && l.word != whole:
			l.pairs = append(l.pairs, pair{name: name, value: value})
		default:
			l.words = append(l.words, tok)
		}
	}
	return l
}

// token cuts off the part before a blank that is in no quotes or brackets, and reports whether
// all of these are closed. It removes quotes, except in brackets.
func token(s string) (tok, rest string, closed bool) {
	var b strings.Builder
	var quoted bool
	depth := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			if depth == 0 {
				continue
			}
		case quoted:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case (c == ' ' || c == '\t') && depth <= 0:
			return b.String(), s[i:], true
		}
		b.WriteByte(c)
	}
	return b.String(), "", !quoted && depth <= 0
}

// list returns the items in a pair of brackets.
func list(s string) (items []string) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var item string
		item, s, _ = token(s)
		items = append(items, item)
	}
	return items
}

// fail remembers the first thing that is wrong.
func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("line %d: %s: %s", l.number, l.word, fmt.Sprintf(format, args...))
	}
}

// wrong records an error, and returns the first one of the line.
func (l *line) wrong(format string, args ...any) error {
	l.fail(format, args...)
	return l.err
}

// done returns the first error, or names what was not used.
func (l *line) done() error {
	for _, p := range l.pairs {
		if !p.used {
			l.fail("%s= does not belong here", p.name)
		}
	}
	for _, w := range l.words {
		l.fail("%q does not belong here", w)
	}
	return l.err
}

// next takes the first single word.
func (l *line) next() string {
	if len(l.words) == 0 {
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	return w
}

// first returns the first single word as a number, which stays.
func (l *line) first() uint64 {
	if len(l.words) == 0 {
		return 0
	}
	return number(l.words[0])
}

// has reports whether a pair of that name, or a single word, is there. It takes
// the word.
func (l *line) has(name string) bool {
	if i := slices.Index(l.words, name); i >= 0 {
		l.words = slices.Delete(l.words, i, i+1)
		l.pairs = append(l.pairs, pair{name: name, used: true})
	}
	return slices.ContainsFunc(l.pairs, func(p pair) bool { return p.name == name })
}

func (l *line) all(name string) []string {
	var values []string
	for i := range l.pairs {
		if p := &l.pairs[i]; p.name == name {
			p.used = true
			values = append(values, p.value)
		}
	}
	return values
}

func (l *line) str(name, otherwise string) string {
	if v := l.all(name); len(v) > 0 {
		return v[0]
	}
	return otherwise
}

func (l *line) num(name string, otherwise uint64) uint64 {
	if v := l.all(name); len(v) > 0 {
		return l.parseNum(v[0])
	}
	return otherwise
}

func (l *line) time(name string, sync, otherwise uint64) uint64 {
	v := l.str(name, "")
	if v == "" {
		return otherwise
	}
	if v[0] == '+' || v[0] == '-' {
		return sync + l.parseNum(v)
	}
	return l.parseNum(v)
}

func (l *line) id(name string, otherwise [16]byte) [16]byte {
	if v := l.all(name); len(v) > 0 {
		return l.parseID(v[0])
	}
	return otherwise
}

func (l *line) hex(name string) []byte { return l.parseHex(l.str(name, "")) }

func (l *line) hexWords() []byte {
	b := l.parseHex(strings.Join(l.words, ""))
	l.words = nil
	return b
}

// numbered takes the pairs whose names are numbers.
func (l *line) numbered() (list [][2]uint64) {
	for i := range l.pairs {
		p := &l.pairs[i]
		if p.name[0] >= '0' && p.name[0] <= '9' {
			p.used = true
			list = append(list, [2]uint64{l.parseNum(p.name), l.parseNum(p.value)})
		}
	}
	return list
}

func (l *line) parseNum(s string) uint64 {
	n, err := parseNumber(s)
	if err != nil {
		l.fail("%q is no number", s)
	}
	return n
}

// number panics if s is not a number, because that is a mistake in a test.
func number(s string) uint64 {
	n, err := parseNumber(s)
	if err != nil {
		panic("tracetest: " + err.Error())
	}
	return n
}

func parseNumber(s string) (uint64, error) {
	if n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return uint64(n), err
}

func (l *line) parseHex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil {
		l.fail("%q is not hexadecimal", s)
	}
	return b
}

func (l *line) parseID(s string) (id [16]byte) {
	copy(id[:], l.parseHex(s))
	return id
}

// payload returns the bytes that payload= lists.
func (l *line) payload() []byte {
	var b []byte
	s := l.str("payload", "")
	for s != "" {
		var item string
		item, s, _ = strings.Cut(s, ",")
		kind, v, _ := strings.Cut(item, ":")
		b = l.appendValue(b, kind, v)
	}
	return b
}

func (l *line) appendValue(b []byte, kind, v string) []byte {
	switch kind {
	case "u8":
		return append(b, byte(l.parseNum(v)))
	case "u16":
		return le.AppendUint16(b, uint16(l.parseNum(v)))
	case "u32":
		return le.AppendUint32(b, uint32(l.parseNum(v)))
	case "u64":
		return le.AppendUint64(b, l.parseNum(v))
	case "f32":
		return le.AppendUint32(b, math.Float32bits(float32(l.parseFloat(v))))
	case "f64":
		return le.AppendUint64(b, math.Float64bits(l.parseFloat(v)))
	case "varuint":
		return binary.AppendUvarint(b, l.parseNum(v))
	case "varint":
		return binary.AppendVarint(b, int64(l.parseNum(v)))
	case "utf16":
		return appendUTF16(b, v)
	case "utf8":
		return appendString(b, v)
	case "pair":
		return appendPair(b, v)
	case "number":
		name, n, _ := strings.Cut(v, ":")
		return binary.AppendVarint(appendString(b, name), int64(l.parseNum(n)))
	case "id":
		id := l.parseID(v)
		return append(b, id[:]...)
	case "hex":
		return append(b, l.parseHex(v)...)
	case "zeros":
		return append(b, make([]byte, min(l.parseNum(v), 1<<24))...)
	}
	l.fail("no kind of value %q", kind)
	return b
}

func (l *line) parseFloat(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		l.fail("%q is no number", s)
	}
	return f
}

func appendUTF16(b []byte, s string) []byte {
	for _, u := range utf16.Encode([]rune(s)) {
		b = le.AppendUint16(b, u)
	}
	return append(b, 0, 0)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendPair appends the two strings of NAME:VALUE.
func appendPair(b []byte, s string) []byte {
	name, value, _ := strings.Cut(s, ":")
	return appendString(appendString(b, name), value)
}
