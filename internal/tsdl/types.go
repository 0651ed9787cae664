package tsdl

import (
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
)

// typeSpec reads a type.
func (p *parser) typeSpec() (*Type, error) {
	words, err := p.words()
	if err != nil {
		return nil, err
	}
	if words == nil {
		return p.composed()
	}
	return p.named(words)
}

// named finds the type of this name.
func (p *parser) named(words []string) (*Type, error) {
	name := strings.Join(words, " ")
	if t := p.scope.find(name); t != nil {
		return t, nil
	}
	return nil, binread.Malformed("type %.60q is not defined", name)
}

// words reads the names in place of a type; nil if that begins with a keyword.
func (p *parser) words() ([]string, error) {
	var words []string
	for p.tok.kind == tokenName {
		if len(words) == 0 && composedType(p.tok.text) != nil {
			return nil, nil
		}
		if !p.tok.is("const") {
			words = append(words, string(p.tok.text))
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if len(words) == 0 {
		return nil, p.misplaced("a type")
	}
	return words, nil
}

// composed reads a type that begins with a keyword.
func (p *parser) composed() (*Type, error) {
	read := composedType(p.tok.text)
	if p.nesting++; p.nesting > maxDepth {
		return nil, binread.Malformed("types nested more than %d deep", maxDepth)
	}
	defer func() { p.nesting-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	return read(p)
}

func composedType(keyword []byte) func(*parser) (*Type, error) {
	switch string(keyword) {
	case "integer":
		return (*parser).integer
	case "floating_point":
		return (*parser).float
	case "string":
		return (*parser).text
	case "struct":
		return (*parser).structure
	case "enum":
		return (*parser).enumeration
	case "variant":
		return (*parser).variant
	}
	return nil
}

func (p *parser) integer() (*Type, error) {
	t := &Type{Kind: Int}
	err := p.block(func(key string, v value) (err error) {
		var n uint64
		switch key {
		case "size", "align":
			if n, err = v.number(); err != nil {
				return err
			}
		}
		switch key {
		case "size":
			t.Size = int(min(n, 1<<20))
		case "align":
			t.Align = int(min(n, 1<<20))
		case "signed":
			t.Signed, err = parseBool(v.text)
		case "byte_order":
			t.Order, err = parseOrder(v.text)
		case "encoding":
			t.Text = isText(v.text)
		case "map":
			t.Clock = strings.TrimSuffix(strings.TrimPrefix(v.text, "clock."), ".value")
		}
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return p.checked(t)
}

func isText(encoding string) bool {
	switch strings.ToUpper(encoding) {
	case "UTF8", "ASCII":
		return true
	}
	return false
}

func (p *parser) float() (*Type, error) {
	t := &Type{Kind: Float}
	var exponent, mantissa uint64
	err := p.block(func(key string, v value) (err error) {
		var n uint64
		switch key {
		case "exp_dig":
			exponent, err = v.number()
		case "mant_dig":
			mantissa, err = v.number()
		case "align":
			n, err = v.number()
			t.Align = int(min(n, 1<<20))
		case "byte_order":
			t.Order, err = parseOrder(v.text)
		}
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	t.Size = int(min(exponent, 1<<20) + min(mantissa, 1<<20))
	return p.checked(t)
}

func (p *parser) text() (*Type, error) {
	t := &Type{Kind: String, Size: 8}
	if p.tok.is("{") {
		if err := p.block(nil, nil); err != nil {
			return nil, err
		}
	}
	return p.checked(t)
}

// tag reads the name that a structure, an enumeration or a variant may have.
func (p *parser) tag(keyword string) (string, error) {
	if p.tok.kind != tokenName {
		return "", nil
	}
	name := keyword + " " + string(p.tok.text)
	return name, p.advance()
}

func (p *parser) structure() (*Type, error) {
	name, err := p.tag("struct")
	if err != nil {
		return nil, err
	}
	if name != "" && !p.tok.is("{") {
		return p.named([]string{name})
	}
	t := &Type{Kind: Struct, Align: 1}
	if err := p.members(&t.Fields); err != nil {
		return nil, err
	}
	if p.tok.is("align") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.inParentheses()
		if err != nil {
			return nil, err
		}
		t.Align = int(min(n, 1<<20))
	}
	if t, err = p.checked(t); err == nil && name != "" {
		p.define(name, t)
	}
	return t, err
}

// members reads declarations between braces.
func (p *parser) members(fields *[]Field) error {
	return p.scoped(func() error {
		if p.tok.is("typealias") || p.tok.is("typedef") {
			_, err := p.declaration()
			return err
		}
		more, err := p.declarators()
		*fields = append(*fields, more...)
		return err
	})
}

func (p *parser) inParentheses() (n uint64, err error) {
	if err := p.expect("("); err != nil {
		return 0, err
	}
	if n, err = p.number(); err != nil {
		return 0, err
	}
	return n, p.expect(")")
}

// declarators reads a type and the fields that have it, up to the semicolon.
func (p *parser) declarators() ([]Field, error) {
	words, err := p.words()
	if err != nil {
		return nil, err
	}
	var t *Type
	var name string
	switch {
	case words == nil:
		t, err = p.composed()
		if err == nil && p.tok.kind == tokenName {
			name = string(p.tok.text)
			err = p.advance()
		}
	case len(words) == 1:
		return nil, binread.Malformed("field %.40q without a name or a type", words[0])
	default:
		name = words[len(words)-1]
		t, err = p.named(words[:len(words)-1])
	}
	var fields []Field
	for err == nil {
		ft, err := p.dimensions(t)
		if err != nil {
			return nil, err
		}
		if err := p.part(); err != nil {
			return nil, err
		}
		if name != "" {
			fields = append(fields, Field{Name: unprefixed(name), Type: ft})
		}
		if !p.tok.is(",") {
			return fields, p.expect(";")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != tokenName {
			return nil, p.misplaced("a name")
		}
		name = string(p.tok.text)
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// unprefixed returns a name as the user gave it.
func unprefixed(name string) string { return strings.TrimPrefix(name, "_") }

// dimensions makes t an array or a sequence for each pair of brackets. The first
// dimension is the outermost.
func (p *parser) dimensions(t *Type) (*Type, error) {
	if !p.tok.is("[") {
		return t, nil
	}
	if p.nesting++; p.nesting > maxDepth {
		return nil, binread.Malformed("types nested more than %d deep", maxDepth)
	}
	defer func() { p.nesting-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	a := &Type{Kind: Array, Align: 1}
	if p.tok.kind == tokenNumber {
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		a.Length = n
	} else {
		a.Kind = Dynamic
		ref, err := p.ref()
		if err != nil {
			return nil, err
		}
		a.Ref = ref
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	elem, err := p.dimensions(t)
	if err != nil {
		return nil, err
	}
	a.Elem = elem
	return p.checked(a)
}

// scopes are the absolute paths' beginnings.
var scopes = [...]struct {
	prefix []string
	scope  Scope
}{
	{[]string{"trace", "packet", "header"}, PacketHeader},
	{[]string{"stream", "packet", "context"}, PacketContext},
	{[]string{"stream", "event", "header"}, EventHeader},
	{[]string{"stream", "event", "context"}, StreamContext},
	{[]string{"event", "context"}, EventContext},
	{[]string{"event", "fields"}, Payload},
}

// ref reads the path to a field.
func (p *parser) ref() (Ref, error) {
	var path []string
	for {
		if p.tok.kind != tokenName {
			return Ref{}, p.misplaced("the name of a field")
		}
		path = append(path, string(p.tok.text))
		if err := p.advance(); err != nil {
			return Ref{}, err
		}
		if !p.tok.is(".") && !p.tok.is("->") {
			break
		}
		if err := p.advance(); err != nil {
			return Ref{}, err
		}
	}
	r := Ref{Path: path}
	for _, s := range scopes {
		if n := len(s.prefix); len(path) > n && strings.Join(path[:n], ".") == strings.Join(s.prefix, ".") {
			r = Ref{s.scope, path[n:]}
			break
		}
	}
	for i := range r.Path {
		r.Path[i] = unprefixed(r.Path[i])
	}
	return r, nil
}

func (p *parser) enumeration() (*Type, error) {
	name, err := p.tag("enum")
	if err != nil {
		return nil, err
	}
	var base *Type
	if p.tok.is(":") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if base, err = p.typeSpec(); err != nil {
			return nil, err
		}
	} else if name != "" && !p.tok.is("{") {
		return p.named([]string{name})
	} else if base = p.scope.find("int"); base == nil {
		return nil, binread.Malformed("an enumeration of type int, which is not defined")
	}
	if base.Kind != Int {
		return nil, binread.Malformed("an enumeration of a type other than integer")
	}
	t := *base
	if err := p.labels(&t); err != nil {
		return nil, err
	}
	if name != "" {
		p.define(name, &t)
	}
	return &t, nil
}

// labels reads the labels of an enumeration. One without a value has the next
// one.
func (p *parser) labels(t *Type) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	t.Labels = nil
	var next uint64
	for !p.tok.is("}") {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			return p.misplaced("a label")
		}
		label := p.tok.unquoted()
		if err := p.advance(); err != nil {
			return err
		}
		r := Range{next, next}
		if p.tok.is("=") {
			var err error
			if r, err = p.enumRange(); err != nil {
				return err
			}
		}
		next = r.Hi + 1
		t.Labels = append(t.Labels, Mapping{label, []Range{r}})
		if err := p.part(); err != nil {
			return err
		}
		if !p.tok.is(",") {
			break
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return p.expect("}")
}

// enumRange reads "= 1" or "= 1 ... 5".
func (p *parser) enumRange() (r Range, err error) {
	if err := p.advance(); err != nil {
		return r, err
	}
	if r.Lo, err = p.number(); err != nil {
		return r, err
	}
	r.Hi = r.Lo
	if p.tok.is("...") {
		if err := p.advance(); err != nil {
			return r, err
		}
		r.Hi, err = p.number()
	}
	return r, err
}

func (p *parser) variant() (*Type, error) {
	name, err := p.tag("variant")
	if err != nil {
		return nil, err
	}
	t := &Type{Kind: Variant, Align: 1}
	if p.tok.is("<") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if t.Ref, err = p.ref(); err != nil {
			return nil, err
		}
		if err := p.expect(">"); err != nil {
			return nil, err
		}
	}
	if name != "" && !p.tok.is("{") {
		known, err := p.named([]string{name})
		if err != nil {
			return nil, err
		}
		ref := t.Ref
		*t = *known
		if ref.Path != nil {
			t.Ref = ref
		}
		return t, nil
	}
	var fields []Field
	if err := p.members(&fields); err != nil {
		return nil, err
	}
	for _, f := range fields {
		t.Options = append(t.Options, Option{Name: f.Name, Type: f.Type})
	}
	if t, err = p.checked(t); err == nil && name != "" {
		p.define(name, t)
	}
	return t, err
}

// number reads a number that may have a sign.
func (p *parser) number() (uint64, error) {
	minus := p.tok.is("-")
	if minus || p.tok.is("+") {
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	if p.tok.kind != tokenNumber {
		return 0, p.misplaced("a number")
	}
	n, err := p.tok.number()
	if err != nil {
		return 0, err
	}
	if minus {
		n = -n
	}
	return n, p.advance()
}
