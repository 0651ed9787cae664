package tracetest

import (
	"strconv"
	"strings"
)

// A typ is the type of a field.
type typ struct {
	kind  byte // u, i, f; s string, t text, b bytes, B blob, a array, q sequence
	size  int  // bits; bytes of text; elements of an array
	align int
	big   bool
	elem  *typ
}

type ctfField struct {
	name string
	typ  typ
}

// fields reads a list of TYPE:NAME.
func (t *traceText) fields(s string) []ctfField {
	var out []ctfField
	for _, f := range list(s) {
		kind, name, ok := strings.Cut(f, ":")
		if !ok {
			panic("tracetest: field " + f)
		}
		out = append(out, ctfField{name, t.typ(kind)})
	}
	return out
}

func (t *traceText) typ(s string) typ {
	if elem, ok := strings.CutSuffix(s, "]"); ok {
		i := strings.LastIndexByte(elem, '[')
		e := t.typ(elem[:i])
		if elem[i+1:] == "" {
			return typ{kind: 'q', elem: &e, align: e.align}
		}
		return typ{kind: 'a', elem: &e, align: e.align, size: int(number(elem[i+1:]))}
	}
	switch {
	case s == "string":
		return typ{kind: 's', align: 8}
	case s == "bytes":
		return typ{kind: 'b', align: 8}
	case s == "blob":
		return typ{kind: 'B', align: 8}
	case strings.HasPrefix(s, "text"):
		return typ{kind: 't', align: 8, size: int(number(s[4:]))}
	}
	s, align, aligned := strings.Cut(s, "@")
	ty := typ{kind: s[0], big: t.big}
	switch {
	case strings.HasSuffix(s, "be"):
		ty.big = true
	case strings.HasSuffix(s, "le"):
		ty.big = false
	}
	size, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSuffix(s[1:], "be"), "le"))
	if err != nil {
		panic("tracetest: type " + s)
	}
	ty.size, ty.align = size, t.alignment(size)
	if aligned {
		ty.align = int(number(align))
	}
	return ty
}

// alignment returns the one that the trace gives integers.
func (t *traceText) alignment(size int) int {
	switch {
	case size%8 != 0:
		return 1
	case !t.natural || size&(size-1) != 0:
		return 8
	}
	return size
}

// u returns an unsigned integer of the trace's own.
func (t *traceText) u(size int) typ {
	return typ{kind: 'u', size: size, align: t.alignment(size), big: t.big}
}
