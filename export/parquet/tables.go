package parquet

import (
	"io"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/column"
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
func Collections(w io.Writer, start func() time.Time, columns []column.Column) *Writer {
	fields := []field[*gc.Collection]{{"start_time", column.Time, func(c *gc.Collection) column.Value {
		at, known := c.Start.Get()
		if !known {
			return column.Value{}
		}
		return column.Instant(start(), at)
	}}}
	for _, c := range columns {
		fields = append(fields, field[*gc.Collection]{c.Name, c.Type(), c.Value})
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
		c, _ := column.Named(name)
		fields = append(fields, field[part[T]]{name, c.Type(), func(p part[T]) column.Value { return c.Value(p.collection) }})
	}
	return fields
}

// parts returns the columns of a table of parts that are not of the collection.
func parts[T any](figures []figure.Part[T]) []field[part[T]] {
	var fields []field[part[T]]
	for _, f := range figures {
		fields = append(fields, field[part[T]]{f.Key, f.Type, func(p part[T]) column.Value { return f.Value(p.of) }})
	}
	return fields
}

// Pauses returns a Writer with a row for each pause.
func Pauses(w io.Writer) *Writer {
	t := newTable(w, "pauses", append(identity[gc.Pause](), parts(figure.OfPause())...))
	return &Writer{func(c *gc.Collection) error {
		for i := range c.Pauses {
			if err := t.add(part[gc.Pause]{c, &c.Pauses[i]}); err != nil {
				return err
			}
		}
		return nil
	}, t.close}
}

// Generations returns a Writer with a row for each generation of each collection.
func Generations(w io.Writer) *Writer {
	fields := append(identity[gc.Generation](), parts(figure.OfGeneration())...)
	for i := range fields {
		if fields[i].name == "name" {
			fields[i].name = "generation"
		}
	}
	t := newTable(w, "generations", fields)
	return &Writer{func(c *gc.Collection) error {
		for i := range c.Generations {
			if err := t.add(part[gc.Generation]{c, &c.Generations[i]}); err != nil {
				return err
			}
		}
		return nil
	}, t.close}
}

// A sampled row is a row of allocations with the process that it belongs to.
type sampled struct {
	of  *export.Allocations
	row *alloc.Row
}

// WriteAllocations writes a row for each type, heap and stack. Stacks are names
// with newlines between them, leaf first.
func WriteAllocations(w io.Writer, processes []*export.Allocations) error {
	number := func(t column.Type, v int64) column.Value { return column.Value{Type: t, Int: v} }
	text := func(s string) column.Value {
		if s == "" {
			return column.Value{}
		}
		return column.Value{Type: column.Text, Text: s}
	}
	t := newTable(w, "allocations", []field[sampled]{
		{"pid", column.Int, func(s sampled) column.Value {
			if s.of.Process.PID == trace.UnknownID {
				return column.Value{}
			}
			return number(column.Int, int64(s.of.Process.PID))
		}},
		{"process", column.Text, func(s sampled) column.Value { return text(s.of.Process.Name) }},
		{"type", column.Text, func(s sampled) column.Value { return text(s.row.Type) }},
		{"heap", column.Text, func(s sampled) column.Value { return text(s.row.Heap.String()) }},
		{"samples", column.Int, func(s sampled) column.Value { return number(column.Int, s.row.Samples) }},
		{"objects", column.Int, func(s sampled) column.Value {
			if s.row.Objects == 0 {
				return column.Value{}
			}
			return number(column.Int, s.row.Objects)
		}},
		{"bytes", column.Bytes, func(s sampled) column.Value { return number(column.Bytes, s.row.Bytes) }},
		{"low_bytes", column.Bytes, func(s sampled) column.Value { return number(column.Bytes, s.row.Low) }},
		{"high_bytes", column.Bytes, func(s sampled) column.Value {
			if s.row.Open {
				return column.Value{}
			}
			return number(column.Bytes, s.row.High)
		}},
		{"stack", column.Text, func(s sampled) column.Value { return text(stack(s)) }},
		{"source", column.Text, func(s sampled) column.Value { return text(s.row.Source.String()) }},
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
