package eventpipe

import (
	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// maxFieldDepth bounds how deep field descriptions nest.
const maxFieldDepth = 16

// Tags that follow the fields of a V4 metadata record in .NET 5 and later.
const (
	tagOpcode   = 1
	tagV2Params = 2
)

// ParseMetadataV4 reads the payload of a V3 or V4 metadata event: "metadata
// event blob" in NetTraceFormat_v5.md. A field list that cannot be read leaves
// the descriptor without fields.
func ParseMetadataV4(payload []byte, base int64) (id uint32, d *trace.Descriptor, err error) {
	c := binread.At(payload, base)
	id = c.U32()
	d = &trace.Descriptor{Provider: c.Text()}
	d.ID = c.U32()
	d.Name = c.Text()
	d.Keywords = c.U64()
	d.Version = c.U32()
	d.Level = uint8(c.U32())
	if err := c.Err(); err != nil {
		return 0, nil, err
	}
	if c.Len() == 0 {
		return id, d, nil
	}
	if fields, ok := fieldsV1(&c, 0); ok {
		d.Fields = fields
		metadataTags(&c, d)
	}
	return id, d, nil
}

// A fieldReader reads a field that is nested so deep, and a listReader a list of fields.
type (
	fieldReader func(c *binread.Cursor, depth int) (trace.Field, bool)
	listReader  func(c *binread.Cursor, depth int) ([]trace.Field, bool)
)

// fieldList reads n fields, of at least some bytes each.
func fieldList(c *binread.Cursor, n uint32, least, depth int, read fieldReader) ([]trace.Field, bool) {
	if depth > maxFieldDepth || !Fits(c, n, least) {
		return nil, false
	}
	fields := make([]trace.Field, 0, n)
	for range n {
		f, ok := read(c, depth)
		if !ok || !c.OK() {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, true
}

// fieldsV1 reads a field list whose fields have their type before their name.
func fieldsV1(c *binread.Cursor, depth int) ([]trace.Field, bool) {
	return fieldList(c, c.U32(), 6, depth, func(c *binread.Cursor, depth int) (trace.Field, bool) {
		f, ok := fieldType(c, depth, fieldsV1)
		f.Name = c.Text()
		return f, ok
	})
}

// fieldsV2 reads a field list in which each field has a size, and the name
// stands before the type.
func fieldsV2(c *binread.Cursor, depth int) ([]trace.Field, bool) {
	return fieldList(c, c.U32(), 10, depth, func(c *binread.Cursor, depth int) (trace.Field, bool) {
		size := int64(c.U32())
		if size < 4 || size-4 > int64(c.Len()) {
			return trace.Field{}, false
		}
		rest := c.Sub(int(size - 4))
		name := rest.Text()
		f, ok := fieldType(&rest, depth, fieldsV2)
		f.Name = name
		return f, ok && rest.OK()
	})
}

// fieldType reads a V4 type: its code, and the element type or fields of arrays and
// objects.
func fieldType(c *binread.Cursor, depth int, nested listReader) (f trace.Field, ok bool) {
	f.Type = typeCode(c.U32())
	switch {
	case depth > maxFieldDepth:
		return f, false
	case f.Type == trace.Array:
		elem, ok := fieldType(c, depth+1, nested)
		f.Elem = &elem
		return f, ok
	case f.Type == trace.Object:
		f.Fields, ok = nested(c, depth+1)
		return f, ok
	}
	return f, c.OK()
}

// metadataTags reads the tags that .NET 5 and later append to a metadata record. Tags
// that are unknown or cannot be read change nothing.
func metadataTags(c *binread.Cursor, d *trace.Descriptor) {
	for c.Len() > 0 {
		size, tag := int64(c.U32()), c.U8()
		if size > int64(c.Len()) {
			return
		}
		tc := c.Sub(int(size))
		switch tag {
		case tagOpcode:
			d.Opcode = tc.U8()
		case tagV2Params:
			if fields, ok := fieldsV2(&tc, 0); ok {
				d.Fields = fields
			}
		}
	}
}

// Optional parts of a V6 metadata record.
const (
	optOpcode       = 1
	optKeywords     = 3
	optTemplate     = 4
	optDescription  = 5
	optKeyValue     = 6
	optProviderGUID = 7
	optLevel        = 8
	optVersion      = 9
)

// ParseMetadataV6 reads one row of a V6 metadata block, without its size.
func ParseMetadataV6(row []byte, base int64) (id uint32, d *trace.Descriptor, err error) {
	c := binread.At(row, base)
	id = c.Uvarint32()
	d = &trace.Descriptor{Provider: UTF8(&c)}
	d.ID = c.Uvarint32()
	d.Name = UTF8(&c)
	fields, ok := fieldsV6(&c, 0)
	if !ok {
		return id, d, c.Err()
	}
	d.Fields = fields
	options := c.Sub(int(c.U16()))
	metadataOptions(&options, d)
	return id, d, c.Err()
}

// metadataOptions reads the optional parts up to the first unknown one. It stops there,
// because the part has no length to skip it by.
func metadataOptions(c *binread.Cursor, d *trace.Descriptor) {
	for c.Len() > 0 {
		switch c.U8() {
		case optOpcode:
			d.Opcode = c.U8()
		case optKeywords:
			d.Keywords = c.U64()
		case optTemplate, optDescription:
			c.Skip(int(c.Uvarint32()))
		case optKeyValue:
			c.Skip(int(c.Uvarint32()))
			c.Skip(int(c.Uvarint32()))
		case optProviderGUID:
			c.Skip(16)
		case optLevel:
			d.Level = c.U8()
		case optVersion:
			d.Version = uint32(c.U8())
		default:
			return
		}
	}
}

// fieldsV6 reads a V6 field list, in which each field has a size.
func fieldsV6(c *binread.Cursor, depth int) ([]trace.Field, bool) {
	return fieldList(c, uint32(c.U16()), 4, depth, func(c *binread.Cursor, depth int) (trace.Field, bool) {
		rest := c.Sub(int(c.U16()))
		name := UTF8(&rest)
		f, ok := fieldTypeV6(&rest, depth)
		f.Name = name
		return f, ok && rest.OK()
	})
}

func fieldTypeV6(c *binread.Cursor, depth int) (f trace.Field, ok bool) {
	f.Type = typeCode(uint32(c.U8()))
	if depth > maxFieldDepth {
		return f, false
	}
	switch f.Type {
	case trace.Array, trace.FixedArray, trace.RelLoc, trace.DataLoc:
		elem, ok := fieldTypeV6(c, depth+1)
		f.Elem = &elem
		if f.Type == trace.FixedArray {
			f.Count = int(c.U16())
		}
		return f, ok && c.OK()
	case trace.Object:
		f.Fields, ok = fieldsV6(c, depth+1)
		return f, ok
	}
	return f, c.OK()
}

// Fits reports whether the rest of c can hold n elements of at least size bytes.
func Fits(c *binread.Cursor, n uint32, size int) bool {
	return c.OK() && int64(n)*int64(size) <= int64(c.Len())
}

// typeCode limits a code to a byte, so that a larger one does not look like another.
func typeCode(v uint32) trace.TypeCode { return trace.TypeCode(min(v, 0xff)) }

// UTF8 reads a V6 string: a length in bytes, then UTF-8.
func UTF8(c *binread.Cursor) string { return string(c.Bytes(int(c.Uvarint32()))) }
