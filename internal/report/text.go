package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// Write writes the report for people: first what fits a screen, then the rest.
func (rep *Report) Write(p *text.Page) {
	rep.WriteBody(p)
	rep.writeNext(p)
}

// WriteBody writes the report without the next commands at its end.
func (rep *Report) WriteBody(p *text.Page) {
	if len(rep.cases) == 0 {
		p.Heading("%s", rep.Verdict())
		rep.writeWithoutGC(p)
		rep.writeTrace(p)
		p.Prose("", "Evidence: "+rep.evidence()+".")
		rep.writeGaps(p, nil)
		return
	}
	rep.writeScreen(p)
	if len(rep.cases) > 1 {
		rep.writeProcesses(p)
	}
	rep.writeTrace(p)
	rep.writeGaps(p, &rep.cases[0])
	for i := range rep.cases[:min(len(rep.cases), maxSections)] {
		c := &rep.cases[i]
		if i > 0 {
			p.Section("%s: %s", processName(c.Summary.Process), c.Verdict)
			p.Line("")
			c.writeFigures(p)
			p.Prose("", c.process()+".")
			c.writeMemoryVerdict(p)
			c.writeProcessors(p)
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

// maxSections is how many processes are reported in full.
const maxSections = 3

// writeProcesses lists the processes with collections, worst first.
func (rep *Report) writeProcesses(p *text.Page) {
	total := func(c *Case) *stats.Totals { return c.Summary.All() }
	var g grid
	g.words("process", 0, text.Each(rep.cases, func(c *Case) string { return processName(c.Summary.Process) }))
	g.numbers("GCs", 0, text.Each(rep.cases, func(c *Case) string { return units.Count(total(c).Count) }))
	g.timeSums("paused", 0, text.Each(rep.cases, func(c *Case) gc.Sum[time.Duration] { return total(c).TotalPause() }))
	g.numbers("%", 0, text.Each(rep.cases, func(c *Case) string {
		if s := c.Summary.PauseShare(); s.Known() && total(c).Pause.Count() > 0 {
			return marked(units.Share(s.Or(0)), c.pauseIs())
		}
		return units.Unknown
	}))
	g.times("longest", 0, text.Each(rep.cases, func(c *Case) gc.Opt[time.Duration] { return ofPauses(total(c), total(c).Pause.Max()) }))
	g.sizes("freed", 2, text.Each(rep.cases, func(c *Case) stats.Bytes { return total(c).Freed }))
	g.words("runtime", 1, text.Each(rep.cases, func(c *Case) string { return c.Summary.Process.Runtime }))
	g.section(p, text.Plural(int64(len(rep.cases)), "process", "processes")+" with GCs, by total pause")
	if len(rep.cases) > maxSections {
		p.Line("The first %d follow; gctrail report --pid N reports on one of the others.", maxSections)
	}
}

// processName returns the name and the id of a process, for sentences.
func processName(p *gc.Process) string {
	return titled(program.Inert(p.Name), p.PID)
}

// titled returns the name and the id of a process, of which both may be unknown. The title in
// web/src/data/process.ts is the same.
func titled(name string, pid uint64) string {
	switch {
	case pid == trace.UnknownID:
		return cmp.Or(name, "unknown process")
	case name == "":
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("%s (pid %d)", name, pid)
}

func className(c stats.Class) string {
	if !c.Generation.Known() {
		return "unknown"
	}
	return fmt.Sprintf("gen%d %v", c.Generation.Or(0), c.Kind)
}

func (rep *Report) writeFindings(p *text.Page, c *Case) {
	if len(c.Findings) == 0 {
		return
	}
	p.Section("Findings in full")
	shown := map[string]int{}
	for i := range c.Findings {
		f := &c.Findings[i]
		writeFinding(p, i+1, f, rep.commands(c, f), shown)
	}
}

// writeFinding writes the nth finding. A setting or a command that an earlier one
// shows is referred to; shown has the findings that showed each.
func writeFinding(p *text.Page, n int, f *findings.Finding, next []Step, shown map[string]int) {
	lead := fmt.Sprintf("%2d. ", n)
	const indent = "    "
	p.Spans(lead, text.Span{Text: severityWord(f.Severity) + ":", Style: severityStyles[f.Severity]}, text.Span{Text: fmt.Sprintf("%s (%s, %v confidence)", f.Title, f.ID, f.Confidence)})
	p.Prose(indent, f.Description+shownIn(f))
	for _, a := range f.Advice {
		p.Prose(indent+"- ", a)
	}
	for i := range f.Settings {
		s := &f.Settings[i]
		if at := shown[s.Variable]; at > 0 {
			p.Prose(indent+"- ", fmt.Sprintf("%s=%s: see finding %d.", s.Variable, s.Value, at))
			continue
		}
		shown[s.Variable] = n
		p.Prose(indent+"- ", settingText(s))
	}
	for _, s := range next {
		if at := shown[s.Command]; at > 0 {
			p.Prose(indent+"- ", fmt.Sprintf("To %s: the command of finding %d.", s.Purpose, at))
			continue
		}
		shown[s.Command] = n
		p.Prose(indent+"- ", "To "+s.Purpose+":")
		p.Command(indent+"  ", s.Command)
	}
}

// settingText describes a setting in both spellings, with its effect and its cost.
func settingText(s *findings.Setting) string {
	words := fmt.Sprintf("%s=%s (hexadecimal)", s.Variable, s.Value)
	if s.Property != "" {
		words += fmt.Sprintf(" or %q: %s in runtimeconfig.json", s.Property, s.JSON)
	}
	words += ": " + s.Does() + ". Cost: " + s.Cost + "."
	if s.Since != "" {
		words += " From " + s.Since + " on."
	}
	return words
}

var severityStyles = [...]text.Style{findings.Note: text.Note, findings.Warning: text.Warning, findings.Problem: text.Problem}

func severityWord(s findings.Severity) string { return text.Sentence(s.String()) }

// shownIn names the collections that show a finding.
func shownIn(f *findings.Finding) string {
	if len(f.Collections) == 0 {
		return ""
	}
	numbers := text.Each(f.Collections, func(n *uint32) string { return fmt.Sprint(*n) })
	words := fmt.Sprintf(" (%s %s", text.Noun(f.Shown, "GC"), strings.Join(numbers, ", "))
	if more := f.Shown - len(numbers); more > 0 {
		words += fmt.Sprintf(" and %s more", units.Count(more))
	}
	return words + ")"
}
