package parquet

import (
	"io"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/trace"
)

// A Writer writes one row for each collection, or several.
type Writer struct {
	add   func(*gc.Collection) error
	close func() error
}

// Add writes the rows of a collection.
func (w *Writer) Add(c *gc.Collection) error { return w.add(c) }

// Close ends the file. It does not close the underlying writer.
func (w *Writer) Close() error { return w.close() }

// Collections returns a Writer with a row for each collection: start_time, and the
// given columns. Start returns the wall-clock time of the start of the trace that the
// collection is of.
func Collections(w io.Writer, start func() time.Time, columns []figure.Figure) *Writer {
	fields := []field[*gc.Collection]{{"start_time", figure.Time, func(c *gc.Collection) figure.Value {
		at, known := c.Start.Get()
		if !known {
			return figure.Value{}
		}
		return figure.Instant(start(), at)
	}}}
	for _, c := range columns {
		fields = append(fields, field[*gc.Collection]{c.Key, c.Type, c.Value})
	}
	t := newTable(w, "collections", fields)
	return &Writer{t.add, t.close}
}

// A part is a pause or a generation, with the collection that it belongs to.
type part[T any] struct {
	collection *gc.Collection
	of         *T
}

// identity returns the columns that a table of parts shares with that of
// collections.
func identity[T any]() []field[part[T]] {
	var fields []field[part[T]]
	for _, name := range []string{"pid", "process", "clr_instance", "number"} {
		c, _ := figure.Named(name)
		fields = append(fields, field[part[T]]{name, c.Type, func(p part[T]) figure.Value { return c.Value(p.collection) }})
	}
	return fields
}

// parts returns the columns of a table of parts that are not of the collection.
func parts[T any](figures []figure.Part[T]) []field[part[T]] {
	var fields []field[part[T]]
	for _, f := range figures {
		fields = append(fields, field[part[T]]{f.Key, f.Type, func(p part[T]) figure.Value { return f.Value(p.of) }})
	}
	return fields
}

// newParts returns a Writer with a row for each part of a collection.
func newParts[T any](w io.Writer, name string, fields []field[part[T]], of func(*gc.Collection) []T) *Writer {
	t := newTable(w, name, append(identity[T](), fields...))
	return &Writer{func(c *gc.Collection) error {
		all := of(c)
		for i := range all {
			if err := t.add(part[T]{c, &all[i]}); err != nil {
				return err
			}
		}
		return nil
	}, t.close}
}

// Pauses returns a Writer with a row for each pause.
func Pauses(w io.Writer) *Writer {
	return newParts(w, "pauses", parts(figure.OfPause()), func(c *gc.Collection) []gc.Pause { return c.Pauses })
}

// Generations returns a Writer with a row for each generation of each collection.
func Generations(w io.Writer) *Writer {
	fields := parts(figure.OfGeneration())
	for i := range fields {
		if fields[i].name == "name" {
			fields[i].name = "generation"
		}
	}
	return newParts(w, "generations", fields, func(c *gc.Collection) []gc.Generation { return c.Generations })
}

// A sampled row is a row of allocations with the process that it belongs to.
type sampled struct {
	of  *export.Allocations
	row *alloc.Row
}

// WriteAllocations writes a row for each type, heap and stack. Stacks are names
// with newlines between them, leaf first.
func WriteAllocations(w io.Writer, processes []*export.Allocations) error {
	t := newTable(w, "allocations", []field[sampled]{
		{"pid", figure.Int, func(s sampled) figure.Value { return id(s.of.Process.PID) }},
		{"process", figure.Text, func(s sampled) figure.Value { return text(s.of.Process.Name) }},
		{"type", figure.Text, func(s sampled) figure.Value { return text(s.row.Type) }},
		{"heap", figure.Text, func(s sampled) figure.Value { return text(s.row.Heap.String()) }},
		{"samples", figure.Int, func(s sampled) figure.Value { return integer(s.row.Samples) }},
		{"objects", figure.Int, func(s sampled) figure.Value { return known(s.row.Objects != 0, integer(s.row.Objects)) }},
		{"bytes", figure.Bytes, func(s sampled) figure.Value { return size(s.row.Bytes) }},
		{"low_bytes", figure.Bytes, func(s sampled) figure.Value { return size(s.row.Low) }},
		{"high_bytes", figure.Bytes, func(s sampled) figure.Value { return known(!s.row.Open, size(s.row.High)) }},
		{"stack", figure.Text, func(s sampled) figure.Value { return text(stack(s)) }},
		{"source", figure.Text, func(s sampled) figure.Value { return text(s.row.Source.String()) }},
	})
	for _, a := range processes {
		for i := range a.Rows {
			if err := t.add(sampled{a, &a.Rows[i]}); err != nil {
				return err
			}
		}
	}
	return t.close()
}

func stack(s sampled) string {
	var frames []string
	for f := range s.of.Frames(s.row) {
		frames = append(frames, f.String())
	}
	return strings.Join(frames, "\n")
}

// A Column is a column of a table whose rows the caller has as values.
type Column struct {
	Name string
	Type figure.Type
}

// A RowWriter writes a table of rows of values.
type RowWriter struct{ table *table[[]figure.Value] }

// NewRowWriter returns a writer of a table.
func NewRowWriter(w io.Writer, name string, columns []Column) *RowWriter {
	fields := make([]field[[]figure.Value], len(columns))
	for i, c := range columns {
		fields[i] = field[[]figure.Value]{c.Name, c.Type, func(row []figure.Value) figure.Value { return row[i] }}
	}
	return &RowWriter{newTable(w, name, fields)}
}

// Add writes a row, which has a value for each column. It does not keep it.
func (w *RowWriter) Add(row []figure.Value) error { return w.table.add(row) }

// Close ends the file. It does not close the underlying writer.
func (w *RowWriter) Close() error { return w.table.close() }

// integer returns a whole number without a unit.
func integer(n int64) figure.Value { return figure.Value{Type: figure.Int, Int: n} }

// size returns a size in bytes.
func size(bytes int64) figure.Value { return figure.Value{Type: figure.Bytes, Int: bytes} }

// text returns a text, unknown if it is empty.
func text(s string) figure.Value { return known(s != "", figure.Value{Type: figure.Text, Text: s}) }

// id returns the id of a process or thread, which may be unknown.
func id(v uint64) figure.Value { return known(v != trace.UnknownID, integer(int64(v))) }

// known returns v, or the unknown value unless is holds.
func known(is bool, v figure.Value) figure.Value {
	if !is {
		return figure.Value{}
	}
	return v
}
