package clr

import (
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/jsontext"
)

// appendJSONUTF16 appends little-endian UTF-16 code units as a JSON string.
func appendJSONUTF16(dst []byte, s UTF16) []byte {
	dst = append(dst, '"')
	for len(s) >= 2 {
		if s[1] == 0 && s[0] < utf8.RuneSelf {
			dst = appendJSONByte(dst, s[0])
			s = s[2:]
			continue
		}
		r, n := binread.DecodeUTF16(s)
		dst = jsontext.AppendRune(dst, r)
		s = s[n:]
	}
	return append(dst, '"')
}

// appendJSONString appends s as a JSON string, with U+FFFD for bytes that are not UTF-8.
func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf {
			dst = appendJSONByte(dst, s[0])
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		dst = jsontext.AppendRune(dst, r)
		s = s[n:]
	}
	return append(dst, '"')
}

func appendJSONByte(dst []byte, b byte) []byte {
	switch {
	case b == '\n':
		return append(dst, '\\', 'n')
	case b == '\r':
		return append(dst, '\\', 'r')
	case b == '\t':
		return append(dst, '\\', 't')
	default:
		return jsontext.AppendRune(dst, rune(b))
	}
}
