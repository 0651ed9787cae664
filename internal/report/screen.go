package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// screenLines is the number of lines of the first screen: a terminal's, less the
// prompt.
const screenLines = 23

// writeScreen writes the first screen of a report: the verdict, three figures, the
// quality of the evidence, the findings, and the next command.
func (rep *Report) writeScreen(p *text.Page) {
	c := &rep.cases[0]
	first := p.Lines()
	p.Spans("", text.Span{Text: c.Verdict, Style: verdictStyles[c.Code]})
	p.Line("")
	c.writeFigures(p)
	p.Line("")
	p.Prose("", c.process()+".")
	c.writeMemoryVerdict(p)
	switch n := len(rep.cases) - 1; {
	case n == 1:
		p.Prose("", "Another process is below.")
	case n > 1:
		p.Prose("", fmt.Sprintf("%s other processes are below, ordered by total pause.", units.Count(n)))
	}
	p.Prose("", "Evidence: "+rep.evidence()+".")
	c.writeProcessors(p)
	next := ""
	if steps := rep.next(); len(steps) > 0 {
		next = steps[0]
	}
	const indent = "  "
	if len(c.Findings) > 0 {
		p.Section("Findings")
		room := screenLines - (p.Lines() - first)
		if next != "" {
			room -= 2 + p.CommandRows(indent, next)
		}
		shown := len(c.Findings)
		if shown > room {
			shown = max(1, room-1)
		}
		for i := range c.Findings[:shown] {
			f := &c.Findings[i]
			severity, rule := fmt.Sprintf("  %-8s ", severityWord(f.Severity)), " ("+f.ID+")"
			title := text.Cut(text.Sentence(f.Title), p.Width-len(severity)-len(rule))
			p.Row(text.Span{Text: severity, Style: severityStyles[f.Severity]}, text.Span{Text: strings.TrimSpace(title) + rule})
		}
		if more := len(c.Findings) - shown; more > 0 {
			p.Line("  and %d more, below", more)
		}
	}
	if next != "" {
		p.Section("Next")
		p.Command(indent, next)
	}
}

var verdictStyles = map[findings.Code]text.Style{
	findings.Innocent: text.Good, findings.WithinBudget: text.Good,
	findings.LongPauses: text.Warning, findings.CostsTime: text.Warning, findings.Suspended: text.Warning,
	findings.Guilty: text.Problem, findings.NoVerdict: text.Strong, findings.NoCollections: text.Strong,
}

// evidence returns one line about the trace: its length, format, recorded events and gaps.
func (rep *Report) evidence() string {
	runtime := rep.provider(clr.RuntimeProvider)
	parts := []string{units.Duration(rep.info.Last) + " of " + rep.info.Format}
	if runtime.Events == 0 {
		parts = append(parts, "no events of the runtime")
	} else {
		parts = append(parts, recorded(&runtime, briefKeywords(selection.SpellKeywords(runtime.Keywords))))
	}
	return strings.Join(append(parts, rep.completeness()), ", ")
}

// recorded describes the recorded events of the runtime, with its keywords as words. The
// format may record neither keywords nor levels.
func recorded(runtime *findings.Recorded, keywords string) string {
	if runtime.Keywords == 0 {
		return "no keywords known"
	}
	return fmt.Sprintf("%s at level %d", keywords, runtime.Level)
}

// briefKeywords shortens a long list of keywords, gc+loader+jit.
func briefKeywords(all string) string {
	const most = 3
	words := strings.Split(all, "+")
	if len(words) <= most {
		return all
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:most], "+"), text.Plural(int64(len(words)-most), "more keyword", "more keywords"))
}

// completeness describes the missing parts of the trace.
func (rep *Report) completeness() string {
	l, silence := rep.loss, rep.info.Silence()
	var parts clauses
	parts.add(l.Dropped() > 0, lost(l, "event", "events"))
	parts.add(l.LeftOut > 0, leftOut(l))
	parts.add(l.Truncated, "truncated")
	parts.add(silence > 0, "no event in the first "+units.Duration(silence))
	parts.add(l.Damaged > 0, "damaged ("+text.Counted(l.Damaged, "unreadable place")+")")
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case unexplained(l):
		return "events are missing"
	case l.StreamsUnknown:
		return "files of other processors may be missing"
	case l.Exactness == trace.Exact:
		return "no events lost"
	default:
		return "lost events unknown"
	}
}

// writeTrace describes the file and its contents.
func (rep *Report) writeTrace(p *text.Page) {
	p.Section("Trace")
	p.Prose("", fmt.Sprintf("%s: %s, from %s.", filepath.ToSlash(rep.Name), rep.info.Format, began(rep.info)))
	if runtime := rep.provider(clr.RuntimeProvider); runtime.Events > 0 {
		line := "Recorded: " + recorded(&runtime, "keywords "+strings.ReplaceAll(selection.SpellKeywords(runtime.Keywords), "+", ", "))
		if rep.info.Last >= time.Millisecond {
			line += fmt.Sprintf("; %s events/s", units.Count(int(float64(runtime.Events)/rep.info.Last.Seconds())))
		}
		p.Prose("", line+".")
	}
	if n := len(rep.others); n > 0 && len(rep.cases) > 0 {
		p.Prose("", fmt.Sprintf("%s without GCs.", text.Plural(int64(n), "other process", "other processes")))
	}
}

// began returns when a trace began.
func began(info *trace.Info) string { return info.Start.Format("2006-01-02 15:04:05 UTC") }

// writeFigures writes the three figures that matter most.
func (c *Case) writeFigures(p *text.Page) {
	all := c.Summary.All()
	rows := [...][3]string{
		{"Total pause", c.totalPause(), c.pauses()},
		{"Collections", units.Count(all.Count), c.classes()},
		{"Allocated", sumText(c.Summary.Allocated()), c.allocation()},
	}
	var name, value int
	for _, r := range rows {
		name, value = max(name, text.Width(r[0])), max(value, text.Width(r[1]))
	}
	for _, r := range rows {
		p.Prose("  "+text.PadRight(r[0], name)+"  "+text.PadLeft(r[1], value)+"  ", r[2])
	}
}

// pauseIs returns the certainty of the total pause, and of its share of the time.
func (c *Case) pauseIs() gc.Certainty {
	_, is := c.Summary.All().TotalPause().Get()
	return is
}

// totalPause returns how long all pauses took, with > where some are unknown.
func (c *Case) totalPause() string {
	all := c.Summary.All()
	if all.Pause.Count() == 0 {
		return "unknown"
	}
	return marked(units.Duration(all.Pause.Sum()), c.pauseIs())
}

// pauses returns the share of the time that pauses took, and the longest.
func (c *Case) pauses() string {
	all := c.Summary.All()
	if all.Pause.Count() == 0 {
		return "the trace lacks the suspensions of threads"
	}
	var parts []string
	if share := c.Summary.PauseShare(); share.Known() {
		parts = append(parts, fmt.Sprintf("(%s of %s)", marked(units.Percent(share.Or(0)), c.pauseIs()), units.Duration(c.Summary.Watched())))
	}
	longest := "longest " + units.Duration(all.Pause.Max())
	if of := c.Summary.Longest; len(of) > 0 {
		longest += fmt.Sprintf(" (GC %d)", of[0].Number)
	}
	return strings.Join(append(parts, longest), ", ")
}

// screenClasses is how many kinds of collections the first screen distinguishes.
const screenClasses = 3

// classes returns the kinds of collections, in descending order of pause.
func (c *Case) classes() string {
	var kinds []string
	others := 0
	classes := c.Summary.Classes()
	slices.SortStableFunc(classes, func(a, b stats.Class) int { return cmp.Compare(b.Pause.Sum(), a.Pause.Sum()) })
	for i, class := range classes {
		if i >= screenClasses && len(classes) > screenClasses+1 {
			others += class.Count
			continue
		}
		kinds = append(kinds, fmt.Sprintf("%s %s", units.Count(class.Count), className(class)))
	}
	if others > 0 {
		kinds = append(kinds, fmt.Sprintf("%s of other kinds", units.Count(others)))
	}
	return strings.Join(kinds, ", ")
}

// mostOf is the share of the watched time over which a rate must be known to be printed without
// its own time.
const mostOf = 0.9

// allocation returns the bytes allocated and freed, and the allocation rate. If the rate is known
// over a part of the watched time only, that part follows it, because the bytes divided by the
// whole time would give another rate.
func (c *Case) allocation() string {
	var parts []string
	if rate := c.Summary.AllocationRate(); rate.Known() {
		said := rate.Certainty.Mark() + units.Bytes(units.IntCapped(rate.PerSecond)) + "/s"
		if float64(rate.Over) < mostOf*float64(c.Summary.Watched()) {
			said += " over " + units.Duration(rate.Over)
		}
		parts = append(parts, "("+said+")")
	}
	freed := c.Summary.All().Freed
	if freed.Known > 0 {
		parts = append(parts, sumText(freed)+" freed")
	} else {
		parts = append(parts, "what was freed is unknown")
	}
	return strings.Join(parts, ", ")
}

// sumText writes a sum, with ~ if it is estimated and > where the true one may
// be larger.
func sumText(b stats.Bytes) string {
	if b.Known == 0 {
		return "unknown"
	}
	return b.Certainty().Mark() + units.Bytes(b.Holding().Sum)
}

// process describes the process and the settings of its GC.
func (c *Case) process() string {
	process := c.Summary.Process
	parts := clauses{processName(process)}
	parts.add(process.Name == "" && process.PID != trace.UnknownID, "name unknown")
	parts.add(process.Runtime != "", process.Runtime)
	parts.add(process.Server.Known(), flavour(process.Server.Or(false)))
	if s := process.Settings; s != nil {
		parts.add(s.BitSettings&clr.GCSettingsBitsConcurrent == 0, "not concurrent")
		parts.add(s.HardLimit > 0, "hard limit "+units.Bytes(int64(min(s.HardLimit, 1<<62))))
	}
	switch h := c.Summary.Heap; {
	case h.MaxHeaps > h.MinHeaps:
		parts = append(parts, fmt.Sprintf("%d to %d heaps", h.MinHeaps, h.MaxHeaps))
	case h.MaxHeaps > 0:
		parts = append(parts, text.Plural(int64(h.MaxHeaps), "heap", "heaps"))
	}
	return strings.Join(parts, ", ")
}

// flavour names the kind of GC: for servers or for workstations.
func flavour(server bool) string {
	if server {
		return "server GC"
	}
	return "workstation GC"
}
