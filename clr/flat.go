package clr

import (
	"encoding/binary"
	"strconv"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// A flat is a layout of numbers alone, as most events have it, prepared for payloads that
// have all of them: nothing is left to decide for each field.
type flat struct {
	layout  *layout
	ptrSize int
	fields  []flatField // nil if the layout has other fields
	end     int         // of the last one
	least   int         // bytes of the payloads that have all
}

// A flatField is a number at a fixed place.
type flatField struct {
	*field
	before    string // the member's name, with the punctuation before it
	off, size int
	high      uint64 // the latest value of 8 bytes, without its last six digits
	text      []byte // of high: most addresses and ids are near the one before
}

// flatten returns the flat form of a layout.
func flatten(l *layout, ptrSize int) flat {
	f := flat{layout: l, ptrSize: ptrSize}
	var fields []flatField
	before := `,"fields":{`
	for i := range l.fields {
		of := &l.fields[i]
		size := 0
		switch of.code {
		case codeU8, codeU16, codeU32, codeU64:
			size = fixedSize[of.code]
		case codePtr:
			size = bySize(ptrSize, 4, 8)
		default:
			return f
		}
		fields = append(fields, flatField{field: of, before: before + of.key, off: f.end, size: size})
		before = ","
		f.end += size
		f.least = max(f.least, f.end, of.size.of(ptrSize))
	}
	f.fields = fields
	return f
}

// flat writes the fields of a payload that has all of a flat layout.
func (w *jsonWriter) flat(of *flat) {
	dst := w.dst
	for i := range of.fields {
		f := &of.fields[i]
		dst = append(dst, f.before...)
		var v uint64
		switch at := w.payload[f.off:]; f.size {
		case 1:
			v = uint64(at[0])
		case 2:
			v = uint64(binary.LittleEndian.Uint16(at))
		case 4:
			v = uint64(binary.LittleEndian.Uint32(at))
		default:
			v = binary.LittleEndian.Uint64(at)
			if high := v / 1_000_000; high > 0 && f.words == nil {
				if high != f.high {
					f.high, f.text = high, strconv.AppendUint(f.text[:0], high, 10)
				}
				dst = jsontext.AppendSix(append(dst, f.text...), v)
				continue
			}
		}
		dst = strconv.AppendUint(dst, v, 10)
		if f.words != nil {
			w.addEnum(f.field, uint32(v))
		}
	}
	w.dst = append(dst, '}')
	w.c.Skip(of.end)
}

// addEnum remembers an enum of the outermost object, if it has words.
func (w *jsonWriter) addEnum(f *field, v uint32) {
	if f.words.set || f.words.word(v) != "" {
		w.enums = append(w.enums, enumValue{f, v})
	}
}
