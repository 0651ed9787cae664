package chart

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// palette are the colors of light pictures, and of dark ones if the viewer prefers these. They
// are the page's, so that a picture and the page of a trace are read alike.
var palette = [numColors]struct{ light, dark uint32 }{
	paper:           {0xffffff, 0x0d1117},
	ink:             {0x1f2328, 0xe6edf3},
	faint:           {0x59636e, 0x9198a1},
	grid:            {0xe4e7eb, 0x2a313b},
	colorGen0:       {0x4c9bd6, 0x5fa9de},
	colorGen1:       {0x2f9e7e, 0x3fb391},
	colorGen2:       {0xd2603a, 0xe57b55},
	colorBackground: {0x8768c4, 0xa48be0},
	colorLOH:        {0xc79a1b, 0xd4ab3a},
	colorPOH:        {0x8593a3, 0x94a2b3},
	colorCommitted:  {0x1b2330, 0xe4e9ef},
	colorRate:       {0x2f66b0, 0x7db1ee},
}

// class is the name of a color in the style sheet.
func (c color) class() string { return string(rune('a' + c)) }

// WriteSVG draws the series from a time to another as an SVG image, light or dark as
// the viewer prefers.
func (s *Series) WriteSVG(w io.Writer, title, below string, from, to time.Duration) error {
	p := s.draw(title, below, from, to)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
		p.width, p.height, p.width, p.height, escaped(title+". "+below))
	b.WriteString("<style>text{font:12px ui-monospace,Menlo,Consolas,monospace}.bold{font-weight:600}")
	for c, of := range palette {
		fmt.Fprintf(&b, ".%s{fill:#%06x}", color(c).class(), of.light)
	}
	b.WriteString("@media(prefers-color-scheme:dark){")
	for c, of := range palette {
		fmt.Fprintf(&b, ".%s{fill:#%06x}", color(c).class(), of.dark)
	}
	fmt.Fprintf(&b, "}</style>\n<rect class=\"%s\" width=\"100%%\" height=\"100%%\"/>\n", paper.class())
	for i := 0; i < len(p.rects); { // all of a color as one path
		c := p.rects[i].color
		fmt.Fprintf(&b, "<path class=\"%s\" d=\"", c.class())
		for ; i < len(p.rects) && p.rects[i].color == c; i++ {
			r := &p.rects[i]
			fmt.Fprintf(&b, "M%s %sh%sv%sh-%sz", short(r.x), short(r.y), short(r.w), short(r.h), short(r.w))
		}
		b.WriteString("\"/>\n")
	}
	for i := range p.texts {
		t := &p.texts[i]
		class := t.color.class()
		if t.bold {
			class += " bold"
		}
		anchor := [...]string{left: "start", right: "end", middle: "middle"}[t.align]
		fmt.Fprintf(&b, "<text class=\"%s\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n", class, short(t.x), short(t.y), anchor, escaped(t.text))
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// short is a number of pixels with at most two decimals.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// escaped is text of XML, without characters that control what shows it.
func escaped(s string) string {
	return strings.Map(func(r rune) rune {
		if jsontext.Controls(r) {
			return '?'
		}
		return r
	}, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(strings.ToValidUTF8(s, "?")))
}
