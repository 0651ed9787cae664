package html

import (
	"encoding/json"
	"fmt"
	stdhtml "html"
	"io"
	"path"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/saturate"
	"github.com/gctrail/gctrail/internal/units"
)

// An opening is the content of a page until its script has run, and without scripts all
// of it: parts of the reports of its traces.
type (
	opening struct {
		Format    string           `json:"format"`
		Verdict   string           `json:"verdict"`
		Code      string           `json:"verdict_code"`
		Duration  float64          `json:"duration_ms"`
		Processes []openingProcess `json:"processes"`
		Lost      struct {
			Events  uint64 `json:"events"`
			LeftOut uint64 `json:"left_out"`
			Cut     bool   `json:"cut"`
			Damaged int64  `json:"damaged"`
		} `json:"lost"`
	}
	openingProcess struct {
		PID      *uint64          `json:"pid"`
		Name     string           `json:"process"`
		Runtime  string           `json:"runtime"`
		Server   *bool            `json:"server"`
		Verdict  string           `json:"verdict"`
		Code     string           `json:"verdict_code"`
		Totals   openingTotals    `json:"totals"`
		Findings []openingFinding `json:"findings"`
		Longest  []struct {
			Number uint32 `json:"number"`
		} `json:"longest_pauses"`
		Memory *struct {
			Says string `json:"says"`
		} `json:"memory"`
	}
	openingTotals struct {
		Count       int      `json:"count"`
		Watched     *float64 `json:"watched_ms"`
		Pause       *float64 `json:"pause_ms"`
		Longest     *float64 `json:"pause_max_ms"`
		P99         *float64 `json:"pause_p99_ms"`
		Allocated   *int64   `json:"allocated_bytes"`
		AllocatedIs string   `json:"allocated_is"`
		Rate        *float64 `json:"allocated_bytes_per_s"`
		RateIs      string   `json:"allocated_bytes_per_s_is"`
		Freed       *int64   `json:"freed_bytes"`
		FreedIs     string   `json:"freed_is"`
		Promoted    *int64   `json:"promoted_bytes"`
		Induced     int      `json:"induced"`
		Reasons     []struct {
			Reason string `json:"reason"`
			Count  int    `json:"count"`
		} `json:"reasons"`
		Heap struct {
			Largest *int64 `json:"peak_bytes"`
		} `json:"heap"`
	}
	openingFinding struct {
		ID         string   `json:"id"`
		Title      string   `json:"title"`
		Severity   string   `json:"severity"`
		Confidence string   `json:"confidence"`
		Says       string   `json:"says"`
		Advice     []string `json:"advice"`
		Settings   []struct {
			Variable string `json:"env"`
			Value    string `json:"env_value_hex"`
			Effect   string `json:"effect"`
		} `json:"settings"`
		Next []struct {
			Purpose string `json:"purpose"`
			Command string `json:"command"`
		} `json:"next"`
	}
)

// codeClasses are the classes of verdicts in the page's style.
var codeClasses = map[string]string{
	"innocent": "good", "within_budget": "good", "long_pauses": "warning", "costs_time": "warning", "suspended": "warning", "problem": "problem",
}

// A markup writes elements, with their text escaped.
type markup struct{ strings.Builder }

// put writes HTML, with arguments that are escaped.
func (m *markup) put(html string, args ...string) {
	escaped := make([]any, len(args))
	for i, a := range args {
		escaped[i] = stdhtml.EscapeString(a)
	}
	fmt.Fprintf(&m.Builder, html, escaped...)
}

// writeOpening writes the verdict, the figures and the findings of the first process,
// and the verdicts on the others.
func (p *Page) writeOpening(w io.Writer) error {
	reports := make([]opening, len(p.Traces))
	for i, t := range p.Traces {
		if err := json.Unmarshal(t.Report, &reports[i]); err != nil {
			return fmt.Errorf("html: report of %s: %w", t.Name, err)
		}
	}
	var m markup
	name := p.Title
	if len(p.Traces) > 0 && p.Comparison == nil && p.Traces[0].Name != "" {
		name = base(p.Traces[0].Name)
	}
	m.put(`<header class="bar"><span class="brand">gctrail</span><h1>%s</h1></header>`+"\n<main>\n", name)
	if p.Comparison != nil || len(reports) == 0 || len(reports[0].Processes) == 0 {
		code := ""
		if p.Comparison == nil && len(reports) > 0 {
			code = reports[0].Code
		}
		m.verdict(code, p.Verdict)
	} else {
		m.first(&reports[0], p.Traces[0])
	}
	p.writeOthers(&m, reports)
	m.put("</main>\n")
	_, err := io.WriteString(w, m.String())
	return err
}

func (m *markup) verdict(code, verdict string, facts ...string) {
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
func (m *markup) first(r *opening, t *Trace) {
	p := &r.Processes[0]
	facts := []string{p.title()}
	if p.Runtime != "" {
		facts = append(facts, p.Runtime)
	}
	if p.Server != nil {
		facts = append(facts, map[bool]string{true: "server GC", false: "workstation GC"}[*p.Server])
	}
	facts = append(facts, milliseconds(&r.Duration)+" of "+r.Format, t.Start.UTC().Format("2006-01-02 15:04:05 UTC"))
	memory := ""
	if p.Memory != nil {
		memory = "Memory: " + p.Memory.Says + "."
	}
	m.verdict(p.Code, p.Verdict, strings.Join(facts, " · "), memory, r.missing())
	var doubtful sums
	if len(t.processes) > 0 {
		doubtful = t.processes[0].doubtful
	}
	m.figures(p, doubtful)
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
func (r *opening) missing() string {
	var parts []string
	if r.Lost.Cut {
		parts = append(parts, "the trace is truncated")
	}
	switch n := r.Lost.Events; {
	case n == 1:
		parts = append(parts, "1 event lost")
	case n > 1:
		parts = append(parts, units.Count(n)+" events lost")
	}
	if r.Lost.LeftOut > 0 {
		parts = append(parts, "processes after the first "+units.Count(gc.MaxProcesses))
	}
	if r.Lost.Damaged > 0 {
		parts = append(parts, "parts of it cannot be read")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Missing: " + strings.Join(parts, "; ") + "."
}

func (m *markup) figures(p *openingProcess, doubtful sums) {
	t := &p.Totals
	pauseIs, promotedIs := atLeast(doubtful.pauseAtLeast), atLeast(doubtful.promotedAtLeast)
	m.put("<dl class=\"figures\">\n")
	m.figure("GCs", units.Count(t.Count), "")
	m.figure("total pause", marked(pauseIs, milliseconds(t.Pause)), t.share(pauseIs))
	m.figure("longest pause", milliseconds(t.Longest), p.longest())
	m.figure("p99 pause", milliseconds(t.P99), "")
	m.figure("allocated", marked(marks[t.AllocatedIs], bytesText(t.Allocated)), t.rate())
	m.figure("freed", marked(marks[t.FreedIs], bytesText(t.Freed)), "")
	m.figure("promoted", marked(promotedIs, bytesText(t.Promoted)), "")
	m.figure("largest heap", bytesText(t.Heap.Largest), "")
	m.figure("induced", units.Count(t.Induced), t.induced())
	switch n := doubtful.collections; n {
	case 0:
	case 1:
		m.figure("incomplete", "1", "GC lacks events")
	default:
		m.figure("incomplete", units.Count(n), "GCs lack events")
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

// share returns the share of the time that pauses took.
func (t *openingTotals) share(is string) string {
	if t.Pause == nil || t.Watched == nil || *t.Watched <= 0 {
		return ""
	}
	return marked(is, units.Percent(100**t.Pause / *t.Watched)) + " of " + milliseconds(t.Watched)
}

// longest names the collection with the longest pause.
func (p *openingProcess) longest() string {
	if len(p.Longest) == 0 || p.Totals.Longest == nil {
		return ""
	}
	return fmt.Sprintf("GC %d", p.Longest[0].Number)
}

func (t *openingTotals) rate() string {
	if t.Allocated == nil || t.Rate == nil || *t.Rate <= 0 { // the script shows no rate beside an unknown total
		return ""
	}
	return marked(marks[t.RateIs], units.Bytes(saturate.Int(*t.Rate))+"/s")
}

// induced returns the share of induced collections, and how many need not have blocked.
func (t *openingTotals) induced() string {
	if t.Induced == 0 || t.Count == 0 {
		return ""
	}
	says := units.Percent(100 * float64(t.Induced) / float64(t.Count))
	for _, r := range t.Reasons {
		if r.Reason == "InducedNotForced" {
			says += ", " + units.Count(r.Count) + " not forced"
		}
	}
	return says
}

func (m *markup) finding(f *openingFinding, at int) {
	open := ""
	if at < 2 {
		open = " open"
	}
	m.put(`<li class="%s"><details%s><summary><span class="badge">%s</span> <span class="title">%s</span> <span class="rule">%s, %s confidence</span></summary>`,
		f.Severity, open, f.Severity, sentence(f.Title), f.ID, f.Confidence)
	m.put("<p>%s</p>", f.Says)
	if len(f.Advice) > 0 {
		m.put(`<ul class="advice">`)
		for _, a := range f.Advice {
			m.put("<li>%s</li>", a)
		}
		m.put("</ul>")
	}
	for _, s := range f.Settings {
		m.put(`<div class="setting"><div class="command"><code>%s=%s</code></div><p>%s</p></div>`, s.Variable, s.Value, sentence(s.Effect))
	}
	for _, n := range f.Next {
		m.put(`<p class="hint">%s:</p><div class="command"><code>%s</code></div>`, sentence(n.Purpose), n.Command)
	}
	m.put("</details></li>\n")
}

// writeOthers lists the processes, if there are several.
func (p *Page) writeOthers(m *markup, reports []opening) {
	processes := 0
	for i := range reports {
		processes += len(reports[i].Processes)
	}
	if processes < 2 {
		return
	}
	m.put("<section class=\"processes\"><h2>Processes</h2><ul>\n")
	for i := range reports {
		for j := range reports[i].Processes {
			one := &reports[i].Processes[j]
			m.put("<li>%s, %s: %s</li>\n", one.title(), base(p.Traces[i].Name), one.Verdict)
		}
	}
	m.put("</ul></section>\n")
}

// base returns the name of a file, of any system.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

func (p *openingProcess) title() string {
	name := p.Name
	if name == "" {
		name = "process"
	}
	if p.PID == nil {
		return name
	}
	return fmt.Sprintf("%s (pid %d)", name, *p.PID)
}

// marks precede a sum that is not exact, as in reports.
var marks = map[string]string{"estimate": "~", "lower_bound": ">"}

const dash = "–"

func atLeast(is bool) string {
	if is {
		return marks["lower_bound"]
	}
	return ""
}

// marked returns a figure behind its mark; what is unknown, or has another sign, has none.
func marked(mark, value string) string {
	if value == dash || strings.HasPrefix(value, "<") {
		return value
	}
	return mark + value
}

func milliseconds(ms *float64) string {
	if ms == nil {
		return dash
	}
	return units.Duration(time.Duration(*ms * float64(time.Millisecond)))
}

func bytesText(n *int64) string {
	if n == nil {
		return dash
	}
	return units.Bytes(*n)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
