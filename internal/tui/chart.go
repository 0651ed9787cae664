package tui

import (
	"math/bits"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

// scaleWidth is the room for the scale left of a chart.
const scaleWidth = 11

func ones(cell uint8) int { return bits.OnesCount8(cell) }

// wideChart is from how many cells on a second has a cell of a chart, and not half
// of one.
const wideChart = 120

// chart draws the heap and, below it, the pauses of the last seconds.
func (p *painter) chart(process *watch.Process, heapLines, pauseLines int) {
	width := p.width - scaleWidth - 1
	if width < 4 || heapLines+pauseLines < 2 {
		return
	}
	each := 1 // columns of dots
	if width >= wideChart {
		each = dotsAcross
	}
	seconds := process.History[max(0, len(process.History)-width*dotsAcross/each):]
	skip := width*dotsAcross - len(seconds)*each
	heap, before, pauses := figures(process, seconds)
	top, longest := max(highest(heap), highest(before)), highest(pauses)

	picture := newCanvas(width, heapLines)
	for x := range len(seconds) * each {
		picture.bar(skip+x, scaled(heap[x/each], top, heapLines))
		if h := scaled(before[x/each], top, heapLines); h > 0 {
			picture.set(skip+x, h-1)
		}
	}
	span := units.Duration(time.Duration(len(seconds)) * time.Second)
	p.section("heap after each GC (dots: before it); the last " + span)
	p.scaled(picture, units.Bytes(int64(top)), p.styles.heap)

	picture = newCanvas(width, pauseLines)
	for x := range len(seconds) * each {
		picture.bar(skip+x, scaled(pauses[x/each], longest, pauseLines))
	}
	p.section("longest pause per second")
	p.scaled(picture, units.Duration(time.Duration(longest)), p.styles.pause)
}

// figures returns the heights of the charts. The heap stays what it was after
// the latest collection.
func figures(process *watch.Process, seconds []watch.Second) (heap, before, pauses []float64) {
	heap, before, pauses = make([]float64, len(seconds)), make([]float64, len(seconds)), make([]float64, len(seconds))
	var held float64
	for i := range process.History {
		s := &process.History[i]
		if s.After.Known() {
			held = float64(s.After.Or(0))
		}
		if at := i - (len(process.History) - len(seconds)); at >= 0 {
			heap[at], before[at], pauses[at] = held, float64(s.Before.Or(0)), float64(s.Longest)
		}
	}
	return heap, before, pauses
}

func highest(values []float64) float64 {
	var top float64
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

// scaled returns the height of a value in dots; if there is something, one at
// least.
func scaled(v, top float64, lines int) int {
	if v <= 0 || top <= 0 {
		return 0
	}
	return max(1, int(v/top*float64(lines*dotsDown)+0.5))
}

// scaled writes a picture with its scale: the highest value, and 0.
func (p *painter) scaled(picture *canvas, top string, style style) {
	lines := picture.lines(p.unicode)
	for i, line := range lines {
		label := ""
		switch i {
		case 0:
			label = top
		case len(lines) - 1:
			label = "0"
		}
		p.line(plain(text.PadLeft(label, scaleWidth-1)+" |"), style(strings.TrimRight(line, " ")))
	}
}
