package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A table is events.json.
type table struct {
	Sources         []string   `json:"sources"`
	Providers       []provider `json:"providers"`
	Enums           []enum     `json:"enums"`
	Dynamic         []event    `json:"dynamic_events"`
	TimeNames       [][]string `json:"time_names"`
	Keywords        []keyword  `json:"keywords"`
	PrivateKeywords []keyword  `json:"private_keywords"`
	RundownKeywords []keyword  `json:"rundown_keywords"` // that the runtime's provider does not have
	Rundowns        []rundown  `json:"rundowns"`

	enums map[string]*enum
	bits  map[string]uint64 // of keywords
}

type provider struct {
	Name    string   `json:"name"`
	Go      string   `json:"go"` // prefix of its constants
	GUID    string   `json:"guid"`
	Classic *classic `json:"classic"`
	Events  []event  `json:"events"`
}

// A classic is the task as which the .NET Framework raised events of a provider before Windows
// Vista. They had their opcodes, and no ids.
type classic struct {
	GUID    string      `json:"guid"`
	Last    int         `json:"last"`    // id of the last event that it has
	Opcodes map[int]int `json:"opcodes"` // by id: the ones that version 2.0 had instead (ClrTraceEventParser.cs)
}

func (p *provider) file() string { return strings.ToLower(p.Go) + "_gen.go" }

type event struct {
	ID          int       `json:"id"`
	Opcode      int       `json:"opcode"` // of the manifest
	Name        string    `json:"name"`
	Go          string    `json:"go"` // where Name is another provider's too
	Level       string    `json:"level"`
	Keywords    []string  `json:"keywords"`
	Runtimes    string    `json:"runtimes"` // of dynamic events
	Notes       []string  `json:"notes"`
	Versions    []version `json:"versions"`
	Frequent    bool      `json:"frequent"`     // decoded without the checks of a cursor where it is whole
	TailPadding int       `json:"tail_padding"` // bytes after version 0 that mean nothing
	Fields      []field   `json:"fields"`
}

type version struct {
	Version  int    `json:"version"`
	Runtimes string `json:"runtimes"`
}

// goName returns the name of the event's struct.
func (e *event) goName() string {
	if e.Go != "" {
		return e.Go
	}
	return e.Name
}

func (e *event) oldest() int {
	if len(e.Versions) == 0 {
		return 0
	}
	return e.Versions[0].Version
}

// A field stands in all versions from Since to Until. A field that changed its
// type is there twice.
type field struct {
	Name       string   `json:"name"`
	CName      string   `json:"c_name"` // in the runtime's C structure, if it is another; of members of elements
	Type       string   `json:"type"`
	Enum       string   `json:"enum"`
	Unit       string   `json:"unit"`
	Since      int      `json:"since"`
	Until      *int     `json:"until"`
	Count      int      `json:"count"`       // of arrays of fixed length
	CountField string   `json:"count_field"` // of arrays and bytes
	Element    *element `json:"element"`
	Size       *sizes   `json:"size"`        // of padding
	MinPayload *sizes   `json:"min_payload"` // the field is there in payloads of at least this size
}

// in reports whether the field is part of version v.
func (f *field) in(v int) bool { return f.Since <= v && (f.Until == nil || v <= *f.Until) }

// guarded reports whether the field is missing from some payloads.
func (f *field) guarded() bool { return f.Since > 0 || f.Until != nil || f.MinPayload != nil }

// An element of an array is a scalar or has fields.
type element struct {
	Type   string  `json:"type"`
	Fields []field `json:"fields"`
}

// raw returns the element's fields under the names of the runtime's C structure, nil if
// these are the same.
func (el *element) raw() []field {
	var raw []field
	for i, f := range el.Fields {
		if f.CName == "" {
			continue
		}
		if raw == nil {
			raw = slices.Clone(el.Fields)
		}
		raw[i].Name = f.CName
	}
	return raw
}

// sizes are numbers of bytes by the size of a pointer.
type sizes struct {
	Ptr4 int `json:"ptr4"`
	Ptr8 int `json:"ptr8"`
}

type enum struct {
	Type      string     `json:"type"`
	Kind      string     `json:"kind"` // value, bits, mechanism or bitfields
	Doc       string     `json:"doc"`
	Note      string     `json:"note"`
	Values    []value    `json:"values"`
	Bitfields []bitfield `json:"bitfields"`

	bits int // of its widest use
}

type value struct {
	Value uint32 `json:"value"`
	Name  string `json:"name"`
	Note  string `json:"note"`
}

type bitfield struct {
	Shift int    `json:"shift"`
	Width int    `json:"width"`
	Name  string `json:"name"`
}

func parseTable(b []byte) (*table, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	t := &table{enums: map[string]*enum{}}
	if err := dec.Decode(t); err != nil {
		return nil, err
	}
	for i := range t.Enums {
		t.enums[t.Enums[i].Type] = &t.Enums[i]
	}
	var err error
	if t.bits, err = t.keywordsByName(); err != nil {
		return nil, err
	}
	for _, p := range t.Providers {
		for _, e := range p.Events {
			err := t.checkEvent(&e)
			if err == nil {
				err = t.check(e.Fields)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", p.Name, e.Name, err)
			}
		}
	}
	for _, e := range t.Dynamic {
		if err := t.check(e.Fields); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return t, nil
}

// check verifies the names that fields refer to, and notes how wide enums are.
func (t *table) check(fields []field) error {
	seen := map[string]bool{}
	for _, f := range fields {
		if _, ok := scalars[f.Type]; !ok && f.Type != "array" && f.Type != "bytes" && f.Type != "pad" {
			return fmt.Errorf("field %s: no type %q", f.Name, f.Type)
		}
		if f.CountField != "" && !seen[f.CountField] {
			return fmt.Errorf("field %s: no field %q before it", f.Name, f.CountField)
		}
		if f.Enum != "" {
			e := t.enums[f.Enum]
			if e == nil {
				return fmt.Errorf("field %s: no enum %q", f.Name, f.Enum)
			}
			e.bits = max(e.bits, 8*scalars[f.Type].size.Ptr8)
		}
		if f.Element != nil && f.Element.Fields != nil {
			if err := t.check(f.Element.Fields); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		seen[f.Name] = true
	}
	return nil
}

// A scalar defines how a type of the table is read, written and stored.
type scalar struct {
	goType string
	read   string // the expression that reads it from cursor c
	append string // that which appends it to dst
	code   string // in a layout
	size   sizes  // the least it takes
}

var scalars = map[string]scalar{
	"u8":     {"uint8", "c.U8()", "append(dst, %s)", "codeU8", sizes{1, 1}},
	"u16":    {"uint16", "c.U16()", "le.AppendUint16(dst, %s)", "codeU16", sizes{2, 2}},
	"u32":    {"uint32", "c.U32()", "le.AppendUint32(dst, %s)", "codeU32", sizes{4, 4}},
	"u64":    {"uint64", "c.U64()", "le.AppendUint64(dst, %s)", "codeU64", sizes{8, 8}},
	"ptr":    {"uint64", "c.Ptr(ptrSize)", "appendPtr(dst, %s, ptrSize)", "codePtr", sizes{4, 8}},
	"i32":    {"int32", "int32(c.U32())", "le.AppendUint32(dst, uint32(%s))", "codeI32", sizes{4, 4}},
	"f32":    {"float32", "math.Float32frombits(c.U32())", "le.AppendUint32(dst, math.Float32bits(%s))", "codeF32", sizes{4, 4}},
	"bool32": {"bool", "c.U32() != 0", "appendBool32(dst, %s)", "codeBool32", sizes{4, 4}},
	"utf16z": {"UTF16", "c.UTF16()", "appendUTF16z(dst, %s)", "codeUTF16", sizes{2, 2}},
	"ansiz":  {"ANSI", "ansiz(&c, payload)", "appendANSIz(dst, %s)", "codeANSI", sizes{1, 1}},
	"guid":   {"GUID", "guid(&c)", "append(dst, %s[:]...)", "codeGUID", sizes{16, 16}},
}

// code returns the field's code in a layout.
func (f *field) code() string {
	switch {
	case f.Type == "bytes":
		return "codeBytes"
	case f.Type == "array" && f.Count > 0:
		return "codeFixedArray"
	case f.Type == "array":
		return "codeArray"
	default:
		return scalars[f.Type].code
	}
}

// elementSize returns the least size of an element, and whether all have it.
func (el *element) elementSize(version int) (s sizes, fixed bool) {
	if el.Fields == nil {
		return scalars[el.Type].size, true
	}
	fixed = true
	for _, f := range el.Fields {
		if !f.in(version) {
			continue
		}
		switch f.Type {
		case "pad":
			s.Ptr4 += f.Size.Ptr4
			s.Ptr8 += f.Size.Ptr8
		case "array":
			fixed = false
		default:
			s.Ptr4 += scalars[f.Type].size.Ptr4
			s.Ptr8 += scalars[f.Type].size.Ptr8
			fixed = fixed && !strings.HasSuffix(f.Type, "z")
		}
	}
	return s, fixed
}
