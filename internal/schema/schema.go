// Package schema has JSON Schemas of the JSON that commands write. A schema is derived from the
// Go types that are encoded, compiled from a file in shapes, or, for collections, generated
// from the table of figures.
//
// A shape begins with a line that describes the JSON. Each further line is a key: its name, its
// type, "?" if it may be null, and "optional" if it may be missing. The keys of an object, or of
// the objects in a list, follow it, indented by two more spaces. The objects of a "list same"
// have the keys of the object that contains the list.
package schema

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed shapes
var shapes embed.FS

// Names returns the names of the schemas, sorted.
func Names() []string {
	entries, err := shapes.ReadDir("shapes")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	names := slices.Collect(maps.Keys(derived))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	names = slices.AppendSeq(names, maps.Keys(made))
	slices.Sort(names)
	return names
}

// Title returns the subject of a schema: the command, and a description of a line of its
// output.
func Title(name string) string {
	if d, known := derived[name]; known {
		return d.title
	}
	title, _, _ := strings.Cut(text(name), "\n")
	return title
}

func text(name string) string {
	if shape, known := made[name]; known {
		return shape()
	}
	b, err := shapes.ReadFile("shapes/" + name + ".txt")
	if err != nil {
		panic(err) // of Names
	}
	return string(b)
}

// Of returns the JSON Schema of a name that Names returns. Describe returns
// what a key means, empty if it is not defined.
func Of(name string, describe func(key string) string) ([]byte, error) {
	if d, known := derived[name]; known {
		return encode(derive(d.of, describe), d.title)
	}
	title, keys, _ := strings.Cut(text(name), "\n")
	p := parser{lines: strings.Split(strings.TrimSuffix(keys, "\n"), "\n"), describe: describe}
	s, err := p.object(0)
	if err == nil && len(p.lines) > 0 {
		err = fmt.Errorf("line %q is not at the place of a key", p.lines[0])
	}
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return encode(s, title)
}

func encode(s *node, title string) ([]byte, error) {
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", title
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// A node is a JSON Schema.
type node struct {
	Schema      string     `json:"$schema,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Anchor      string     `json:"$anchor,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Type        any        `json:"type,omitempty"` // a string, or a list with "null"
	Items       *node      `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  any        `json:"additionalProperties,omitempty"` // false, or a *node
}

// properties keep their order.
type properties []property

type property struct {
	name string
	*node
}

// MarshalJSON writes an object.
func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range p {
		value, err := json.Marshal(p[i].node)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(fmt.Appendf(b, "%q:", p[i].name), value...)
	}
	return append(b, '}'), nil
}

type parser struct {
	lines    []string // that are left
	describe func(string) string
}

// same is the word for objects that have the keys of the object around them.
const same = "same"

// types are the words of a shape.
var types = map[string]string{
	"int": "integer", "number": "number", "string": "string", "bool": "boolean", "object": "object", "list": "array", "map": "object",
}

// object reads the keys at a depth.
func (p *parser) object(depth int) (*node, error) {
	o := &node{Type: "object", Additional: false}
	for len(p.lines) > 0 {
		line := p.lines[0]
		key := strings.TrimLeft(line, " ")
		if len(line)-len(key) != 2*depth {
			break
		}
		p.lines = p.lines[1:]
		words := strings.Fields(key)
		optional := words[len(words)-1] == "optional"
		if optional {
			words = words[:len(words)-1]
		}
		n, err := p.value(words[1:], depth)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", words[0], err)
		}
		if n.Items != nil && n.Items.Ref != "" {
			o.Anchor = same
		}
		n.Description = p.describe(words[0])
		o.Properties = append(o.Properties, property{words[0], n})
		if !optional {
			o.Required = append(o.Required, words[0])
		}
	}
	return o, nil
}

// value reads a type, such as "list string?", and the keys below it.
func (p *parser) value(words []string, depth int) (*node, error) {
	all := strings.Join(words, " ")
	shape, nullable := strings.CutSuffix(all, "?")
	outer, inner, nested := strings.Cut(shape, " ")
	typ := types[outer]
	if typ == "" {
		return nil, fmt.Errorf("unknown type %q", all)
	}
	n := &node{Type: typ}
	if inner == same {
		n.Items = &node{Ref: "#" + same}
		return n, nil
	}
	if nullable {
		n.Type = []string{typ, "null"}
	}
	var err error
	switch {
	case nested:
		of, orNull := strings.CutSuffix(inner, "-or-null")
		if orNull {
			of += "?"
		}
		var items *node
		if items, err = p.value([]string{of}, depth); outer == "map" {
			n.Additional = items
		} else {
			n.Items = items
		}
	case outer == "list":
		n.Items, err = p.object(depth + 1)
	case outer == "object" && len(p.lines) > 0 && strings.HasPrefix(p.lines[0], strings.Repeat("  ", depth+1)):
		var o *node
		if o, err = p.object(depth + 1); err == nil {
			n.Properties, n.Required, n.Additional, n.Anchor = o.Properties, o.Required, o.Additional, o.Anchor
		}
	}
	return n, err
}
