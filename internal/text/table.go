package text

import (
	"io"
	"strings"
)

// A Table writes rows of cells in columns that are as wide as they need to be.
// It holds the first rows back to find that out; a later cell that is wider
// pushes its row to the right. Where there is a limit to the width, columns are
// left out, the least important first.
type Table struct {
	W       io.Writer
	Columns []Column
	Width   int // in cells; 0 for no limit
	Bold    bool
	Below   func(row int) []string // lines under a row; nil for none

	LeftOut int        // columns that there was no room for
	held    [][]string // rows held back
	widths  []int      // 0 for a column that is left out
	written int        // rows
	started bool       // the widths are settled and the heading is written
	line    []byte
}

// A Column is one of a table.
type Column struct {
	Heading string
	Left    bool // aligned
	Rank    int  // columns with the highest are left out first; 0 never
}

const (
	tableHold = 1000
	tableGap  = "  "
)

// Row adds a row, which the table keeps and cleans.
func (t *Table) Row(cells []string) error {
	for i := range cells {
		cells[i] = Clean(cells[i])
	}
	if t.started {
		return t.writeRow(cells)
	}
	t.held = append(t.held, cells)
	if len(t.held) < tableHold {
		return nil
	}
	return t.Flush()
}

// Flush writes the rows held back. A table without rows is nothing.
func (t *Table) Flush() error {
	if t.started || len(t.held) == 0 {
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

// measure finds the columns' widths, and those that there is no room for.
func (t *Table) measure() {
	t.widths = make([]int, len(t.Columns))
	total := -len(tableGap)
	for i := range t.Columns {
		t.widths[i] = Width(t.Columns[i].Heading)
		for _, cells := range t.held {
			t.widths[i] = max(t.widths[i], Width(cells[i]))
		}
		total += t.widths[i] + len(tableGap)
	}
	for t.Width > 0 && total > t.Width {
		least := -1
		for i := range t.Columns {
			if t.widths[i] > 0 && t.Columns[i].Rank > 0 && (least < 0 || t.Columns[i].Rank >= t.Columns[least].Rank) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		total -= t.widths[least] + len(tableGap)
		t.widths[least] = 0
		t.LeftOut++
	}
}

// writeRow writes a row and what stands below it.
func (t *Table) writeRow(cells []string) error {
	if err := t.write(cells, false); err != nil || t.Below == nil {
		return err
	}
	for _, line := range t.Below(t.written) {
		if _, err := io.WriteString(t.W, disarmed(Clean(line)+"\n")); err != nil {
			return err
		}
	}
	t.written++
	return nil
}

func (t *Table) write(cells []string, bold bool) error {
	b := t.line[:0]
	if bold {
		b = append(b, "\x1b[1m"...)
	}
	text := len(b)
	for i, cell := range cells {
		if t.widths[i] == 0 {
			continue
		}
		if len(b) > text {
			b = append(b, tableGap...)
		}
		pad := strings.Repeat(" ", max(0, t.widths[i]-Width(cell)))
		if t.Columns[i].Left {
			b = append(append(b, cell...), pad...)
		} else {
			b = append(append(b, pad...), cell...)
		}
	}
	for len(b) > text && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	if bold {
		b = append(b, "\x1b[0m"...)
	}
	t.line = append(b, '\n')
	_, err := io.WriteString(t.W, disarmed(string(t.line)))
	return err
}
