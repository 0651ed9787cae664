package main

import (
	"fmt"
	"slices"
)

// decodeBody writes the statements that read fields into the variable recv,
// whose type is called owner.
func (t *table) decodeBody(w *writer, recv, owner string, e *event, fields []field) {
	t.reset(w, recv, owner, fields)
	in := ifStatement{w: w}
	for i := range fields {
		f := &fields[i]
		in.when(condition(f, e.oldest()))
		t.readField(w, recv, owner, e, fields, f)
	}
	in.when("")
}

// decodeWhole writes the statements that read all fields of an event of fixed size where
// pointers have 8 bytes.
func (t *table) decodeWhole(w *writer, e *event) {
	size := 0
	for i := range e.Fields {
		size += scalars[e.Fields[i].Type].size.Ptr8
	}
	w.p("if ptrSize == 8 && len(payload) >= %d {\nb := payload[:%d]", size, size)
	off := 0
	for i := range e.Fields {
		f := &e.Fields[i]
		s := scalars[f.Type]
		value := fmt.Sprintf("le.Uint%d(b[%d:])", 8*s.size.Ptr8, off)
		if kept := t.goType(e.goName(), widest(e.Fields, f.Name)); kept != s.goType {
			value = fmt.Sprintf("%s(%s)", kept, value)
		}
		w.p("e.%s = %s", f.Name, value)
		off += s.size.Ptr8
	}
	w.p("return nil\n}")
}

// whole reports whether decodeWhole can read an event.
func (e *event) whole() bool {
	return !slices.ContainsFunc(e.Fields, func(f field) bool {
		return f.guarded() || !slices.Contains([]string{"u16", "u32", "u64", "ptr"}, f.Type)
	})
}

// reset clears the fields that decodeBody may leave untouched, but keeps the arrays'
// memory.
func (t *table) reset(w *writer, recv, owner string, fields []field) {
	guarded, keep := false, ""
	for i := range fields {
		f := &fields[i]
		guarded = guarded || f.guarded()
		if f.Type == "array" {
			keep += fmt.Sprintf("%s: %s.%s[:0],", f.Name, recv, f.Name)
		}
	}
	if guarded {
		w.p("*%s = %s{%s}", recv, owner, keep)
	}
}

func condition(f *field, oldest int) string {
	cond := ""
	switch {
	case f.Until != nil && f.Since > oldest:
		cond = fmt.Sprintf("version >= %d && version <= %d", f.Since, *f.Until)
	case f.Until != nil:
		cond = fmt.Sprintf("version < %d", *f.Until+1)
	case f.Since > oldest:
		cond = fmt.Sprintf("version >= %d", f.Since)
	}
	if f.MinPayload != nil {
		cond += fmt.Sprintf(" && len(payload) >= bySize(ptrSize, %d, %d)", f.MinPayload.Ptr4, f.MinPayload.Ptr8)
	}
	return cond
}

func (t *table) readField(w *writer, recv, owner string, e *event, fields []field, f *field) {
	switch f.Type {
	case "pad":
		w.p("c.Skip(%s)", bySize(*f.Size))
	case "bytes":
		w.p("%s.%s = c.Bytes(int(%s.%s))", recv, f.Name, recv, f.CountField)
	case "array":
		t.readArray(w, recv, owner, e, f)
	default:
		s := scalars[f.Type]
		kept := t.goType(owner, widest(fields, f.Name))
		if kept != s.goType {
			w.p("%s.%s = %s(%s)", recv, f.Name, kept, s.read)
		} else {
			w.p("%s.%s = %s", recv, f.Name, s.read)
		}
	}
}

func (t *table) readArray(w *writer, recv, owner string, e *event, f *field) {
	list := recv + "." + f.Name
	count := fmt.Sprint(f.Count)
	if f.CountField != "" {
		count = fmt.Sprintf("uint32(%s.%s)", recv, f.CountField)
	}
	size, fixed := f.Element.elementSize(e.oldest())
	for _, v := range e.Versions {
		if s, _ := f.Element.elementSize(v.Version); s != size {
			panic(fmt.Sprintf("%s.%s: elements of several sizes", owner, f.Name))
		}
	}
	index := "i"
	if recv != "e" {
		index = "j"
	}
	w.p("%s = resize(%s, fitting(&c, %s, %s))", list, list, count, bySize(size))
	w.p("for %s := range %s {", index, list)
	if f.Element.Fields == nil {
		w.p("%s[%s] = %s\n}", list, index, scalars[f.Element.Type].read)
	} else {
		w.p("v := &%s[%s]", list, index)
		t.decodeBody(w, "v", elementName(owner, f.Name), e, f.Element.Fields)
		if !fixed {
			w.p("if !c.OK() {\n%s = %s[:%s]\nbreak\n}", list, list, index)
		}
		w.p("}")
	}
	w.p("expect(&c, len(%s), %s)", list, count)
}

// bySize returns the expression for a number of bytes.
func bySize(s sizes) string {
	if s.Ptr4 == s.Ptr8 {
		return fmt.Sprint(s.Ptr8)
	}
	return fmt.Sprintf("bySize(ptrSize, %d, %d)", s.Ptr4, s.Ptr8)
}
