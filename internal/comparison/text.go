package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Columns of the tables.
var (
	changeColumns = []text.Column{
		{Heading: "verdict", Left: true},
		{Heading: "metric", Left: true},
		{Heading: "before"},
		{Heading: "after"},
		{Heading: "change"},
		{Heading: "95 % interval", Rank: 1},
		{Heading: "note", Left: true, Rank: 2},
	}
	causeColumns         = []text.Column{{Heading: "cause", Left: true}, {Heading: "before"}, {Heading: "after"}}
	markdownCauseColumns = []text.Column{{Heading: "cause", Left: true}, {Heading: "before, %"}, {Heading: "after, %"}}
	trendColumns         = []text.Column{
		{Heading: "metric", Left: true}, {Heading: "first"}, {Heading: "last"}, {Heading: "runs", Left: true}, {Heading: "changed at", Left: true},
	}
)

// WriteText writes the comparison: the sentence, notes to read before any figure, the
// metrics, and the changed causes.
func WriteText(p *text.Page, c *compare.Comparison) {
	p.Heading("%s", Summary(c))
	p.Line("")
	p.Prose("", fmt.Sprintf("%s before (%s), %s after (%s).", text.Counted(len(c.Before), "run"), names(c.Before), text.Counted(len(c.After), "run"), names(c.After)))
	for _, n := range c.Notes {
		p.Prose("- ", n.Text)
	}
	p.Line("")
	p.Table(changeColumns, table(c))
	if len(c.Causes) > 0 {
		p.Section("Causes that changed, in percent of collections (types: of allocated bytes; findings: of runs)")
		p.Table(causeColumns, causeRows(c))
	}
}

// table returns the rows of the metrics, with the explaining metrics indented.
func table(c *compare.Comparison) [][]string {
	return text.Each(metricsInWords(c), func(m *pageMetric) []string {
		if m.Explains {
			m.Name = "  " + m.Name
		}
		return []string{m.Word, m.Name, m.Before, m.After, m.Change, m.Interval, m.Note}
	})
}

// Headings returns the headings of the tables of comparisons and trends.
func Headings() []string {
	all := slices.Concat(changeColumns, causeColumns, markdownCauseColumns, trendColumns)
	return text.Each(all, func(c *text.Column) string { return c.Heading })
}

func causeRows(c *compare.Comparison) [][]string {
	return text.Each(c.Causes, func(cause *compare.Cause) []string {
		return []string{causeName(cause), share(cause.Before), share(cause.After)}
	})
}

// causeName returns a cause's kind and name, and of a finding its rule's title.
func causeName(cause *compare.Cause) string {
	name := cause.Kind + " " + cause.Name
	if cause.Kind != "finding" {
		return name
	}
	for _, r := range findings.Rules() {
		if r.ID == cause.Name {
			return name + ": " + r.Title
		}
	}
	return name
}

func share(p float64) string { return fmt.Sprintf("%.0f", p) }

// maxNames is how many runs are named.
const maxNames = 3

func names(runs []*compare.Run) string {
	var all []string
	for i, r := range runs {
		if i == maxNames {
			all = append(all, fmt.Sprintf("%d more", len(runs)-maxNames))
			break
		}
		all = append(all, r.Name)
	}
	return strings.Join(all, ", ")
}

// WriteMarkdown writes the comparison for an issue or a chat.
func WriteMarkdown(p *text.Page, c *compare.Comparison) {
	p.Line("**%s**\n", text.Markdown(Summary(c)))
	for _, n := range c.Notes {
		p.Line("- %s", text.Markdown(n.Text))
	}
	if len(c.Notes) > 0 {
		p.Line("")
	}
	WriteMarkdownTable(p, changeColumns, table(c))
	if len(c.Causes) > 0 {
		p.Line("")
		WriteMarkdownTable(p, markdownCauseColumns, causeRows(c))
	}
}

// WriteMarkdownTable writes a table.
func WriteMarkdownTable(p *text.Page, columns []text.Column, rows [][]string) {
	heading, rule := "|", "|"
	for _, c := range columns {
		heading += " " + c.Heading + " |"
		if c.Left {
			rule += "---|"
		} else {
			rule += "---:|"
		}
	}
	p.Line("%s\n%s", heading, rule)
	for _, row := range rows {
		line := "|"
		for _, cell := range row {
			line += " " + text.Markdown(strings.TrimSpace(cell)) + " |"
		}
		p.Line("%s", line)
	}
}

// WriteTrends writes the metrics over runs: a sparkline each, and the runs that
// changed them.
func WriteTrends(p *text.Page, labels []string, trends []compare.Trend) {
	p.Heading("%s", trendSummary(labels, trends))
	p.Line("")
	rows := text.Each(trends, func(t *compare.Trend) []string {
		row := []string{metricName(t.Metric, t.Basis), units.Unknown, units.Unknown, sparkline(t.Values, p.Unicode), steps(t, labels)}
		if len(t.Values) > 0 {
			row[1], row[2] = valueAt(t, 0), valueAt(t, len(t.Values)-1)
		}
		return row
	})
	p.Table(trendColumns, rows)
}

func valueAt(t *compare.Trend, run int) string {
	return bounded(compare.Bounds{Low: t.Values[run], High: t.Most[run], Likely: t.Likely[run]}, t.Unit)
}

func trendSummary(labels []string, trends []compare.Trend) string {
	var changed []string
	for i := range trends {
		for _, s := range trends[i].Steps {
			if trends[i].Explains == "" {
				changed = append(changed, fmt.Sprintf("%s %s from %s on", metricName(trends[i].Metric, trends[i].Basis), Signed(s.Percent), labels[s.Run]))
			}
		}
	}
	few := len(labels) < compare.MinTrend
	parts := changed
	switch {
	case len(changed) == 0 && !few && compare.TrendsVerdict(trends) == compare.NoChange:
		parts = append(parts, "no change over "+text.Counted(len(labels), "run"))
	case few:
		parts = append(parts, fmt.Sprintf("cannot tell: finding a change takes at least %d runs, not %d", compare.MinTrend, len(labels)))
	}
	if all := undecidedTrends(trends); !few && len(all) > 0 {
		parts = append(parts, "cannot tell: "+strings.Join(all, ", "))
	}
	return text.Sentence(strings.Join(parts, "; ")) + "."
}

// undecidedTrends returns the undecided primary metrics: too few runs have them, or the ends of runs
// hide them.
func undecidedTrends(trends []compare.Trend) []string {
	var all []string
	for i := range trends {
		if t := &trends[i]; t.Explains == "" && t.Verdict() == compare.CannotTell {
			all = append(all, fmt.Sprintf("%s (%s)", t.Text, recordedIn(t)))
		}
	}
	return all
}

func recordedIn(t *compare.Trend) string {
	switch {
	case t.Known() == 0:
		return "not recorded"
	case t.Known() >= compare.MinTrend && t.EndUnknown():
		return boundsOf(t.Name)
	}
	return fmt.Sprintf("recorded in %s, %d needed", text.Counted(t.Known(), "run"), compare.MinTrend)
}

func steps(t *compare.Trend, labels []string) string {
	if t.Verdict() == compare.CannotTell && len(labels) >= compare.MinTrend {
		return "cannot tell: " + recordedIn(t)
	}
	return strings.Join(text.Each(t.Steps, func(s *compare.Step) string { return labels[s.Run] + " " + Signed(s.Percent) }), ", ")
}
