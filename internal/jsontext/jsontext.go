// Package jsontext writes strings as JSON that is safe to show on a terminal: what
// controls one, or turns the direction of text, is escaped. It also writes digits.
package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Controls reports whether a character controls the display instead of being shown:
// controls, characters that format or turn the direction of text, line separators.
func Controls(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Clean returns s with question marks in place of characters that control the display.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if Controls(r) {
			return '?'
		}
		return r
	}, s)
}

// AppendRune appends a character of a JSON string.
func AppendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case !Controls(r):
		return utf8.AppendRune(dst, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(dst, high), low)
	default:
		return appendEscape(dst, r)
	}
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// AppendString appends s as a JSON string, with U+FFFD for what is not UTF-8.
func AppendString(dst []byte, s string) []byte {
	plain := 0 // bytes that stand for themselves, as all of most strings do
	for plain < len(s) && ' ' <= s[plain] && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\' {
		plain++
	}
	dst = append(append(dst, '"'), s[:plain]...)
	for _, r := range s[plain:] {
		dst = AppendRune(dst, r)
	}
	return append(dst, '"')
}

// AppendSix appends the last six digits of a number, with leading zeros. It is faster than
// strconv, and lines of JSON are mostly numbers.
func AppendSix(dst []byte, n uint64) []byte {
	six := uint32(n % 1_000_000)
	a, b, c := six/10_000, six/100%100, six%100
	return append(dst, byte('0'+a/10), byte('0'+a%10), byte('0'+b/10), byte('0'+b%10), byte('0'+c/10), byte('0'+c%10))
}

// Encode writes v as a line of JSON.
func Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape(b.Bytes()))
	return err
}

// OrNull returns a field for v that is null for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Number returns a field for v that is null for numbers that JSON lacks.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// escape escapes, in the strings of JSON, what encoding/json leaves as it is.
func escape(line []byte) []byte {
	controls := func(r rune) bool { return r != '\n' && Controls(r) } // the line's own end
	if bytes.IndexFunc(line, controls) < 0 {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	for _, r := range string(line) {
		if controls(r) {
			out = AppendRune(out, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
