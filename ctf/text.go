package ctf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

func (d *decoder) boundedText(n *node) bool {
	b, ok := d.bytes(n)
	if ok && n.width > 0 && d.emit {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		d.out = appendUTF16(d.out, b)
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
	if n.width > 0 && d.emit && unit == 1 {
		d.out = appendUTF16(d.out, rest[:i])
	} else if n.width > 0 && d.emit && unit == 2 {
		d.out = append(d.out, rest[:i+2]...)
	} else if n.width > 0 && d.emit {
		d.out = appendUTF32(d.out, rest[:i])
	}
	return true
}

// zeroUnit is the offset of the first unit of b that is zero, or -1.
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
// no UTF-8 becomes U+FFFD.
func appendUTF16(dst, text []byte) []byte {
	dst = slices.Grow(dst, 2*len(text)+2)
	for len(text) >= 8 {
		v := binary.LittleEndian.Uint64(text)
		if v&0x8080808080808080 != 0 {
			break
		}
		dst = binary.LittleEndian.AppendUint64(dst, spread(v&0xffffffff))
		dst = binary.LittleEndian.AppendUint64(dst, spread(v>>32))
		text = text[8:]
	}
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			dst = append(dst, c, 0)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		dst = appendRune(dst, r)
		i += n
	}
	return append(dst, 0, 0)
}

// spread puts a zero after each of four bytes.
func spread(v uint64) uint64 {
	v = (v | v<<16) & 0x0000ffff0000ffff
	return (v | v<<8) & 0x00ff00ff00ff00ff
}

func appendUTF32(dst, text []byte) []byte {
	for ; len(text) >= 4; text = text[4:] {
		dst = appendRune(dst, rune(binary.LittleEndian.Uint32(text)))
	}
	return append(dst, 0, 0)
}

func appendRune(dst []byte, r rune) []byte {
	if r < 0 || r > utf8.MaxRune {
		r = utf8.RuneError
	}
	if r < 1<<16 {
		return append(dst, byte(r), byte(r>>8))
	}
	r -= 1 << 16
	hi, lo := 0xd800|r>>10, 0xdc00|r&0x3ff
	return append(dst, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
}
