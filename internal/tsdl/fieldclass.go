package tsdl

import (
	"encoding/json"
	"math"
	"strconv"
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

func (p *jsonParser) ranges(s spans) (ranges []Range) {
	for _, span := range s {
		if len(span) != 2 {
			p.malformed("range of %d numbers", len(span))
			return nil
		}
		ranges = append(ranges, Range{p.bits(span[0]), p.bits(span[1])})
	}
	return ranges
}

func (p *jsonParser) bits(n json.Number) uint64 {
	if v, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return v
	}
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		p.malformed("number %.40q", n)
	}
	return uint64(v)
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

func (p *jsonParser) ref(l *location) (r Ref) {
	if l == nil || len(l.Path) == 0 {
		p.malformed("no location of a field")
		return r
	}
	var ok bool
	if r.Scope, ok = origins[l.Origin]; !ok {
		p.malformed("origin %.40q", l.Origin)
	}
	for _, part := range l.Path {
		name, isName := part.(string)
		if !isName {
			p.malformed("location outside a structure")
		}
		r.Path = append(r.Path, name)
	}
	return r
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
func (p *jsonParser) class(r *classRef) *Type {
	switch {
	case r == nil:
		return nil
	case r.class == nil:
		t := p.aliases[r.alias]
		if t == nil {
			p.malformed("field class %.40q is not defined", r.alias)
		}
		return t
	case !p.nest("field classes"):
		return nil
	}
	defer p.unnest()
	c := r.class
	if len(c.Extensions) > 0 {
		p.malformed("field class with extensions")
	}
	t := p.ofType(c)
	for _, align := range []*uint64{c.Alignment, c.MinAlignment} {
		if align != nil {
			t.Align = max(t.Align, size(*align))
			if *align == 0 {
				p.malformed("alignment of 0 bits")
			}
		}
	}
	if t.Kind == Array || t.Kind == Dynamic {
		t.Align = max(t.Align, 1)
	}
	return p.checked(t)
}

// must returns a class where one is needed.
func (p *jsonParser) must(r *classRef) *Type {
	t := p.class(r)
	if t == nil {
		p.malformed("field class is missing")
		t = placeholder()
	}
	return t
}

func (p *jsonParser) ofType(c *fieldClass) *Type {
	switch c.Type {
	case "fixed-length-bit-array", "fixed-length-bit-map", "fixed-length-boolean", "fixed-length-unsigned-integer":
		return p.fixed(c, &Type{Kind: Int, Align: 1})
	case "fixed-length-signed-integer":
		return p.fixed(c, &Type{Kind: Int, Align: 1, Signed: true})
	case "fixed-length-floating-point-number":
		return p.fixed(c, &Type{Kind: Float, Align: 1})
	case "variable-length-unsigned-integer":
		return &Type{Kind: VarInt}
	case "variable-length-signed-integer":
		return &Type{Kind: VarInt, Signed: true}
	case "null-terminated-string":
		return &Type{Kind: String, Size: unitSize(c.Encoding)}
	case "static-length-string", "dynamic-length-string": // an array of bytes, like the next
		return p.array(c, &Type{Kind: Int, Size: 8, Align: 8, Order: LittleEndian, Text: unitSize(c.Encoding) == 8})
	case "static-length-blob", "dynamic-length-blob":
		return p.array(c, &Type{Kind: Int, Size: 8, Align: 8, Order: LittleEndian})
	case "static-length-array", "dynamic-length-array":
		return p.array(c, p.must(c.Element))
	case "structure":
		return p.structure(c)
	case "optional":
		return p.optional(c)
	case "variant":
		return p.variant(c)
	}
	p.malformed("field class of type %.60q", c.Type)
	return placeholder()
}

// fixed completes a type of a fixed length.
func (p *jsonParser) fixed(c *fieldClass, t *Type) *Type {
	if c.Length == nil {
		p.malformed("field class without a length")
		return t
	}
	t.Size = size(*c.Length)
	natural := "first-to-last"
	switch c.ByteOrder {
	case "little-endian":
		t.Order = LittleEndian
	case "big-endian":
		t.Order, natural = BigEndian, "last-to-first"
	default:
		p.malformed("byte order %.40q", c.ByteOrder)
	}
	if c.BitOrder != "" && c.BitOrder != natural {
		p.malformed("bit order %.40q with this byte order", c.BitOrder)
	}
	for label, spans := range c.Mappings {
		t.Labels = append(t.Labels, Mapping{label, p.ranges(spans)})
		p.part()
	}
	return t
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

func (p *jsonParser) array(c *fieldClass, elem *Type) *Type {
	t := &Type{Kind: Array, Elem: elem}
	switch {
	case c.Type[0] == 'd': // dynamic-…
		t.Kind, t.Ref = Dynamic, p.ref(c.LengthAt)
	case c.Length == nil:
		p.malformed("array without a length")
	default:
		t.Length = *c.Length
	}
	return t
}

func (p *jsonParser) structure(c *fieldClass) *Type {
	t := &Type{Kind: Struct, Align: 1}
	for _, m := range c.Members {
		t.Fields = append(t.Fields, Field{Name: m.Name, Type: p.must(m.Class), Role: m.Class.role()})
	}
	return t
}

func (p *jsonParser) optional(c *fieldClass) *Type {
	t := &Type{Kind: Variant, MayMiss: true, Ref: p.ref(c.SelectorAt)}
	o := Option{Ranges: []Range{{1, math.MaxUint64}}} // a boolean that is true
	if len(c.Selected) > 0 {
		o.Ranges = p.ranges(c.Selected)
	}
	o.Type = p.must(c.Optional)
	t.Options = []Option{o}
	return t
}

func (p *jsonParser) variant(c *fieldClass) *Type {
	t := &Type{Kind: Variant, Ref: p.ref(c.SelectorAt)}
	for _, o := range c.Options {
		t.Options = append(t.Options, Option{o.Name, p.must(o.Class), p.ranges(o.Ranges)})
		p.part()
	}
	return t
}
