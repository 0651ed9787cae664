package tracetest

// CompressXpress appends src as a stream of plain LZ77 (MS-XCA, section 2.3). It takes
// the nearest of a few places that begin with the same bytes.
func CompressXpress(dst, src []byte) []byte {
	const (
		window  = 1 << 13
		tries   = 4
		hashLog = 14
		short   = 3 // the least that a match is worth
	)
	head := make([]int32, 1<<hashLog) // plus one
	prev := make([]int32, len(src))
	hash := func(i int) uint32 {
		return (uint32(src[i]) | uint32(src[i+1])<<8 | uint32(src[i+2])<<16) * 0x9e3779b1 >> (32 - hashLog)
	}
	insert := func(i int) {
		if i+short <= len(src) {
			h := hash(i)
			prev[i] = head[h]
			head[h] = int32(i) + 1
		}
	}
	find := func(i int) (off, n int) {
		if i+short > len(src) {
			return 0, 0
		}
		at := int(head[hash(i)]) - 1
		for range tries {
			if at < 0 || i-at > window {
				break
			}
			m := 0
			for i+m < len(src) && src[at+m] == src[i+m] {
				m++
			}
			if m > n {
				off, n = i-at, m
			}
			at = int(prev[at]) - 1
		}
		return off, n
	}
	w := xpressWriter{dst: dst}
	for i := 0; i < len(src); {
		off, n := find(i)
		if n < short {
			w.literal(src[i])
			insert(i)
			i++
			continue
		}
		w.match(off, n)
		for range n {
			insert(i)
			i++
		}
	}
	return w.finish()
}

// An xpressWriter writes literals and matches.
type xpressWriter struct {
	dst    []byte
	at     int // of the flags being filled
	flags  uint32
	n      int
	nibble int // of a byte whose upper half is free, plus one
}

func (w *xpressWriter) flag(bit uint32) {
	if w.n == 0 {
		w.at = len(w.dst)
		w.dst = append(w.dst, 0, 0, 0, 0)
	}
	w.flags = w.flags<<1 | bit
	if w.n++; w.n == 32 {
		le.PutUint32(w.dst[w.at:], w.flags)
		w.flags, w.n = 0, 0
	}
}

func (w *xpressWriter) literal(b byte) {
	w.flag(0)
	w.dst = append(w.dst, b)
}

func (w *xpressWriter) match(off, n int) {
	w.flag(1)
	n -= 3
	w.dst = le.AppendUint16(w.dst, uint16((off-1)<<3|min(n, 7)))
	if n < 7 {
		return
	}
	half := min(n-7, 15)
	if w.nibble == 0 {
		w.nibble = len(w.dst) + 1
		w.dst = append(w.dst, byte(half))
	} else {
		w.dst[w.nibble-1] |= byte(half) << 4
		w.nibble = 0
	}
	switch {
	case half < 15:
	case n < 255+22:
		w.dst = append(w.dst, byte(n-22))
	case n < 1<<16:
		w.dst = le.AppendUint16(append(w.dst, 255), uint16(n))
	default:
		w.dst = le.AppendUint32(append(w.dst, 255, 0, 0), uint32(n))
	}
}

func (w *xpressWriter) finish() []byte {
	if w.n > 0 {
		le.PutUint32(w.dst[w.at:], w.flags<<(32-w.n)|(1<<(32-w.n)-1))
	}
	return w.dst
}

// DecompressXpress decodes a stream of plain LZ77 the slow and simple way, up to n bytes. It is
// not ok if the stream is invalid, or ends before.
func DecompressXpress(src []byte, n int) (out []byte, ok bool) {
	defer func() { ok = recover() == nil }()
	byteOf := func() int {
		b := src[0]
		src = src[1:]
		return int(b)
	}
	word := func() int { return byteOf() | byteOf()<<8 }
	var flags uint32
	left, nibble := 0, -1
	for len(out) < n {
		if left == 0 {
			flags, left = uint32(word())|uint32(word())<<16, 32
		}
		left--
		if flags>>left&1 == 0 {
			out = append(out, byte(byteOf()))
			continue
		}
		m := word()
		off, length := m>>3+1, m&7
		if length == 7 {
			if nibble >= 0 {
				length, nibble = nibble, -1
			} else {
				b := byteOf()
				length, nibble = b&15, b>>4
			}
			if length == 15 {
				if length = byteOf(); length == 255 {
					if length = word(); length == 0 {
						length = word() | word()<<16
					}
					if length < 22 {
						panic("length")
					}
					length -= 22
				}
				length += 15
			}
			length += 7
		}
		for range length + 3 {
			if len(out) == n {
				return out, true
			}
			out = append(out, out[len(out)-off])
		}
	}
	return out, true
}
