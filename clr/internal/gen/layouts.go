package main

import "fmt"

// layoutsFile has the table that Decoder works by.
func (t *table) layoutsFile() *writer {
	w := &writer{}
	w.p("// schemas are the events' names and layouts by kind.")
	w.p("var schemas = [numKinds]schema{")
	for _, p := range t.Providers {
		for _, e := range p.Events {
			w.p("Kind%s: {", e.goName())
			w.p("name: %q, provider: %sProvider, id: %d, opcode: %d, level: %d, keywords: %#x,", e.Name, p.Go, e.ID, e.Opcode, levels[e.Level], t.mask(&e))
			w.p("layouts: []layout{")
			for _, v := range e.Versions {
				w.p("{version: %d,", v.Version)
				if v.Version == 0 && e.TailPadding > 0 {
					w.p("padding: %d,", e.TailPadding)
				}
				w.p("fields: []field{")
				t.layoutFields(w, e.Fields, v.Version)
				w.p("}},")
			}
			w.p("},\n},")
		}
	}
	w.p("}\n")
	w.p("// dynamicSchemas are those of the events inside GCDynamicEvent.")
	w.p("var dynamicSchemas = [...]schema{")
	for _, e := range t.Dynamic {
		w.p("Dynamic%s: {name: %q, layouts: []layout{{fields: []field{", e.Name, e.Name)
		t.layoutFields(w, e.Fields, 0)
		w.p("}}}},")
	}
	w.p("}")
	return w
}

func (t *table) layoutFields(w *writer, fields []field, version int) {
	counts := map[string]bool{}
	for _, f := range fields {
		counts[f.CountField] = true
	}
	for _, f := range fields {
		if f.in(version) {
			t.layoutField(w, &f, version, counts[f.Name])
		}
	}
}

func (t *table) layoutField(w *writer, f *field, version int, counts bool) {
	if f.Type == "pad" {
		key := ""
		if f.Name != "" {
			key = fmt.Sprintf("key: `%q:`, ", f.Name)
		}
		w.p("{%scode: codePad, size: bySizes{%d, %d}},", key, f.Size.Ptr4, f.Size.Ptr8)
		return
	}
	text := fmt.Sprintf("{key: `%q:`, code: %s", f.Name, f.code())
	if f.Enum != "" {
		text += fmt.Sprintf(", words: &%sWords", lower(f.Enum))
	}
	if counts {
		text += ", counts: true"
	}
	if f.MinPayload != nil {
		text += fmt.Sprintf(", size: bySizes{%d, %d}", f.MinPayload.Ptr4, f.MinPayload.Ptr8)
	}
	if f.Count > 0 {
		text += fmt.Sprintf(", count: %d", f.Count)
	}
	if f.Element == nil {
		w.p("%s},", text)
		return
	}
	if f.Element.Fields == nil {
		w.p("%s, elem: &field{code: %s}},", text, scalars[f.Element.Type].code)
		return
	}
	w.p("%s, elem: &field{code: codeObject, fields: []field{", text)
	t.layoutFields(w, f.Element.Fields, version)
	if raw := f.Element.raw(); raw != nil {
		w.p("}}, raw: &field{code: codeObject, fields: []field{")
		t.layoutFields(w, raw, version)
	}
	w.p("}}},")
}
