package ctf

import (
	"math"

	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// A describer describes payloads, up to a number of fields.
type describer struct{ left int }

// maxDescribed bounds the fields that are described of one trace.
const maxDescribed = 1 << 14

// describe describes the fields of a payload as they are on the wire, and says how many
// of the structure's fields that are. It ends before the first that has no description,
// such as .NET's packed fields, which only its manifest describes.
func (d *describer) describe(t *tsdl.Type) (fields []trace.Field, n int) {
	if t == nil || t.Kind != tsdl.Struct {
		return nil, 0
	}
	for i, f := range t.Fields {
		if f.Name == packedName {
			return nil, 0
		}
		if generatedLength(t.Fields, i) {
			continue
		}
		described, ok := d.field(f.Type)
		if !ok {
			return fields, i
		}
		described.Name = f.Name
		fields = append(fields, described)
	}
	return fields, len(t.Fields)
}

// describeSplit describes the fields of both parts of an event as describe does,
// and how many of each are described.
func (d *describer) describeSplit(s *splitEvent) (fields []trace.Field, n [lastPart + 1]int) {
	fields, n[firstPart] = d.describe(s.first.Payload)
	if s.first.Payload == nil || n[firstPart] == len(s.first.Payload.Fields) {
		var rest []trace.Field
		rest, n[lastPart] = d.describe(s.last.Payload)
		fields = append(fields, rest...)
	}
	return fields, n
}

// intTypes are the types of integers by the logarithm of their size.
var intTypes = [2][4]trace.TypeCode{
	{trace.Uint8, trace.Uint16, trace.Uint32, trace.Uint64},
	{trace.Int8, trace.Int16, trace.Int32, trace.Int64},
}

func (d *describer) field(t *tsdl.Type) (f trace.Field, ok bool) {
	if d.left--; d.left < 0 {
		return f, false
	}
	switch t.Kind {
	case tsdl.Int:
		f.Type = intType(wireSize(t.Size), t.Signed)
	case tsdl.VarInt:
		f.Type = intType(8, t.Signed)
	case tsdl.Float:
		switch t.Size {
		case 32:
			f.Type = trace.Float32
		case 64:
			f.Type = trace.Float64
		default:
			return f, false
		}
	case tsdl.String:
		f.Type = trace.UTF16String
	case tsdl.Struct:
		f.Type = trace.Object
		for i, m := range t.Fields {
			if generatedLength(t.Fields, i) {
				continue
			}
			described, ok := d.field(m.Type)
			if !ok {
				return f, false
			}
			described.Name = m.Name
			f.Fields = append(f.Fields, described)
		}
	case tsdl.Array, tsdl.Dynamic:
		return d.array(t)
	default:
		return f, false
	}
	return f, true
}

func (d *describer) array(t *tsdl.Type) (f trace.Field, ok bool) {
	if t.Elem.Text && t.Elem.Size == 8 && t.Elem.Align == 8 {
		return trace.Field{Type: trace.UTF16String}, true
	}
	elem, ok := d.field(t.Elem)
	f = trace.Field{Type: trace.Array, Elem: &elem}
	if t.Kind == tsdl.Array {
		f.Type, f.Count = trace.FixedArray, int(min(t.Length, math.MaxInt32))
	}
	return f, ok
}

func intType(size int, signed bool) trace.TypeCode {
	row := 0
	if signed {
		row = 1
	}
	for i := range intTypes[row] {
		if size == 1<<i {
			return intTypes[row][i]
		}
	}
	return intTypes[row][3]
}
