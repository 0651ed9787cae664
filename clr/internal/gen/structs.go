package main

import (
	"fmt"
	"slices"
	"strings"
)

const binread = "github.com/gctrail/gctrail/internal/binread"

// providerFile has the structs of a provider's events.
func (t *table) providerFile(p provider) *writer {
	w := &writer{imports: []string{binread}}
	if slices.ContainsFunc(p.Events, func(e event) bool { return needsMath(e.Fields) }) {
		w.imports = []string{"math", binread}
	}
	for _, e := range p.Events {
		w.eventDoc(&p, &e)
		t.structs(w, &e)
		w.p("// Decode sets e from a payload; see the package comment for its contract.")
		w.p("func (e *%s) Decode(version uint32, payload []byte, ptrSize int) error {", e.goName())
		if e.Frequent {
			t.decodeWhole(w, &e)
		}
		w.p("c := binread.At(payload, 0)")
		t.decodeBody(w, "e", e.goName(), &e, e.Fields)
		w.p("return wrap(%q, c.Err())\n}\n", e.Name)
		w.p("// Append appends e as a payload; see the package comment for its contract.")
		w.p("func (e *%s) Append(dst []byte, version uint32, ptrSize int) []byte {", e.goName())
		t.encodeBody(w, "e", e.goName(), &e, e.Fields)
		w.p("return dst\n}\n")
		w.p("// EventKind is Kind%s.", e.goName())
		w.p("func (*%s) EventKind() Kind { return Kind%s }\n", e.goName(), e.goName())
	}
	return w
}

// dynamicFile has the structs of the events inside GCDynamicEvent.
func (t *table) dynamicFile() *writer {
	w := &writer{imports: []string{"math", binread}}
	w.p("// A DynamicKind is the kind of event that a GCDynamicEvent carries.")
	w.p("type DynamicKind uint8\n\nconst (")
	w.p("DynamicUnknown DynamicKind = iota")
	for _, e := range t.Dynamic {
		w.p("Dynamic%s", e.Name)
	}
	w.p(")\n")
	for _, e := range t.Dynamic {
		w.comment(fmt.Sprintf("%s is the payload of a GCDynamicEvent of this name.", e.Name))
		w.notes(e.Notes)
		w.p("//\n// Runtimes: %s.", e.Runtimes)
		t.structs(w, &e)
		w.p("// Decode sets e from GCDynamicEvent.Data; see the package comment for its contract.")
		w.p("func (e *%s) Decode(data []byte) error {", e.Name)
		w.p("c := binread.At(data, 0)")
		t.decodeBody(w, "e", e.Name, &e, e.Fields)
		w.p("return wrap(%q, c.Err())\n}\n", e.Name)
		w.p("// Append appends e as GCDynamicEvent.Data.")
		w.p("func (e *%s) Append(dst []byte) []byte {", e.Name)
		t.encodeBody(w, "e", e.Name, &e, e.Fields)
		w.p("return dst\n}\n")
	}
	return w
}

func (w *writer) eventDoc(p *provider, e *event) {
	text := fmt.Sprintf("%s is event %d of the provider %s, level %s", e.goName(), e.ID, p.Name, e.Level)
	if e.Level == "" {
		text = fmt.Sprintf("%s is event %d of the provider %s", e.goName(), e.ID, p.Name)
	}
	switch len(e.Keywords) {
	case 0:
	case 1:
		text += ", keyword " + e.Keywords[0]
	default:
		text += ", any of the keywords " + strings.Join(e.Keywords, ", ")
	}
	w.comment(text + ".")
	w.notes(e.Notes)
	var raised []version
	for _, v := range e.Versions {
		if v.Runtimes != "" {
			raised = append(raised, v)
		}
	}
	if len(raised) > 0 {
		w.p("//\n// Versions:")
		for _, v := range raised {
			w.item(fmt.Sprintf("%d: %s.", v.Version, strings.TrimSuffix(v.Runtimes, ".")))
		}
	}
}

func (w *writer) notes(notes []string) {
	for _, n := range notes {
		w.p("//")
		w.comment(n)
	}
}

// structs writes the event's struct and the structs of its arrays' elements.
func (t *table) structs(w *writer, e *event) {
	t.structType(w, e.goName(), e.Fields, e.oldest())
	t.elementStructs(w, e.goName(), e.Fields, e.oldest())
}

func (t *table) elementStructs(w *writer, owner string, fields []field, oldest int) {
	for _, f := range fields {
		if f.Element == nil || f.Element.Fields == nil {
			continue
		}
		name := elementName(owner, f.Name)
		w.p("// A %s is an element of %s.%s.", name, owner, f.Name)
		t.structType(w, name, f.Element.Fields, oldest)
		t.elementStructs(w, name, f.Element.Fields, oldest)
	}
}

func (t *table) structType(w *writer, name string, fields []field, oldest int) {
	w.p("type %s struct {", name)
	done := map[string]bool{}
	for _, f := range fields {
		if f.Type == "pad" || done[f.Name] {
			continue
		}
		done[f.Name] = true
		w.p("%s %s%s", f.Name, t.goType(name, widest(fields, f.Name)), fieldComment(fields, f.Name, oldest))
	}
	w.p("}\n")
}

// widest returns the field called name in its widest type.
func widest(fields []field, name string) *field {
	var best *field
	for i := range fields {
		f := &fields[i]
		if f.Name == name && (best == nil || scalars[f.Type].size.Ptr8 > scalars[best.Type].size.Ptr8) {
			best = f
		}
	}
	return best
}

func fieldComment(fields []field, name string, oldest int) string {
	var parts []string
	var since, until *field
	for i := range fields {
		if fields[i].Name != name {
			continue
		}
		if since == nil {
			since = &fields[i]
		}
		until = &fields[i]
	}
	if since.Unit != "" {
		parts = append(parts, since.Unit)
	}
	if since.Since > oldest {
		parts = append(parts, fmt.Sprintf("since version %d", since.Since))
	}
	if until.Until != nil {
		parts = append(parts, fmt.Sprintf("until version %d", *until.Until))
	}
	if m := since.MinPayload; m != nil {
		parts = append(parts, fmt.Sprintf("in payloads of %d bytes and more (%d with 4-byte pointers)", m.Ptr8, m.Ptr4))
	}
	if parts == nil {
		return ""
	}
	return " // " + strings.Join(parts, ", ")
}

func elementName(owner, field string) string { return owner + strings.TrimSuffix(field, "s") }

func (t *table) goType(owner string, f *field) string {
	switch {
	case f.Type == "bytes":
		return "[]byte"
	case f.Type == "array" && f.Element.Fields != nil:
		return "[]" + elementName(owner, f.Name)
	case f.Type == "array":
		return "[]" + scalars[f.Element.Type].goType
	case f.Enum != "":
		return f.Enum
	default:
		return scalars[f.Type].goType
	}
}
