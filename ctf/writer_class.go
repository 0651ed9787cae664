package ctf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// An EventClass describes the events of one kind in a trace that is written.
type EventClass struct {
	Name string // of the tracepoint, such as "DotNETRuntime:GCStart_V2"
	// Packed makes the whole payload one field, a sequence of bytes, as .NET
	// does for events with arrays or with more than nine fields.
	Packed bool
	// Fields are the fields of the payload, in order, unless it is packed.
	// Their types are Boolean to Float64, GUID, DateTime, Boolean8,
	// UTF16String, or an Array of these; strings become UTF-8.
	Fields []trace.Field
}

// ownClass returns the class of an event by its own description.
func ownClass(d *trace.Descriptor) (EventClass, bool) {
	return EventClass{Name: d.Provider + ":" + d.Name, Fields: d.Fields}, d.Name != ""
}

// A writerClass is how events of one class are written.
type writerClass struct {
	id   uint32
	name string
	ops  []writeOp
}

// A writeOp is a step in turning a payload into the fields of a tracepoint.
// Fields of fixed size are copied: neither side has padding.
type writeOp struct {
	do   writeDo
	size int // of writeCopy and writeArray, in bytes: of all fields, or of an element
}

type writeDo uint8

const (
	writeCopy   writeDo = iota // fields of fixed size
	writeString                // UTF-16 to UTF-8
	writeArray                 // a uint16 count, then elements of fixed size
	writeTexts                 // a uint16 count, then strings
	writeRest                  // the bytes that are left, behind their number
)

// A typeText is how a type is written in the metadata.
type typeText struct {
	size int
	text string // of the type
	dims string // behind the name
}

func integerText(bits int, signed bool) typeText {
	s := 0
	if signed {
		s = 1
	}
	return typeText{size: bits / 8, text: fmt.Sprintf(
		"integer { size = %d; align = 8; signed = %d; encoding = none; base = 10; }", bits, s)}
}

func floatText(exponent, mantissa int) typeText {
	return typeText{size: (exponent + mantissa) / 8, text: fmt.Sprintf(
		"floating_point { exp_dig = %d; mant_dig = %d; align = 8; }", exponent, mantissa)}
}

// writtenTypes are the types of fixed size.
var writtenTypes = map[trace.TypeCode]typeText{
	trace.Boolean:  integerText(32, true),
	trace.Char:     integerText(16, false),
	trace.Int8:     integerText(8, true),
	trace.Uint8:    integerText(8, false),
	trace.Int16:    integerText(16, true),
	trace.Uint16:   integerText(16, false),
	trace.Int32:    integerText(32, true),
	trace.Uint32:   integerText(32, false),
	trace.Int64:    integerText(64, true),
	trace.Uint64:   integerText(64, false),
	trace.Float32:  floatText(8, 24),
	trace.Float64:  floatText(11, 53),
	trace.DateTime: integerText(64, false),
	trace.Boolean8: integerText(8, false),
	trace.GUID:     {size: 16, text: integerText(8, false).text, dims: "[16]"},
}

// Check returns why events of the class cannot be written, with ErrUndescribed, or
// returns nil.
func (d *EventClass) Check() error {
	_, err := new(writerClass).plan(d)
	return err
}

// plan makes the class's ops, and returns the metadata of its fields.
func (c *writerClass) plan(d *EventClass) (text string, err error) {
	if d.Name == "" || strings.ContainsFunc(d.Name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return "", fmt.Errorf("%w: name %q", ErrUndescribed, d.Name)
	}
	if d.Packed {
		c.ops = []writeOp{{do: writeRest}}
		return packedText, nil
	}
	var b strings.Builder
	names := map[string]bool{}
	for i := range d.Fields {
		f := &d.Fields[i]
		line, ok := c.field(f)
		if !ok || names[f.Name] || names["_"+f.Name+"_length"] {
			return "", fmt.Errorf("%w: field %q of %s", ErrUndescribed, f.Name, d.Name)
		}
		names[f.Name] = true
		if f.Type == trace.Array {
			names["_"+f.Name+"_length"] = true
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// packedText declares the fields of a packed payload: .NET's own length, LTTng's, and the
// bytes.
var packedText = "\t\t" + integerText(32, false).text + " _length;\n" +
	"\t\t" + integerText(32, false).text + " ____data___length;\n" +
	"\t\t" + integerText(8, true).text + " ___data__[ ____data___length ];\n"

// field adds a field to the ops.
func (c *writerClass) field(f *trace.Field) (line string, ok bool) {
	if !identifier(f.Name) {
		return "", false
	}
	name := "_" + f.Name
	switch f.Type {
	case trace.UTF16String:
		c.ops = append(c.ops, writeOp{do: writeString})
		return "\t\tstring " + name + ";\n", true
	case trace.Array:
		return c.array(f, name)
	}
	t, ok := writtenTypes[f.Type]
	if n := len(c.ops); n > 0 && c.ops[n-1].do == writeCopy {
		c.ops[n-1].size += t.size
	} else {
		c.ops = append(c.ops, writeOp{do: writeCopy, size: t.size})
	}
	return fmt.Sprintf("\t\t%s %s%s;\n", t.text, name, t.dims), ok
}

// array adds an array to the ops: a sequence, whose length comes before it.
func (c *writerClass) array(f *trace.Field, name string) (line string, ok bool) {
	if f.Elem == nil {
		return "", false
	}
	elem, ok := writtenTypes[f.Elem.Type]
	if f.Elem.Type == trace.UTF16String {
		elem, ok = typeText{text: "string"}, true
		c.ops = append(c.ops, writeOp{do: writeTexts})
	} else {
		c.ops = append(c.ops, writeOp{do: writeArray, size: elem.size})
	}
	length := "_" + name + "_length"
	return fmt.Sprintf("\t\t%s %s;\n\t\t%s %s[ %s ]%s;\n",
		integerText(16, false).text, length, elem.text, name, length, elem.dims), ok
}

// identifier reports whether a name can be one in the metadata.
func identifier(name string) bool {
	for _, r := range name {
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return name != ""
}

// append appends the fields of a payload. It reports whether the payload has
// them all; surplus bytes are left out.
func (c *writerClass) append(dst, payload []byte) ([]byte, bool) {
	le := binary.LittleEndian
	for _, op := range c.ops {
		size := op.size
		switch op.do {
		case writeRest:
			dst = le.AppendUint32(dst, uint32(len(payload)))
			dst = le.AppendUint32(dst, uint32(len(payload)))
			return append(dst, payload...), true
		case writeString:
			var ok bool
			if dst, payload, ok = appendUTF8(dst, payload); !ok {
				return dst, false
			}
			continue
		case writeArray, writeTexts:
			if len(payload) < 2 {
				return dst, false
			}
			n := int(le.Uint16(payload))
			dst, payload = append(dst, payload[:2]...), payload[2:]
			size *= n
			for ; op.do == writeTexts && n > 0; n-- {
				var ok bool
				if dst, payload, ok = appendUTF8(dst, payload); !ok {
					return dst, false
				}
			}
		}
		if len(payload) < size {
			return dst, false
		}
		dst, payload = append(dst, payload[:size]...), payload[size:]
	}
	return dst, true
}

// appendUTF8 appends the UTF-16LE at the start of payload, up to and including its zero, as
// UTF-8. It returns the rest. A surrogate without its other half becomes U+FFFD.
func appendUTF8(dst, payload []byte) (out, rest []byte, ok bool) {
	for i := 0; i+2 <= len(payload); {
		if c := payload[i]; c < utf8.RuneSelf && payload[i+1] == 0 {
			dst = append(dst, c)
			i += 2
			if c == 0 {
				return dst, payload[i:], true
			}
			continue
		}
		r, n := binread.DecodeUTF16(payload[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, nil, false
}
