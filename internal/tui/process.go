package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

const (
	// roomyHeight is the height from which findings have a place of their own.
	roomyHeight = 36
	// findingsShare divides the rest of a roomy screen: findings get one part.
	findingsShare = 2
	// chartedLines is the height that must be left for charts, and for figures above
	// findings.
	chartedLines = 12
	// troubleLines is how many lines are spent on what is wrong.
	troubleLines = 5
)

// drawProcess shows one process in depth.
func (m *model) drawProcess(p *painter, process *watch.Process) {
	p.heading(nameOf(process)+" "+processID(process.PID, process.InnerPID)+"  "+stateOf(process), m.snap.Now, m.frozen)
	p.parts(1, about(process))
	if trouble := m.trouble(process); trouble != "" {
		p.wrapped("", trouble, troubleLines, p.styles.warn)
	}
	if process.State == watch.Found {
		return
	}
	p.wrapped("", cmp.Or(process.Verdict, "No GC yet: figures appear with the first one."), 2, p.styles.strong)
	if !m.advice || p.left() >= chartedLines {
		p.sizes(process)
		p.parts(2, sums(process))
		p.parts(2, RequestParts(process.Requests))
	}
	if room := p.left(); room >= chartedLines && (!m.advice || p.roomy()) {
		pauseLines := max(2, room/8)
		p.chart(process, max(3, room/4), pauseLines)
	}
	if m.advice {
		m.drawFindings(p, process)
		return
	}
	if p.roomy() {
		p.findings(process, p.left()/findingsShare, 0, "f shows all")
	}
	m.drawCollections(p, process)
}

func stateOf(process *watch.Process) string {
	switch process.State {
	case watch.Watched:
		return "watched"
	case watch.Ended:
		return "ended"
	default:
		return "not watched"
	}
}

// sums describes all collections since gctrail attached to the process.
func sums(p *watch.Process) []string {
	if p.Last == nil {
		return nil
	}
	parts := []string{
		fmt.Sprintf("%s GCs: gen0 %s, gen1 %s, gen2 %s", units.Count(p.Collections),
			units.Count(p.ByGeneration[0]), units.Count(p.ByGeneration[1]), units.Count(p.ByGeneration[2])),
		fmt.Sprintf("%.1f/s", p.Rate),
		fmt.Sprintf("paused %s %%", share(p.Paused)),
		fmt.Sprintf("%s %% overall", share(p.PausedInAll)),
		"p99 " + units.Optional(p.P99, units.Duration),
		"max " + units.Optional(p.Longest, units.Duration),
	}
	if says := processorTime(p.Last.Collection.Process); says != "" {
		parts = append(parts, says)
	}
	if p.Allocating.Known() {
		parts = append(parts, "allocates "+allocating(p, units.Bytes)+"/s")
	}
	return parts
}

// RequestParts describes the requests of the last minute; nothing if there are none.
func RequestParts(r *watch.Requests) []string {
	if r == nil {
		return nil
	}
	return []string{
		fmt.Sprintf("%.1f requests/s", r.PerSecond), "p50 " + units.Duration(r.P50), "p99 " + units.Duration(r.P99),
		units.Duration(r.Running) + " without pauses", "GC " + units.Percent(100*r.Share) + " of the slowest 1 %",
	}
}

// processorTime returns the share of the program's processor time that the GC used at least,
// up to its latest collection; empty if it is not known.
func processorTime(p *gc.Process) string {
	if p == nil {
		return ""
	}
	t := p.GCTime().Or(gc.UsedTime{})
	if t.Least == 0 {
		return ""
	}
	return "GC at least " + units.Percent(t.LeastPct().Or(0)) + " of CPU"
}

// drawCollections lists the latest collections, the newest first.
func (m *model) drawCollections(p *painter, process *watch.Process) {
	if p.left() < 3 || len(process.Recent) == 0 {
		return
	}
	heading := "latest collections"
	if m.back > 0 {
		heading = fmt.Sprintf("collections, %d back", m.back)
	}
	if n := len(severe(process.Findings)); n > 0 && !p.roomy() {
		heading += "; f shows " + text.Counted(n, "finding")
	}
	p.section(heading)
	n := len(process.Recent)
	newest := make([]*watch.Collection, 0, n)
	for i := n - 1 - min(m.back, n-1); i >= 0; i-- {
		newest = append(newest, process.Recent[i])
	}
	p.collections(newest, false)
}

// A fact is a column of the list of collections. The time has no cell, because it depends on where
// one is.
type fact = column[*watch.Collection]

var facts = []fact{
	{heading: "time", width: 12, left: true},
	{heading: "process", width: 16, left: true, cell: func(c *watch.Collection) string { return c.Process.Name }},
	{heading: "pid", width: 7, rank: 6, cell: func(c *watch.Collection) string { return processID(c.Process.PID, c.Process.InnerPID) }},
	{heading: "GC", width: 6, rank: 5, cell: func(c *watch.Collection) string { return strconv.Itoa(int(c.Number)) }},
	{heading: "what", width: 15, left: true, cell: generationAndKind},
	{heading: "reason", width: 22, left: true, rank: 3, cell: func(c *watch.Collection) string {
		return units.Optional(c.Reason, func(r clr.GCReason) string { return r.String() })
	}},
	{heading: "pause ms", width: 8, cell: func(c *watch.Collection) string { return units.Optional(c.Pause(), units.Millis) }},
	{heading: "before MB", width: 9, rank: 4, cell: func(c *watch.Collection) string { return units.Optional(c.HeapBefore, units.MB) }},
	{heading: "after MB", width: 9, rank: 1, cell: func(c *watch.Collection) string { return units.Optional(c.HeapAfter, units.MB) }},
	{heading: "promoted MB", width: 11, rank: 7, cell: func(c *watch.Collection) string { return units.Optional(c.Promoted, units.MB) }},
	{heading: "freed MB", width: 9, rank: 8, cell: func(c *watch.Collection) string { return c.FreedQuality.Mark() + units.Optional(c.Freed, units.MB) }},
	{heading: "suspend ms", width: 10, rank: 9, cell: func(c *watch.Collection) string { return units.Optional(c.Suspend(), units.Millis) }},
}

// allocating returns a process's allocation rate with its mark.
func allocating(p *watch.Process, format func(int64) string) string {
	if !p.Allocating.Known() {
		return units.Unknown
	}
	return p.Allocating.Certainty.Mark() + format(units.IntCapped(p.Allocating.PerSecond))
}

// generationAndKind returns the generation and the kind of a collection, in words.
func generationAndKind(c *watch.Collection) string {
	text := units.Optional(c.Generation, func(n int) string { return "gen" + strconv.Itoa(n) })
	if c.Kind != gc.KindUnknown {
		text += " " + c.Kind.String()
	}
	return text
}

// collections lists collections in the remaining room, with the columns that fit.
func (p *painter) collections(all []*watch.Collection, withProcess bool) {
	columns := factsFor(p.width, withProcess)
	heading := ""
	for _, f := range columns {
		heading += f.align(f.heading) + " "
	}
	p.text(p.styles.faint, heading)
	for _, c := range all {
		if p.left() == 0 {
			return
		}
		line := ""
		for _, f := range columns {
			cell := c.Ended.In(p.zone).Format("15:04:05.000")
			if f.cell != nil {
				cell = f.cell(c)
			}
			line += f.align(cell) + " "
		}
		p.text(plain, line)
	}
}

func factsFor(width int, withProcess bool) []fact {
	columns := slices.DeleteFunc(slices.Clone(facts), func(f fact) bool { return !withProcess && (f.heading == "process" || f.heading == "pid") })
	columns, _ = fitting(columns, width+1, 0)
	return columns
}

// drawFindings shows the findings, in all of the remaining room.
func (m *model) drawFindings(p *painter, process *watch.Process) {
	m.read = p.findings(process, p.left(), m.read, "down shows more")
}

// findings adds the findings from a line on, in so many lines with the heading; rest in
// the heading explains how to see the others. It returns the first line shown, which is
// earlier if the room would stay empty otherwise.
func (p *painter) findings(process *watch.Process, room, from int, rest string) int {
	if room < 3 {
		return from
	}
	all := findingLines(p, process.Findings)
	room-- // for the heading
	from = min(from, max(0, len(all)-room))
	to := min(len(all), from+room)
	heading := "findings"
	if to < len(all) {
		heading += "; " + rest
	}
	p.section(heading)
	for _, line := range all[from:to] {
		p.line(line...)
	}
	return from
}

// findingLines returns findings with their evidence and advice, as wide as p.
func findingLines(p *painter, all []findings.Finding) []line {
	if len(all) == 0 {
		return []line{{plain(p.fit("none yet"))}}
	}
	page := &painter{width: p.width, height: math.MaxInt, styles: p.styles}
	for i := range all {
		f := &all[i]
		title := fmt.Sprintf("%s: %s (%s, %v confidence)", text.Sentence(f.Severity.String()), f.Title, f.ID, f.Confidence)
		page.wrapped(fmt.Sprintf("%d. ", i+1), title, page.left(), styleOf(p, f))
		page.wrapped("   ", f.Description, page.left(), p.styles.faint)
		for _, advice := range f.Advice {
			page.wrapped("   - ", advice, page.left(), plain)
		}
	}
	return page.lines
}

func styleOf(p *painter, f *findings.Finding) style {
	if f.Severity == findings.Note {
		return p.styles.strong
	}
	return p.styles.warn
}
