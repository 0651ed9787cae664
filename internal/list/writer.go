package list

import (
	"io"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/text"
)

// The formats of lists. The command lays out tables, from Columns and Cells.
const (
	Table   = "table"
	JSONL   = "jsonl"
	CSV     = "csv"
	Parquet = "parquet"
)

// Formats returns the names of the formats.
func Formats() []string { return []string{Table, JSONL, CSV, Parquet} }

// A File is the output of a list in a format other than a table. All rows in it have the
// same fields, whichever trace they are from.
type File struct {
	Out    io.Writer
	Format string
	Name   string // of the table in parquet
	Raw    bool   // csv leaves text as it is, even if a spreadsheet would take it for a formula

	headed bool // csv
	rows   *parquet.RowWriter
	names  []string
	values []figure.Value // of a row, kept for the next one
	line   []byte
}

// A Writer writes rows to a file.
type Writer[R any] struct {
	*File
	Fields []Field[R]

	// AppendLine appends a row as a JSON line. Nil stands for an object of the fields.
	AppendLine func(dst []byte, r *R) []byte
}

// NewWriter returns a writer of rows. All writers of a file have the same fields.
func NewWriter[R any](f *File, fields []Field[R]) *Writer[R] {
	f.names = Names(fields)
	if f.Format == Parquet && f.rows == nil {
		columns := text.Each(fields, func(f *Field[R]) parquet.Column { return parquet.Column{Name: f.Name, Type: f.Type} })
		f.rows = parquet.NewRowWriter(f.Out, f.Name, columns)
	}
	return &Writer[R]{File: f, Fields: fields}
}

// Head writes the headings of csv, unless the file has them.
func (f *File) Head() error {
	if f.Format != CSV || f.headed {
		return nil
	}
	f.headed = true
	headings := text.Each(f.names, func(name *string) figure.Value { return Word(*name) })
	_, err := f.Out.Write((&export.CSV{Raw: true}).AppendRow(nil, headings))
	return err
}

// Rows writes rows, and the headings of csv before them.
func (w *Writer[R]) Rows(rows []R) error {
	if err := w.Head(); err != nil {
		return err
	}
	for i := range rows {
		if err := w.Row(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// Row writes a row.
func (w *Writer[R]) Row(r *R) error {
	w.line, w.values = w.line[:0], w.values[:0]
	if w.Format == JSONL && w.AppendLine != nil {
		w.line = w.AppendLine(w.line, r)
		_, err := w.Out.Write(w.line)
		return err
	}
	for i := range w.Fields {
		w.values = append(w.values, w.Fields[i].Value(r))
	}
	switch w.Format {
	case JSONL:
		w.line = jsonl.AppendRow(w.line, w.names, w.values)
	case CSV:
		w.line = (&export.CSV{Raw: w.Raw}).AppendRow(w.line, w.values)
	case Parquet:
		return w.rows.Add(w.values)
	}
	_, err := w.Out.Write(w.line)
	return err
}

// Close writes the end of the file. It does not close the output.
func (f *File) Close() error {
	if f.rows == nil {
		return nil
	}
	return f.rows.Close()
}
