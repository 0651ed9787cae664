package tsdl

import (
	"bytes"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
)

// A tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenSign // one of the signs below
)

// A token is a word of the language. It shares the memory of the input.
type token struct {
	kind tokenKind
	text []byte // of a string, without its quotes
	line int
}

func (t *token) is(text string) bool {
	return (t.kind == tokenSign || t.kind == tokenName) && string(t.text) == text
}

// signs are tried in order.
var signs = [...]string{
	"...", ":=", "->", "{", "}", "[", "]", "(", ")", "<", ">", ";", ":", ",", "=", ".", "-", "+", "*",
}

// A lexer splits text into tokens.
type lexer struct {
	text []byte
	off  int
	line int
}

func (l *lexer) next() (token, error) {
	l.space()
	t := token{line: l.line}
	rest := l.text[l.off:]
	switch {
	case len(rest) == 0:
		return t, nil
	case isLetter(rest[0]), isDigit(rest[0]):
		t.kind = tokenName
		if isDigit(rest[0]) {
			t.kind = tokenNumber
		}
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		t.text = rest[:n]
		l.off += n
		return t, nil
	case rest[0] == '"':
		return l.quoted(t)
	}
	for _, s := range signs {
		if bytes.HasPrefix(rest, []byte(s)) {
			t.kind, t.text = tokenSign, rest[:len(s)]
			l.off += len(s)
			return t, nil
		}
	}
	return t, binread.Malformed("character %q", rest[0])
}

// space skips white space and comments. A comment without an end ends with the
// text.
func (l *lexer) space() {
	for l.off < len(l.text) {
		rest := l.text[l.off:]
		n := 1
		switch {
		case rest[0] == '\n':
			l.line++
		case rest[0] == ' ', rest[0] == '\t', rest[0] == '\r', rest[0] == '\f', rest[0] == '\v':
		case bytes.HasPrefix(rest, []byte("//")):
			if n = bytes.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if n = 2 + end + 2; end < 0 {
				n = len(rest)
			}
			l.line += bytes.Count(rest[:n], []byte{'\n'})
		default:
			return
		}
		l.off += n
	}
}

func (l *lexer) quoted(t token) (token, error) {
	rest := l.text[l.off+1:]
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '\n':
			return t, binread.Malformed("string without an end")
		case '"':
			t.kind, t.text = tokenString, rest[:i]
			l.off += 1 + i + 1
			return t, nil
		}
	}
	return t, binread.Malformed("string without an end")
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// unquoted returns the text of a string token. An invalid escape stays.
func (t *token) unquoted() string {
	if bytes.IndexByte(t.text, '\\') < 0 {
		return string(t.text)
	}
	s, err := strconv.Unquote(`"` + string(t.text) + `"`)
	if err != nil {
		return string(t.text)
	}
	return s
}
