// Package list writes rows of figures in every format of a listing: as tables for people,
// JSON lines, CSV and Parquet. A command states its fields once.
package list

import (
	"slices"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/text"
)

// A Field is one figure of rows of type R.
type Field[R any] struct {
	Name    string      // key in JSON, and heading in csv
	Heading string      // in tables, which leave out a field without one
	Type    figure.Type // of the values that are known
	Value   func(*R) figure.Value
	Is      func(*R) gc.Certainty // by which tables mark the value; nil for no mark
	Form    figure.Form           // in tables; 0 for that of the figure of this name, if there is one

	Left   bool // aligned
	Rank   int  // in tables, the fields with the highest are left out first if there is no room
	Varies bool // left out of tables while all rows have the same value
}

// Names returns the names of fields.
func Names[R any](fields []Field[R]) []string {
	return text.Each(fields, func(f *Field[R]) string { return f.Name })
}

// Columns returns the columns of a table of fields.
func Columns[R any](fields []Field[R]) []text.Column {
	var columns []text.Column
	for i := range fields {
		if f := &fields[i]; f.Heading != "" {
			columns = append(columns, text.Column{Heading: f.Heading, Left: f.Left, Rank: f.Rank, Varies: f.Varies})
		}
	}
	return columns
}

// Cells returns the cells of a row of the table that Columns describes.
func Cells[R any](fields []Field[R], r *R) []string {
	cells := make([]string, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		if f.Heading == "" {
			continue
		}
		cell := f.cell(f.Value(r))
		if f.Is != nil {
			cell = f.Is(r).Mark() + cell
		}
		cells = append(cells, cell)
	}
	return cells
}

// Sort sorts rows by the field of a name: large numbers first, words alphabetically, and
// unknown values last. Rows stay as they are if there is no such field.
func Sort[R any](rows []R, fields []Field[R], name string) {
	i := slices.IndexFunc(fields, func(f Field[R]) bool { return f.Name == name })
	if i < 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b R) int { return compareValues(fields[i].Value(&a), fields[i].Value(&b)) })
}
