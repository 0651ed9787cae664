package report

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/chart"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Lines of the charts.
const (
	heapLines  = 4
	pauseLines = 2
)

// writeChart draws the heap and the longest pauses over time, in all of the page's
// width.
func (c *Case) writeChart(p *text.Page) {
	t := &c.Summary.Timeline
	width := p.Width - chart.ScaleWidth
	picture := chart.Chart{Each: t.Width(), Columns: 1, Unicode: p.Unicode}
	for i := range t.Buckets {
		b := &t.Buckets[i]
		picture.Points = append(picture.Points, chart.Point{Before: b.HeapBefore, After: b.HeapAfter, Longest: b.Longest})
	}
	if picture.Empty() || width*chart.DotsPerCell < len(picture.Points) {
		return
	}
	picture.Columns = width * chart.DotsPerCell / len(picture.Points)
	picture.Width = (picture.Columns*len(picture.Points) + chart.DotsPerCell - 1) / chart.DotsPerCell
	p.Section("%s", text.Sentence(chart.HeapTitle))
	writeLines(p, picture.Heap(heapLines))
	p.Heading("%s", text.Sentence(picture.PauseTitle()))
	writeLines(p, picture.Pauses(pauseLines))
	start, end := units.Duration(t.Origin), units.Duration(t.Origin+picture.Span())
	p.Line("%s%s%*s", fmt.Sprintf("%*s", chart.ScaleWidth, ""), start, max(0, picture.Width-len(start)), end)
}

func writeLines(p *text.Page, lines []chart.Line) {
	for _, l := range lines {
		p.Line("%s", l.Scale+l.Picture)
	}
}
