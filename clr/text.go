package clr

import (
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16 is a string in a payload: little-endian UTF-16 code units without the terminating
// zero. It shares the payload's memory.
type UTF16 []byte

// NewUTF16 encodes text.
func NewUTF16(text string) UTF16 { return AppendUTF16(nil, text) }

// AppendUTF16 appends text in UTF-16, without a terminating zero. A byte that is not
// UTF-8 becomes U+FFFD.
func AppendUTF16(dst UTF16, text string) UTF16 {
	for _, r := range text {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			dst = le.AppendUint16(le.AppendUint16(dst, uint16(r1)), uint16(r2))
		} else {
			dst = le.AppendUint16(dst, uint16(r))
		}
	}
	return dst
}

// String decodes s. A surrogate without its other half becomes U+FFFD.
func (s UTF16) String() string { return string(s.AppendTo(nil)) }

// AppendTo appends s in UTF-8.
func (s UTF16) AppendTo(dst []byte) []byte {
	for len(s) >= 2 {
		r, n := s.rune()
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}

// Equal reports whether s, decoded, is text. It allocates nothing.
func (s UTF16) Equal(text string) bool {
	for len(s) >= 2 {
		r, n := s.rune()
		want, size := utf8.DecodeRuneInString(text)
		if size == 0 || r != want {
			return false
		}
		s, text = s[n:], text[size:]
	}
	return text == ""
}

// rune returns the first character of s, which has two bytes at least, and the
// number of bytes it takes.
func (s UTF16) rune() (rune, int) {
	r := rune(s[0]) | rune(s[1])<<8
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(s) >= 4 {
		if r := utf16.DecodeRune(r, rune(s[2])|rune(s[3])<<8); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

// ANSI is a string of bytes without the terminating zero. The runtime writes
// UTF-8. It shares the payload's memory.
type ANSI []byte

// String returns s with each byte that is not part of UTF-8 replaced by U+FFFD.
func (s ANSI) String() string { return string([]rune(string(s))) }
