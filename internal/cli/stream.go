package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A stream writes rows while their trace is read: a table for each trace, or all rows to
// one file.
type stream[R any] struct {
	std     *stdio
	out     *output
	rows    *list.Writer[R]
	asked   bool // the columns are the user's choice
	several bool // traces: each has its name above it

	r     *reading
	begun int // traces
	table text.Table
}

// begin begins the rows of a trace.
func (s *stream[R]) begin(r *reading) error {
	s.r = r
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
	_, err := fmt.Fprintf(s.out, "%s%s:\n", space, r.in.Name)
	return err
}

// add writes a row; a table may hold it back until end.
func (s *stream[R]) add(row *R) error {
	if s.rows.Format == list.Table {
		return s.table.Row(list.Cells(s.rows.Fields, row))
	}
	return s.rows.Row(row)
}

// end writes the rest of a table. It warns if columns that the user named are left out.
func (s *stream[R]) end() error {
	if s.table.W == nil {
		return nil
	}
	err := s.table.Flush()
	if s.asked && s.table.LeftOut > 0 {
		s.std.warn("gctrail", "this terminal is too narrow for "+text.Plural(int64(s.table.LeftOut), "column", "columns")+"; to see all columns, pipe the output to less -S")
	}
	return err
}
