package trial

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
)

// pageStyle is the style of a page, light or dark as the viewer prefers.
const pageStyle = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{display:block;overflow-x:auto;border-collapse:collapse;margin:.5rem 0 1.5rem;font-size:14px}td,th{white-space:nowrap;padding:.15rem .7rem .15rem 0;text-align:right;font-variant-numeric:tabular-nums}
td.l,th.l{text-align:left}.better{color:#1a7f37}.worse{color:#cf222e}@media(prefers-color-scheme:dark){.better{color:#3fb950}.worse{color:#ff7b72}}
pre{padding:.5rem .8rem;border:1px solid #8886;overflow:auto}svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}
svg line{stroke:currentColor;stroke-opacity:.35}.front{fill:#0969da}.beaten{fill:none;stroke:currentColor}`

// WritePage writes the result as a page for a browser, with the settings as a picture: what
// each takes in memory against what it gains.
func (r *Result) WritePage(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>Trial - gctrail</title>\n<style>%s</style>\n<h1>%s</h1>\n",
		pageStyle, escaped(r.Says()))
	if notes := r.Notes(); len(notes) > 0 {
		b.WriteString("<ul>\n")
		for _, n := range notes {
			fmt.Fprintf(&b, "<li>%s</li>\n", escaped(n))
		}
		b.WriteString("</ul>\n")
	}
	r.writePicture(&b)
	for _, o := range r.ordered() {
		fmt.Fprintf(&b, "<h2>%s</h2>\n<p>%s%s</p>\n", escaped(o.Name), text.Counted(o.Count(Completed), "run"), o.standing())
		if o.Why != "" {
			fmt.Fprintf(&b, "<p>%s</p>\n", escaped("Proposed because "+o.Why+"."))
		}
		writeHTMLTable(&b, r.rows(o))
	}
	if len(r.Best) > 0 && len(r.Best[0].Variables) > 0 {
		fmt.Fprintf(&b, "<h2>%s</h2>\n", escaped("To set "+r.Best[0].Name))
		for _, way := range ways(r.Best[0].Setting) {
			fmt.Fprintf(&b, "<p>%s</p>\n<pre>%s</pre>\n", escaped(way.where), escaped(way.lines))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func escaped(s string) string { return html.EscapeString(text.Clean(s)) }

// writeHTMLTable writes the metrics of a setting.
func writeHTMLTable(b *bytes.Buffer, rows [][]string) {
	b.WriteString("<table>\n<tr>")
	class := func(i int) string {
		if columns[i].Left {
			return ` class="l"`
		}
		return ""
	}
	for i := range columns {
		fmt.Fprintf(b, "<th%s>%s</th>", class(i), columns[i].Heading)
	}
	b.WriteString("</tr>\n")
	for _, row := range rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(b, `<td class="l %s">%s</td>`, cell, cell)
				continue
			}
			fmt.Fprintf(b, "<td%s>%s</td>", class(i), escaped(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

// The picture, in its own units.
const (
	pictureWidth, pictureHeight = 720.0, 320.0
	marginLeft, marginBottom    = 90.0, 40.0
	marginRight, marginTop      = 190.0, 36.0
)

// An axis maps values of a metric to a picture.
type axis struct {
	metric     int
	low, high  float64
	start, end float64
}

func (a *axis) at(v float64) float64 {
	return a.start + (a.end-a.start)*(v-a.low)/max(a.high-a.low, 1e-12)
}

// axisOf returns an axis that has room for the metric of all settings.
func (r *Result) axisOf(metric int, start, end float64) axis {
	a := axis{metric: metric, low: math.Inf(1), high: math.Inf(-1), start: start, end: end}
	for _, o := range r.Settings {
		if f := &o.Figures[metric]; f.Known() {
			a.low, a.high = min(a.low, f.Value), max(a.high, f.Value)
		}
	}
	room := 0.08 * max(a.high-a.low, 0.01*a.high)
	a.low, a.high = max(0, a.low-room), a.high+room
	return a
}

// pictured returns the metric against which memory is drawn: what matters most of what is
// known.
func (r *Result) pictured() int {
	for _, metric := range []int{RequestTail, ProcessorPerWork, Processor, Paused} {
		if r.Base().Figures[metric].Known() {
			return metric
		}
	}
	return -1
}

// writePicture draws each setting with its intervals. The front is filled, because no setting
// that was tried beats it.
func (r *Result) writePicture(b *bytes.Buffer) {
	up := r.pictured()
	if up < 0 || !r.Base().Figures[Memory].Known() {
		return
	}
	x := r.axisOf(Memory, marginLeft, pictureWidth-marginRight)
	y := r.axisOf(up, pictureHeight-marginBottom, marginTop)
	fmt.Fprintf(b, "<svg viewBox=\"0 0 %v %v\" role=\"img\" aria-label=\"%s\">\n", pictureWidth, pictureHeight,
		escaped("Settings by "+metrics[Memory].Text+" and "+metrics[up].Text))
	fmt.Fprintf(b, "<line x1=\"%v\" y1=\"%v\" x2=\"%[3]v\" y2=\"%[2]v\"/><line x1=\"%[1]v\" y1=\"%[2]v\" x2=\"%[1]v\" y2=\"%[4]v\"/>\n", x.start, y.start, x.end, y.end)
	base := r.Base()
	for _, a := range []axis{x, y} {
		for _, v := range []float64{a.low, a.high} {
			label := escaped(base.Figures[a.metric].text(v))
			if a.metric == Memory {
				fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", a.at(v), y.start+16, label)
			} else {
				fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", x.start-6, a.at(v)+4, label)
			}
		}
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", (x.start+x.end)/2, y.start+32, metrics[Memory].Text)
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x.start, y.end-18, metrics[up].Text)
	for _, o := range r.Settings {
		writePoint(b, o, &x, &y)
	}
	b.WriteString("</svg>\n<p>Further to the left and further down is better. Filled points are the front: no other setting that was tried beats them. Lines are 95 % intervals.</p>\n")
}

// writePoint draws one setting.
func writePoint(b *bytes.Buffer, o *Outcomes, x, y *axis) {
	across, up := &o.Figures[x.metric], &o.Figures[y.metric]
	if !across.Known() || !up.Known() {
		return
	}
	within := func(a *axis, v, otherwise float64) float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = otherwise
		}
		return a.at(min(max(v, a.low), a.high))
	}
	px, py, class := x.at(across.Value), y.at(up.Value), "beaten"
	if o.Front {
		class = "front"
	}
	fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", within(x, across.Low, across.Value), py, within(x, across.High, across.Value), py)
	fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", px, within(y, up.Low, up.Value), px, within(y, up.High, up.Value))
	fmt.Fprintf(b, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, px, py, px+8, py-6, escaped(strings.ReplaceAll(o.Name, ",", ", ")))
}
