//go:build !wasm

// Modules for WebAssembly draw no pictures, and image/png would be a part of them all the same.

package chart

import (
	"image"
	stdcolor "image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/gctrail/gctrail/internal/text"
)

// WritePNG draws the series from a time to another as a light PNG image.
func (s *Series) WritePNG(w io.Writer, title, below string, from, to time.Duration) error {
	p := s.draw(title, below, from, to)
	img := image.NewPaletted(image.Rect(0, 0, p.width, p.height), colors())
	for i := range p.rects {
		r := &p.rects[i]
		x, y := int(math.Round(r.x)), int(math.Round(r.y))
		at := image.Rect(x, y, max(x+1, int(math.Round(r.x+r.w))), max(y+1, int(math.Round(r.y+r.h))))
		draw.Draw(img, at, image.NewUniform(img.Palette[r.color]), image.Point{}, draw.Src)
	}
	for i := range p.texts {
		p.texts[i].draw(img)
	}
	return png.Encode(w, img)
}

// colors is the light palette.
func colors() stdcolor.Palette {
	return text.Each(palette[:], func(of *struct{ light, dark uint32 }) stdcolor.Color {
		return stdcolor.RGBA{uint8(of.light >> 16), uint8(of.light >> 8), uint8(of.light), 0xff}
	})
}

// draw draws a line of text, a bold one twice, a pixel apart.
func (t *label) draw(img *image.Paletted) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(img.Palette[t.color]), Face: basicfont.Face7x13}
	x := int(math.Round(t.x))
	switch width := d.MeasureString(t.text).Round(); t.align {
	case right:
		x -= width
	case middle:
		x -= width / 2
	}
	strokes := 1
	if t.bold {
		strokes = 2
	}
	for i := range strokes {
		d.Dot = fixed.P(x+i, int(math.Round(t.y)))
		d.DrawString(t.text)
	}
}
