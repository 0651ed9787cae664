package figure

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A Value is one figure. The zero Value is unknown. It is small enough that functions
// return it in registers, because lists read hundreds for each collection.
type Value struct {
	Type Type
	Int  int64  // of Int and Bytes; nanoseconds of Millis, and of Time since 1970; 0 or 1 of Bool; the bits of Words, and of what Number returns; of Text its number, if the word is one of an enumeration
	Text string // of Text; of List the words, each followed by a newline
}

// Number returns a value of the type Float, Percent or Rate.
func Number(typ Type, v float64) Value { return Value{Type: typ, Int: int64(math.Float64bits(v))} }

// Float returns the number of a value that Number returned.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.Int)) }

// InFiles returns a number in the unit that files have it in, which is milliseconds for times;
// false for words and unknown values.
func (v Value) InFiles() (float64, bool) {
	switch v.Type {
	case Int, Bytes, Bool:
		return float64(v.Int), true
	case Millis:
		return float64(v.Int) / float64(time.Millisecond), true
	case Float, Percent, Rate:
		return v.Float(), true
	}
	return 0, false
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
	Time  // a point of wall-clock time
	Words // the names of bits
	Rate  // bytes a second
	Numbers
)

var typeNames = [...]string{"unknown", "text", "int", "float", "bool", "bytes", "millis", "percent", "list", "time", "words", "rate", "numbers"}

func (t Type) String() string { return units.Name("Type", typeNames[:], t) }

func text(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{Type: Text, Text: s}
}

// An enumeration is a type of numbers that have names.
type enumeration interface {
	~uint8 | ~uint32
	String() string
}

// word returns the name of a value of an enumeration, with its number. An empty name is
// unknown.
func word[T enumeration](v T) Value {
	name := v.String()
	if name == "" {
		return Value{}
	}
	return Value{Type: Text, Text: name, Int: int64(v)}
}

// id returns the id of a process. One beyond what systems give is unknown, because a
// damaged id would otherwise be a negative number in columns.
func id(v uint64) Value {
	if v == trace.UnknownID || v > math.MaxInt64 {
		return Value{}
	}
	return integer(v)
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

func percent[T int | float64](v T) Value { return Number(Percent, float64(v)) }

func bytes(v int64) Value { return Value{Type: Bytes, Int: v} }

// known returns the value of a figure, if the figure is known.
func known[T any](v gc.Opt[T], value func(T) Value) Value {
	if f, ok := v.Get(); ok {
		return value(f)
	}
	return Value{}
}

func count[T ~int | ~int64](v gc.Opt[T]) Value { return known(v, integer) }
func size(v gc.Opt[int64]) Value               { return known(v, bytes) }
func span(v gc.Opt[time.Duration]) Value       { return known(v, millis) }

func bits[T ~uint32](v gc.Opt[T]) Value {
	return known(v, func(set T) Value { return Value{Type: Words, Int: int64(set)} })
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
