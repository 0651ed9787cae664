package tracetest

import (
	"slices"
	"strconv"
	"strings"
)

// A field describes a part of a payload.
type field struct {
	name   string
	code   uint64
	elem   *field
	count  uint64
	fields []field
}

// typeCodes are the codes by position.
var typeCodes = []string{
	3: "boolean", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
	"float32", "float64", "decimal", "datetime", "guid", "string", "array", "varint", "varuint",
	"fixed", "utf8", "relloc", "dataloc", "boolean8",
}

const (
	codeObject = 1
	codeFixed  = 22
)

// fields returns the fields that the pairs of a name describe.
func (l *line) fields(name string) []field {
	var fields []field
	for _, s := range l.all(name) {
		fields = append(fields, l.field(s))
	}
	return fields
}

// field parses TYPE:NAME.
func (l *line) field(s string) field {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		l.fail("field %q has no name", s)
		return field{}
	}
	f := l.fieldType(s[:i])
	f.name = s[i+1:]
	return f
}

func (l *line) fieldType(s string) (f field) {
	if list, is := strings.CutPrefix(s, "object{"); is {
		f.code = codeObject
		for _, m := range strings.Split(strings.TrimSuffix(list, "}"), ";") {
			f.fields = append(f.fields, l.field(m))
		}
		return f
	}
	outer, inner, nested := strings.Cut(s, "<")
	if i := slices.Index(typeCodes, outer); i > 0 {
		f.code = uint64(i)
	} else if n, err := strconv.ParseUint(outer, 0, 32); err == nil {
		f.code = n
	} else {
		l.fail("no type %q", s)
	}
	if !nested {
		return f
	}
	inner = strings.TrimSuffix(inner, ">")
	if f.code == codeFixed {
		i := strings.LastIndexByte(inner, '*')
		f.count = l.parseNum(inner[i+1:])
		inner = inner[:max(0, i)]
	}
	elem := l.fieldType(inner)
	f.elem = &elem
	return f
}

// appendFieldsV1 appends a list in which the type stands before the name.
func appendFieldsV1(b []byte, fields []field) []byte {
	b = le.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		b = le.AppendUint32(b, uint32(f.code))
		if f.code == codeObject {
			b = appendFieldsV1(b, f.fields)
		}
		b = appendUTF16(b, f.name)
	}
	return b
}

// appendFieldsV2 appends a list in which each field has its size, and pad bytes behind
// it.
func appendFieldsV2(b []byte, fields []field, pad int) []byte {
	b = le.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		d := appendUTF16(nil, f.name)
		for t := &f; t != nil; t = t.elem {
			d = le.AppendUint32(d, uint32(t.code))
			if t.code == codeObject {
				d = appendFieldsV2(d, t.fields, pad)
			}
		}
		b = le.AppendUint32(b, uint32(4+len(d)+pad))
		b = append(append(b, d...), make([]byte, pad)...)
	}
	return b
}

func appendFieldsV6(b []byte, fields []field, pad int) []byte {
	b = le.AppendUint16(b, uint16(len(fields)))
	for _, f := range fields {
		d := appendTypeV6(appendString(nil, f.name), &f, pad)
		b = le.AppendUint16(b, uint16(len(d)+pad))
		b = append(append(b, d...), make([]byte, pad)...)
	}
	return b
}

func appendTypeV6(b []byte, f *field, pad int) []byte {
	b = append(b, byte(f.code))
	if f.elem != nil {
		b = appendTypeV6(b, f.elem, pad)
	}
	if f.code == codeFixed {
		b = le.AppendUint16(b, uint16(f.count))
	}
	if f.code == codeObject {
		b = appendFieldsV6(b, f.fields, pad)
	}
	return b
}
