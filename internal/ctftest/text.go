package ctftest

import (
	"fmt"
	"strconv"
	"strings"
)

// A line is a word, single words after it, and pairs.
type line struct {
	number int
	word   string
	words  []string
	pairs  map[string]string
}

// parse splits a line into its parts.
func parse(s string, number int) *line {
	l := &line{number: number, pairs: map[string]string{}}
	for s = strings.TrimSpace(s); s != "" && s[0] != '#'; s = strings.TrimSpace(s) {
		var tok string
		tok, s = token(s)
		name, value, isPair := strings.Cut(tok, "=")
		switch {
		case l.word == "":
			l.word = tok
		case isPair && name != "" && l.word != "metadata":
			l.pairs[name] = value
		default:
			l.words = append(l.words, tok)
		}
	}
	return l
}

// token cuts off the part before a blank that is in no quotes or brackets. Quotes are
// removed.
func token(s string) (tok, rest string) {
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
			return b.String(), s[i:]
		}
		b.WriteByte(c)
	}
	return b.String(), ""
}

func (l *line) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", l.number, fmt.Sprintf(format, args...))
}

// text returns the value of a pair, or otherwise.
func (l *line) text(name, otherwise string) string {
	if v, ok := l.pairs[name]; ok {
		return v
	}
	return otherwise
}

// num returns the value of a pair as a number, or otherwise.
func (l *line) num(name string, otherwise uint64) uint64 {
	v, ok := l.pairs[name]
	if !ok {
		return otherwise
	}
	return number(v)
}

// id returns the first single word as a number.
func (l *line) id() uint64 {
	if len(l.words) == 0 {
		return 0
	}
	return number(l.words[0])
}

// number panics if s is not a number, because that is a mistake in a test.
func number(s string) uint64 {
	if v, err := strconv.ParseUint(s, 0, 64); err == nil {
		return v
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		panic("ctftest: " + err.Error())
	}
	return uint64(v)
}

// list returns the items in a pair of brackets.
func list(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var tok string
		tok, s = token(s)
		out = append(out, tok)
	}
	return out
}
