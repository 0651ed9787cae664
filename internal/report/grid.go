package report

import (
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A grid is a table that is built column by column. A column of times or sizes has
// one unit, which stands in its heading.
type grid struct {
	columns []text.Column
	rows    [][]string
}

// words adds a column of words.
func (g *grid) words(heading string, rank int, cells []string) {
	g.add(text.Column{Heading: heading, Left: true, Rank: rank}, cells)
}

// numbers adds a column of formatted cells.
func (g *grid) numbers(heading string, rank int, cells []string) {
	g.add(text.Column{Heading: heading, Rank: rank}, cells)
}

// times adds a column of durations.
func (g *grid) times(heading string, rank int, values []gc.Opt[time.Duration]) {
	g.timesIn(units.TimeScale(longest(values)), heading, rank, values)
}

// timesIn adds a column of durations in the scale of other columns, for comparison.
func (g *grid) timesIn(scale units.Scale, heading string, rank int, values []gc.Opt[time.Duration]) {
	g.numbers(heading+" "+scale.Unit, rank, text.Each(values, func(v *gc.Opt[time.Duration]) string { return units.Optional(*v, scale.Time) }))
}

// timeSums adds a column of sums of durations, with > where the true ones may be larger.
func (g *grid) timeSums(heading string, rank int, sums []gc.Sum[time.Duration]) {
	scale := units.TimeScale(longest(text.Each(sums, func(s *gc.Sum[time.Duration]) gc.Opt[time.Duration] { return s.Opt() })))
	cells := make([]string, len(sums))
	for i, sum := range sums {
		cells[i] = units.Unknown
		if d, is := sum.Get(); is != gc.Uncertain {
			cells[i] = marked(scale.Time(d), is)
		}
	}
	g.numbers(heading+" "+scale.Unit, rank, cells)
}

// marked returns a figure behind the mark of its certainty, unless it has another sign.
func marked(figure string, is gc.Certainty) string {
	if strings.HasPrefix(figure, "<") {
		return figure
	}
	return is.Mark() + figure
}

// longest returns the longest of the durations that are known.
func longest(values []gc.Opt[time.Duration]) (d time.Duration) {
	for _, v := range values {
		d = max(d, v.Or(0))
	}
	return d
}

// sizes adds a column of sums of sizes, with ~ if they are estimated and >
// where the true ones may be larger.
func (g *grid) sizes(heading string, rank int, values []stats.Bytes) {
	var largest int64
	for _, v := range values {
		largest = max(largest, v.Holding().Sum)
	}
	scale := units.SizeScale(largest)
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = units.Unknown
		if v.Known > 0 {
			cells[i] = v.Certainty().Mark() + scale.Size(v.Holding().Sum)
		}
	}
	g.numbers(heading+" "+scale.Unit, rank, cells)
}

// exact returns sizes that no loss touched; the others are unknown.
func exact(v gc.Opt[int64]) stats.Bytes {
	if !v.Known() {
		return stats.Bytes{}
	}
	return stats.Bytes{Sum: v.Or(0), Known: 1}
}

func (g *grid) add(column text.Column, cells []string) {
	g.columns = append(g.columns, column)
	if g.rows == nil {
		g.rows = make([][]string, len(cells))
	}
	for i, cell := range cells {
		g.rows[i] = append(g.rows[i], cell)
	}
}

// section writes the table below a heading, unless it has no rows.
func (g *grid) section(p *text.Page, heading string) {
	if len(g.rows) > 0 {
		p.Section("%s", heading)
		p.Table(g.columns, g.rows)
	}
}
