package main

import (
	"fmt"
	"strings"
)

// enumsFile has the enums with their words.
func (t *table) enumsFile() *writer {
	w := &writer{}
	for i := range t.Enums {
		t.enumType(w, &t.Enums[i])
	}
	w.p("// timeNames are the lists of phases that the times of a GCGlobalHeapHistory")
	w.p("// stand for.")
	w.p("var timeNames = [...][]string{")
	for _, names := range t.TimeNames {
		w.p("{%s},", quoted(names))
	}
	w.p("}")
	return w
}

func (t *table) enumType(w *writer, e *enum) {
	w.comment(e.Type + " " + e.Doc)
	if e.Note != "" {
		w.p("//")
		w.comment(e.Note)
	}
	w.p("type %s uint%d\n", e.Type, max(e.bits, 8))
	if len(e.Values) > 0 {
		w.p("const (")
		if e.Kind == "mechanism" {
			w.p("%sTaken %s = 1 << 31 // set whenever any other bit is", e.Type, e.Type)
		}
		for _, v := range e.Values {
			w.p("%s%s %s = %s%s", e.Type, goWord(v.Name), e.Type, e.literal(v), lineComment(v.Note))
		}
		w.p(")\n")
	}
	for _, b := range e.Bitfields {
		w.p("// %s is the %s in the word.", goWord(b.Name), strings.ReplaceAll(b.Name, "_", " "))
		w.p("func (v %s) %s() int { return int(v>>%d) & %d }\n", e.Type, goWord(b.Name), b.Shift, 1<<b.Width-1)
	}
	words := lower(e.Type) + "Words"
	w.p("var %s = words{", words)
	w.p("typ: %q,", e.Type)
	if e.Kind != "value" {
		w.p("set: true,")
	}
	if e.Kind == "mechanism" {
		w.p("mark: 1 << 31,")
	}
	if e.Kind == "bitfields" {
		w.p("allParts: true,")
	}
	if len(e.Values) > 0 {
		w.p("list: []word{")
		for _, v := range e.Values {
			w.p("{%s, %q},", e.literal(v), v.Name)
		}
		w.p("},")
	}
	if len(e.Bitfields) > 0 {
		w.p("parts: []part{")
		for _, b := range e.Bitfields {
			w.p("{%d, %d, %q},", b.Shift, b.Width, b.Name)
		}
		w.p("},")
	}
	w.p("}\n")
	w.p("func (v %s) String() string { return %s.text(uint32(v)) }\n", e.Type, words)
	if e.Kind != "value" {
		w.p("// Names returns the names of the bits that are set in v, the lowest first; a bit without a name is in hexadecimal.")
		w.p("func (v %s) Names() []string { return %s.names(uint32(v)) }\n", e.Type, words)
	}
}

// literal returns v's number as the Go source has it.
func (e *enum) literal(v value) string {
	switch e.Kind {
	case "mechanism":
		return fmt.Sprintf("1 << %d", v.Value)
	case "bits":
		return fmt.Sprintf("%#x", v.Value)
	default:
		return fmt.Sprint(v.Value)
	}
}

func lineComment(note string) string {
	if note == "" {
		return ""
	}
	return " // " + note
}

func quoted(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}
