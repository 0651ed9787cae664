package report

import (
	"fmt"
	"html"
	"path"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// codeClasses are the classes of verdicts in the page's style.
var codeClasses = map[findings.Code]string{
	findings.Innocent: "good", findings.WithinBudget: "good", findings.LongPauses: "warning", findings.CostsTime: "warning",
	findings.Suspended: "warning", findings.Guilty: "problem",
}

// A markup writes elements, with their text escaped.
type markup struct{ strings.Builder }

// put writes HTML, with arguments that are escaped.
func (m *markup) put(markup string, args ...string) {
	escaped := make([]any, len(args))
	for i, a := range args {
		escaped[i] = html.EscapeString(a)
	}
	fmt.Fprintf(&m.Builder, markup, escaped...)
}

// opening returns the content of the page until its script has run, and without scripts
// all of it: the verdict, the figures and the findings of the first process, and the
// verdicts on the others.
func (p *Page) opening() string {
	var m markup
	name := p.Title
	if len(p.Traces) > 0 && p.Comparison == nil && p.Traces[0].Name != "" {
		name = base(p.Traces[0].Name)
	}
	m.put(`<header class="bar"><span class="brand">gctrail</span><h1>%s</h1></header>`+"\n<main>\n", name)
	if p.Comparison != nil || len(p.documents) == 0 || len(p.documents[0].Processes) == 0 {
		var code findings.Code
		if p.Comparison == nil && len(p.documents) > 0 {
			code = p.documents[0].Code
		}
		m.verdict(code, p.Verdict)
	} else {
		m.first(p.documents[0], p.Traces[0].Start)
	}
	p.writeOthers(&m)
	m.put("</main>\n")
	return m.String()
}

func (m *markup) verdict(code findings.Code, verdict string, facts ...string) {
	class, known := codeClasses[code]
	if !known {
		class = "unknown"
	}
	m.put(`<section class="verdict %s"><p class="sentence">%s</p>`, class, verdict)
	for _, f := range facts {
		if f != "" {
			m.put(`<p class="facts">%s</p>`, f)
		}
	}
	m.put("</section>\n")
}

// first writes the first process of a trace.
func (m *markup) first(d *Document, start time.Time) {
	p := &d.Processes[0]
	facts := clauses{p.title()}
	facts.add(p.Runtime.Known(), p.Runtime.Or(""))
	facts.add(p.Server.Known(), flavour(p.Server.Or(false)))
	facts = append(facts, units.Duration(time.Duration(d.Duration))+" of "+strings.Replace(d.Format, "etl", "ETL", 1), start.UTC().Format("2006-01-02 15:04:05 UTC"))
	memory := ""
	if p.Memory != nil {
		memory = "Memory: " + p.Memory.Says + "."
	}
	m.verdict(p.Code, p.Verdict, strings.Join(facts, " · "), memory, d.missing())
	m.figures(p)
	m.put("<section class=\"findings\"><h2>Findings</h2>\n")
	if len(p.Findings) == 0 {
		m.put(`<p class="hint">No rule fired.</p>`)
	}
	m.put("<ol>\n")
	for i := range p.Findings {
		m.finding(&p.Findings[i], i)
	}
	m.put("</ol></section>\n")
}

// missing lists the missing parts of the trace.
func (d *Document) missing() string {
	var parts clauses
	parts.add(d.Lost.Cut, "the trace is truncated")
	switch n := d.Lost.Events; {
	case n == 1:
		parts = append(parts, "1 event lost")
	case n > 1:
		parts = append(parts, units.Count(n)+" events lost")
	}
	parts.add(d.Lost.LeftOut > 0, "processes after the first "+units.Count(gc.MaxProcesses))
	parts.add(d.Lost.Damaged > 0, "parts of it cannot be read")
	if len(parts) == 0 {
		return ""
	}
	return "Missing: " + strings.Join(parts, "; ") + "."
}

func (m *markup) figures(p *Process) {
	t := &p.Totals
	is := gc.Exact
	if t.missing > 0 {
		is = gc.LowerBound
	}
	induced := units.Count(t.Induced)
	if t.Induced > 0 {
		induced = marked(induced, is)
	}
	m.put("<dl class=\"figures\">\n")
	m.figure("GCs", marked(units.Count(t.Count), is), "")
	m.figure("total pause", shown(t.Pause, pauseText, t.pauseIs), t.pauseShare())
	m.figure("longest pause", shown(t.PauseMax, pauseText, is), p.longest())
	m.figure("p99 pause", shown(t.PauseP99, pauseText, gc.Exact), "")
	m.figure("allocated", shown(t.AllocatedBytes, units.Bytes, t.allocatedIs), t.rate())
	m.figure("freed", shown(t.FreedBytes, units.Bytes, t.freedIs), "")
	m.figure("promoted", shown(t.PromotedBytes, units.Bytes, t.promotedIs), "")
	m.figure("largest heap", shown(t.Heap.PeakBytes, units.Bytes, is), "")
	m.figure("induced", induced, t.inducedShare())
	if t.doubtful > 0 {
		m.figure("uncertain", units.Count(t.doubtful), t.doubts())
	}
	m.put("</dl>\n")
}

func (m *markup) figure(label, value, note string) {
	m.put(`<div class="figure"><dt>%s</dt><dd>%s`, label, value)
	if note != "" {
		m.put("<small>%s</small>", note)
	}
	m.put("</dd></div>\n")
}

// doubts returns why figures of some collections are uncertain.
func (t *ProcessTotals) doubts() string {
	var why clauses
	why.add(t.Incomplete > 0, "incomplete")
	why.add(t.Affected > 0, "beside lost events")
	return strings.Join(why, ", or ")
}

// pauseShare returns the share of the time that pauses took.
func (t *ProcessTotals) pauseShare() string {
	pause, known := t.Pause.Get()
	if !known || t.Watched <= 0 {
		return ""
	}
	return shown(gc.Some(100*float64(pause)/float64(t.Watched)), units.Percent, t.pauseIs) + " of " + pauseText(t.Watched)
}

// longest names the collection with the longest pause.
func (p *Process) longest() string {
	if len(p.Longest) == 0 || !p.Totals.PauseMax.Known() {
		return ""
	}
	return fmt.Sprintf("GC %d", p.Longest[0].Number)
}

// rate returns the allocation rate; empty beside an unknown total, as in the script.
func (t *ProcessTotals) rate() string {
	rate := t.AllocatedPerSecond.Or(0)
	if !t.AllocatedBytes.Known() || rate <= 0 {
		return ""
	}
	return shown(gc.Some(units.IntCapped(rate)), units.Bytes, t.rateIs) + "/s"
}

// inducedShare returns the share of induced collections, and how many need not have blocked.
func (t *ProcessTotals) inducedShare() string {
	if t.Induced == 0 || t.Count == 0 {
		return ""
	}
	says := units.Percent(100 * float64(t.Induced) / float64(t.Count))
	for _, r := range t.Reasons {
		if r.Reason.Or("") == clr.GCReasonInducedNotForced.String() {
			says += ", " + units.Count(r.Count) + " not forced"
		}
	}
	return says
}

func (m *markup) finding(f *Finding, at int) {
	open := ""
	if at < 2 {
		open = " open"
	}
	m.put(`<li class="%s"><details%s><summary><span class="badge">%s</span> <span class="title">%s</span> <span class="rule">%s, %s confidence</span></summary>`,
		f.Severity, open, f.Severity, text.Sentence(f.Title), f.ID, f.Confidence)
	m.put("<p>%s</p>", f.Says)
	if len(f.Advice) > 0 {
		m.put(`<ul class="advice">`)
		for _, a := range f.Advice {
			m.put("<li>%s</li>", a)
		}
		m.put("</ul>")
	}
	for _, s := range f.Settings {
		m.put(`<div class="setting"><div class="command"><code>%s=%s</code></div><p>%s</p></div>`, s.Variable, s.Value, settingDoes(&s))
	}
	for _, n := range f.Next {
		m.put(`<p class="hint">%s:</p><div class="command"><code>%s</code></div>`, text.Sentence(n.Purpose), n.Command)
	}
	m.put("</details></li>\n")
}

// settingDoes describes the effect and the cost of a setting, as in text.
func settingDoes(s *Setting) string {
	words := text.Sentence(s.Effect) + "."
	if s.Cost != "" {
		words += " Cost: " + s.Cost + "."
	}
	return words
}

// writeOthers lists the processes, if there are several.
func (p *Page) writeOthers(m *markup) {
	processes := 0
	for _, d := range p.documents {
		processes += len(d.Processes)
	}
	if processes < 2 {
		return
	}
	m.put("<section class=\"processes\"><h2>Processes</h2><ul>\n")
	for i, d := range p.documents {
		for j := range d.Processes {
			one := &d.Processes[j]
			m.put("<li>%s, %s: %s</li>\n", one.title(), base(p.Traces[i].Name), one.Verdict)
		}
	}
	m.put("</ul></section>\n")
}

// base returns the name of a file, of any system.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

func (p *Process) title() string { return titled(p.Name.Or(""), p.PID.Or(trace.UnknownID)) }

func pauseText(d Millis) string { return units.Duration(time.Duration(d)) }

// shown returns a figure behind the mark of its certainty.
func shown[T any](o gc.Opt[T], in func(T) string, is gc.Certainty) string {
	return units.Optional(o, func(v T) string { return marked(in(v), is) })
}
