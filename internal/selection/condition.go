package selection

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/request"
)

// A Condition selects the collections, or the requests of a program, that meet it, such as
//
//	gen=2 and (pause>200ms or suspend>50ms)
//	request>500ms and paused>50%
//
// It compares figures with values. Comparisons are joined by and, which binds more tightly, and
// or; parentheses are allowed. The operators are > >= < <= = and !=. The table in gc/figure has
// the names of the figures of collections, and the form of their values. A condition is of
// collections or of requests. An unknown figure of a collection meets no comparison, not even !=.
//
// A condition is not changed by use, and may be used by several goroutines.
type Condition struct {
	text       string
	root       node
	ofRequests bool
}

// ParseCondition reads a condition. The error is a *ConditionError.
func ParseCondition(text string) (*Condition, error) {
	p := parser{text: text}
	p.next()
	root, err := p.either(0)
	if err == nil && p.tok.kind != tokenEnd {
		err = p.wrong("%s where and, or or the end of the condition is expected", p.tok)
	}
	if err != nil {
		return nil, err
	}
	return &Condition{text, root, p.ofRequests}, nil
}

// String returns the text that was parsed.
func (c *Condition) String() string { return c.text }

// OfRequests reports whether the condition is of requests, and not of collections.
func (c *Condition) OfRequests() bool { return c.ofRequests }

// Holds reports whether a collection meets the condition.
func (c *Condition) Holds(col *gc.Collection) bool {
	return !c.ofRequests && c.root(subject{collection: col})
}

// HoldsFor reports whether a request that has ended meets the condition.
func (c *Condition) HoldsFor(s *request.Span) bool {
	return c.ofRequests && c.root(subject{request: s})
}

// A subject meets a condition, or does not.
type subject struct {
	collection *gc.Collection
	request    *request.Span
}

// A node is a part of a condition: it reports whether a subject meets it.
type node func(subject) bool

// joined combines parts: with or, one of them has to hold; otherwise all.
func joined(parts []node, or bool) node {
	return func(s subject) bool {
		for _, holds := range parts {
			if holds(s) == or {
				return or
			}
		}
		return !or
	}
}

// amount compares a figure that is a number with a value, of times in nanoseconds.
func amount(of func(subject) figure.Value, op operator, value float64) node {
	return func(s subject) bool {
		switch v := of(s); v.Type {
		case figure.Unknown:
			return false
		case figure.Percent, figure.Rate:
			return op.holds(v.Float(), value)
		default:
			return op.holds(float64(v.Int), value)
		}
	}
}

// name compares a figure that is one of several words.
func name(of func(subject) figure.Value, op operator, word string) node {
	return func(s subject) bool {
		v := of(s)
		return v.Type != figure.Unknown && (v.Text == word) == (op == equal)
	}
}

// An operator is the set of relations between a figure and a value for which it holds.
type operator uint8

const (
	less operator = 1 << iota
	equal
	greater
	unequal = less | greater
)

// operators has longer ones before their prefixes.
var operators = [...]struct {
	text string
	is   operator
}{
	{">=", greater | equal}, {"<=", less | equal}, {"!=", unequal}, {"==", equal}, {">", greater}, {"<", less}, {"=", equal},
}

func (op operator) holds(v, than float64) bool {
	relation := equal
	switch {
	case v < than:
		relation = less
	case v > than:
		relation = greater
	}
	return op&relation != 0
}
