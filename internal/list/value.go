package list

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// Word returns a word, unknown if it is empty.
func Word(s string) figure.Value {
	if s == "" {
		return figure.Value{}
	}
	return figure.Value{Type: figure.Text, Text: s}
}

// Words returns a list of words.
func Words(words []string) figure.Value {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ReplaceAll(w, "\n", " ") + "\n")
	}
	return figure.Value{Type: figure.List, Text: b.String()}
}

// Numbers returns a list of whole numbers.
func Numbers(numbers []uint32) figure.Value {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return figure.Value{Type: figure.Numbers, Text: string(b)}
}

// Count returns a whole number.
func Count[T ~int | ~int64 | ~uint16 | ~uint32](n T) figure.Value {
	return figure.Value{Type: figure.Int, Int: int64(n)}
}

// PID returns the id of a process, which may be unknown.
func PID(pid uint64) figure.Value {
	return If(pid != trace.UnknownID, figure.Value{Type: figure.Int, Int: int64(pid)})
}

// Bool returns yes or no.
func Bool(v bool) figure.Value {
	n := int64(0)
	if v {
		n = 1
	}
	return figure.Value{Type: figure.Bool, Int: n}
}

// Bytes returns a size.
func Bytes(n int64) figure.Value { return figure.Value{Type: figure.Bytes, Int: n} }

// Time returns a duration, or a time since the start of the trace.
func Time(d time.Duration) figure.Value { return figure.Value{Type: figure.Millis, Int: int64(d)} }

// Float returns a number.
func Float(v float64) figure.Value { return figure.Number(figure.Float, v) }

// Percent returns a share in percent.
func Percent(v float64) figure.Value { return figure.Number(figure.Percent, v) }

// Share returns n's part of all, in percent. It is unknown of nothing.
func Share(n, all int64) figure.Value { return If(all != 0, Percent(100*float64(n)/float64(all))) }

// If returns v if it is known.
func If(known bool, v figure.Value) figure.Value {
	if !known {
		return figure.Value{}
	}
	return v
}

// Opt returns a figure as value makes it, or the unknown value.
func Opt[T any](of gc.Opt[T], value func(T) figure.Value) figure.Value {
	if v, known := of.Get(); known {
		return value(v)
	}
	return figure.Value{}
}

// compareValues orders large numbers first, words alphabetically, and unknown values
// last.
func compareValues(a, b figure.Value) int {
	switch {
	case a.Type == figure.Unknown || b.Type == figure.Unknown:
		return cmp.Compare(b.Type, a.Type)
	case a.Type == figure.Text || a.Type == figure.List || a.Type == figure.Numbers:
		return cmp.Compare(a.Text, b.Text)
	case a.Type == figure.Float || a.Type == figure.Percent:
		return cmp.Compare(b.Float(), a.Float())
	}
	return cmp.Compare(b.Int, a.Int)
}

// cell returns a value for people: times in ms, sizes in MB.
func (f *Field[R]) cell(v figure.Value) string {
	form := f.Form
	if form == figure.FormOfType {
		of, _ := figure.Named(f.Name)
		form = of.Form
	}
	switch v.Type {
	case figure.Text:
		return v.Text
	case figure.Numbers:
		return strings.ReplaceAll(v.Text, " ", ", ")
	case figure.Int:
		if form == figure.FormPlain {
			return strconv.FormatInt(v.Int, 10)
		}
		return units.Count(v.Int)
	case figure.Bool:
		if v.Int != 0 {
			return "yes"
		}
		return "no"
	case figure.Bytes:
		return units.MB(v.Int)
	case figure.Millis:
		if form == figure.FormMoment {
			return units.Moment(time.Duration(v.Int))
		}
		return units.Millis(time.Duration(v.Int))
	case figure.Float, figure.Percent:
		if form == figure.FormPlain {
			return strconv.FormatFloat(v.Float(), 'f', 0, 64)
		}
		return units.Share(v.Float())
	default:
		return units.Unknown
	}
}
