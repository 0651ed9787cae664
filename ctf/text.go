package ctf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/binread"
)

func (d *decoder) boundedText(n *node) bool {
	b, ok := d.bytes(n)
	if ok && n.width > 0 && !d.mute {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		d.out.data = appendUTF16(d.out.data, b)
	}
	return ok
}

func (d *decoder) text(n *node) bool {
	unit, at := n.size>>3, d.pos>>3
	rest := d.buf[at : d.end>>3]
	i := zeroUnit(rest, unit)
	if i < 0 {
		return d.failed(failShort)
	}
	d.pos += (i + unit) << 3
	if n.role > 0 {
		d.span(n, at, i)
	}
	switch {
	case n.width == 0 || d.mute:
	case unit == 1:
		d.out.data = appendUTF16(d.out.data, rest[:i])
	case unit == 2:
		d.out.data = append(d.out.data, rest[:i+2]...)
	default:
		d.out.data = appendUTF32(d.out.data, rest[:i])
	}
	return true
}

// zeroUnit returns the offset of the first unit of b that is zero, or -1.
func zeroUnit(b []byte, unit int) int {
	if unit == 1 {
		return bytes.IndexByte(b, 0)
	}
	zero := [4]byte{}
	for i := 0; i+unit <= len(b); i += unit {
		if bytes.Equal(b[i:i+unit], zero[:unit]) {
			return i
		}
	}
	return -1
}

// appendUTF16 appends UTF-8 as UTF-16LE with a terminating zero. A byte that is
// not UTF-8 becomes U+FFFD.
func appendUTF16(dst, text []byte) []byte {
	dst = slices.Grow(dst, 2*len(text)+2)
	n := widen(dst[len(dst):cap(dst)], text)
	dst = dst[:len(dst)+2*n]
	for text = text[n:]; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		dst = binread.AppendUTF16(dst, r)
		text = text[size:]
	}
	return append(dst, 0, 0)
}

// widen writes the ASCII prefix of text as UTF-16LE to dst, which has room for all of
// text, and returns the length of the prefix.
func widen(dst, text []byte) int {
	size := len(text)
	for len(text) >= 8 && len(dst) >= 16 {
		v := binary.LittleEndian.Uint64(text)
		if v&0x8080808080808080 != 0 {
			break
		}
		binary.LittleEndian.PutUint64(dst, spread(v&0xffffffff))
		binary.LittleEndian.PutUint64(dst[8:], spread(v>>32))
		dst, text = dst[16:], text[8:]
	}
	for len(text) > 0 && len(dst) >= 2 && text[0] < utf8.RuneSelf {
		binary.LittleEndian.PutUint16(dst, uint16(text[0]))
		dst, text = dst[2:], text[1:]
	}
	return size - len(text)
}

// spread puts a zero after each of four bytes.
func spread(v uint64) uint64 {
	v = (v | v<<16) & 0x0000ffff0000ffff
	return (v | v<<8) & 0x00ff00ff00ff00ff
}

func appendUTF32(dst, text []byte) []byte {
	for ; len(text) >= 4; text = text[4:] {
		dst = binread.AppendUTF16(dst, rune(binary.LittleEndian.Uint32(text)))
	}
	return append(dst, 0, 0)
}
