package trial

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

var columns = []text.Column{
	{Heading: "verdict", Left: true},
	{Heading: "metric", Left: true},
	{Heading: "present"},
	{Heading: "95 % interval", Rank: 2},
	{Heading: "with it"},
	{Heading: "change"},
	{Heading: "from, to", Rank: 1},
}

// Headings returns the headings of the tables.
func Headings() []string {
	return text.Each(columns, func(c *text.Column) string { return c.Heading })
}

// WriteText writes the result: the sentence, notes, and a table for each setting.
func (r *Result) WriteText(p *text.Page) {
	p.Heading("%s", r.Says())
	if notes := r.Notes(); len(notes) > 0 {
		p.Line("")
		for _, n := range notes {
			p.Prose("- ", n)
		}
	}
	for _, o := range r.ordered() {
		p.Section("%s: %s%s", o.Name, text.Counted(o.Count(Completed), "run"), o.standing())
		if o.Why != "" {
			p.Prose("", "Proposed because "+o.Why+".")
		}
		if o.Count(Completed) > 0 {
			p.Table(columns, r.rows(o))
		}
	}
	r.writeLines(p)
}

// WriteMarkdown writes the result for an issue or a chat.
func (r *Result) WriteMarkdown(p *text.Page) {
	p.Line("**%s**\n", text.Markdown(r.Says()))
	for _, n := range r.Notes() {
		p.Line("- %s", text.Markdown(n))
	}
	for _, o := range r.ordered() {
		p.Line("\n### %s\n", text.Markdown(o.Name+": "+text.Counted(o.Count(Completed), "run")+o.standing()))
		comparison.WriteMarkdownTable(p, columns, r.rows(o))
	}
	if len(r.Best) == 0 || len(r.Best[0].Variables) == 0 {
		return
	}
	for _, w := range ways(r.Best[0].Setting) {
		p.Line("\n%s:\n\n```\n%s\n```", w.where, w.lines)
	}
}

// ordered returns the candidates, the best first.
func (r *Result) ordered() []*Outcomes {
	all := slices.Clone(r.Best)
	for _, o := range r.Candidates() {
		if !slices.Contains(r.Best, o) {
			all = append(all, o)
		}
	}
	return all
}

// standing returns words about a setting that another one beats.
func (o *Outcomes) standing() string {
	if o.Front || o.Count(Completed) == 0 {
		return ""
	}
	return ", beaten by another setting in all that differs"
}

// rows returns the metrics of a setting beside the present ones.
func (r *Result) rows(o *Outcomes) [][]string {
	var rows [][]string
	for i := range metrics {
		f, base := &o.Figures[i], &r.Base().Figures[i]
		if !f.Known() && !base.Known() {
			continue
		}
		rows = append(rows, []string{
			f.Against.Words(), metrics[i].Text, base.text(base.Value), base.interval(),
			f.text(f.Value), change(f.Change), changes(f.ChangeLow, f.ChangeHigh),
		})
	}
	return rows
}

// tooLarge is from where the end of an interval of too few runs says nothing: 11 days in
// milliseconds. Bytes and work may be more.
const tooLarge = 1e9

// text writes a value with its unit.
func (f *Figure) text(v float64) string {
	most := tooLarge
	if f.Metric.Unit == Bytes || f.Metric.Unit == PerSecond {
		most *= 1e6
	}
	if !(math.Abs(v) < most) {
		return units.Unknown
	}
	switch f.Metric.Unit {
	case Bytes:
		return units.Bytes(int64(v))
	case Percent:
		return units.Percent(v)
	case Milliseconds:
		if ns := 1e6 * v; 0 < ns && ns < 1000 { // of a unit of work
			return units.Number(ns) + " ns"
		}
		return units.Duration(time.Duration(v * float64(time.Millisecond)))
	case Seconds:
		return units.Duration(time.Duration(v * float64(time.Second)))
	}
	return units.Number(v) + "/s"
}

// interval writes the interval of the value, once if its ends read the same.
func (f *Figure) interval() string {
	low, high := f.text(f.Low), f.text(f.High)
	if low == high {
		return low
	}
	return low + " to " + high
}

// tooMuch is from where the end of a change's interval says nothing, in percent.
const tooMuch = 1e6

// change writes a change.
func change(percent float64) string {
	if !(percent < tooMuch) {
		return units.Unknown
	}
	return comparison.Signed(percent)
}

// changes writes the interval of a change, whose upper end may be open.
func changes(low, high float64) string {
	switch {
	case !(low < tooMuch):
		return units.Unknown
	case !(high < tooMuch):
		return comparison.Signed(low) + " or more"
	}
	return comparison.Interval(low, high)
}

// A way is how a setting is set.
type way struct{ where, lines string }

// ways returns how to set a setting.
func ways(s *Setting) []way {
	all := []way{{"Environment", strings.Join(s.Environment(), "\n")}}
	if config := s.RuntimeConfig(); config != "" {
		all = append(all, way{"runtimeconfig.json", config})
	}
	return append(all, way{"Kubernetes", s.Manifest()})
}

// writeLines writes how to set the best setting.
func (r *Result) writeLines(p *text.Page) {
	if len(r.Best) == 0 || len(r.Best[0].Variables) == 0 {
		return
	}
	s := r.Best[0].Setting
	p.Section("To set %s", s.Name)
	for _, w := range ways(s) {
		p.Line("%s", w.where)
		for line := range strings.SplitSeq(w.lines, "\n") {
			p.Line("  %s", line)
		}
	}
	if _, without := s.Properties(); len(without) > 0 {
		p.Prose("", strings.Join(without, ", ")+": runtimeconfig.json has no property for it.")
	}
}
