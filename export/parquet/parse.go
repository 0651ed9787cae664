package parquet

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/trace"
)

// A parser reads structures in Thrift's compact protocol. After the first failure
// it reads zeros, and err has that failure.
type parser struct {
	src []byte
	err error
}

// maxDepth bounds how deep structures lie in one another.
const maxDepth = 32

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.src = nil
}

func (p *parser) byte() byte {
	if len(p.src) == 0 {
		p.fail(trace.ErrMalformed)
		return 0
	}
	b := p.src[0]
	p.src = p.src[1:]
	return b
}

func (p *parser) varint() int64 {
	v, n := binary.Varint(p.src)
	if n <= 0 {
		p.fail(trace.ErrMalformed)
		return 0
	}
	p.src = p.src[n:]
	return v
}

func (p *parser) length() int {
	v, n := binary.Uvarint(p.src)
	if n <= 0 || v > uint64(len(p.src)) {
		p.fail(trace.ErrMalformed)
		return 0
	}
	p.src = p.src[n:]
	return int(v)
}

func (p *parser) text() string {
	n := p.length()
	if n > len(p.src) {
		p.fail(trace.ErrMalformed)
		return ""
	}
	s := string(p.src[:n])
	p.src = p.src[n:]
	return s
}

// readers read the fields of a structure, by their numbers; others are skipped.
type readers map[int16]func()

// structure reads a structure.
func (p *parser) structure(read readers) {
	p.each(func(number int16, typ byte) {
		if read := read[number]; read != nil {
			read()
		} else {
			p.skip(typ, 0)
		}
	})
}

// each calls field with the number and type of each field of a structure, which it must read.
func (p *parser) each(field func(number int16, typ byte)) {
	last := int16(0)
	for p.err == nil {
		head := p.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			last += int16(delta)
		} else {
			last = int16(p.varint())
		}
		field(last, head&15)
	}
}

// keyValue reads a KeyValue.
func (p *parser) keyValue() (key, value string) {
	p.each(func(number int16, typ byte) {
		switch {
		case typ != thriftBinary:
			p.skip(typ, 0)
		case number == 1:
			key = p.text()
		case number == 2:
			value = p.text()
		default:
			p.skip(typ, 0)
		}
	})
	return key, value
}

// list reads the head of a list: how many elements of which type follow.
func (p *parser) list() (n int, typ byte) {
	head := p.byte()
	if n = int(head >> 4); n == 15 {
		n = p.length()
	}
	return n, head & 15
}

// listOf reads the head of a list of at most most structures.
func (p *parser) listOf(most int) int {
	n, typ := p.list()
	if typ != thriftStruct || n > most {
		p.fail(trace.ErrMalformed)
		return 0
	}
	return n
}

// skip reads a field that is of no interest.
func (p *parser) skip(typ byte, depth int) {
	if depth > maxDepth {
		p.fail(trace.ErrMalformed)
		return
	}
	switch typ {
	case 1, 2: // a boolean is its type
	case 3:
		p.byte()
	case 4, thriftI32, thriftI64:
		p.varint()
	case 7:
		for range 8 {
			p.byte()
		}
	case thriftBinary:
		p.text()
	case thriftList:
		n, of := p.list()
		for i := 0; i < n && p.err == nil; i++ {
			p.skip(of, depth+1)
		}
	case thriftStruct:
		p.each(func(_ int16, typ byte) { p.skip(typ, depth+1) })
	default:
		p.fail(trace.ErrMalformed)
	}
}
