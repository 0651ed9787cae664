package clr

import (
	"math/bits"
	"strconv"
	"strings"
)

// words are the names of an enum's values, or of a set's bits.
type words struct {
	typ      string // the Go type's name
	set      bool
	mark     uint32 // a bit of a set that has no word
	allParts bool   // parts that are 0 are named too
	list     []word // in order of value
	parts    []part
}

type word struct {
	value uint32
	name  string
}

// MarshalText returns the name of the kind, as String does.
func (v HandleKind) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A part is a small number inside a word.
type part struct {
	shift, width uint8
	name         string
}

// word returns the name of a value, or "".
func (w *words) word(v uint32) string {
	if v < uint32(len(w.list)) && w.list[v].value == v {
		return w.list[v].name
	}
	for _, x := range w.list {
		if x.value == v {
			return x.name
		}
	}
	return ""
}

func (w *words) text(v uint32) string {
	if w.set {
		if b := w.appendNames(nil, v, "|"); len(b) > 0 {
			return string(b)
		}
		return "0"
	}
	if name := w.word(v); name != "" {
		return name
	}
	return w.typ + "(" + strconv.FormatUint(uint64(v), 10) + ")"
}

func (w *words) names(v uint32) []string {
	b := w.appendNames(nil, v, "|")
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "|")
}

// appendNames appends the names of the set v in the order of bits.
func (w *words) appendNames(dst []byte, v uint32, sep string) []byte {
	v &^= w.mark
	start := len(dst)
	between := func() {
		if len(dst) > start {
			dst = append(dst, sep...)
		}
	}
	for _, p := range w.parts {
		mask := uint32(1)<<p.width - 1
		n := v >> p.shift & mask
		v &^= mask << p.shift
		if n != 0 || w.allParts {
			between()
			dst = append(append(dst, p.name...), '=')
			dst = strconv.AppendUint(dst, uint64(n), 10)
		}
	}
	for v != 0 {
		bit := uint32(1) << bits.TrailingZeros32(v)
		v &^= bit
		between()
		if name := w.word(bit); name != "" {
			dst = append(dst, name...)
			continue
		}
		dst = strconv.AppendUint(append(dst, "0x"...), uint64(bit), 16)
	}
	return dst
}
