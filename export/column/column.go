// Package column defines the figures of a collection as columns of a table.
// Their names are the keys of the JSON lines format; nested keys are flattened,
// as in gen0_before_bytes.
package column

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/enum"
)

// A Column is one figure of every collection. Sizes are in bytes, times count
// from the trace's start.
type Column struct {
	Name  string
	Value func(*gc.Collection) Value
}

// A Value is the value of one column for one collection. The zero Value is
// unknown.
type Value struct {
	Type  Type
	Text  string  // of Text; of List the words, each followed by a newline
	Int   int64   // of Int and Bytes; nanoseconds of Millis, and of Time since 1970; 0 or 1 of Bool
	Float float64 // of Float and Percent
}

// Type states which field of a Value is set, and its unit.
type Type uint8

const (
	Unknown Type = iota
	Text
	Int
	Float
	Bool
	Bytes
	Millis // a duration or a point in time
	Percent
	List
	Time // a point of wall-clock time
)

var typeNames = [...]string{"unknown", "text", "int", "float", "bool", "bytes", "millis", "percent", "list", "time"}

func (t Type) String() string { return enum.Name("Type", typeNames[:], t) }

func text(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{Type: Text, Text: s}
}

func integer[T ~int | ~int64 | ~uint16 | ~uint32 | ~uint64](v T) Value {
	return Value{Type: Int, Int: int64(v)}
}

func boolean(v bool) Value {
	if v {
		return Value{Type: Bool, Int: 1}
	}
	return Value{Type: Bool}
}

func millis(d time.Duration) Value { return Value{Type: Millis, Int: int64(d)} }

func percent(v float64) Value { return Value{Type: Percent, Float: v} }

func bytes(v int64) Value { return Value{Type: Bytes, Int: v} }

// opt returns v's value, or the unknown one.
func opt[T any](v gc.Opt[T], value func(T) Value) Value {
	figure, ok := v.Get()
	if !ok {
		return Value{}
	}
	return value(figure)
}

// Instant returns the wall-clock time that is some time after the start of a trace,
// unknown if no count of nanoseconds since 1970 holds it.
func Instant(start time.Time, after time.Duration) Value {
	at := start.Add(after)
	if y := at.Year(); y < 1678 || y > 2261 {
		return Value{}
	}
	return Value{Type: Time, Int: at.UnixNano()}
}

// Named returns the column with a name.
func Named(name string) (Column, bool) {
	for _, c := range all() {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}
