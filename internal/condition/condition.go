// Package condition selects the collections that meet a condition, such as
//
//	gen=2 and (pause>200ms or suspend>50ms)
//
// A condition compares figures with values. Comparisons are joined by and, which
// binds more tightly, and or; parentheses are allowed. The operators are > >= < <=
// = and !=. The table in gc/figure has the names, and the form of their values.
//
// An unknown figure of a collection meets no comparison, not even !=.
package condition

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
)

// A Condition is a test that a finished collection passes or fails. It is not changed by
// use, and may be used by several goroutines.
type Condition struct {
	text string
	root node
}

// Parse reads a condition. The error is an *Error.
func Parse(text string) (*Condition, error) {
	p := parser{text: text}
	p.next()
	root, err := p.either(0)
	if err == nil && p.tok.kind != tokenEnd {
		err = p.wrong("%s where and, or or the end of the condition is expected", p.tok)
	}
	if err != nil {
		return nil, err
	}
	return &Condition{text, root}, nil
}

// String returns the text that was parsed.
func (c *Condition) String() string { return c.text }

// Holds reports whether a collection meets the condition.
func (c *Condition) Holds(col *gc.Collection) bool { return c.root.holds(col) }

// A node is a part of a condition.
type node interface{ holds(*gc.Collection) bool }

// all holds where each of its parts does.
type all []node

func (a all) holds(c *gc.Collection) bool {
	for _, n := range a {
		if !n.holds(c) {
			return false
		}
	}
	return true
}

// some holds where one of its parts does.
type some []node

func (s some) holds(c *gc.Collection) bool {
	for _, n := range s {
		if n.holds(c) {
			return true
		}
	}
	return false
}

// An amount compares a figure that is a number.
type amount struct {
	of    func(*gc.Collection) figure.Value
	op    operator
	value float64 // of times, in nanoseconds
}

func (a *amount) holds(c *gc.Collection) bool {
	switch v := a.of(c); v.Type {
	case figure.Unknown:
		return false
	case figure.Percent, figure.Rate:
		return a.op.holds(v.Float(), a.value)
	default:
		return a.op.holds(float64(v.Int), a.value)
	}
}

// A name compares a figure that is one of several words.
type name struct {
	of   func(*gc.Collection) figure.Value
	op   operator
	word string
}

func (n *name) holds(c *gc.Collection) bool {
	v := n.of(c)
	return v.Type != figure.Unknown && (v.Text == n.word) == (n.op == equal)
}

type operator uint8

const (
	greater operator = iota
	atLeast
	less
	atMost
	equal
	unequal
)

// operators has longer ones before their prefixes.
var operators = [...]struct {
	text string
	is   operator
}{
	{">=", atLeast}, {"<=", atMost}, {"!=", unequal}, {"==", equal}, {">", greater}, {"<", less}, {"=", equal},
}

func (op operator) holds(v, than float64) bool {
	switch op {
	case greater:
		return v > than
	case atLeast:
		return v >= than
	case less:
		return v < than
	case atMost:
		return v <= than
	case equal:
		return v == than
	default:
		return v != than
	}
}
