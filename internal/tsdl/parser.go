package tsdl

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
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
	err := p.advance()
	begun := false
	for err == nil && p.tok.kind != tokenEnd {
		if err = p.topLevel(); err == nil {
			begun = true
		}
	}
	if err != nil {
		err = &SyntaxError{Line: p.tok.line, Err: err}
		if !begun || errors.Is(err, trace.ErrUnsupported) {
			return nil, err
		}
	}
	return p.trace, err
}

// blocks are the blocks that may stand outside all others.
var blocks = map[string]func(*parser) error{
	"trace":    (*parser).traceBlock,
	"env":      (*parser).envBlock,
	"clock":    (*parser).clockBlock,
	"stream":   (*parser).streamBlock,
	"event":    (*parser).eventBlock,
	"callsite": func(p *parser) error { return p.block(nil, nil) },
}

func (p *parser) topLevel() error {
	if read := blocks[string(p.tok.text)]; read != nil && p.tok.kind == tokenName {
		if err := p.advance(); err != nil {
			return err
		}
		if err := read(p); err != nil {
			return err
		}
		return p.expect(";")
	}
	done, err := p.declaration()
	if err == nil && !done {
		err = p.misplaced("a block")
	}
	return err
}

// declaration reads the definition of a named type, if there is one.
func (p *parser) declaration() (bool, error) {
	switch {
	case p.tok.kind != tokenName:
		return false, nil
	case p.tok.is("typealias"):
		return true, p.typealias()
	case p.tok.is("typedef"):
		return true, p.typedef()
	case p.tok.is("struct"), p.tok.is("enum"), p.tok.is("variant"):
		if _, err := p.typeSpec(); err != nil {
			return true, err
		}
		return true, p.expect(";")
	}
	return false, nil
}

func (p *parser) typealias() error {
	if err := p.advance(); err != nil {
		return err
	}
	t, err := p.typeSpec()
	if err != nil {
		return err
	}
	if err := p.expect(":="); err != nil {
		return err
	}
	var words []string
	for p.tok.kind == tokenName || p.tok.is("*") {
		words = append(words, string(p.tok.text))
		if err := p.advance(); err != nil {
			return err
		}
	}
	if len(words) == 0 {
		return binread.Malformed("typealias without a name")
	}
	p.define(strings.Join(words, " "), t)
	return p.expect(";")
}

func (p *parser) typedef() error {
	if err := p.advance(); err != nil {
		return err
	}
	fields, err := p.declarators()
	for _, f := range fields {
		p.define(f.Name, f.Type)
	}
	return err
}

func (p *parser) define(name string, t *Type) { p.scope.types[name] = t }

// A value is the right side of an attribute.
type value struct {
	text   string
	quoted bool
}

func (v value) number() (uint64, error) {
	digits, minus := strings.CutPrefix(v.text, "-")
	t := token{text: []byte(strings.TrimPrefix(digits, "+"))}
	n, err := t.number()
	if minus {
		n = -n
	}
	return n, err
}

// block reads attributes between braces. It passes types to assign, and other values to
// set, with the attribute's name; either may be nil.
func (p *parser) block(set func(key string, v value) error, assign func(key string, t *Type) error) error {
	return p.scoped(func() error {
		if done, err := p.declaration(); done || err != nil {
			return err
		}
		return p.attribute(set, assign)
	})
}

// scoped reads a block in braces, item by item, in a scope of its own.
func (p *parser) scoped(item func() error) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	p.scope = &scope{outer: p.scope, types: map[string]*Type{}}
	defer func() { p.scope = p.scope.outer }()
	for !p.tok.is("}") {
		if err := item(); err != nil {
			return err
		}
	}
	return p.advance()
}

func (p *parser) attribute(set func(string, value) error, assign func(string, *Type) error) error {
	var key strings.Builder
	for p.tok.kind == tokenName || p.tok.is(".") {
		key.Write(p.tok.text)
		if err := p.advance(); err != nil {
			return err
		}
	}
	switch {
	case p.tok.is("="):
		if err := p.advance(); err != nil {
			return err
		}
		v, err := p.value()
		if err == nil && set != nil {
			err = set(key.String(), v)
		}
		if err != nil {
			return err
		}
	case p.tok.is(":="):
		if err := p.advance(); err != nil {
			return err
		}
		t, err := p.typeSpec()
		if err == nil && assign != nil {
			err = assign(key.String(), t)
		}
		if err != nil {
			return err
		}
	default:
		return p.misplaced("an attribute")
	}
	return p.expect(";")
}

// value reads up to a semicolon.
func (p *parser) value() (value, error) {
	var text strings.Builder
	v := value{quoted: p.tok.kind == tokenString}
	for !p.tok.is(";") && !p.tok.is("}") && p.tok.kind != tokenEnd {
		if p.tok.kind == tokenString {
			text.WriteString(p.tok.unquoted())
		} else {
			text.Write(p.tok.text)
		}
		if err := p.advance(); err != nil {
			return v, err
		}
	}
	v.text = text.String()
	return v, nil
}

func (p *parser) traceBlock() error {
	return p.block(func(key string, v value) (err error) {
		switch key {
		case "major", "minor":
			n, err := v.number()
			if want := map[string]uint64{"major": 1, "minor": 8}[key]; err == nil && n != want {
				return fmt.Errorf("%w: %s %d of CTF", trace.ErrUnsupportedVersion, key, n)
			}
			return err
		case "uuid":
			p.trace.UUID, err = parseUUID(v.text)
		case "byte_order":
			p.trace.ByteOrder, err = parseOrder(v.text)
		}
		return err
	}, func(key string, t *Type) error {
		if key == "packet.header" {
			p.trace.PacketHeader = t
		}
		return nil
	})
}

func (p *parser) envBlock() error {
	return p.block(func(key string, v value) error {
		p.trace.Env[key] = v.text
		return p.part()
	}, nil)
}

func (p *parser) clockBlock() error {
	c := &Clock{Frequency: 1e9}
	var err error
	err = p.block(func(key string, v value) error {
		var n uint64
		switch key {
		case "name":
			c.Name = v.text
			return nil
		case "freq", "offset", "offset_s":
			if n, err = v.number(); err != nil {
				return err
			}
		}
		switch key {
		case "freq":
			c.Frequency = n
		case "offset":
			c.Cycles = int64(n)
		case "offset_s":
			c.Seconds = int64(n)
		}
		return nil
	}, nil)
	if err == nil {
		err = p.addClock(c)
	}
	return err
}

func (p *parser) streamBlock() error {
	var s Stream
	err := p.block(func(key string, v value) (err error) {
		if key == "id" {
			s.ID, err = v.number()
		}
		return err
	}, func(key string, t *Type) error {
		switch key {
		case "packet.context":
			s.PacketContext = t
		case "event.header":
			s.EventHeader = t
		case "event.context":
			s.EventContext = t
		}
		return nil
	})
	if err == nil {
		err = p.addStream(s)
	}
	return err
}

func (p *parser) eventBlock() error {
	var e Event
	var stream uint64
	err := p.block(func(key string, v value) (err error) {
		switch key {
		case "id":
			e.ID, err = v.number()
		case "stream_id":
			stream, err = v.number()
		case "name":
			e.Name = v.text
		}
		return err
	}, func(key string, t *Type) error {
		switch key {
		case "context":
			e.Context = t
		case "fields":
			e.Payload = t
		}
		return nil
	})
	if err == nil {
		err = p.addEvent(stream, &e)
	}
	return err
}

func (p *parser) advance() error {
	tok, err := p.lex.next()
	p.tok = tok
	return err
}

// expect skips a sign or a word.
func (p *parser) expect(text string) error {
	if !p.tok.is(text) {
		return p.misplaced(strconv.Quote(text))
	}
	return p.advance()
}

// misplaced returns an error at the current token: something else belongs there.
func (p *parser) misplaced(belongs string) error {
	if p.tok.kind == tokenEnd {
		return binread.Malformed("the text ends where %s belongs", belongs)
	}
	return binread.Malformed("%.40q where %s belongs", p.tok.text, belongs)
}

func parseOrder(s string) (ByteOrder, error) {
	switch s {
	case "le":
		return LittleEndian, nil
	case "be", "network":
		return BigEndian, nil
	case "native":
		return Native, nil
	}
	return Native, binread.Malformed("byte order %.40q", s)
}

func parseUUID(s string) (id [16]byte, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != len(id) {
		return id, binread.Malformed("UUID %.40q", s)
	}
	copy(id[:], b)
	return id, nil
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return false, binread.Malformed("%.40q where true or false belongs", s)
	}
	return n != 0, nil
}
