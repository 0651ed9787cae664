package main

import (
	"fmt"
	"strings"
)

// enumDocs opens the comment of each enum type.
func (t *table) enumsFile() *writer {
	w := &writer{}
	for i := range t.Enums {
		t.enumType(w, &t.Enums[i])
	}
	w.p("// timeNames are the phases that the times of a GCGlobalHeapHistory stand for,")
	w.p("// by their number.")
	w.p("var timeNames = map[int][]string{")
	for _, names := range t.TimeNames {
		w.p("%d: {%s},", len(names), quoted(names))
	}
	w.p("}")
	return w
}

func (t *table) enumType(w *writer, e *enum) {
	switch e.Kind {
	case "value":
		w.comment(fmt.Sprintf("%s is a value of the table's enum of this name.", e.Type))
	case "bitfields":
		w.comment(fmt.Sprintf("%s is a word of several small numbers.", e.Type))
	default:
		w.comment(fmt.Sprintf("%s is a set of flags.", e.Type))
	}
	if e.Note != "" {
		w.comment(sentence(e.Note))
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
		w.p("// Names are the words of v in the order of bits; a bit without a word is in hexadecimal.")
		w.p("func (v %s) Names() []string { return %s.names(uint32(v)) }\n", e.Type, words)
	}
}

// literal is v's number as the Go source has it.
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

func sentence(s string) string {
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
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
