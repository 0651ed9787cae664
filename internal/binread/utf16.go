package binread

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeUTF16 returns the first character of UTF-16LE text, which has two bytes at least, and
// the number of bytes that it takes. A surrogate without its other half becomes U+FFFD.
func DecodeUTF16(text []byte) (rune, int) {
	r := rune(text[0]) | rune(text[1])<<8
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(text) >= 4 {
		if r := utf16.DecodeRune(r, rune(text[2])|rune(text[3])<<8); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

// AppendUTF8 appends UTF-16LE text in UTF-8.
func AppendUTF8(dst, text []byte) []byte {
	for i := 0; i+2 <= len(text); {
		if c := text[i]; c < utf8.RuneSelf && text[i+1] == 0 {
			dst = append(dst, c)
			i += 2
			continue
		}
		r, n := DecodeUTF16(text[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// AppendUTF16 appends a character in UTF-16LE, U+FFFD if there is no such character.
func AppendUTF16(dst []byte, r rune) []byte {
	switch {
	case r < 0 || r > utf8.MaxRune:
		r = utf8.RuneError
	case r >= 1<<16:
		high, low := utf16.EncodeRune(r)
		dst, r = binary.LittleEndian.AppendUint16(dst, uint16(high)), low
	}
	return binary.LittleEndian.AppendUint16(dst, uint16(r))
}
