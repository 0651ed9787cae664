package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// chartMargin is the width of the labels beside a chart, at most.
const chartMargin = len("1,234.5 MB") + len(" |")

// heapRows is how many lines the chart of the heap has.
const heapRows = 4

// Cells of a chart, from nearly empty to full.
var (
	blockCells = []rune("▁▂▃▄▅▆▇█")
	plainCells = []rune(".:|#")
)

// writeChart draws the heap after GCs, and the longest pauses, along the time.
func (c *Case) writeChart(p *text.Page) {
	t := &c.Summary.Timeline
	room := max(1, p.Width-chartMargin)
	each := max(1, (len(t.Buckets)+room-1)/room) // buckets to a column
	columns := (len(t.Buckets) + each - 1) / each
	heap, pauses := make([]float64, columns), make([]float64, columns)
	var top, longest, held float64
	for i, b := range t.Buckets {
		if b.HeapAfter.Known() {
			held = float64(b.HeapAfter.Or(0))
		}
		heap[i/each] = held
		pauses[i/each] = max(pauses[i/each], float64(b.Longest))
		top, longest = max(top, held), max(longest, pauses[i/each])
	}
	if top == 0 {
		return
	}
	cells := plainCells
	if p.Unicode {
		cells = blockCells
	}
	topLabel, pauseLabel := units.Bytes(int64(top)), units.Duration(time.Duration(longest))
	margin := max(len(topLabel), len(pauseLabel))
	wide := 1
	if p.Width >= margin+2+2*len(heap) {
		wide = 2
	}
	p.Section("Heap after each GC; below it the longest pause; %s per column", units.Duration(t.Width()*time.Duration(each)/time.Duration(wide)))
	for row := heapRows - 1; row >= 0; row-- {
		label := ""
		if row == heapRows-1 {
			label = topLabel
		}
		p.Line("%s", chartLine(label, margin, heap, top, row, heapRows, wide, cells))
	}
	p.Line("%s", chartLine(pauseLabel, margin, pauses, longest, 0, 1, wide, cells))
	start, end := units.Duration(t.Origin), units.Duration(t.Origin+t.Width()*time.Duration(each*len(heap)))
	p.Line("%*s  %s%*s", margin, "", start, wide*len(heap)-len(start), end)
}

// chartLine draws one of the rows of a chart, from the bottom up; the highest
// value fills all rows. Where there is anything, the lowest row shows it.
func chartLine(label string, margin int, values []float64, top float64, row, rows, wide int, cells []rune) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%*s |", margin, label)
	for _, v := range values {
		cell := ' '
		if top > 0 && v > 0 {
			filled := v/top*float64(rows) - float64(row)
			n := int(filled*float64(len(cells)) + 0.5)
			if row == 0 {
				n = max(n, 1)
			}
			if n > 0 {
				cell = cells[min(n, len(cells))-1]
			}
		}
		for range wide {
			b.WriteRune(cell)
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if utf8.RuneCountInString(line) < margin+2 {
		line = fmt.Sprintf("%*s |", margin, label)
	}
	return line
}
