package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
)

// tableGCs writes the collections of each trace as a table.
type tableGCs struct {
	std     *stdio
	out     *output
	columns []column.Column
	shape   text.Table // of each trace's table, empty
	asked   bool       // the columns are the user's choice
	several bool       // traces: each has its name above it
	begun   int        // traces
	table   text.Table
}

// newTableGCs makes tables of columns; nil means the default ones.
func newTableGCs(std *stdio, out *output, columns []column.Column, several bool) *tableGCs {
	w := &tableGCs{std: std, out: out, columns: columns, asked: columns != nil, several: several}
	w.shape = text.Table{W: out}
	if out.file == nil {
		std.paged(out)
		w.shape.Bold = std.outTerm.Colour
		w.shape.Width = std.outTerm.Width
	}
	for _, c := range columns {
		w.shape.Columns = append(w.shape.Columns, text.Column{Heading: heading(c.Name), Left: leftAligned[c.Name], Rank: 1})
	}
	if columns == nil {
		for _, d := range defaultColumns {
			c, _ := column.Named(d.name)
			w.columns = append(w.columns, c)
			w.shape.Columns = append(w.shape.Columns, text.Column{Heading: heading(d.name), Left: leftAligned[d.name], Rank: d.rank, Varies: d.varies})
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

func (w *tableGCs) collection(c *gc.Collection) error { return w.table.Row(row(w.columns, c)) }

// end writes the rest of a table. It warns if columns that the user named are left out.
func (w *tableGCs) end() error {
	err := w.table.Flush()
	if w.asked && w.table.LeftOut > 0 {
		w.std.warn("gctrail", "this terminal is too narrow for "+text.Plural(int64(w.table.LeftOut), "column", "columns")+"; to see all columns, pipe the output to less -S")
	}
	return err
}
