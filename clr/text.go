package clr

import (
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/binread"
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
		dst = binread.AppendUTF16(dst, r)
	}
	return dst
}

// String decodes s. A surrogate without its other half becomes U+FFFD.
func (s UTF16) String() string { return string(s.AppendTo(nil)) }

// AppendTo appends s in UTF-8.
func (s UTF16) AppendTo(dst []byte) []byte { return binread.AppendUTF8(dst, s) }

// Equal reports whether s, decoded, is text. It allocates nothing.
func (s UTF16) Equal(text string) bool {
	for len(s) >= 2 {
		r, n := binread.DecodeUTF16(s)
		want, size := utf8.DecodeRuneInString(text)
		if size == 0 || r != want {
			return false
		}
		s, text = s[n:], text[size:]
	}
	return text == ""
}

// ANSI is a string of bytes without the terminating zero. The runtime writes
// UTF-8. It shares the payload's memory.
type ANSI []byte

// String returns s with each byte that is not part of UTF-8 replaced by U+FFFD.
func (s ANSI) String() string { return string([]rune(string(s))) }
