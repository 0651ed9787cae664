package chart

import (
	"math/bits"
	"strings"
)

// A canvas is a picture made of dots: each cell of the terminal shows two
// columns and four rows of them, as a character of braille, or in ASCII by a
// character for the number of dots set.
type canvas struct {
	width, height int // cells
	cells         []uint8
}

const (
	dotsAcross = 2
	dotsDown   = 4
)

func newCanvas(width, height int) *canvas {
	return &canvas{width, height, make([]uint8, width*height)}
}

// dots are the bits of a cell's dots in braille (U+2800 and following), by row
// and column.
var dots = [dotsDown][dotsAcross]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// set sets a dot; the first row is the lowest. What is outside is left out.
func (c *canvas) set(x, y int) {
	row := c.height - 1 - y/dotsDown
	if x < 0 || y < 0 || x >= c.width*dotsAcross || row < 0 {
		return
	}
	c.cells[row*c.width+x/dotsAcross] |= dots[dotsDown-1-y%dotsDown][x%dotsAcross]
}

// bar sets the lowest dots of a column.
func (c *canvas) bar(x, height int) {
	for y := range height {
		c.set(x, y)
	}
}

// inASCII are the characters for a number of dots.
var inASCII = [9]rune{' ', '.', '.', ':', ':', '|', '|', '#', '#'}

// lines returns the rows of the picture, the highest first.
func (c *canvas) lines(braille bool) []string {
	lines := make([]string, c.height)
	for row := range lines {
		var b strings.Builder
		for _, cell := range c.cells[row*c.width : (row+1)*c.width] {
			switch {
			case !braille:
				b.WriteRune(inASCII[bits.OnesCount8(cell)])
			case cell == 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(0x2800 + rune(cell))
			}
		}
		lines[row] = b.String()
	}
	return lines
}
