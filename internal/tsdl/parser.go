package tsdl

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// A parser reads text in the Trace Stream Description Language (CTF 1.8.3,
// appendix C) by recursive descent.
type parser struct {
	builder
	lex   lexer
	tok   token
	scope *scope
}

// A scope has the named types of a block.
type scope struct {
	outer *scope
	types map[string]*Type // by "name", "struct name", "enum name", "variant name"
}

func (s *scope) find(name string) *Type {
	for ; s != nil; s = s.outer {
		if t := s.types[name]; t != nil {
			return t
		}
	}
	return nil
}

func parseText(text []byte) (*Trace, error) {
	p := &parser{lex: lexer{text: text, line: 1}, scope: &scope{types: map[string]*Type{}}}
	p.trace = &Trace{Major: 1, Env: map[string]string{}}
	p.advance()
	begun := false
	for p.err == nil && p.tok.kind != tokenEnd {
		p.topLevel()
		begun = begun || p.err == nil
	}
	return p.result(p.tok.line, begun)
}

// blocks are the blocks that may stand outside all others.
var blocks = map[string]func(*parser){
	"trace":    (*parser).traceBlock,
	"env":      (*parser).envBlock,
	"clock":    (*parser).clockBlock,
	"stream":   (*parser).streamBlock,
	"event":    (*parser).eventBlock,
	"callsite": func(p *parser) { p.block(nil) },
}

func (p *parser) topLevel() {
	if read := blocks[string(p.tok.text)]; read != nil && p.tok.kind == tokenName {
		p.advance()
		read(p)
		p.expect(";")
	} else if !p.declaration() {
		p.misplaced("a block")
	}
}

// declaration reads the definition of a named type, if there is one.
func (p *parser) declaration() bool {
	switch {
	case p.tok.is("typealias"):
		p.typealias()
	case p.tok.is("typedef"):
		p.typedef()
	case p.tok.is("struct"), p.tok.is("enum"), p.tok.is("variant"):
		p.typeSpec()
		p.expect(";")
	default:
		return false
	}
	return true
}

func (p *parser) typealias() {
	p.advance()
	t := p.typeSpec()
	p.expect(":=")
	var words []string
	for p.tok.kind == tokenName || p.tok.is("*") {
		words = append(words, string(p.tok.text))
		p.advance()
	}
	if len(words) == 0 {
		p.malformed("typealias without a name")
	}
	p.define(strings.Join(words, " "), t)
	p.expect(";")
}

func (p *parser) typedef() {
	p.advance()
	for _, f := range p.declarators() {
		p.define(f.Name, f.Type)
	}
}

func (p *parser) define(name string, t *Type) { p.scope.types[name] = t }

// attributes are where the values of a block go. A number goes to a *uint64, a *int64, or, if
// it is a size in bits, a *int; a type to a **Type; other values to a *string, *bool or
// *ByteOrder, to a function, or, at anyName, to a map.
type attributes []struct {
	name string
	to   any
}

const anyName = "*"

// of returns where the value of an attribute goes, nil if it is of no use.
func (a attributes) of(name string) any {
	for i := range a {
		if a[i].name == name || a[i].name == anyName {
			return a[i].to
		}
	}
	return nil
}

// block reads attributes between braces.
func (p *parser) block(to attributes) {
	p.scoped(func() {
		if !p.declaration() {
			p.attribute(to)
		}
	})
}

// scoped reads a block in braces, item by item, in a scope of its own.
func (p *parser) scoped(item func()) {
	p.expect("{")
	p.scope = &scope{outer: p.scope, types: map[string]*Type{}}
	for p.err == nil && !p.tok.is("}") {
		item()
	}
	p.scope = p.scope.outer
	p.expect("}")
}

func (p *parser) attribute(to attributes) {
	var name strings.Builder
	for p.tok.kind == tokenName || p.tok.is(".") {
		name.Write(p.tok.text)
		p.advance()
	}
	switch {
	case p.tok.is("="):
		p.advance()
		p.assign(to.of(name.String()), name.String(), p.value())
	case p.tok.is(":="):
		p.advance()
		t := p.typeSpec()
		if to, ok := to.of(name.String()).(**Type); ok && p.err == nil {
			*to = t
		}
	default:
		p.misplaced("an attribute")
	}
	p.expect(";")
}

// value reads up to a semicolon.
func (p *parser) value() string {
	var text strings.Builder
	for !p.tok.is(";") && !p.tok.is("}") && p.tok.kind != tokenEnd {
		if p.tok.kind == tokenString {
			text.WriteString(p.tok.unquoted())
		} else {
			text.Write(p.tok.text)
		}
		p.advance()
	}
	return text.String()
}

// assign gives the value of an attribute to what it goes to.
func (p *parser) assign(to any, name, text string) {
	if p.err != nil {
		return
	}
	switch to := to.(type) {
	case nil, **Type: // of no use, or malformed: a type comes after ":="
	case *uint64:
		*to = p.signed(text)
	case *int64:
		*to = int64(p.signed(text))
	case *int:
		*to = size(p.signed(text))
	case *string:
		*to = text
	case *bool:
		*to = p.boolean(text)
	case *ByteOrder:
		*to = p.order(text)
	case func(string):
		to(text)
	case map[string]string:
		to[name] = text
		p.part()
	default:
		panic(fmt.Sprintf("tsdl: no way to give a value to a %T", to))
	}
}

// signed returns a number that may have a sign.
func (p *parser) signed(text string) uint64 {
	digits, minus := strings.CutPrefix(text, "-")
	n := p.unsigned(strings.TrimPrefix(digits, "+"))
	if minus {
		n = -n
	}
	return n
}

// unsigned returns a number: decimal, octal or hexadecimal.
func (p *parser) unsigned(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimRight(text, "uUlL"), 0, 64)
	if err != nil {
		p.malformed("number %.40q", text)
		return 0
	}
	return n
}

// size returns a number of bits, or a larger one than any type has, which fits an int.
func size(bits uint64) int { return int(min(bits, 1<<20)) }

func (p *parser) boolean(text string) bool {
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		p.malformed("%.40q where true or false belongs", text)
	}
	return n != 0
}

var orders = map[string]ByteOrder{"le": LittleEndian, "be": BigEndian, "network": BigEndian, "native": Native}

func (p *parser) order(text string) ByteOrder {
	order, ok := orders[text]
	if !ok {
		p.malformed("byte order %.40q", text)
	}
	return order
}

func (p *parser) traceBlock() {
	p.block(attributes{
		{"major", func(text string) { p.version("major", text, 1) }},
		{"minor", func(text string) { p.version("minor", text, 8) }},
		{"uuid", p.uuid},
		{"byte_order", &p.trace.ByteOrder},
		{"packet.header", &p.trace.PacketHeader},
	})
}

func (p *parser) version(part, text string, want uint64) {
	if n := p.signed(text); n != want {
		p.fail(fmt.Errorf("%w: %s %d of CTF", trace.ErrUnsupportedVersion, part, n))
	}
}

func (p *parser) uuid(text string) {
	id, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(id) != len(p.trace.UUID) {
		p.malformed("UUID %.40q", text)
		return
	}
	copy(p.trace.UUID[:], id)
}

func (p *parser) envBlock() { p.block(attributes{{anyName, p.trace.Env}}) }

func (p *parser) clockBlock() {
	c := &Clock{Frequency: 1e9}
	p.block(attributes{{"name", &c.Name}, {"freq", &c.Frequency}, {"offset", &c.Cycles}, {"offset_s", &c.Seconds}})
	p.addClock(c)
}

func (p *parser) streamBlock() {
	var s Stream
	p.block(attributes{
		{"id", &s.ID}, {"packet.context", &s.PacketContext}, {"event.header", &s.EventHeader}, {"event.context", &s.EventContext},
	})
	p.addStream(s)
}

func (p *parser) eventBlock() {
	var e Event
	var stream uint64
	p.block(attributes{{"id", &e.ID}, {"stream_id", &stream}, {"name", &e.Name}, {"context", &e.Context}, {"fields", &e.Payload}})
	p.addEvent(stream, &e)
}

// advance goes to the next token. After a failure there is none, and the line stays that of the
// failure.
func (p *parser) advance() {
	if p.err != nil {
		p.tok = token{line: p.tok.line}
		return
	}
	var err error
	p.tok, err = p.lex.next()
	p.fail(err)
}

// expect skips a sign or a word.
func (p *parser) expect(text string) {
	if p.tok.is(text) {
		p.advance()
	} else {
		p.misplaced(strconv.Quote(text))
	}
}

// misplaced reports that something else belongs where the current token is.
func (p *parser) misplaced(belongs string) {
	if p.tok.kind == tokenEnd {
		p.malformed("the text ends where %s belongs", belongs)
	} else {
		p.malformed("%.40q where %s belongs", p.tok.text, belongs)
	}
}
