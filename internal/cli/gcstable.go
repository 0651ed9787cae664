package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
)

// tableGCs writes the collections of each trace as a table.
type tableGCs struct {
	std     *stdio
	out     *output
	columns []column.Column
	shape   table // of each trace's table, empty
	asked   bool  // the columns are the user's choice
	several bool  // traces: each has its name above it
	begun   int   // traces
	table   table
}

// newTableGCs makes tables of columns; nil means the default ones.
func newTableGCs(std *stdio, out *output, columns []column.Column, several bool) *tableGCs {
	w := &tableGCs{std: std, out: out, columns: columns, asked: columns != nil, several: several}
	w.shape = table{w: out}
	if out.file == nil {
		w.shape.bold = std.outTerm.colour
		w.shape.width = std.outTerm.width
	}
	for _, c := range columns {
		w.shape.columns = append(w.shape.columns, tableColumn{heading: heading(c.Name), left: leftAligned[c.Name], rank: 1})
	}
	if columns == nil {
		for _, d := range defaultColumns {
			c, _ := column.Named(d.name)
			w.columns = append(w.columns, c)
			w.shape.columns = append(w.shape.columns, tableColumn{heading(d.name), leftAligned[d.name], d.rank})
		}
	}
	return w
}

func (w *tableGCs) begin(r *reading) error {
	w.table = w.shape
	if !w.several {
		return nil
	}
	space := ""
	if w.begun > 0 {
		space = "\n"
	}
	w.begun++
	_, err := fmt.Fprintf(w.out, "%s%s:\n", space, r.in.Name)
	return err
}

func (w *tableGCs) collection(c *gc.Collection) error { return w.table.row(row(w.columns, c)) }

// end writes what is left of a table. Columns that were asked for are not left
// out without a word.
func (w *tableGCs) end() error {
	err := w.table.flush()
	if w.asked && w.table.leftOut > 0 {
		w.std.warn("gctrail", "no room on this terminal for "+plural(int64(w.table.leftOut), "column", "columns")+"; pipe to less -S to see all")
	}
	return err
}
