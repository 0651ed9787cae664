package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A stream writes rows while their trace is read: a table for each trace, or all rows to
// one file.
type stream struct {
	std     *stdio
	out     *output
	asked   bool // the columns are the user's choice
	several bool // traces: each has its name above it

	r     *reading
	begun int // traces
	table text.Table
}

// startTable begins the rows of a trace.
func startTable[R any](s *stream, rows *list.Writer[R], r *reading) error {
	s.r = r
	s.begun++
	if rows.Format != list.Table {
		return rows.Head()
	}
	s.table = text.Table{W: s.out, Columns: list.Columns(rows.Fields)}
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

func addRow[R any](s *stream, rows *list.Writer[R], r *R) error {
	if rows.Format == list.Table {
		return s.table.Row(list.Cells(rows.Fields, r))
	}
	return rows.Row(r)
}

// end writes the rest of a table. It warns if columns that the user named are left out.
func (s *stream) end() error {
	if s.table.W == nil {
		return nil
	}
	err := s.table.Flush()
	if s.asked && s.table.LeftOut > 0 {
		s.std.warn("gctrail", "this terminal is too narrow for "+text.Plural(int64(s.table.LeftOut), "column", "columns")+"; to see all columns, pipe the output to less -S")
	}
	return err
}
