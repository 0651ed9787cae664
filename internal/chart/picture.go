package chart

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// The size of a picture, and of what surrounds its panels, in pixels.
const (
	pictureWidth = 1200
	marginLeft   = 84
	marginRight  = 20
	titleHeight  = 58
	panelGap     = 44
	axisHeight   = 36
	plotWidth    = pictureWidth - marginLeft - marginRight
)

// A color names the purpose of a color; each format has its own values for light and
// dark.
type color uint8

const (
	paper color = iota
	ink
	faint
	grid
	colorGen0
	colorGen1
	colorGen2
	colorBackground
	colorLOH
	colorPOH
	colorCommitted
	colorRate
	numColors
)

// An align is the side of the text that its position is at.
type align uint8

const (
	left align = iota
	right
	middle
)

// A picture is drawn from rectangles and text only.
type picture struct {
	width, height int
	rects         []rect
	texts         []label
}

type rect struct {
	x, y, w, h float64
	color      color
}

type label struct {
	x, y  float64 // of the baseline
	text  string
	align align
	color color
	bold  bool
}

func (p *picture) rect(x, y, w, h float64, c color) {
	if w > 0 && h > 0 {
		p.rects = append(p.rects, rect{x, y, w, h, c})
	}
}

// text writes a label.
func (p *picture) text(x, y float64, s string, a align) {
	p.texts = append(p.texts, label{x: x, y: y, text: s, align: a, color: faint})
}

// heading writes a title at the left end of the plots.
func (p *picture) heading(y float64, s string) {
	p.texts = append(p.texts, label{x: marginLeft, y: y, text: s, color: ink, bold: true})
}

// A panel is one of the charts.
type panel struct {
	title  string
	height float64
	top    float64 // value at the upper end; zero if nothing is known
	unit   func(float64) string
	legend []entry
	draw   func(p *picture, y float64, of *panel)
}

// An entry explains a color.
type entry struct {
	text  string
	color color
}

var (
	classColors      = [numClasses]color{gen0: colorGen0, gen1: colorGen1, gen2: colorGen2, background: colorBackground}
	classNames       = [numClasses]string{gen0: "gen 0", gen1: "gen 1", gen2: "gen 2 blocking", background: "gen 2 background"}
	generationColors = [gc.NumGenerations]color{colorGen0, colorGen1, colorGen2, colorLOH, colorPOH}
	generationNames  = [gc.NumGenerations]string{"gen 0", "gen 1", "gen 2", "LOH", "POH"}
)

// draw draws the series from a time to another, under a title and a line of text.
func (s *Series) draw(title, below string, from, to time.Duration) *picture {
	if to <= from {
		to = from + time.Millisecond
	}
	v := view{s, from, to}
	panels := []panel{v.pauses(), v.heap(), v.rate()}
	p := &picture{width: pictureWidth}
	p.heading(26, fitting(title))
	p.text(marginLeft, 46, fitting(below), left)
	y := float64(titleHeight)
	for i := range panels {
		of := &panels[i]
		y += panelGap
		p.frame(of, y)
		if of.top > 0 {
			of.draw(p, y, of)
		}
		y += of.height
	}
	v.axis(p, titleHeight+panelGap, y)
	p.height = int(y) + axisHeight
	return p
}

// frame draws a panel's title, legend, grid and values.
func (p *picture) frame(of *panel, y float64) {
	p.heading(y-12, of.title)
	x := float64(pictureWidth - marginRight)
	for i := len(of.legend) - 1; i >= 0; i-- {
		e := of.legend[i]
		p.text(x, y-12, e.text, right)
		x -= float64(len(e.text))*charWidth + 8
		p.rect(x-10, y-21, 10, 10, e.color)
		x -= 26
	}
	if of.top == 0 {
		p.rect(marginLeft, y+of.height, plotWidth, 1, grid)
		p.text(marginLeft+plotWidth/2, y+of.height/2, "not in this trace", middle)
		return
	}
	step := nice(of.top / 3)
	for value := 0.0; value <= of.top+step/1e6; value += step {
		at := y + of.height - of.height*value/of.top
		p.rect(marginLeft, at, plotWidth, 1, grid)
		p.text(marginLeft-8, at+4, of.unit(value), right)
	}
}

// charWidth is that of a character of a label, at most.
const charWidth = 7

// fitting shortens a line that is too long for the picture.
func fitting(s string) string {
	const room = plotWidth/charWidth - 1
	if r := []rune(s); len(r) > room {
		return string(r[:room-3]) + "..."
	}
	return s
}

// nice returns the least of 1, 2 and 5 times a power of ten that is not below v.
func nice(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= v {
			return m * power
		}
	}
	return 10 * power
}

// ceiling returns a top for values up to v: a multiple of a third's nice step, and zero
// for zero.
func ceiling(v float64) float64 {
	if v <= 0 {
		return 0
	}
	step := nice(v / 3)
	return max(1, math.Ceil(v/step)) * step
}

// A view is a part of a series.
type view struct {
	*Series
	from, to time.Duration
}

// x returns where a time is, from marginLeft on.
func (v *view) x(t time.Duration) float64 {
	share := float64(t-v.from) / float64(v.to-v.from)
	return marginLeft + plotWidth*min(1, max(0, share))
}

// each calls draw with the cells of the view, and where each begins and ends.
func (v *view) each(draw func(c *cell, from, to float64)) {
	for i := range v.cells {
		begin := time.Duration(i) * v.width
		if begin+v.width > v.from && begin < v.to {
			draw(&v.cells[i], v.x(begin), v.x(begin+v.width))
		}
	}
}

// pauses draws a bar from the longest pause of each class down to zero, the longest
// class first, so that none hides another.
func (v *view) pauses() panel {
	var longest time.Duration
	v.each(func(c *cell, _, _ float64) {
		for _, p := range c.pauses {
			longest = max(longest, p)
		}
	})
	of := panel{title: "Pauses", height: 150, top: ceiling(longest.Seconds())}
	of.unit = lasting(of.top)
	for class, name := range classNames {
		of.legend = append(of.legend, entry{name, classColors[class]})
	}
	of.draw = func(p *picture, y float64, of *panel) {
		var bars [numClasses][numClasses][]rect // by rank, then class
		v.each(func(c *cell, from, to float64) {
			for class, d := range c.pauses {
				if d == 0 {
					continue
				}
				rank := 0
				for other, longer := range c.pauses {
					if longer > d || longer == d && other < class {
						rank++
					}
				}
				h := max(1, of.height*d.Seconds()/of.top)
				bars[rank][class] = append(bars[rank][class], rect{from, y + of.height - h, max(2, to-from), h, classColors[class]})
			}
		})
		for rank := range bars {
			p.rects = append(p.rects, slices.Concat(bars[rank][:]...)...)
		}
	}
	return of
}

// heap draws the generations after each collection on top of each other, and a line
// for what is committed.
func (v *view) heap() panel {
	top := 0.0
	v.each(func(c *cell, _, _ float64) {
		sum := 0.0
		for _, bytes := range c.heap {
			sum += float64(bytes)
		}
		top = max(top, sum, float64(c.committed.Or(0)))
	})
	of := panel{title: "Heap after each GC", height: 190, top: ceiling(top)}
	of.unit = sized(of.top, "")
	for i, name := range generationNames {
		of.legend = append(of.legend, entry{name, generationColors[i]})
	}
	of.legend = append(of.legend, entry{"committed", colorCommitted})
	of.draw = func(p *picture, y float64, of *panel) {
		height := func(n int64) float64 { return of.height * float64(n) / of.top }
		var heap, next cell
		begun := float64(marginLeft)
		var layers [gc.NumGenerations + 1]picture // a color each
		fill := func(until float64) {
			at := y + of.height
			for i, n := range slices.Backward(heap.heap[:]) { // gen 0, which changes most, on top
				h := height(n)
				at -= h
				layers[i].rect(begun, at, until-begun, h, generationColors[i])
			}
			if n, known := heap.committed.Get(); known {
				layers[gc.NumGenerations].rect(begun, y+of.height-height(n)-1, until-begun, 2, colorCommitted)
			}
		}
		v.each(func(c *cell, from, _ float64) {
			next = heap
			next.join(&cell{heap: c.heap, measured: c.measured, committed: c.committed})
			if next.heap != heap.heap || next.committed != heap.committed {
				fill(from)
				heap, begun = next, from
			}
		})
		fill(v.x(v.to))
		for i := range layers {
			p.rects = append(p.rects, layers[i].rects...)
		}
	}
	return of
}

// rate draws the bytes allocated in each column of pixels, per second.
func (v *view) rate() panel {
	const columns = plotWidth / 4
	var rates [columns]float64
	each := (v.to - v.from).Seconds() / columns
	for i := range v.cells {
		// A cell may be part of a column, or several columns.
		begin := (time.Duration(i)*v.width - v.from).Seconds() / each
		length := v.width.Seconds() / each
		for k := max(0, math.Floor(begin)); k < min(columns, begin+length); k++ {
			overlap := min(begin+length, k+1) - max(begin, k)
			rates[int(k)] += v.cells[i].allocated * overlap / length / each
		}
	}
	top := 0.0
	for _, r := range rates {
		top = max(top, r)
	}
	of := panel{title: "Allocation rate", height: 90, top: ceiling(top)}
	of.unit = sized(of.top, "/s")
	of.draw = func(p *picture, y float64, of *panel) {
		const w = float64(plotWidth) / columns
		for i, r := range rates {
			h := of.height * r / of.top
			p.rect(marginLeft+float64(i)*w, y+of.height-h, w, h, colorRate)
		}
	}
	return of
}

// axis draws the times below the last panel, and lines through all.
func (v *view) axis(p *picture, y0, y1 float64) {
	length := (v.to - v.from).Seconds()
	step := nice(length / 10)
	for at := math.Ceil(v.from.Seconds()/step) * step; at <= v.to.Seconds()+step/1e6; at += step {
		x := v.x(time.Duration(at * 1e9))
		p.rect(x, y1, 1, 5, faint)
		p.text(x, y1+20, trimmed(at)+" s", middle)
	}
	p.rect(marginLeft, y0, 1, y1-y0, grid)
}

// trimmed is a number with at most three decimals.
func trimmed(v float64) string { return strconv.FormatFloat(math.Round(v*1e3)/1e3, 'f', -1, 64) }

// sized returns how the sizes of an axis up to top are written: all in one unit.
func sized(top float64, suffix string) func(float64) string {
	of := units.AxisScale(top)
	return func(v float64) string { return trimmed(v/of.One()) + " " + of.Unit + suffix }
}

// lasting returns how the seconds of an axis up to top are written.
func lasting(top float64) func(float64) string {
	if top < 1 {
		return func(v float64) string { return trimmed(v*1e3) + " ms" }
	}
	return func(v float64) string { return trimmed(v) + " s" }
}
