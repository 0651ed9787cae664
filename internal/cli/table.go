package cli

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A table writes rows of cells in columns that are as wide as they need to be.
// It holds the first rows back to find that out; a later cell that is wider
// pushes its row to the right. Where there is a limit to the width, columns are
// left out, the least important first.
type table struct {
	w       io.Writer
	columns []tableColumn
	width   int // in cells; 0 for no limit
	bold    bool

	leftOut int        // columns that there was no room for
	held    [][]string // rows held back
	widths  []int      // 0 for a column that is left out
	started bool       // the widths are settled and the heading is written
	line    []byte
}

type tableColumn struct {
	heading string
	left    bool // aligned
	rank    int  // columns with the highest are left out first; 0 never
}

const (
	tableHold = 1000
	tableGap  = "  "
)

// row adds a row, which the table keeps.
func (t *table) row(cells []string) error {
	if t.started {
		return t.write(cells, false)
	}
	t.held = append(t.held, cells)
	if len(t.held) < tableHold {
		return nil
	}
	return t.flush()
}

// flush writes the rows held back. A table without rows is nothing.
func (t *table) flush() error {
	if t.started || len(t.held) == 0 {
		return nil
	}
	t.started = true
	t.measure()
	headings := make([]string, len(t.columns))
	for i := range t.columns {
		headings[i] = t.columns[i].heading
	}
	if err := t.write(headings, t.bold); err != nil {
		return err
	}
	for _, cells := range t.held {
		if err := t.write(cells, false); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// measure finds the columns' widths, and those that there is no room for.
func (t *table) measure() {
	t.widths = make([]int, len(t.columns))
	total := -len(tableGap)
	for i := range t.columns {
		t.widths[i] = utf8.RuneCountInString(t.columns[i].heading)
		for _, cells := range t.held {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cells[i]))
		}
		total += t.widths[i] + len(tableGap)
	}
	for t.width > 0 && total > t.width {
		least := -1
		for i := range t.columns {
			if t.widths[i] > 0 && t.columns[i].rank > 0 && (least < 0 || t.columns[i].rank >= t.columns[least].rank) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		total -= t.widths[least] + len(tableGap)
		t.widths[least] = 0
		t.leftOut++
	}
}

func (t *table) write(cells []string, bold bool) error {
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
		pad := strings.Repeat(" ", max(0, t.widths[i]-utf8.RuneCountInString(cell)))
		if t.columns[i].left {
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
	_, err := t.w.Write(t.line)
	return err
}
