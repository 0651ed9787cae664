package etl

import (
	"math/bits"

	"github.com/gctrail/gctrail/internal/binread"
)

// xpressWindow is how far back a match can reach.
const xpressWindow = 1 << 13

// An xpress decompresses one stream of plain LZ77 (MS-XCA, sections 2.3 and
// 2.4), piece by piece. The zero value is at the start of a stream.
type xpress struct {
	// flags are the flag bits not used yet, from the top, and then a single one bit that
	// marks their end. Zero means that none are left.
	flags  uint64
	nibble uint16 // nibbleSet and a byte whose upper half is the next short length
	off, n int    // of a match that was cut by the end of the output
}

const (
	nibbleSet   = 0x100
	flagsMarker = 1 << 31 // in flags that were just read
	flagsNone   = 1 << 63

	// maxToken bounds the input of the flags and one match.
	maxToken = 4 + 2 + 1 + 1 + 2 + 4
	// fastMargin is the input and output that a round of the fast loop needs: 32
	// literals, copied by eights, and then a match's header.
	fastMargin = 32 + 8 + maxToken
)

// decode continues the stream: it writes to dst from out on, and reads src from its
// start. dst holds the previous output before out, at least xpressWindow bytes of it or
// all. It stops if dst is full, or if src may end within a token; for the last src, only
// if it does.
func (x *xpress) decode(dst []byte, out int, src []byte, last bool) (int, int, error) {
	in := 0
	for {
		if x.n > 0 {
			if out = x.match(dst, out); out == len(dst) {
				return out, in, nil
			}
		}
		o, i, ok := x.fast(dst, out, src, in)
		if !ok {
			return o, i, binread.Malformed("match before the start")
		}
		out, in = o, i
		if x.n > 0 {
			continue
		}
		if out == len(dst) || !last && len(src)-in < maxToken {
			return out, in, nil
		}
		n, b, ok, err := x.token(src[in:], out)
		switch {
		case err != nil:
			return out, in, err
		case !ok:
			return out, in, nil
		}
		in += n
		if x.n == 0 {
			dst[out] = b
			out++
		}
	}
}

// fast decodes while there is room to spare on both sides. It stops before a match that
// does not fit, which it leaves in x. It is not ok after a match that refers to bytes
// before the start.
func (x *xpress) fast(dst []byte, out int, src []byte, in int) (int, int, bool) {
	flags := x.flags
	if flags == 0 {
		flags = flagsNone
	}
	ok := true
	for len(src)-in >= fastMargin && len(dst)-out >= fastMargin {
		if flags == flagsNone {
			flags = uint64(le.Uint32(src[in:]))<<32 | flagsMarker
			in += 4
		}
		if n := bits.LeadingZeros64(flags); n > 0 {
			s, d := src[in:in+40], dst[out:out+40]
			le.PutUint64(d, le.Uint64(s))
			if n > 8 {
				le.PutUint64(d[8:], le.Uint64(s[8:]))
				if n > 16 {
					le.PutUint64(d[16:], le.Uint64(s[16:]))
					le.PutUint64(d[24:], le.Uint64(s[24:]))
				}
			}
			in += n
			out += n
			flags <<= n
			if flags == flagsNone {
				continue
			}
		}
		flags <<= 1
		m := int(le.Uint16(src[in:]))
		in += 2
		off, n := m>>3+1, m&7+3
		if n == 7+3 {
			n, in = x.longLength(src, in)
		}
		if off > out || n < 0 {
			ok = false
			break
		}
		if len(dst)-out < n+8 {
			x.off, x.n = off, n
			break
		}
		if off < 8 {
			out = overlap(dst, out, off, n)
			continue
		}
		from, end := out-off, out+n
		for out < end {
			le.PutUint64(dst[out:], le.Uint64(dst[from:]))
			out += 8
			from += 8
		}
		out = end
	}
	x.flags = flags
	return out, in, ok
}

// longLength reads the rest of a match length that the two bytes of the match
// do not hold; negative for a length that the format does not allow.
func (x *xpress) longLength(src []byte, in int) (int, int) {
	var n int
	if x.nibble&nibbleSet != 0 {
		n = int(x.nibble & 0xff >> 4)
		x.nibble = 0
	} else {
		n = int(src[in] & 15)
		x.nibble = nibbleSet | uint16(src[in])
		in++
	}
	if n < 15 {
		return n + 7 + 3, in
	}
	n = int(src[in])
	in++
	if n < 255 {
		return n + 15 + 7 + 3, in
	}
	n = int(le.Uint16(src[in:]))
	in += 2
	if n == 0 {
		n = int(min(le.Uint32(src[in:]), 1<<31-1))
		in += 4
	}
	if n < 15+7 {
		return -1, in
	}
	return n + 3, in
}

// overlap copies a match that reaches back off bytes, less than eight.
func overlap(dst []byte, out, off, n int) int {
	if n <= 16 {
		for range n {
			dst[out] = dst[out-off]
			out++
		}
		return out
	}
	// The copied bytes can be copied in turn, so that each round doubles them.
	from, end := out-off, out+n
	for out < end {
		out += copy(dst[out:end], dst[from:out])
	}
	return out
}

// match copies of a match that is left in x what fits.
func (x *xpress) match(dst []byte, out int) int {
	n := min(x.n, len(dst)-out)
	x.n -= n
	if x.off >= n {
		return out + copy(dst[out:out+n], dst[out-x.off:])
	}
	return overlap(dst, out, x.off, n)
}

// token reads one literal, or one match into x, byte by byte. It takes nothing and is not
// ok if src ends within the token.
func (x *xpress) token(src []byte, out int) (n int, literal byte, ok bool, err error) {
	flags, nibble := x.flags, x.nibble
	if flags == 0 || flags == flagsNone {
		if len(src) < 4 {
			return 0, 0, false, nil
		}
		flags = uint64(le.Uint32(src))<<32 | flagsMarker
		n = 4
	}
	if flags>>63 == 0 {
		if len(src) == n {
			return 0, 0, false, nil
		}
		x.flags = flags << 1
		return n + 1, src[n], true, nil
	}
	// The token is read from a copy with room behind it, because src may end within it.
	// It counts only if it did not need the room.
	var b [maxToken]byte
	copy(b[:], src[n:])
	m := int(le.Uint16(b[:]))
	off, length, used := m>>3+1, m&7+3, 2
	if length == 7+3 {
		length, used = x.longLength(b[:], used)
	}
	if n += used; n > len(src) {
		x.nibble = nibble
		return 0, 0, false, nil
	}
	switch {
	case length < 0:
		return 0, 0, false, binread.Malformed("match of too short a length")
	case off > out:
		return 0, 0, false, binread.Malformed("match before the start")
	}
	x.flags = flags << 1
	x.off, x.n = off, length
	return n, 0, true, nil
}
