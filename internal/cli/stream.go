package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A stream writes collections while their trace is read: a table for each trace, or all rows to
// one file.
type stream struct {
	std     *stdio
	out     *output
	rows    *list.Writer[heapRow]
	perHeap bool // each heap of a collection has a row
	asked   bool // the columns are the user's choice
	several bool // traces: each has its name above it

	r       *reading
	single  heapRow // of all heaps together, reused
	begun   int     // traces
	missing int     // collections of the trace without heap histories
	table   text.Table
}

// begin begins the rows of a trace.
func (s *stream) begin(r *reading) error {
	s.r, s.missing = r, 0
	s.begun++
	if s.rows.Format != list.Table {
		return s.rows.Head()
	}
	s.table = text.Table{W: s.out, Columns: list.Columns(s.rows.Fields)}
	if s.out.file == nil {
		s.std.paged(s.out)
		s.table.Bold, s.table.Width = s.std.outTerm.Colour, s.std.outTerm.Width
	}
	if !s.several {
		return nil
	}
	space := ""
	if s.begun > 1 {
		space = "\n"
	}
	_, err := fmt.Fprintf(s.out, "%s%s:\n", space, r.Name())
	return err
}

// add writes the rows of a collection; a table may hold them back until end.
func (s *stream) add(c *gc.Collection) error {
	if !s.perHeap {
		s.single.Collection = c
		return s.row(&s.single)
	}
	rows := perHeapRows(c)
	if len(rows) == 0 {
		s.missing++
	}
	for i := range rows {
		if err := s.row(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) row(row *heapRow) error {
	if s.rows.Format == list.Table {
		return s.table.Row(list.Cells(s.rows.Fields, row))
	}
	return s.rows.Row(row)
}

// end writes the rest of a table. It warns of heap histories that the trace lacks, and if columns
// that the user named are left out.
func (s *stream) end() error {
	if s.missing > 0 {
		s.r.Warn("the trace lacks the heap histories of " + text.Plural(int64(s.missing), "collection", "collections"))
	}
	if s.table.W == nil {
		return nil
	}
	err := s.table.Flush()
	if s.asked && s.table.LeftOut > 0 {
		s.std.warn("gctrail", "this terminal is too narrow for "+text.Plural(int64(s.table.LeftOut), "column", "columns")+"; to see all columns, pipe the output to less -S")
	}
	return err
}
