package chart

import (
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// ScaleWidth is the width in cells of the scale at the left of a chart, with the
// line that separates it from the picture.
const ScaleWidth = len("1,234 MB") + len(" |")

// A Point has the figures of one interval of time.
type Point struct {
	Before  gc.Opt[int64] // the largest heap before a GC, in bytes
	After   gc.Opt[int64] // the heap after the last GC, in bytes
	Longest time.Duration // the longest pause
}

// A Chart draws points at equal intervals.
type Chart struct {
	Points  []Point       // oldest first
	Each    time.Duration // the length of the interval of a point
	Columns int           // columns of dots for a point, at least 1
	Width   int           // of the pictures in cells
	Right   bool          // the last point is at the right end of the pictures
	Unicode bool          // braille may be used
}

// A Line is one line of a chart.
type Line struct{ Scale, Picture string }

// DotsPerCell is how many columns of dots a cell has.
const DotsPerCell = dotsAcross

// HeapTitle is the heading of the chart of the heap.
const HeapTitle = "heap after each GC (dots: before it)"

// PauseTitle returns the heading of the chart of pauses.
func (c *Chart) PauseTitle() string {
	if c.Each == time.Second {
		return "longest pause per second"
	}
	return "longest pause per " + units.Duration(c.Each)
}

// Span returns the time that the points cover.
func (c *Chart) Span() time.Duration { return c.Each * time.Duration(len(c.Points)) }

// Empty reports whether no point has a heap size.
func (c *Chart) Empty() bool {
	return !slices.ContainsFunc(c.Points, func(p Point) bool { return p.After.Or(0) > 0 || p.Before.Or(0) > 0 })
}

// Heap draws the heap in a number of lines: filled up to the size after the latest
// GC, with a dot at the size before a GC.
func (c *Chart) Heap(lines int) []Line {
	after, before := make([]float64, len(c.Points)), make([]float64, len(c.Points))
	var held, top float64
	for i := range c.Points {
		p := &c.Points[i]
		if p.After.Known() {
			held = float64(p.After.Or(0))
		}
		after[i], before[i] = held, float64(p.Before.Or(0))
		top = max(top, after[i], before[i])
	}
	picture := newCanvas(c.Width, lines)
	for i := range c.Points {
		for x := c.first(i); x < c.first(i+1); x++ {
			picture.bar(x, dotsOf(after[i], top, lines))
			if h := dotsOf(before[i], top, lines); h > 0 {
				picture.set(x, h-1)
			}
		}
	}
	return c.lines(picture, units.Bytes(int64(top)))
}

// Pauses draws the longest pauses in a number of lines.
func (c *Chart) Pauses(lines int) []Line {
	var top time.Duration
	for i := range c.Points {
		top = max(top, c.Points[i].Longest)
	}
	picture := newCanvas(c.Width, lines)
	for i := range c.Points {
		for x := c.first(i); x < c.first(i+1); x++ {
			picture.bar(x, dotsOf(float64(c.Points[i].Longest), float64(top), lines))
		}
	}
	return c.lines(picture, units.Duration(top))
}

// first returns the first column of dots of the ith point.
func (c *Chart) first(i int) int {
	if c.Right {
		return c.Width*dotsAcross - (len(c.Points)-i)*c.Columns
	}
	return i * c.Columns
}

// dotsOf returns the height of a value in dots, at least one unless it is 0.
func dotsOf(v, top float64, lines int) int {
	if v <= 0 || top <= 0 {
		return 0
	}
	return max(1, int(v/top*float64(lines*dotsDown)+0.5))
}

// lines adds the scale, from the largest value to 0, to a picture.
func (c *Chart) lines(picture *canvas, top string) []Line {
	rows := picture.lines(c.Unicode)
	lines := make([]Line, len(rows))
	for i, row := range rows {
		label := ""
		switch {
		case i == 0:
			label = top
		case i == len(rows)-1:
			label = "0"
		}
		lines[i] = Line{Scale: text.PadLeft(label, ScaleWidth-len(" |")) + " |", Picture: strings.TrimRight(row, " ")}
	}
	return lines
}
