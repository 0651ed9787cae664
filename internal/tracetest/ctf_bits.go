package tracetest

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// A bitWriter writes values one after the other, each at its alignment.
type bitWriter struct {
	b   []byte
	pos int // in bits
}

func (w *bitWriter) align(n int) {
	for n > 1 && w.pos%n != 0 {
		w.bit(0, false)
	}
}

// bit writes one bit. In big-endian order bytes fill from their top.
func (w *bitWriter) bit(v uint64, big bool) {
	if w.pos/8 == len(w.b) {
		w.b = append(w.b, 0)
	}
	at := w.pos % 8
	if big {
		at = 7 - at
	}
	w.b[w.pos/8] |= byte(v&1) << at
	w.pos++
}

func (w *bitWriter) integer(t typ, v uint64) {
	w.align(t.align)
	for i := range t.size {
		if t.big {
			w.bit(v>>(t.size-1-i), true)
		} else {
			w.bit(v>>i, false)
		}
	}
}

func (w *bitWriter) bytes(b []byte) {
	w.align(8)
	w.b = append(w.b[:w.pos/8], b...)
	w.pos = 8 * len(w.b)
}

// value writes the text of a value.
func (w *bitWriter) value(t typ, length typ, text string) {
	switch t.kind {
	case 'u', 'i':
		w.integer(t, number(text))
	case 'f':
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("tracetest: " + err.Error())
		}
		bits := math.Float64bits(v)
		if t.size == 32 {
			bits = uint64(math.Float32bits(float32(v)))
		}
		w.integer(t, bits)
	case 's':
		w.bytes(append([]byte(text), 0))
	case 't':
		b := make([]byte, t.size)
		copy(b, text)
		w.bytes(b)
	case 'b', 'B':
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			panic("tracetest: " + err.Error())
		}
		w.integer(length, uint64(len(b)))
		w.bytes(b)
	case 'a', 'q':
		elems := list(text)
		if t.kind == 'q' {
			w.integer(length, uint64(len(elems)))
		}
		w.align(t.elem.align)
		for _, e := range elems {
			w.value(*t.elem, length, e)
		}
	}
}

// structAlign returns the alignment of a structure with these fields.
func structAlign(fields []ctfField, length typ) int {
	n := 1
	for _, f := range fields {
		n = max(n, f.typ.align)
		if strings.IndexByte("bBq", f.typ.kind) >= 0 {
			n = max(n, length.align)
		}
	}
	return n
}
