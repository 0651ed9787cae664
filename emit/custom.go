package emit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A Custom is a kind of event that the program defines. Readers need not know it, because
// traces describe its fields. Its methods may be called by several goroutines at once.
type Custom struct {
	p    *Provider
	kind uint32
	desc trace.Descriptor
	mask atomic.Uint64
}

// Define defines a kind of event. Fields can have the types from Boolean to Float64 of
// package trace, GUID and UTF16String, and arrays of these. Ids have 16 bits and versions
// 8, because TraceEvent stores no more. Events of the runtime cannot be redefined.
func (p *Provider) Define(d trace.Descriptor) (*Custom, error) {
	switch {
	case d.Provider == "" || d.Name == "":
		return nil, errors.New("emit: an event needs a provider and a name")
	case clr.KindOf(d.Provider, d.ID) != clr.KindUnknown:
		return nil, fmt.Errorf("emit: %s %d is the runtime's", d.Provider, d.ID)
	case d.ID > math.MaxUint16:
		return nil, fmt.Errorf("emit: id %d of %s: the largest is 65535", d.ID, d.Name)
	case d.Version > math.MaxUint8:
		return nil, fmt.Errorf("emit: version %d of %s: the largest is 255", d.Version, d.Name)
	case d.Level > 5:
		return nil, fmt.Errorf("emit: level %d of %s: the largest is 5", d.Level, d.Name)
	}
	for i := range d.Fields {
		if !definable(&d.Fields[i]) {
			return nil, fmt.Errorf("emit: field %s of %s has a type that cannot be written", d.Fields[i].Name, d.Name)
		}
	}
	d.Fields = slices.Clone(d.Fields)

	p.mu.Lock()
	defer p.mu.Unlock()
	c := &Custom{p: p, kind: uint32(clr.NumKinds + len(p.custom)), desc: d}
	p.custom = append(p.custom, c)
	for i, s := range p.sessions {
		if s != nil && s.wants(&c.desc) {
			c.mask.Or(1 << i)
		}
	}
	return c, nil
}

func definable(f *trace.Field) bool {
	if f.Type == trace.Array {
		f = f.Elem
	}
	return f != nil && goTypes[f.Type] != nil
}

// Enabled reports whether a session wants the events.
func (c *Custom) Enabled() bool { return c.mask.Load() != 0 }

// Raise raises an event with a value for each field, if a session wants it: a bool,
// uint16 (of a Char), int8 … uint64, float32, float64, [16]byte (of a GUID) or string,
// according to the field's type, or a slice of them for an array. Raise returns an error
// if the number or types of the values differ.
func (c *Custom) Raise(values ...any) error {
	if !c.Enabled() {
		return nil
	}
	if len(values) != len(c.desc.Fields) {
		return fmt.Errorf("emit: %d values for the %d fields of %s", len(values), len(c.desc.Fields), c.desc.Name)
	}
	var payload encoded
	for i, v := range values {
		var ok bool
		if payload, ok = appendValue(payload, &c.desc.Fields[i], v); !ok {
			return fmt.Errorf("emit: a %T for field %s of %s", v, c.desc.Fields[i].Name, c.desc.Name)
		}
	}
	s := c.p.near()
	s.mu.Lock()
	s.writeLocked(c.p, &record{payload: payload, kind: c.kind, desc: &c.desc, mask: &c.mask, thread: s.capture})
	c.p.pool.Put(s)
	return nil
}

// encoded is a payload that is complete.
type encoded []byte

func (e encoded) Append(dst []byte, _ uint32, _ int) []byte { return append(dst, e...) }

// goTypes are the types of the values for fields.
var goTypes = map[trace.TypeCode]reflect.Type{
	trace.Boolean:     reflect.TypeFor[bool](),
	trace.Char:        reflect.TypeFor[uint16](),
	trace.Int8:        reflect.TypeFor[int8](),
	trace.Uint8:       reflect.TypeFor[uint8](),
	trace.Int16:       reflect.TypeFor[int16](),
	trace.Uint16:      reflect.TypeFor[uint16](),
	trace.Int32:       reflect.TypeFor[int32](),
	trace.Uint32:      reflect.TypeFor[uint32](),
	trace.Int64:       reflect.TypeFor[int64](),
	trace.Uint64:      reflect.TypeFor[uint64](),
	trace.Float32:     reflect.TypeFor[float32](),
	trace.Float64:     reflect.TypeFor[float64](),
	trace.GUID:        reflect.TypeFor[[16]byte](),
	trace.UTF16String: reflect.TypeFor[string](),
}

// appendValue appends the value of a field, if it is of the field's type.
func appendValue(dst []byte, f *trace.Field, v any) ([]byte, bool) {
	if f.Type == trace.Array {
		list := reflect.ValueOf(v)
		if !list.IsValid() || list.Type() != reflect.SliceOf(goTypes[f.Elem.Type]) || list.Len() > math.MaxUint16 {
			return dst, false
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(list.Len()))
		for i := range list.Len() {
			dst, _ = appendValue(dst, f.Elem, list.Index(i).Interface())
		}
		return dst, true
	}
	if reflect.TypeOf(v) != goTypes[f.Type] {
		return dst, false
	}
	switch v := v.(type) {
	case string:
		text, _, _ := strings.Cut(v, "\x00")
		return append(clr.AppendUTF16(dst, text), 0, 0), true
	case bool:
		var n uint32
		if v {
			n = 1
		}
		return binary.LittleEndian.AppendUint32(dst, n), true
	default:
		dst, err := binary.Append(dst, binary.LittleEndian, v)
		return dst, err == nil
	}
}
