package parquet

import (
	"io"

	"github.com/gctrail/gctrail/gc/figure"
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
