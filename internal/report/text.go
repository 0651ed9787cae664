package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// Write writes the report for people.
func (rep *Report) Write(p *text.Page) {
	rep.WriteBody(p)
	rep.writeNext(p)
}

// WriteBody writes the report but for what to run next.
func (rep *Report) WriteBody(p *text.Page) {
	if len(rep.cases) == 0 {
		p.Heading("%s", rep.emptyVerdict())
		p.Line("")
		rep.about(p)
		rep.writeGaps(p, nil)
		return
	}
	if len(rep.cases) > 1 {
		rep.writeProcesses(p)
	}
	for i := range rep.cases[:min(len(rep.cases), maxSections)] {
		c := &rep.cases[i]
		if i > 0 {
			p.Line("")
		}
		who := ""
		if len(rep.cases) > 1 {
			who = processName(c.Process.Process) + ": "
		}
		p.Heading("%s%s", who, c.Verdict)
		p.Line("")
		c.writeFigures(p)
		p.Line("")
		c.writeProcess(p)
		if i == 0 {
			rep.about(p)
			rep.writeGaps(p, c)
		}
		rep.writeFindings(p, c)
		c.writeDetails(p)
		c.writeTables(p)
	}
}

// WriteVerdict writes the verdict on the first process, and its figures.
func (rep *Report) WriteVerdict(p *text.Page) {
	c := &rep.cases[0]
	p.Heading("%s", c.Verdict)
	c.writeFigures(p)
}

// maxSections is of how many processes a report tells all.
const maxSections = 3

// writeProcesses lists the processes with collections, worst first.
func (rep *Report) writeProcesses(p *text.Page) {
	p.Heading("%s with collections, by the time threads stood still", text.Plural(int64(len(rep.cases)), "process", "processes"))
	var rows [][]string
	for i := range rep.cases {
		process, all := &rep.cases[i].Process, rep.cases[i].Process.All()
		total, longest := "-", "-"
		if all.Pause.Count() > 0 {
			total, longest = units.Millis(all.Pause.Sum()), units.Millis(all.Pause.Max())
		}
		share := "-"
		if s := rep.cases[i].PauseShare(); s.Known {
			share = fmt.Sprintf("%.2f", s.V)
		}
		rows = append(rows, []string{
			processName(process.Process), units.Count(all.Count), total, share,
			longest, sumMB(all.Freed), process.Process.Runtime,
		})
	}
	p.Table([]text.Column{
		{Heading: "process", Left: true},
		{Heading: "collections"},
		{Heading: "stood still ms"},
		{Heading: "%"},
		{Heading: "longest ms"},
		{Heading: "freed MB", Rank: 2},
		{Heading: "runtime", Left: true, Rank: 1},
	}, rows)
	if len(rep.cases) > maxSections {
		p.Line("The first %d follow; gctrail report --pid N tells of one of the others.", maxSections)
	}
	p.Line("")
}

// about says what file this is and what it holds.
func (rep *Report) about(p *text.Page) {
	p.Prose("", fmt.Sprintf("%s: %s, %s from %s UTC. %s", rep.Name, rep.info.Format, units.Duration(rep.info.Last),
		rep.info.Start.Format("2006-01-02 15:04:05"), rep.quality()))
	if n := len(rep.others); n > 0 && len(rep.cases) > 0 {
		p.Prose("", fmt.Sprintf("%s without collections.", text.Plural(int64(n), "other process", "other processes")))
	}
}

func processName(p *gc.Process) string {
	name := cmp.Or(p.Name, "process")
	if p.PID == trace.UnknownID {
		return name
	}
	return fmt.Sprintf("%s (pid %d)", name, p.PID)
}

func (c *Case) writeProcess(p *text.Page) {
	process := c.Process.Process
	parts := []string{processName(process)}
	if process.Runtime != "" {
		parts = append(parts, process.Runtime)
	}
	if process.Server.Known {
		parts = append(parts, map[bool]string{true: "server GC", false: "workstation GC"}[process.Server.V])
	}
	if s := process.Settings; s != nil {
		if s.BitSettings&clr.GCSettingsBitsConcurrent == 0 {
			parts = append(parts, "not concurrent")
		}
		if s.HardLimit > 0 {
			parts = append(parts, "hard limit "+units.Bytes(int64(min(s.HardLimit, 1<<62))))
		}
	}
	switch h := c.Process.Heap; {
	case h.MaxHeaps > h.MinHeaps:
		parts = append(parts, fmt.Sprintf("%d to %d heaps", h.MinHeaps, h.MaxHeaps))
	case h.MaxHeaps > 0:
		parts = append(parts, text.Plural(int64(h.MaxHeaps), "heap", "heaps"))
	}
	p.Prose("", strings.Join(parts, ", ")+".")
}

// writeFigures writes the three figures that matter most.
func (c *Case) writeFigures(p *text.Page) {
	all := c.Process.All()
	var kinds []string
	for _, class := range c.Process.Classes() {
		kinds = append(kinds, fmt.Sprintf("%s %s", units.Count(class.Count), className(class)))
	}
	paused, stood := "-", []string{"the trace does not tell how long"}
	if all.Pause.Count() > 0 {
		paused, stood = units.Duration(all.Pause.Sum()), nil
		if all.PausesUnknown() > 0 || all.Affected > 0 {
			stood = append(stood, "at least")
		}
	}
	if share := c.PauseShare(); share.Known {
		stood = append(stood, fmt.Sprintf("%s of %s", units.Percent(share.V), units.Duration(c.Process.Watched())))
	}
	if longest := c.Process.Longest; len(longest) > 0 {
		stood = append(stood, fmt.Sprintf("longest %s (collection %d)", units.Duration(all.Pause.Max()), longest[0].Number))
	}
	freed, of := "-", []string{"the trace does not tell how much"}
	if all.Freed.Known > 0 {
		freed, of = units.Bytes(all.Freed.Sum), nil
		if certainty := sumCertainty(all.Freed); certainty != "" {
			of = append(of, certainty)
		}
	}
	if all.Allocated.Known > 0 {
		of = append(of, "of "+bytesText(all.Allocated)+" allocated")
	}
	if rate := c.Process.AllocationRate(); rate.Known {
		of = append(of, units.Bytes(int64(rate.V))+" a second")
	}
	rows := [3][3]string{
		{units.Count(all.Count), text.Noun(all.Count, "collection"), strings.Join(kinds, ", ")},
		{paused, "stood still", strings.Join(stood, ", ")},
		{freed, "freed", strings.Join(of, ", ")},
	}
	var first, second int
	for _, r := range rows {
		first, second = max(first, len(r[0])), max(second, len(r[1]))
	}
	for _, r := range rows {
		p.Prose(fmt.Sprintf("  %*s %-*s  ", first, r[0], second, r[1]), r[2])
	}
}

// sumCertainty says how a sum is to be read if it is not exact.
func sumCertainty(b stats.Bytes) string {
	switch {
	case b.Estimated:
		return "estimated"
	case b.AtLeast:
		return "at least"
	default:
		return ""
	}
}

// bytesText writes a sum, and says how it is to be read.
func bytesText(b stats.Bytes) string {
	switch {
	case b.Estimated:
		return "about " + units.Bytes(b.Sum)
	case b.AtLeast:
		return "at least " + units.Bytes(b.Sum)
	default:
		return units.Bytes(b.Sum)
	}
}

func className(c stats.Class) string {
	if !c.Generation.Known {
		return "unknown"
	}
	return fmt.Sprintf("gen%d %v", c.Generation.V, c.Kind)
}

func (rep *Report) writeFindings(p *text.Page, c *Case) {
	if len(c.Findings) == 0 {
		return
	}
	p.Section("Findings")
	for i := range c.Findings {
		f := &c.Findings[i]
		writeFinding(p, i+1, f, rep.commands(c, f))
	}
}

func writeFinding(p *text.Page, n int, f *findings.Finding, next []step) {
	lead := fmt.Sprintf("%2d. ", n)
	const indent = "    "
	p.Spans(lead, severityWord(f.Severity), text.Span{Text: fmt.Sprintf("%s (%s, %v confidence)", f.Title, f.ID, f.Confidence)})
	p.Prose(indent, f.Says+shownIn(f))
	for _, a := range f.Advice {
		p.Prose(indent+"- ", a)
	}
	for _, s := range f.Settings {
		words := fmt.Sprintf("%s=%s (hexadecimal)", s.Variable, s.Value)
		if s.Property != "" {
			words += fmt.Sprintf(" or %q: %s in runtimeconfig.json", s.Property, s.JSON)
		}
		words += ": " + s.Effect + ". Cost: " + s.Cost + "."
		if s.Since != "" {
			words += " From " + s.Since + " on."
		}
		p.Prose(indent+"- ", words)
	}
	for _, s := range next {
		p.Prose(indent+"- ", "To "+s.purpose+":")
		p.Command(indent+"  ", s.command)
	}
}

var severityStyles = [...]text.Style{findings.Note: text.Note, findings.Warning: text.Warning, findings.Problem: text.Problem}

// severityWord is a severity at the beginning of a sentence.
func severityWord(s findings.Severity) text.Span {
	word := strings.ToUpper(s.String()[:1]) + s.String()[1:]
	return text.Span{Text: word + ":", Style: severityStyles[s]}
}

// shownIn names the collections that show a finding.
func shownIn(f *findings.Finding) string {
	if len(f.Collections) == 0 {
		return ""
	}
	numbers := make([]string, len(f.Collections))
	for i, n := range f.Collections {
		numbers[i] = fmt.Sprint(n)
	}
	words := fmt.Sprintf(" (%s %s", text.Noun(f.Shown, "collection"), strings.Join(numbers, ", "))
	if more := f.Shown - len(numbers); more > 0 {
		words += fmt.Sprintf(" and %s more", units.Count(more))
	}
	return words + ")"
}

// ms writes a duration for a column, - where unknown.
func ms(d gc.Opt[time.Duration]) string {
	if !d.Known {
		return "-"
	}
	return units.Millis(d.V)
}

// mb writes a size for a column, - where unknown.
func mb(n gc.Opt[int64]) string {
	if !n.Known {
		return "-"
	}
	return units.MB(n.V)
}

// sumMB writes a sum of sizes for a column, with ~ where it is estimated and >
// where the true one may be larger.
func sumMB(b stats.Bytes) string {
	switch {
	case b.Known == 0:
		return "-"
	case b.Estimated:
		return "~" + units.MB(b.Sum)
	case b.AtLeast:
		return ">" + units.MB(b.Sum)
	default:
		return units.MB(b.Sum)
	}
}
