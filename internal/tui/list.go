package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

// A column is a figure of each item of a list.
type column[T any] struct {
	heading string
	width   int
	left    bool // aligned
	rank    int  // columns with the highest are left out first; 0 never
	memory  bool // is known only where the system reports it
	cell    func(T) string
}

// A processColumn is a column of the list of processes.
type processColumn = column[*watch.Process]

// figureColumns follow the id and the name of a process.
var figureColumns = []processColumn{
	{heading: "runtime", width: 9, left: true, rank: 5, cell: runtimeOf},
	{heading: "GC", width: 11, left: true, rank: 8, cell: collectorOf},
	{heading: "up", width: 9, rank: 9, cell: upFor},
	{heading: "GCs", width: 7, rank: 4, cell: func(p *watch.Process) string { return units.Count(p.Collections) }},
	{heading: "GC/s", width: 7, rank: 1, cell: rateOf},
	{heading: "paused %", width: 10, cell: func(p *watch.Process) string { return share(p.Paused) }},
	{heading: "last ms", width: 8, rank: 7, cell: lastPause},
	{heading: "max ms", width: 8, rank: 2, cell: func(p *watch.Process) string { return units.Optional(p.Longest, units.Millis) }},
	{heading: "alloc MB/s", width: 12, rank: 3, cell: func(p *watch.Process) string {
		return allocating(p, units.MB)
	}},
	{heading: "heap MB", width: 9, cell: heapAfter},
	{heading: "resident MB", width: 13, rank: 6, memory: true, cell: megabytes(func(p *watch.Process) gc.Opt[int64] { return p.Memory.RSS })},
	{heading: "native MB", width: 9, rank: 10, memory: true, cell: func(p *watch.Process) string { return units.Optional(nativeOf(p), ledger.Bounds.MB) }},
	{heading: "cgroup MB", width: 9, rank: 12, memory: true, cell: megabytes(func(p *watch.Process) gc.Opt[int64] { return p.Memory.Used })},
	{heading: "limit MB", width: 9, rank: 11, memory: true, cell: megabytes(func(p *watch.Process) gc.Opt[int64] { return p.Memory.Limit })},
	{heading: "gen0", width: 8, rank: 13, cell: generation(0)},
	{heading: "gen1", width: 8, rank: 13, cell: generation(1)},
	{heading: "gen2", width: 9, rank: 13, cell: generation(2)},
	{heading: "LOH", width: 9, rank: 13, cell: generation(3)},
	{heading: "POH", width: 7, rank: 13, cell: generation(4)},
}

const (
	markWidth    = 2 // of the mark of the selected process
	idWidth      = 7
	shortestName = 14
	longestName  = 32
	shortID      = 12 // of a container, as docker ps shows it
)

// columnsOf returns the columns that have figures.
func columnsOf(processes []*watch.Process) []processColumn {
	hasMemory := slices.ContainsFunc(processes, func(p *watch.Process) bool { return p.Memory.RSS.Known() })
	return slices.DeleteFunc(slices.Clone(figureColumns), func(c processColumn) bool { return c.memory && !hasMemory })
}

// fitting returns the columns that there is room for in a width, each with a space, if some cells
// are to be left, and how many are.
func fitting[T any](columns []column[T], width, leave int) (fit []column[T], left int) {
	for {
		left = width
		least := -1
		for i := range columns {
			left -= columns[i].width + 1
			if columns[i].rank > 0 && (least < 0 || columns[i].rank >= columns[least].rank) {
				least = i
			}
		}
		if left >= leave || least < 0 {
			return columns, left
		}
		columns = slices.Delete(columns, least, least+1)
	}
}

// drawList shows all processes, the selected one in some lines, and the latest
// collections.
func (m *model) drawList(p *painter, current *watch.Process) {
	rows := m.rows()
	p.heading(m.title(rows), m.snap.Now, m.frozen)
	columns, left := fitting(columnsOf(m.snap.Processes), p.width-markWidth-idWidth-1, shortestName)
	nameWidth := min(max(left, 1), longestName)
	p.text(p.styles.strong, m.headings(p, columns, nameWidth))
	room := max(1, min(len(rows), (p.height-6)/2))
	if p.height < 12 {
		room = max(1, p.height-3)
	}
	m.from = min(max(0, m.from), max(0, len(rows)-room))
	if i := m.selection(rows); i >= 0 {
		m.from = min(max(m.from, i-room+1), i)
	}
	for _, process := range rows[m.from:min(len(rows), m.from+room)] {
		p.line(m.row(p, process, process == current, columns, nameWidth))
	}
	if hidden := len(rows) - room; hidden > 0 && p.left() > 0 {
		p.text(p.styles.faint, fmt.Sprintf("  %d more", hidden))
	}
	switch {
	case current != nil:
		m.drawSelected(p, current)
	case !m.snap.Looked:
		p.text(plain, "  looking for .NET processes")
	case m.filter != "":
		p.text(plain, "  no process matches the filter; esc removes it")
	default:
		p.text(plain, "  no .NET processes yet; new ones will appear here")
	}
	m.drawLatest(p, rows)
}

// title describes the list.
func (m *model) title(rows []*watch.Process) string {
	watched := 0
	for _, r := range rows {
		if r.State == watch.Watched {
			watched++
		}
	}
	title := fmt.Sprintf("gctrail top  %s, %d watched", text.Plural(int64(len(rows)), ".NET process", ".NET processes"), watched)
	if m.filter != "" {
		title += fmt.Sprintf("  filter %q", m.filter)
	}
	return title + "  by " + sortings[m.order].name
}

// heading adds the first line, with the time, and whether the screen is frozen.
func (p *painter) heading(words string, now time.Time, frozen bool) {
	clock := now.Format(time.TimeOnly)
	if frozen {
		clock = "FROZEN at " + clock
	}
	p.text(p.styles.title, text.PadRight(words, max(0, p.width-len(clock)-1))+" "+clock)
}

// sortMark stands before the heading of the column that the list is sorted by.
func (m *model) sortMark(p *painter) string {
	marks := [2]string{"v", "^"}
	if p.unicode {
		marks = [2]string{"▼", "▲"}
	}
	if m.reversed {
		return marks[1]
	}
	return marks[0]
}

func (m *model) headings(p *painter, columns []processColumn, nameWidth int) string {
	marked := func(heading string) string {
		if heading != sortings[m.order].heading {
			return heading
		}
		return m.sortMark(p) + " " + heading
	}
	line := strings.Repeat(" ", markWidth) + text.PadLeft(marked("pid"), idWidth) + " " + text.PadRight(marked("name"), nameWidth)
	for _, c := range columns {
		line += " " + c.align(marked(c.heading))
	}
	return line
}

func (c *column[T]) align(cell string) string {
	if c.left {
		return text.PadRight(cell, c.width)
	}
	return text.PadLeft(cell, c.width)
}

// row returns the line of a process. A process that cannot be watched has the reason in
// place of figures.
func (m *model) row(p *painter, process *watch.Process, selected bool, columns []processColumn, nameWidth int) part {
	mark, style := "  ", plain
	if selected {
		mark, style = "> ", p.styles.selected
	} else if process.State != watch.Watched {
		style = p.styles.faint
	}
	line := mark + text.PadLeft(processID(process.PID, process.InnerPID), idWidth) + " " + text.PadRight(nameOf(process), nameWidth)
	if process.State == watch.Found {
		return style(p.fit(line + " " + m.reason(process)))
	}
	for _, c := range columns {
		line += " " + c.align(c.cell(process))
	}
	return style(text.PadRight(line, p.width))
}

// reason returns why a process is not watched.
func (m *model) reason(process *watch.Process) string {
	if process.Problem == nil {
		return "attaching"
	}
	return "not watched: " + m.opts.Reason(process.Problem)
}

// drawSelected shows details of the selected process that have no column.
func (m *model) drawSelected(p *painter, process *watch.Process) {
	p.section(nameOf(process) + " " + processID(process.PID, process.InnerPID))
	p.parts(1, about(process))
	if trouble := m.trouble(process); trouble != "" {
		p.wrapped("", trouble, troubleLines, p.styles.warn)
	}
	if process.State == watch.Found {
		return
	}
	p.sizes(process)
	p.wrapped("", cmp.Or(process.Verdict, "No GC yet."), 2, p.styles.strong)
}

// troubled are the states of processes that have a problem.
var troubled = map[watch.State]string{watch.Found: "Not watched", watch.Ended: "Ended", watch.Watched: "Silent"}

// trouble returns the problems in watching a process, and their remedies.
func (m *model) trouble(process *watch.Process) string {
	var parts []string
	if process.Problem != nil {
		parts = append(parts, troubled[process.State]+": "+m.opts.Reason(process.Problem)+".")
	}
	if process.Problem != nil && process.State != watch.Ended {
		if remedy := m.opts.Remedy(process.Problem); remedy != "" {
			parts = append(parts, strings.ToUpper(remedy[:1])+remedy[1:]+".")
		}
	}
	if process.Lost > 0 {
		parts = append(parts, text.Plural(int64(process.Lost), "event was", "events were")+" lost because a buffer was full.")
	}
	if process.Dropped > 0 {
		parts = append(parts, text.Plural(int64(process.Dropped), "collection is", "collections are")+" missing here: this machine was too busy.")
	}
	return strings.Join(parts, " ")
}

// drawLatest shows the latest collections of all processes with long pauses, the newest
// first: one process with many short ones would leave no room for the others. A key shows all.
func (m *model) drawLatest(p *painter, rows []*watch.Process) {
	var all []*watch.Collection
	seen := false
	for _, r := range rows {
		for _, c := range r.Recent {
			if seen = true; m.every || c.Pause().Or(0) >= notablePause {
				all = append(all, c)
			}
		}
	}
	if !seen || p.left() < 3 {
		return
	}
	if m.every {
		p.section("latest GCs of all processes; a: long pauses only")
	} else {
		p.section("latest GCs that paused for 10 ms or longer; a: all")
	}
	if len(all) == 0 {
		p.text(p.styles.faint, "none")
		return
	}
	slices.SortStableFunc(all, func(a, b *watch.Collection) int { return b.Ended.Compare(a.Ended) })
	p.collections(all, true)
}

// notablePause is the pause from which a collection is worth a line in the list of all
// processes.
const notablePause = 10 * time.Millisecond

// about describes a process.
func about(p *watch.Process) []string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if p.Info != nil {
		add(strings.TrimSpace(".NET " + p.Info.RuntimeVersion + " " + p.Info.Arch))
	}
	add(collectorInWords(p))
	if up := upFor(p); up != units.Unknown && p.State != watch.Ended {
		add("up " + up)
	}
	if !p.Attached.IsZero() {
		add("watched " + ago(p.Until.Sub(p.Attached)))
	}
	if p.State == watch.Ended {
		add("ended")
	}
	if p.Container != "" {
		add("container " + p.Container[:min(len(p.Container), shortID)])
	}
	return parts
}

// sizes writes the size of the heap: in one line, if there is little room.
func (p *painter) sizes(process *watch.Process) {
	most := 1
	if p.roomy() {
		most = 2
	}
	p.parts(most, sizes(process))
}

// sizes returns the size of the heap after the latest collection, and of the process.
func sizes(p *watch.Process) []string {
	if p.Last == nil {
		return memoryParts(p)
	}
	text := "heap " + units.Optional(p.Heap.After, units.Bytes)
	c := p.Sized
	if c == nil {
		return append([]string{text}, memoryParts(p)...)
	}
	text += ":"
	for i := range c.Generations {
		g := &c.Generations[i]
		text += " " + headingOf(g.Name) + " " + units.Optional(g.After, units.MB)
	}
	parts := []string{text}
	if committed := p.Heap.Committed; committed.Known() {
		parts = append(parts, "committed "+units.Bytes(committed.Or(0)))
	}
	if c.MemoryLoad.Known() {
		parts = append(parts, fmt.Sprintf("memory load %d %%", c.MemoryLoad.Or(0)))
	}
	return append(parts, memoryParts(p)...)
}

// memoryParts returns the system's figures on the process's memory, and on its cgroup.
func memoryParts(p *watch.Process) []string {
	rss, known := p.Memory.RSS.Get()
	if !known {
		return nil
	}
	parts := []string{"resident " + units.Bytes(rss)}
	if native, known := nativeOf(p).Get(); known && native.Least > 0 {
		parts[0] += ", native at least " + units.Bytes(native.Least)
	}
	if limit, known := p.Memory.Limit.Get(); known {
		parts = append(parts, fmt.Sprintf("cgroup %s of %s", units.Optional(p.Memory.Used, units.Bytes), units.Bytes(limit)))
	}
	return parts
}

// nativeOf returns the bounds of resident memory outside the GC heap.
func nativeOf(p *watch.Process) gc.Opt[ledger.Bounds] {
	if p.Sized == nil {
		return gc.Opt[ledger.Bounds]{}
	}
	r := ledger.Record{RSS: p.Memory.RSS, Swap: p.Memory.Swap}
	r.SetCollection(p.Sized.Collection)
	return r.Native()
}

func megabytes(of func(*watch.Process) gc.Opt[int64]) func(*watch.Process) string {
	return func(p *watch.Process) string { return units.Optional(of(p), units.MB) }
}

// headingOf returns the name of a generation, or of the heap of large or pinned objects.
func headingOf(name string) string {
	return map[string]string{"loh": "LOH", "poh": "POH"}[name] + map[bool]string{true: name}[strings.HasPrefix(name, "gen")]
}

func runtimeOf(p *watch.Process) string {
	if p.Info == nil || p.Info.RuntimeVersion == "" {
		return units.Unknown
	}
	return p.Info.RuntimeVersion
}

func collectorOf(p *watch.Process) string {
	on := p.GC.Server.Bool()
	switch {
	case on == nil:
		return units.Unknown
	case *on:
		return "server"
	default:
		return "workstation"
	}
}

func collectorInWords(p *watch.Process) string {
	text := collectorOf(p)
	if text == units.Unknown {
		return ""
	}
	text += " GC"
	if on := p.GC.Concurrent.Bool(); on != nil && !*on {
		text += ", not concurrent"
	}
	return text
}

func upFor(p *watch.Process) string {
	if p.Started.IsZero() {
		return units.Unknown
	}
	return ago(p.Until.Sub(p.Started))
}

func rateOf(p *watch.Process) string {
	switch {
	case p.State == watch.Ended:
		return "ended"
	case p.Problem != nil:
		return "silent"
	}
	return fmt.Sprintf("%.1f", p.Rate)
}

func lastPause(p *watch.Process) string {
	if p.Last == nil {
		return units.Unknown
	}
	return units.Optional(p.Last.Pause(), units.Millis)
}

func heapAfter(p *watch.Process) string { return units.Optional(p.Heap.After, units.MB) }

func generation(i int) func(*watch.Process) string {
	return func(p *watch.Process) string {
		if p.Sized == nil || i >= len(p.Sized.Generations) {
			return units.Unknown
		}
		return units.Optional(p.Sized.Generations[i].After, units.MB)
	}
}

func share(v gc.Opt[float64]) string {
	return units.Optional(v, func(v float64) string { return strings.TrimSuffix(units.Percent(v), " %") })
}

// severe returns the findings that are worse than a note.
func severe(all []findings.Finding) []findings.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f findings.Finding) bool { return f.Severity == findings.Note })
}

// Headings returns the headings of the list's columns.
func Headings() []string {
	return append([]string{"pid", "name"}, text.Each(figureColumns, func(c *processColumn) string { return c.heading })...)
}
