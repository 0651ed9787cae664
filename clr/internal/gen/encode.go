package main

import (
	"fmt"
	"strings"
)

// encodeBody writes the statements that append fields of the variable recv,
// whose type is called owner, to dst. They are the inverse of decodeBody's.
func (t *table) encodeBody(w *writer, recv, owner string, e *event, fields []field) {
	in := ifStatement{w: w}
	for i := range fields {
		f := &fields[i]
		always := *f
		always.MinPayload = nil
		in.when(condition(&always, e.oldest()))
		t.writeField(w, recv, owner, e, fields, f)
	}
	in.when("")
}

func (t *table) writeField(w *writer, recv, owner string, e *event, fields []field, f *field) {
	counted := countedBy(fields, f.Name)
	switch {
	case f.Type == "pad":
		w.p("dst = append(dst, zeros[:%s]...)", bySize(*f.Size))
	case f.Type == "bytes":
		w.p("dst = append(dst, %s.%s[:n]...)", recv, f.Name)
	case f.Type == "array":
		t.writeArray(w, recv, owner, e, f)
	case counted != nil:
		w.p("n := %s", lengths(recv, counted, f))
		w.p("dst = %s", scalars[f.Type].appended(fmt.Sprintf("%s(n)", scalars[f.Type].goType)))
	default:
		value := recv + "." + f.Name
		s := scalars[f.Type]
		if t.goType(owner, widest(fields, f.Name)) != s.goType {
			value = fmt.Sprintf("%s(%s)", s.goType, value)
		}
		w.p("dst = %s", s.appended(value))
	}
}

// countedBy returns the fields whose elements the field called name counts.
func countedBy(fields []field, name string) (counted []field) {
	for _, f := range fields {
		if f.CountField == name {
			counted = append(counted, f)
		}
	}
	return counted
}

// lengths returns the expression for the number of elements of the fields that by counts.
func lengths(recv string, counted []field, by *field) string {
	var all []string
	for _, f := range counted {
		all = append(all, fmt.Sprintf("len(%s.%s)", recv, f.Name))
	}
	if by.Type == "u16" {
		all = append(all, "math.MaxUint16")
	}
	if len(all) == 1 {
		return all[0]
	}
	return "min(" + strings.Join(all, ", ") + ")"
}

func (t *table) writeArray(w *writer, recv, owner string, e *event, f *field) {
	list := recv + "." + f.Name
	index := "i"
	if recv != "e" {
		index = "j"
	}
	switch {
	case f.Count > 0:
		w.p("for %s := range %d {", index, f.Count)
		w.p("v := element(%s, %s)", list, index)
	case f.Element.Fields != nil:
		w.p("for %s := range %s[:n] {", index, list)
		w.p("v := &%s[%s]", list, index)
	default:
		w.p("for _, v := range %s[:n] {", list)
		w.p("dst = %s\n}", scalars[f.Element.Type].appended("v"))
		return
	}
	t.encodeBody(w, "v", elementName(owner, f.Name), e, f.Element.Fields)
	w.p("}")
}

// appended returns the expression that appends a value to dst.
func (s scalar) appended(value string) string { return fmt.Sprintf(s.append, value) }

// needsMath reports whether an encoder of these fields refers to package math.
func needsMath(fields []field) bool {
	for i := range fields {
		f := &fields[i]
		if f.Type == "f32" || f.Type == "u16" && countedBy(fields, f.Name) != nil {
			return true
		}
		if f.Element != nil && needsMath(f.Element.Fields) {
			return true
		}
	}
	return false
}
