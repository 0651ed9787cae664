package report

import (
	"strings"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// maxMarkdownFindings is how many findings of a process Markdown has.
const maxMarkdownFindings = 5

// WriteMarkdown writes the report for an issue or a chat: the verdicts, figures,
// findings with advice, and what to run next.
func (rep *Report) WriteMarkdown(p *text.Page) {
	j := rep.Document()
	p.Line("**%s**", text.Markdown(j.Verdict))
	for i := range rep.cases {
		rep.cases[i].writeMarkdown(p, &j.Processes[i])
	}
	if len(j.CannotTell) > 0 {
		p.Line("\n### Not recorded in this trace\n")
		for _, gap := range j.CannotTell {
			p.Line("- %s", text.Markdown(gap.What))
		}
	}
	if len(j.Next) > 0 {
		p.Line("\n### Next\n\n```sh")
		for _, command := range j.Next {
			p.Line("%s", command)
		}
		p.Line("```")
	}
}

func (c *Case) writeMarkdown(p *text.Page, j *Process) {
	all := c.Summary.All()
	p.Line("\n### %s\n", text.Markdown(processName(c.Summary.Process)))
	p.Line("| figure | |\n|---|---|")
	p.Line("| collections | %s |", units.Count(all.Count))
	if all.Pause.Count() > 0 {
		share := "unknown"
		if known := c.Summary.PauseShare(); known.Known() {
			share = marked(units.Percent(known.Or(0)), c.pauseIs())
		}
		p.Line("| paused | %s of %s (%s) |", c.totalPause(), units.Duration(c.Summary.Watched()), share)
		p.Line("| pauses | median %s, p99 %s, longest %s |", units.Duration(all.Pause.Percentile(50)), units.Duration(all.Pause.Percentile(99)), units.Duration(all.Pause.Max()))
	}
	if allocated := c.Summary.Allocated(); allocated.Known > 0 {
		p.Line("| allocated | %s |", sumText(allocated))
	}
	if peak := c.Summary.Heap.Peak; peak.Known() {
		p.Line("| largest heap | %s |", units.Bytes(peak.Or(0)))
	}
	if len(j.Findings) == 0 {
		return
	}
	p.Line("")
	for i := range j.Findings[:min(len(j.Findings), maxMarkdownFindings)] {
		f := &j.Findings[i]
		p.Line("%d. **%s** (%s, %s confidence): %s", i+1, text.Markdown(text.Sentence(f.Title)), f.ID, f.Confidence, text.Markdown(f.Says))
		for _, advice := range f.Advice {
			p.Line("   - %s", text.Markdown(advice))
		}
		for _, s := range f.Settings {
			p.Line("   - `%s=%s`: %s", strings.ReplaceAll(s.Variable, "`", "'"), strings.ReplaceAll(s.Value, "`", "'"), text.Markdown(s.Effect))
		}
	}
}
