package clr

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// maxDepth bounds how deep objects and arrays of a trace's description nest.
const maxDepth = 16

// ownLayout returns the layout of an event in the trace's own description, or nil.
func ownLayout(desc *trace.Descriptor) *layout {
	if len(desc.Fields) == 0 {
		return nil
	}
	fields, ok := ownFields(desc.Fields, strings.HasPrefix(desc.Provider, "Universal."), maxDepth)
	if !ok {
		return nil
	}
	return &layout{fields: fields}
}

func ownFields(described []trace.Field, universal bool, depth int) ([]field, bool) {
	fields := make([]field, len(described))
	for i := range described {
		f, ok := ownField(&described[i], universal, depth)
		if !ok {
			return nil, false
		}
		f.key = string(append(appendJSONString(nil, []byte(described[i].Name)), ':'))
		fields[i] = f
	}
	return fields, true
}

// ownField converts a trace's description of a field. universal changes UTF8Unit to a
// string after its uint16 length, because one-collect's providers Universal.System and
// Universal.Events declare the one and write the other.
func ownField(described *trace.Field, universal bool, depth int) (f field, ok bool) {
	if depth == 0 || int(described.Type) >= len(ownCodes) {
		return f, false
	}
	f.code = ownCodes[described.Type]
	switch f.code {
	case codePad:
		return f, false
	case codeByteChar:
		if universal {
			return field{code: codeArray16, elem: &field{code: codeByteChar}}, true
		}
	case codeObject:
		f.fields, ok = ownFields(described.Fields, universal, depth-1)
		return f, ok
	case codeArray16, codeFixedArray, codeRelLoc, codeDataLoc:
		if described.Elem == nil || described.Count < 0 {
			return f, false
		}
		elem, ok := ownField(described.Elem, false, depth-1)
		f.elem, f.count = &elem, described.Count
		if f.code == codeRelLoc || f.code == codeDataLoc {
			ok = ok && fixedSize[elem.code] > 0
		}
		return f, ok
	}
	return f, true
}

// ownCodes are the codes of package trace's types, codePad for the others.
var ownCodes = [...]code{
	trace.Object:      codeObject,
	trace.Boolean:     codeBool32,
	trace.Char:        codeChar,
	trace.Int8:        codeI8,
	trace.Uint8:       codeU8,
	trace.Int16:       codeI16,
	trace.Uint16:      codeU16,
	trace.Int32:       codeI32,
	trace.Uint32:      codeU32,
	trace.Int64:       codeI64,
	trace.Uint64:      codeU64,
	trace.Float32:     codeF32,
	trace.Float64:     codeF64,
	trace.Decimal:     codeDecimal,
	trace.DateTime:    codeDateTime,
	trace.GUID:        codeGUID,
	trace.UTF16String: codeUTF16,
	trace.Array:       codeArray16,
	trace.VarInt:      codeVarInt,
	trace.VarUint:     codeVarUint,
	trace.FixedArray:  codeFixedArray,
	trace.UTF8Unit:    codeByteChar,
	trace.RelLoc:      codeRelLoc,
	trace.DataLoc:     codeDataLoc,
	trace.Boolean8:    codeBool8,
}

// fixedSize has the sizes of the codes that RelLoc and DataLoc may refer to.
var fixedSize = [...]int{
	codeU8: 1, codeU16: 2, codeU32: 4, codeU64: 8, codeI8: 1, codeI16: 2, codeI32: 4, codeI64: 8,
	codeF32: 4, codeF64: 8, codeBool32: 4, codeBool8: 1, codeGUID: 16, codeDecimal: 16,
	codeDateTime: 8, codeChar: 2, codeByteChar: 1,
	codeDataLoc: 0, // the last code, so that all have an entry
}

// ownValue writes the values that occur only in traces' own descriptions.
func (w *jsonWriter) ownValue(f *field) {
	c := &w.c
	switch f.code {
	case codeI8:
		w.signed(int64(int8(c.U8())))
	case codeI16:
		w.signed(int64(int16(c.U16())))
	case codeI64:
		w.signed(int64(c.U64()))
	case codeF64:
		w.float(math.Float64frombits(c.U64()), 64)
	case codeBool8:
		w.dst = strconv.AppendBool(w.dst, c.U8() != 0)
	case codeChar:
		w.dst = appendJSONUTF16(w.dst, c.Bytes(2))
	case codeByteChar:
		w.dst = appendJSONString(w.dst, c.Bytes(1))
	case codeDecimal:
		w.decimal(c.U32(), c.U32(), c.U64())
	case codeDateTime:
		w.fileTime(c.U64())
	case codeVarInt:
		w.signed(c.Varint64())
	case codeVarUint:
		w.dst = strconv.AppendUint(w.dst, c.Uvarint64(), 10)
	case codeArray16:
		w.array(f.elem, uint32(c.U16()))
	case codeRelLoc, codeDataLoc:
		w.location(f)
	}
}

// location writes the array that a RelLoc or DataLoc refers to. All such references
// together may cover the payload once, because otherwise a small payload could become a
// large output.
func (w *jsonWriter) location(f *field) {
	ref := w.c.U32()
	from, size := int(ref&0xffff), int(ref>>16)
	if f.code == codeRelLoc {
		from += w.c.Off()
	}
	w.located += size
	each := fixedSize[f.elem.code]
	if from+size > len(w.payload) || size%each != 0 || w.located > len(w.payload) {
		w.fail()
		return
	}
	after := w.c
	w.c = binread.At(w.payload[from:from+size], 0)
	w.array(f.elem, uint32(size/each))
	w.c = after
	w.end = max(w.end, from+size)
}

// decimal writes a System.Decimal: 96 bits divided by a power of ten. Any bit besides
// sign and power is an error.
func (w *jsonWriter) decimal(flags, hi uint32, lo uint64) {
	const sign, power, maxPower = 1 << 31, 0xff << 16, 28
	scale := int(flags & power >> 16)
	if flags&^(sign|power) != 0 || scale > maxPower {
		w.fail()
		return
	}
	const chunk, chunkDigits = 1e19, 19
	q, rest := bits.Div64(uint64(hi), lo, chunk)
	var digits [2 * chunkDigits]byte
	first, point := len(digits), len(digits)-scale
	for first >= point || rest > 0 || q > 0 {
		if first == chunkDigits {
			rest, q = q, 0
		}
		first--
		digits[first] = '0' + byte(rest%10)
		rest /= 10
	}
	if flags&sign != 0 {
		w.dst = append(w.dst, '-')
	}
	w.dst = append(w.dst, digits[first:point]...)
	if scale > 0 {
		w.dst = append(append(w.dst, '.'), digits[point:]...)
	}
}

// fileTime writes 100 ns units since 1601 as RFC 3339, or as the number it is
// past the year 9999.
func (w *jsonWriter) fileTime(v uint64) {
	const second, unixEpoch, year10000 = 1e7, 11644473600, 265046774400
	if v/second >= year10000 {
		w.dst = strconv.AppendUint(w.dst, v, 10)
		return
	}
	t := time.Unix(int64(v/second)-unixEpoch, int64(v%second)*100).UTC()
	w.dst = t.AppendFormat(append(w.dst, '"'), "2006-01-02T15:04:05.0000000Z")
	w.dst = append(w.dst, '"')
}
