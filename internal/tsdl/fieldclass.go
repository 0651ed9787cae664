package tsdl

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
)

// A classRef is a field class, or the name of one.
type classRef struct {
	alias string
	class *fieldClass
}

func (r *classRef) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &r.alias)
	}
	r.class = new(fieldClass)
	return json.Unmarshal(b, r.class)
}

// A fieldClass is a field class of CTF 2 of any type.
type fieldClass struct {
	Type       string                     `json:"type"`
	Extensions map[string]json.RawMessage `json:"extensions"`
	Roles      []string                   `json:"roles"`

	Length    *uint64          `json:"length"` // bits, bytes or elements
	ByteOrder string           `json:"byte-order"`
	BitOrder  string           `json:"bit-order"`
	Alignment *uint64          `json:"alignment"`
	Mappings  map[string]spans `json:"mappings"`
	Encoding  string           `json:"encoding"`

	MinAlignment *uint64 `json:"minimum-alignment"`
	Members      []struct {
		Name  string    `json:"name"`
		Class *classRef `json:"field-class"`
	} `json:"member-classes"`

	Element  *classRef `json:"element-field-class"`
	LengthAt *location `json:"length-field-location"`

	SelectorAt *location `json:"selector-field-location"`
	Selected   spans     `json:"selector-field-ranges"` // of an optional
	Optional   *classRef `json:"field-class"`
	Options    []struct {
		Name   string    `json:"name"`
		Class  *classRef `json:"field-class"`
		Ranges spans     `json:"selector-field-ranges"`
	} `json:"options"`
}

// A location is the place of a field. Drafts of the format had a path only.
type location struct {
	Origin string `json:"origin"`
	Path   []any  `json:"path"`
}

func (l *location) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &l.Path)
	}
	type plain location
	return json.Unmarshal(b, (*plain)(l))
}

// spans are pairs of integers; signed ones may be negative.
type spans [][]json.Number

func (s spans) ranges() ([]Range, error) {
	var out []Range
	for _, span := range s {
		if len(span) != 2 {
			return nil, binread.Malformed("range of %d numbers", len(span))
		}
		lo, err := bits(span[0])
		if err != nil {
			return nil, err
		}
		hi, err := bits(span[1])
		if err != nil {
			return nil, err
		}
		out = append(out, Range{lo, hi})
	}
	return out, nil
}

func bits(n json.Number) (uint64, error) {
	if v, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return v, nil
	}
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		return 0, binread.Malformed("number %.40q", n)
	}
	return uint64(v), nil
}

var origins = map[string]Scope{
	"":                              Anywhere,
	"packet-header":                 PacketHeader,
	"packet-context":                PacketContext,
	"event-record-header":           EventHeader,
	"event-record-common-context":   StreamContext,
	"event-record-specific-context": EventContext,
	"event-record-payload":          Payload,
}

func (l *location) ref() (Ref, error) {
	if l == nil || len(l.Path) == 0 {
		return Ref{}, binread.Malformed("no location of a field")
	}
	scope, ok := origins[l.Origin]
	if !ok {
		return Ref{}, binread.Malformed("origin %.40q", l.Origin)
	}
	r := Ref{Scope: scope}
	for _, p := range l.Path {
		name, ok := p.(string)
		if !ok {
			return Ref{}, binread.Malformed("location outside a structure")
		}
		r.Path = append(r.Path, name)
	}
	return r, nil
}

// roles maps the names of roles in field classes.
var roles = map[string]Role{
	"packet-magic-number":                     PacketMagic,
	"metadata-stream-uuid":                    TraceUUID,
	"data-stream-class-id":                    StreamID,
	"data-stream-id":                          StreamInstance,
	"packet-total-length":                     PacketSize,
	"packet-content-length":                   ContentSize,
	"default-clock-timestamp":                 Timestamp,
	"packet-end-default-clock-timestamp":      PacketEnd,
	"discarded-event-record-counter-snapshot": Discarded,
	"packet-sequence-number":                  PacketSequence,
	"event-record-class-id":                   EventID,
}

// role returns the role of a field of this class.
func (r *classRef) role() Role {
	if r == nil || r.class == nil {
		return NoRole
	}
	for _, name := range r.class.Roles {
		if role := roles[name]; role != NoRole {
			return role
		}
	}
	return NoRole
}

// class returns the type of a field class, nil if there is none.
func (p *jsonParser) class(r *classRef) (*Type, error) {
	if r == nil {
		return nil, nil
	}
	if r.class == nil {
		t := p.aliases[r.alias]
		if t == nil {
			return nil, binread.Malformed("field class %.40q is not defined", r.alias)
		}
		return t, nil
	}
	if p.nesting++; p.nesting > maxDepth {
		return nil, binread.Malformed("field classes nested more than %d deep", maxDepth)
	}
	defer func() { p.nesting-- }()
	c := r.class
	if len(c.Extensions) > 0 {
		return nil, binread.Malformed("field class with extensions")
	}
	t, err := p.ofType(c)
	if err != nil {
		return nil, err
	}
	for _, align := range []*uint64{c.Alignment, c.MinAlignment} {
		if align != nil {
			t.Align = max(t.Align, int(min(*align, 1<<20)))
			if t.Align < 1 || *align == 0 {
				return nil, binread.Malformed("alignment of 0 bits")
			}
		}
	}
	if t.Kind == Array || t.Kind == Dynamic {
		t.Align = max(t.Align, 1)
	}
	return p.checked(t)
}

// must returns a class where one is needed.
func (p *jsonParser) must(r *classRef) (*Type, error) {
	t, err := p.class(r)
	if err == nil && t == nil {
		err = binread.Malformed("field class is missing")
	}
	return t, err
}

func (p *jsonParser) ofType(c *fieldClass) (*Type, error) {
	switch c.Type {
	case "fixed-length-bit-array", "fixed-length-bit-map", "fixed-length-boolean", "fixed-length-unsigned-integer":
		return p.fixed(c, &Type{Kind: Int, Align: 1})
	case "fixed-length-signed-integer":
		return p.fixed(c, &Type{Kind: Int, Align: 1, Signed: true})
	case "fixed-length-floating-point-number":
		return p.fixed(c, &Type{Kind: Float, Align: 1})
	case "variable-length-unsigned-integer":
		return &Type{Kind: VarInt}, nil
	case "variable-length-signed-integer":
		return &Type{Kind: VarInt, Signed: true}, nil
	case "null-terminated-string":
		return &Type{Kind: String, Size: unitSize(c.Encoding)}, nil
	case "static-length-string", "static-length-blob", "dynamic-length-string", "dynamic-length-blob":
		return p.bytes(c)
	case "static-length-array", "dynamic-length-array":
		elem, err := p.must(c.Element)
		if err != nil {
			return nil, err
		}
		return p.array(c, elem)
	case "structure":
		return p.structure(c)
	case "optional":
		return p.optional(c)
	case "variant":
		return p.variant(c)
	}
	return nil, binread.Malformed("field class of type %.60q", c.Type)
}

func (p *jsonParser) fixed(c *fieldClass, t *Type) (*Type, error) {
	if c.Length == nil {
		return nil, binread.Malformed("field class without a length")
	}
	t.Size = int(min(*c.Length, 1<<20))
	switch c.ByteOrder {
	case "little-endian":
		t.Order = LittleEndian
	case "big-endian":
		t.Order = BigEndian
	default:
		return nil, binread.Malformed("byte order %.40q", c.ByteOrder)
	}
	natural := map[ByteOrder]string{LittleEndian: "first-to-last", BigEndian: "last-to-first"}[t.Order]
	if c.BitOrder != "" && c.BitOrder != natural {
		return nil, binread.Malformed("bit order %.40q with this byte order", c.BitOrder)
	}
	return t, p.mappings(c, t)
}

func (p *jsonParser) mappings(c *fieldClass, t *Type) error {
	for label, spans := range c.Mappings {
		ranges, err := spans.ranges()
		if err != nil {
			return err
		}
		t.Labels = append(t.Labels, Mapping{label, ranges})
		if err := p.part(); err != nil {
			return err
		}
	}
	return nil
}

// unitSize returns the size of a zero-terminated string's units in bits.
func unitSize(encoding string) int {
	switch encoding {
	case "utf-16be", "utf-16le":
		return 16
	case "utf-32be", "utf-32le":
		return 32
	}
	return 8
}

// bytes reads strings and BLOBs that have a length: arrays of bytes.
func (p *jsonParser) bytes(c *fieldClass) (*Type, error) {
	elem := &Type{Kind: Int, Size: 8, Align: 8, Order: LittleEndian}
	switch c.Type {
	case "static-length-string", "dynamic-length-string":
		elem.Text = unitSize(c.Encoding) == 8
	}
	return p.array(c, elem)
}

func (p *jsonParser) array(c *fieldClass, elem *Type) (*Type, error) {
	t := &Type{Kind: Array, Elem: elem}
	var err error
	switch {
	case c.Type[0] == 'd': // dynamic-…
		t.Kind = Dynamic
		t.Ref, err = c.LengthAt.ref()
	case c.Length == nil:
		err = binread.Malformed("array without a length")
	default:
		t.Length = *c.Length
	}
	return t, err
}

func (p *jsonParser) structure(c *fieldClass) (*Type, error) {
	t := &Type{Kind: Struct, Align: 1}
	for _, m := range c.Members {
		ft, err := p.must(m.Class)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, Field{Name: m.Name, Type: ft, Role: m.Class.role()})
	}
	return t, nil
}

func (p *jsonParser) optional(c *fieldClass) (*Type, error) {
	t := &Type{Kind: Variant, MayMiss: true}
	var err error
	if t.Ref, err = c.SelectorAt.ref(); err != nil {
		return nil, err
	}
	o := Option{Ranges: []Range{{1, math.MaxUint64}}} // a boolean that is true
	if len(c.Selected) > 0 {
		if o.Ranges, err = c.Selected.ranges(); err != nil {
			return nil, err
		}
	}
	if o.Type, err = p.must(c.Optional); err != nil {
		return nil, err
	}
	t.Options = []Option{o}
	return t, nil
}

func (p *jsonParser) variant(c *fieldClass) (*Type, error) {
	t := &Type{Kind: Variant}
	var err error
	if t.Ref, err = c.SelectorAt.ref(); err != nil {
		return nil, err
	}
	for _, o := range c.Options {
		ot, err := p.must(o.Class)
		if err != nil {
			return nil, err
		}
		ranges, err := o.Ranges.ranges()
		if err != nil {
			return nil, err
		}
		t.Options = append(t.Options, Option{o.Name, ot, ranges})
		if err := p.part(); err != nil {
			return nil, err
		}
	}
	return t, nil
}
