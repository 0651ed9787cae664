package attack

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/binread"
)

var le = binary.LittleEndian

// A header is the range of bytes of a trace that determine how others are read. Headers
// of one shape differ only in their values.
type header struct {
	from, to int
	shape    string
}

// A bit is one of a trace's bytes and the number of a bit of it.
type bit struct{ at, number int }

// bits returns all bits of headers.
func bits(list []header) (all []bit) {
	for _, h := range list {
		for at := h.from; at < h.to; at++ {
			for number := range 8 {
				all = append(all, bit{at, number})
			}
		}
	}
	return all
}

// sampled returns all bits of the first header of each shape, and one bit of each other
// header.
func sampled(list []header) (some []bit) {
	seen := make(map[string]int)
	for _, h := range list {
		n := seen[h.shape]
		seen[h.shape]++
		if n == 0 {
			some = append(some, bits([]header{h})...)
		} else {
			some = append(some, bit{h.from + 7*n%(h.to-h.from), n % 8})
		}
	}
	return some
}

// A walk finds the headers of a trace that is not damaged.
type walk struct {
	tb   testing.TB
	c    binread.Cursor
	list []header
}

func newWalk(tb testing.TB, data []byte) *walk { return &walk{tb: tb, c: binread.At(data, 0)} }

// header takes in the next n bytes as a header.
func (w *walk) header(shape string, n int) []byte {
	from := w.c.Off()
	b := w.c.Bytes(n)
	w.since(from, shape)
	return b
}

// since adds the bytes since from as a header.
func (w *walk) since(from int, shape string) {
	if w.c.Off() > from {
		w.list = append(w.list, header{from, w.c.Off(), shape})
	}
}

// ended checks that the whole trace was understood.
func (w *walk) ended() []header {
	w.tb.Helper()
	if err := w.c.Err(); err != nil || w.c.Len() > 0 {
		w.tb.Fatalf("headers: stopped at %#x, %d bytes before the end: %v", w.c.Off(), w.c.Len(), err)
	}
	return w.list
}

// whole takes a file as one header.
func whole(_ testing.TB, data []byte) []header { return []header{{0, len(data), "file"}} }

// gzipHeaders returns the header of RFC 1952 without optional fields, and the trailer.
func gzipHeaders(_ testing.TB, data []byte) []header {
	return []header{{0, 10, "header"}, {len(data) - 8, len(data), "trailer"}}
}

// zstdHeaders returns the headers of a frame and its blocks (RFC 8878, 3.1.1).
func zstdHeaders(tb testing.TB, data []byte) []header {
	w := newWalk(tb, data)
	descriptor := data[4]
	size := 1
	if descriptor&0x20 == 0 {
		size++ // the window's
	}
	size += []int{0, 1, 2, 4}[descriptor&3]
	size += [...]int{0, 2, 4, 8}[descriptor>>6]
	if descriptor&0xe0 == 0x20 {
		size++
	}
	w.header("frame", 4+size)
	for last := false; !last && w.c.OK(); {
		b := w.header("block", 3)
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		last = n&1 != 0
		if n>>1&3 == 1 { // one byte, repeated
			w.c.Skip(1)
		} else {
			w.c.Skip(n >> 3)
		}
	}
	if descriptor&4 != 0 {
		w.header("checksum", 4)
	}
	return w.ended()
}

// xzHeaders returns the headers of the stream and its block, the index and the footer.
func xzHeaders(_ testing.TB, data []byte) []header {
	const stream, footer = 12, 12
	block := 4 * (int(data[stream]) + 1)
	index := 4 * (int(le.Uint32(data[len(data)-8:])) + 1)
	return []header{{0, stream + block, "header"}, {len(data) - footer - index, len(data), "index"}}
}

// zipHeaders returns the headers of the entries, the directory, and its end (APPNOTE.TXT,
// section 4.3).
func zipHeaders(tb testing.TB, data []byte) []header {
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	list := []header{{end, len(data), "end"}}
	w := newWalk(tb, data[:end])
	w.c.Skip(int(le.Uint32(data[end+16:])))
	for w.c.Len() > 0 && w.c.OK() {
		at := w.c.Off()
		h := data[at:]
		w.header("directory", 46+int(le.Uint16(h[28:]))+int(le.Uint16(h[30:]))+int(le.Uint16(h[32:])))
		local := int(le.Uint32(h[42:]))
		l := data[local:]
		size := 30 + int(le.Uint16(l[26:])) + int(le.Uint16(l[28:]))
		list = append(list, header{local, local + size, "entry"})
		if h[8]&8 != 0 {
			from := local + size + int(le.Uint32(h[20:]))
			list = append(list, header{from, from + 16, "descriptor"})
		}
	}
	list = append(list, w.ended()...)
	slices.SortFunc(list, func(a, b header) int { return a.from - b.from })
	return list
}

// tarHeaders returns the blocks before the files.
func tarHeaders(tb testing.TB, data []byte) []header {
	const block = 512
	w := newWalk(tb, data)
	for w.c.Len() >= block {
		h := w.header("file", block)
		var size int
		for _, digit := range strings.Trim(string(h[124:136]), " \x00") {
			size = size<<3 | int(digit-'0')
		}
		w.c.Skip((size + block - 1) / block * block)
	}
	return w.ended()
}
