package tui

import (
	"time"

	"github.com/gctrail/gctrail/internal/chart"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

const (
	// wideChart is the width in cells from which a second takes a whole cell of a chart
	// instead of half of one, when the chart is full.
	wideChart = 120
	// shortestSpan is how many seconds the chart of a new process has room for.
	shortestSpan = 15
)

// chart draws the heap and, below it, the pauses of the last seconds.
func (p *painter) chart(process *watch.Process, heapLines, pauseLines int) {
	width := p.width - chart.ScaleWidth
	if width < 4 || heapLines+pauseLines < 2 {
		return
	}
	c := chart.Chart{Each: time.Second, Columns: 1, Width: width, Right: true, Unicode: p.unicode}
	if width >= wideChart {
		c.Columns = chart.DotsPerCell
	}
	// A process that has not been watched for long gets wider seconds, not an empty chart.
	watched := int(process.Until.Sub(process.Attached)/time.Second) + 1
	c.Columns = max(c.Columns, width*chart.DotsPerCell/max(watched, shortestSpan))
	c.Points = points(process.History, width*chart.DotsPerCell/c.Columns)
	p.section(chart.HeapTitle + "; the last " + units.Duration(c.Span()))
	p.chartLines(c.Heap(heapLines), p.styles.heap)
	p.section(c.PauseTitle())
	p.chartLines(c.Pauses(pauseLines), p.styles.pause)
}

// points returns the last seconds of a history. A second without a collection has the heap
// of an earlier one, so that the line has no gaps.
func points(history []watch.Second, most int) []chart.Point {
	points := make([]chart.Point, len(history))
	for i := range history {
		s := &history[i]
		points[i] = chart.Point{Before: s.Before, After: s.After, Longest: s.Longest}
		if i > 0 && !s.After.Known() {
			points[i].After = points[i-1].After
		}
	}
	return points[max(0, len(points)-most):]
}

func (p *painter) chartLines(lines []chart.Line, style style) {
	for _, l := range lines {
		p.line(plain(l.Scale), style(l.Picture))
	}
}
