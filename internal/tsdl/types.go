package tsdl

import "strings"

// typeSpec reads a type.
func (p *parser) typeSpec() *Type {
	if t := p.composed(); t != nil {
		return t
	}
	return p.named(p.words()...)
}

// named finds the type of this name.
func (p *parser) named(words ...string) *Type {
	name := strings.Join(words, " ")
	if t := p.scope.find(name); t != nil {
		return t
	}
	p.malformed("type %.60q is not defined", name)
	return placeholder()
}

// words reads the names in place of a type.
func (p *parser) words() (words []string) {
	for ; p.tok.kind == tokenName; p.advance() {
		if !p.tok.is("const") {
			words = append(words, string(p.tok.text))
		}
	}
	if len(words) == 0 {
		p.misplaced("a type")
	}
	return words
}

// name reads a name, which errors call belongs.
func (p *parser) name(belongs string) string {
	if p.tok.kind != tokenName {
		p.misplaced(belongs)
		return ""
	}
	return p.optionalName()
}

// optionalName reads a name, if there is one.
func (p *parser) optionalName() (name string) {
	if p.tok.kind == tokenName {
		name = string(p.tok.text)
		p.advance()
	}
	return name
}

// composed reads a type that begins with a keyword; it returns nil if there is none.
func (p *parser) composed() *Type {
	for p.tok.is("const") {
		p.advance()
	}
	read := composedType(&p.tok)
	if read == nil {
		return nil
	}
	if !p.nest("types") {
		return placeholder()
	}
	defer p.unnest()
	p.advance()
	return read(p)
}

func composedType(keyword *token) func(*parser) *Type {
	switch {
	case keyword.is("integer"):
		return (*parser).integer
	case keyword.is("floating_point"):
		return (*parser).float
	case keyword.is("string"):
		return (*parser).text
	case keyword.is("struct"):
		return (*parser).structure
	case keyword.is("enum"):
		return (*parser).enumeration
	case keyword.is("variant"):
		return (*parser).variant
	}
	return nil
}

func (p *parser) integer() *Type {
	t := &Type{Kind: Int}
	p.block(attributes{
		{"size", &t.Size},
		{"align", &t.Align},
		{"signed", &t.Signed},
		{"byte_order", &t.Order},
		{"encoding", func(text string) { t.Text = isText(text) }},
		{"map", func(text string) { t.Clock = strings.TrimSuffix(strings.TrimPrefix(text, "clock."), ".value") }},
	})
	return p.checked(t)
}

func isText(encoding string) bool {
	return strings.EqualFold(encoding, "UTF8") || strings.EqualFold(encoding, "ASCII")
}

func (p *parser) float() *Type {
	t := &Type{Kind: Float}
	var exponent, mantissa int
	p.block(attributes{{"exp_dig", &exponent}, {"mant_dig", &mantissa}, {"align", &t.Align}, {"byte_order", &t.Order}})
	t.Size = exponent + mantissa
	return p.checked(t)
}

func (p *parser) text() *Type {
	if p.tok.is("{") {
		p.block(nil)
	}
	return p.checked(&Type{Kind: String, Size: 8})
}

// tag reads the name that a structure, an enumeration or a variant may have.
func (p *parser) tag(keyword string) string {
	name := p.optionalName()
	if name != "" {
		name = keyword + " " + name
	}
	return name
}

// defined completes a type, which may have a tag.
func (p *parser) defined(tag string, t *Type) *Type {
	t = p.checked(t)
	if tag != "" {
		p.define(tag, t)
	}
	return t
}

func (p *parser) structure() *Type {
	tag := p.tag("struct")
	if tag != "" && !p.tok.is("{") {
		return p.named(tag)
	}
	t := &Type{Kind: Struct, Align: 1, Fields: p.members()}
	if p.tok.is("align") {
		p.advance()
		p.expect("(")
		t.Align = size(p.number())
		p.expect(")")
	}
	return p.defined(tag, t)
}

// members reads declarations between braces.
func (p *parser) members() (fields []Field) {
	p.scoped(func() {
		if p.tok.is("typealias") || p.tok.is("typedef") {
			p.declaration()
		} else {
			fields = append(fields, p.declarators()...)
		}
	})
	return fields
}

// declarators reads a type and the fields that have it, up to the semicolon.
func (p *parser) declarators() (fields []Field) {
	t, name := p.composed(), ""
	if t != nil {
		name = p.optionalName()
	} else {
		words := p.words()
		switch last := len(words) - 1; last {
		case -1:
			return nil
		case 0:
			p.malformed("field %.40q without a name or a type", words[0])
			return nil
		default:
			t, name = p.named(words[:last]...), words[last]
		}
	}
	for p.err == nil {
		ft := p.dimensions(t)
		p.part()
		if name != "" {
			fields = append(fields, Field{Name: unprefixed(name), Type: ft})
		}
		if !p.tok.is(",") {
			p.expect(";")
			break
		}
		p.advance()
		name = p.name("a name")
	}
	return fields
}

// unprefixed returns a name as the user gave it.
func unprefixed(name string) string { return strings.TrimPrefix(name, "_") }

// dimensions makes t an array or a sequence for each pair of brackets. The first
// dimension is the outermost.
func (p *parser) dimensions(t *Type) *Type {
	if !p.tok.is("[") || !p.nest("types") {
		return t
	}
	defer p.unnest()
	p.advance()
	a := &Type{Kind: Array, Align: 1}
	if p.tok.kind == tokenNumber {
		a.Length = p.number()
	} else {
		a.Kind, a.Ref = Dynamic, p.ref()
	}
	p.expect("]")
	a.Elem = p.dimensions(t)
	return p.checked(a)
}

// scopes are the beginnings of absolute paths.
var scopes = [...]struct {
	prefix string
	scope  Scope
}{
	{"trace.packet.header.", PacketHeader},
	{"stream.packet.context.", PacketContext},
	{"stream.event.header.", EventHeader},
	{"stream.event.context.", StreamContext},
	{"event.context.", EventContext},
	{"event.fields.", Payload},
}

// ref reads the path to a field.
func (p *parser) ref() (r Ref) {
	const belongs = "the name of a field"
	var b strings.Builder
	b.WriteString(p.name(belongs))
	for p.tok.is(".") || p.tok.is("->") {
		p.advance()
		b.WriteString("." + p.name(belongs))
	}
	path := b.String()
	for _, s := range scopes {
		if rest, ok := strings.CutPrefix(path, s.prefix); ok {
			r.Scope, path = s.scope, rest
			break
		}
	}
	for name := range strings.SplitSeq(path, ".") {
		r.Path = append(r.Path, unprefixed(name))
	}
	return r
}

func (p *parser) enumeration() *Type {
	tag := p.tag("enum")
	var base *Type
	switch {
	case p.tok.is(":"):
		p.advance()
		base = p.typeSpec()
	case tag != "" && !p.tok.is("{"):
		return p.named(tag)
	default:
		if base = p.scope.find("int"); base == nil {
			p.malformed("an enumeration of type int, which is not defined")
			return placeholder()
		}
	}
	if base.Kind != Int {
		p.malformed("an enumeration of a type other than integer")
	}
	t := *base
	p.labels(&t)
	if tag != "" {
		p.define(tag, &t)
	}
	return &t
}

// labels reads the labels of an enumeration. One without a value has the next
// one.
func (p *parser) labels(t *Type) {
	p.expect("{")
	t.Labels = nil
	var next uint64
	for p.err == nil && !p.tok.is("}") {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			p.misplaced("a label")
		}
		label := p.tok.unquoted()
		p.advance()
		r := Range{next, next}
		if p.tok.is("=") {
			p.advance()
			r = p.enumRange()
		}
		next = r.Hi + 1
		t.Labels = append(t.Labels, Mapping{label, []Range{r}})
		p.part()
		if !p.tok.is(",") {
			break
		}
		p.advance()
	}
	p.expect("}")
}

// enumRange reads "1" or "1 ... 5".
func (p *parser) enumRange() Range {
	n := p.number()
	r := Range{n, n}
	if p.tok.is("...") {
		p.advance()
		r.Hi = p.number()
	}
	return r
}

func (p *parser) variant() *Type {
	tag := p.tag("variant")
	t := &Type{Kind: Variant, Align: 1}
	if p.tok.is("<") {
		p.advance()
		t.Ref = p.ref()
		p.expect(">")
	}
	if tag != "" && !p.tok.is("{") {
		ref := t.Ref
		*t = *p.named(tag)
		if ref.Path != nil {
			t.Ref = ref
		}
		return t
	}
	for _, f := range p.members() {
		t.Options = append(t.Options, Option{Name: f.Name, Type: f.Type})
	}
	return p.defined(tag, t)
}

// number reads a number that may have a sign.
func (p *parser) number() uint64 {
	minus := p.tok.is("-")
	if minus || p.tok.is("+") {
		p.advance()
	}
	if p.tok.kind != tokenNumber {
		p.misplaced("a number")
		return 0
	}
	n := p.unsigned(string(p.tok.text))
	p.advance()
	if minus {
		n = -n
	}
	return n
}
