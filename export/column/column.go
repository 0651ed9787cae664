// Package column defines the figures of a collection as columns of a table.
// Their names are the keys of the JSON lines format; nested keys are flattened,
// as in gen0_before_bytes.
package column

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
)

// A Column is one figure of every collection. Sizes are in bytes, times count
// from the trace's start.
type Column struct {
	Name  string
	Value func(*gc.Collection) Value
	typ   Type
}

// A Value is a figure of a collection.
type Value = figure.Value

// A Type determines how a figure is written.
type Type = figure.Type

const (
	Unknown = figure.Unknown
	Text    = figure.Text
	Int     = figure.Int
	Float   = figure.Float
	Bool    = figure.Bool
	Bytes   = figure.Bytes
	Millis  = figure.Millis
	Percent = figure.Percent
	List    = figure.List
	Time    = figure.Time
)

// All returns the columns of a collection, in the order of the JSON lines
// format.
func All() []Column {
	var all []Column
	for _, f := range figure.All() {
		all = append(all, Column{f.Key, f.Value, f.Type})
	}
	return all
}

// Type returns the type of the column's values if they are known.
func (c *Column) Type() Type { return c.typ }

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
	f, found := figure.Named(name)
	return Column{f.Key, f.Value, f.Type}, found
}
