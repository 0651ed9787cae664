package list

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// Word returns a word, unknown if it is empty.
func Word(s string) column.Value {
	if s == "" {
		return column.Value{}
	}
	return column.Value{Type: column.Text, Text: s}
}

// Words returns a list of words.
func Words(words []string) column.Value {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ReplaceAll(w, "\n", " ") + "\n")
	}
	return column.Value{Type: column.List, Text: b.String()}
}

// Count returns a whole number.
func Count[T ~int | ~int64 | ~uint16 | ~uint32](n T) column.Value {
	return column.Value{Type: column.Int, Int: int64(n)}
}

// PID returns the id of a process, which may be unknown.
func PID(pid uint64) column.Value {
	return If(pid != trace.UnknownID, column.Value{Type: column.Int, Int: int64(pid)})
}

// Bool returns yes or no.
func Bool(v bool) column.Value {
	n := int64(0)
	if v {
		n = 1
	}
	return column.Value{Type: column.Bool, Int: n}
}

// Bytes returns a size.
func Bytes(n int64) column.Value { return column.Value{Type: column.Bytes, Int: n} }

// Time returns a duration, or a time since the start of the trace.
func Time(d time.Duration) column.Value { return column.Value{Type: column.Millis, Int: int64(d)} }

// Float returns a number.
func Float(v float64) column.Value { return column.Value{Type: column.Float, Float: v} }

// Percent returns a share in percent.
func Percent(v float64) column.Value { return column.Value{Type: column.Percent, Float: v} }

// Share returns n's part of all, in percent. It is unknown of nothing.
func Share(n, all int64) column.Value { return If(all != 0, Percent(100*float64(n)/float64(all))) }

// If returns v if it is known.
func If(known bool, v column.Value) column.Value {
	if !known {
		return column.Value{}
	}
	return v
}

// Opt returns a figure as value makes it, or the unknown value.
func Opt[T any](figure gc.Opt[T], value func(T) column.Value) column.Value {
	if v, known := figure.Get(); known {
		return value(v)
	}
	return column.Value{}
}

// compareValues orders large numbers first, words alphabetically, and unknown values
// last.
func compareValues(a, b column.Value) int {
	switch {
	case a.Type == column.Unknown || b.Type == column.Unknown:
		return cmp.Compare(b.Type, a.Type)
	case a.Type == column.Text || a.Type == column.List:
		return cmp.Compare(a.Text, b.Text)
	}
	return cmp.Or(cmp.Compare(b.Int, a.Int), cmp.Compare(b.Float, a.Float))
}

// whole are the fields that tables write without separators, so that ids can be copied, and
// without decimals, because the runtime counts whole percents.
var whole = map[string]bool{"pid": true, "clr_instance": true, "number": true, "memory_load_pct": true}

// cell returns a value for people: times in ms, sizes in MB.
func (f *Field[R]) cell(v column.Value) string {
	switch v.Type {
	case column.Text:
		return v.Text
	case column.Int:
		if whole[f.Name] {
			return strconv.FormatInt(v.Int, 10)
		}
		return units.Count(v.Int)
	case column.Bool:
		if v.Int != 0 {
			return "yes"
		}
		return "no"
	case column.Bytes:
		return units.MB(v.Int)
	case column.Millis:
		return units.Millis(time.Duration(v.Int))
	case column.Float, column.Percent:
		if whole[f.Name] {
			return strconv.FormatFloat(v.Float, 'f', 0, 64)
		}
		return units.Share(v.Float)
	default:
		return "-"
	}
}
