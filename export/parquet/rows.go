package parquet

import (
	"io"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/trace"
)

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

func integer(n int64) figure.Value { return figure.Value{Type: figure.Int, Int: n} }

func size(bytes int64) figure.Value { return figure.Value{Type: figure.Bytes, Int: bytes} }

// text returns a text, unknown if it is empty.
func text(s string) figure.Value { return known(s != "", figure.Value{Type: figure.Text, Text: s}) }

// id returns the id of a process or thread, which may be unknown.
func id(v uint64) figure.Value { return known(v != trace.UnknownID, integer(int64(v))) }

// known returns v if it is known.
func known(is bool, v figure.Value) figure.Value {
	if !is {
		return figure.Value{}
	}
	return v
}
