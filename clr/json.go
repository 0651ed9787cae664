package clr

import (
	"encoding/base64"
	"math"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A jsonWriter writes the values of a payload as JSON.
type jsonWriter struct {
	dst     []byte
	c       binread.Cursor
	payload []byte
	ptrSize int
	raw     bool   // arrays are of the runtime's C structures
	count   uint32 // the last value of a field that counts
	depth   int    // of objects
	enums   []enumValue
	located int // bytes referred to by RelLoc and DataLoc fields
	end     int // of the last such byte
}

// An enumValue is a field of the outermost object whose words are written later.
type enumValue struct {
	field *field
	value uint32
}

func (w *jsonWriter) reset(dst []byte, ev *trace.Event) {
	// One by one: a new jsonWriter would be copied here, for every event.
	w.dst, w.c, w.payload, w.ptrSize, w.raw = dst, binread.At(ev.Payload, 0), ev.Payload, ev.PointerSize, ev.Desc.RawStructs
	w.count, w.depth, w.enums, w.located, w.end = 0, 0, w.enums[:0], 0, 0
}

// extra returns the number of bytes after the fields, or 0 if it is at most
// padding.
func (w *jsonWriter) extra(padding int) int {
	n := len(w.payload) - max(w.c.Off(), w.end)
	if n <= padding {
		return 0
	}
	return n
}

// fail ends the payload here, as if it were truncated.
func (w *jsonWriter) fail() { w.c.Skip(w.c.Len() + 1) }

// object writes fields as far as the payload has them. It leaves out a field that is
// incomplete, except for an array, of which it writes the whole elements.
func (w *jsonWriter) object(fields []field) {
	w.depth++
	w.dst = append(w.dst, '{')
	sep := len(w.dst)
	for i := range fields {
		f := &fields[i]
		size := f.size.of(w.ptrSize)
		if f.code == codePad && (f.key == "" || size == 0) {
			w.c.Skip(size)
			continue
		}
		if len(w.payload) < size {
			continue
		}
		before := len(w.dst)
		if before > sep {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, f.key...)
		w.value(f)
		if !w.c.OK() {
			if f.code != codeArray && f.code != codeFixedArray {
				w.dst = w.dst[:before]
			}
			break
		}
	}
	w.dst = append(w.dst, '}')
	w.depth--
}

func (w *jsonWriter) value(f *field) {
	c := &w.c
	switch f.code {
	case codePad:
		w.padding(f)
	case codeU8:
		w.unsigned(f, uint64(c.U8()))
	case codeU16:
		w.unsigned(f, uint64(c.U16()))
	case codeU32:
		w.unsigned(f, uint64(c.U32()))
	case codeU64:
		w.unsigned(f, c.U64())
	case codePtr:
		w.unsigned(f, c.Ptr(w.ptrSize))
	case codeI32:
		w.signed(int64(int32(c.U32())))
	case codeF32:
		w.float(float64(math.Float32frombits(c.U32())), 32)
	case codeBool32:
		w.dst = strconv.AppendBool(w.dst, c.U32() != 0)
	case codeUTF16:
		w.dst = appendJSONUTF16(w.dst, c.UTF16())
	case codeANSI:
		w.dst = appendJSONString(w.dst, ansiz(c, w.payload))
	case codeGUID:
		w.dst = append(binread.AppendGUID(append(w.dst, '"'), guid(c)), '"')
	case codeBytes:
		w.dst = append(w.dst, '"')
		w.dst = base64.StdEncoding.AppendEncode(w.dst, c.Bytes(int(w.count)))
		w.dst = append(w.dst, '"')
	case codeArray:
		w.array(w.elem(f), w.count)
	case codeFixedArray:
		w.array(w.elem(f), uint32(f.count))
	case codeObject:
		w.object(f.fields)
	default:
		w.ownValue(f)
	}
}

// elem returns the field of an array's elements.
func (w *jsonWriter) elem(f *field) *field {
	if w.raw && f.raw != nil {
		return f.raw
	}
	return f.elem
}

// padding writes padding as a number.
func (w *jsonWriter) padding(f *field) {
	var v uint64
	for i, b := range w.c.Bytes(f.size.of(w.ptrSize)) {
		v |= uint64(b) << (8 * i)
	}
	w.dst = strconv.AppendUint(w.dst, v, 10)
}

func (w *jsonWriter) unsigned(f *field, v uint64) {
	if f.counts {
		w.count = uint32(v)
	}
	if f.words != nil && w.depth == 1 && w.c.OK() {
		w.addEnum(f, uint32(v))
	}
	w.dst = strconv.AppendUint(w.dst, v, 10)
}

func (w *jsonWriter) signed(v int64) { w.dst = strconv.AppendInt(w.dst, v, 10) }

// float writes v as encoding/json does.
func (w *jsonWriter) float(v float64, bits int) {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		w.dst = append(w.dst, "null"...)
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		w.dst = strconv.AppendFloat(w.dst, v, 'e', -1, bits)
	default:
		w.dst = strconv.AppendFloat(w.dst, v, 'f', -1, bits)
	}
}

// array writes n elements, or the whole ones that are there. Elements that are
// characters make a string.
func (w *jsonWriter) array(elem *field, n uint32) {
	switch elem.code {
	case codeChar:
		w.dst = appendJSONUTF16(w.dst, w.c.Bytes(2*int(n)))
		return
	case codeByteChar:
		w.dst = appendJSONString(w.dst, w.c.Bytes(int(n)))
		return
	}
	outer := w.count
	w.dst = append(w.dst, '[')
	for i := range n {
		before, off := len(w.dst), w.c.Off()
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.value(elem)
		if w.c.Off() == off {
			w.fail() // an element that takes no bytes could be there any number of times
		}
		if !w.c.OK() {
			w.dst = w.dst[:before]
			break
		}
	}
	w.dst = append(w.dst, ']')
	w.count = outer
}
