package text

import (
	"bytes"
	"io"
	"strings"
)

// A Table writes rows of cells in columns that are as wide as they need to be. To measure
// them, it holds the first rows back; a later cell that is wider pushes its row to the
// right. If the width is limited, long names are cut, and columns are left out, the least
// important first, so that no row is wider.
type Table struct {
	W       io.Writer
	Columns []Column
	Width   int // in cells; 0 for no limit
	Bold    bool
	Stream  bool                   // rows are not held back: columns have the widths given
	Below   func(row int) []string // lines under a row; nil for none

	LeftOut int        // columns that there was no room for
	held    [][]string // rows held back
	first   []string   // the first row
	differs []bool     // columns in which a row has another cell than the first
	widths  []int      // 0 for a column that is left out
	written int        // rows
	started bool       // the widths are settled and the heading is written
	line    []byte
}

// A Column is a column of a table.
type Column struct {
	Heading string
	Left    bool // aligned
	Rank    int  // columns with the highest are left out first; 0 never
	Width   int  // at least, in cells
	Varies  bool // left out while all cells are the same
}

// shrinks reports whether cells may be cut if there is no room: names may, which are
// aligned left, but not figures.
func (c *Column) shrinks() bool { return c.Left && c.Rank == 0 }

const (
	tableHold   = 1000
	tableGap    = "  "
	leastOfName = 20 // cells of a name, before columns are left out to show more
)

// Row adds a row, which the table keeps and cleans.
func (t *Table) Row(cells []string) error {
	for i := range cells {
		cells[i] = Clean(cells[i])
	}
	if more := t.compare(cells); t.started && !more {
		return t.writeRow(cells)
	}
	t.started = false
	t.held = append(t.held, cells)
	if len(t.held) < tableHold && !t.Stream {
		return nil
	}
	return t.Flush()
}

// Flush writes the rows held back. A table without rows is empty, except that a stream
// has its heading from the beginning.
func (t *Table) Flush() error {
	if t.started || len(t.held) == 0 && !t.Stream {
		return nil
	}
	t.started = true
	t.measure()
	headings := make([]string, len(t.Columns))
	for i := range t.Columns {
		headings[i] = Clean(t.Columns[i].Heading)
	}
	if err := t.write(headings, t.Bold); err != nil {
		return err
	}
	for _, cells := range t.held {
		if err := t.writeRow(cells); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// compare reports whether a row is the first that differs in a column that was left out.
// The table then gets a new heading with that column.
func (t *Table) compare(cells []string) (more bool) {
	if t.first == nil {
		t.first, t.differs = cells, make([]bool, len(cells))
	}
	for i := range t.Columns {
		if t.Columns[i].Varies && !t.differs[i] && cells[i] != t.first[i] {
			t.differs[i], more = true, true
		}
	}
	return more
}

// measure computes the columns' widths, and which columns there is room for.
func (t *Table) measure() {
	t.widths, t.LeftOut = make([]int, len(t.Columns)), 0
	for i := range t.Columns {
		if t.Columns[i].Varies && (t.first == nil || !t.differs[i]) {
			continue
		}
		t.widths[i] = max(Width(t.Columns[i].Heading), t.Columns[i].Width)
		for _, cells := range t.held {
			t.widths[i] = max(t.widths[i], Width(cells[i]))
		}
	}
	if t.Width == 0 {
		return
	}
	t.leaveOut()
	t.shrink(leastOfName)
	t.shrink(0)
}

// leaveOut leaves out columns until the others fit, with names cut to the least width.
func (t *Table) leaveOut() {
	total := -len(tableGap)
	for i := range t.Columns {
		if t.widths[i] > 0 {
			total += t.least(i, leastOfName) + len(tableGap)
		}
	}
	for total > t.Width {
		out := -1
		for i := range t.Columns {
			if t.widths[i] > 0 && t.Columns[i].Rank > 0 && (out < 0 || t.Columns[i].Rank >= t.Columns[out].Rank) {
				out = i
			}
		}
		if out < 0 {
			return
		}
		total -= t.widths[out] + len(tableGap)
		t.widths[out] = 0
		t.LeftOut++
	}
}

// shrink narrows the widest columns of names until the table fits, down to some cells.
func (t *Table) shrink(cells int) {
	excess := -len(tableGap) - t.Width
	for _, width := range t.widths {
		if width > 0 {
			excess += width + len(tableGap)
		}
	}
	for ; excess > 0; excess-- {
		widest := -1
		for i := range t.widths {
			if t.widths[i] > t.least(i, cells) && (widest < 0 || t.widths[i] > t.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest]--
	}
}

// least returns the width of a column with names cut to some cells, or of the heading if
// that is wider.
func (t *Table) least(i, cells int) int {
	if c := &t.Columns[i]; c.shrinks() {
		return min(t.widths[i], max(cells, Width(c.Heading)))
	}
	return t.widths[i]
}

// writeRow writes a row and the lines below it.
func (t *Table) writeRow(cells []string) error {
	if err := t.write(cells, false); err != nil || t.Below == nil {
		return err
	}
	for _, line := range t.Below(t.written) {
		line = t.cut(line, t.Width)
		if _, err := io.WriteString(t.W, disarmed(Clean(line)+"\n")); err != nil {
			return err
		}
	}
	t.written++
	return nil
}

// cut shortens text where the table's width is limited.
func (t *Table) cut(s string, width int) string {
	if t.Width == 0 {
		return s
	}
	return Cut(s, width)
}

func (t *Table) write(cells []string, bold bool) error {
	b := t.line[:0]
	for i, cell := range cells {
		if t.widths[i] == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, tableGap...)
		}
		if t.Columns[i].shrinks() {
			cell = t.cut(cell, t.widths[i])
		}
		pad := strings.Repeat(" ", max(0, t.widths[i]-Width(cell)))
		if t.Columns[i].Left {
			b = append(append(b, cell...), pad...)
		} else {
			b = append(append(b, pad...), cell...)
		}
	}
	t.line = b
	line := t.cut(string(bytes.TrimRight(b, " ")), t.Width)
	if bold {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	_, err := io.WriteString(t.W, disarmed(line+"\n"))
	return err
}

// Each returns the result of a function for every row. It is never nil, because JSON would have
// null for that.
func Each[R, F any](rows []R, figure func(*R) F) []F {
	all := make([]F, len(rows))
	for i := range rows {
		all[i] = figure(&rows[i])
	}
	return all
}
