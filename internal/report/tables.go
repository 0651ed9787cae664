package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

func (c *Case) writeTables(p *text.Page) {
	c.writePauses(p)
	c.writeReasons(p)
	c.writeGenerations(p)
	c.writeMemory(p)
	c.writeChart(p)
	c.writeLongest(p)
	c.writeSuspensions(p)
}

func (c *Case) writePauses(p *text.Page) {
	p.Section("Pauses, ms: how long threads stood still")
	all := c.Process.All()
	var rows [][]string
	row := func(name string, t *stats.Totals) {
		pauses := []string{"-", "-", "-", "-", "-", "-", "-"}
		if t.Pause.Count() > 0 {
			pauses = []string{
				units.Millis(t.Pause.Sum()), percent(t.Pause.Sum(), all.Pause.Sum()),
				units.Millis(t.Pause.Percentile(50)), units.Millis(t.Pause.Percentile(90)),
				units.Millis(t.Pause.Percentile(99)), units.Millis(t.Pause.Max()), units.Millis(t.Suspend),
			}
		}
		rows = append(rows, slices.Concat([]string{name, units.Count(t.Count)}, pauses, []string{sumMB(t.Promoted), sumMB(t.Freed)}))
	}
	for _, class := range c.Process.Classes() {
		row(className(class), class.Totals)
	}
	if len(rows) > 1 {
		row("all", all)
	}
	p.Table([]text.Column{
		{Heading: "collections", Left: true},
		{Heading: "count"},
		{Heading: "total"},
		{Heading: "%", Rank: 4},
		{Heading: "p50"},
		{Heading: "p90"},
		{Heading: "p99"},
		{Heading: "max"},
		{Heading: "suspending", Rank: 3},
		{Heading: "promoted MB", Rank: 2},
		{Heading: "freed MB", Rank: 1},
	}, rows)
	if !all.Pause.Exact() {
		p.Line("Percentiles are up to 0.2 %% too long.")
	}
	for _, s := range c.Process.Stalls() {
		p.Line("Worst %s: %s of it (%s), from %s on.", units.Duration(s.Window), units.Percent(s.Share()),
			units.Duration(s.Pause), units.Duration(s.From))
	}
}

// percent is the share of a part, for a column.
func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}

func (c *Case) writeReasons(p *text.Page) {
	p.Section("Why collections happened")
	var rows [][]string
	for _, r := range c.Process.Reasons() {
		name, gloss := reasonWords(r.Reason)
		total, longest := "-", "-"
		if r.Pause.Count() > 0 {
			total, longest = units.Millis(r.Pause.Sum()), units.Millis(r.Pause.Max())
		}
		rows = append(rows, []string{name, units.Count(r.Count), total, longest, gloss})
	}
	p.Table([]text.Column{
		{Heading: "reason", Left: true},
		{Heading: "count"},
		{Heading: "total ms"},
		{Heading: "max ms"},
		{Heading: "", Left: true, Rank: 1},
	}, rows)
}

// reasonGlosses say what a reason means.
var reasonGlosses = map[clr.GCReason]string{
	clr.GCReasonAllocSmall:            "budget for new objects used up",
	clr.GCReasonAllocLarge:            "budget for large objects used up",
	clr.GCReasonInduced:               "GC.Collect",
	clr.GCReasonInducedNotForced:      "GC.AddMemoryPressure, or GC.Collect that need not block",
	clr.GCReasonInducedCompacting:     "GC.Collect, compacting",
	clr.GCReasonInducedAggressive:     "GC.Collect, aggressive",
	clr.GCReasonInducedLowMemory:      "low memory, blocking",
	clr.GCReasonLowMemory:             "the system signalled low memory",
	clr.GCReasonLowMemoryHost:         "the host signalled low memory",
	clr.GCReasonLowMemoryHostBlocking: "the host signalled low memory",
	clr.GCReasonOutOfSpaceSOH:         "no space for small objects",
	clr.GCReasonOutOfSpaceLOH:         "no space for large objects",
	clr.GCReasonPMFullGC:              "high memory, holes in generation 2",
	clr.GCReasonInternal:              "stress mode",
	clr.GCReasonEmpty:                 "no reason given",
	clr.GCReasonBGCTuningSOH:          "experimental tuning of background GCs",
	clr.GCReasonBGCTuningLOH:          "experimental tuning of background GCs, for large objects",
	clr.GCReasonBGCStepping:           "experimental tuning of background GCs, step by step",
}

func reasonWords(r gc.Opt[clr.GCReason]) (name, gloss string) {
	if !r.Known {
		return "unknown", "start not in the trace"
	}
	return r.V.String(), reasonGlosses[r.V]
}

// writeGenerations tells what became of the objects of each generation, and how
// large each is in the end.
func (c *Case) writeGenerations(p *text.Page) {
	last := c.Process.Last
	if last == nil {
		return
	}
	p.Section("Generations, MB: what survived, without background collections; sizes after collection %d", last.Number)
	var rows [][]string
	for i := range last.Generations {
		g, s := &last.Generations[i], c.Process.Survival(i)
		survived, share := "-", "-"
		if s.Collections > 0 {
			survived = units.MB(s.Survived)
			if v := s.Percent(); v.Known {
				share = fmt.Sprintf("%.1f", v.V)
			}
		}
		freed := "-"
		if s.Collections > 0 {
			freed = units.MB(s.Freed)
		}
		rows = append(rows, []string{
			g.Name, units.Count(s.Collections), survived, share, freed,
			mb(g.After), mb(g.Fragmentation), units.MB(g.Budget),
		})
	}
	p.Table([]text.Column{
		{Heading: "", Left: true},
		{Heading: "collected", Rank: 2},
		{Heading: "survived", Rank: 1},
		{Heading: "%"},
		{Heading: "freed"},
		{Heading: "size"},
		{Heading: "free in it"},
		{Heading: "budget", Rank: 3},
	}, rows)
}

func (c *Case) writeMemory(p *text.Page) {
	h := c.Process.Heap
	var parts []string
	for _, s := range []struct {
		name string
		size gc.Opt[int64]
	}{{"peak", h.Peak}, {"after the last collection", h.After}, {"committed", h.Committed}, {"committed at most", h.MaxCommitted}} {
		if s.size.Known {
			parts = append(parts, s.name+" "+units.Bytes(s.size.V))
		}
	}
	if h.MaxLoad.Known {
		parts = append(parts, fmt.Sprintf("memory in use on the machine at most %d %%", h.MaxLoad.V))
	}
	if len(parts) > 0 {
		p.Prose("", "Heap: "+strings.Join(parts, ", ")+".")
	}
}

func (c *Case) writeLongest(p *text.Page) {
	if len(c.Process.Longest) == 0 {
		return
	}
	p.Section("Longest pauses")
	var rows [][]string
	for _, col := range c.Process.Longest {
		name, _ := reasonWords(col.Reason)
		generation := "-"
		if col.Generation.Known {
			generation = fmt.Sprintf("gen%d %v", col.Generation.V, col.Kind)
		}
		rows = append(rows, []string{
			fmt.Sprint(col.Number), units.Duration(col.PauseStart.V), ms(col.Pause()), ms(col.Suspend()), ms(marking(col)),
			generation, name, mb(col.Promoted), mb(col.HeapAfter), strings.Join(col.Condemned.V.Names(), " "),
		})
	}
	p.Table([]text.Column{
		{Heading: "number"},
		{Heading: "at"},
		{Heading: "pause ms"},
		{Heading: "suspending", Rank: 2},
		{Heading: "marking", Rank: 3},
		{Heading: "collection", Left: true},
		{Heading: "reason", Left: true},
		{Heading: "promoted MB", Rank: 4},
		{Heading: "heap MB", Rank: 5},
		{Heading: "decided by", Left: true, Rank: 6},
	}, rows)
}

// marking is how long the slowest heap marked.
func marking(c *gc.Collection) gc.Opt[time.Duration] {
	var longest, sum time.Duration
	for i, m := range c.Marks {
		if i > 0 && m.Heap != c.Marks[i-1].Heap {
			sum = 0
		}
		sum += m.Duration
		longest = max(longest, sum)
	}
	return gc.Opt[time.Duration]{V: longest, Known: len(c.Marks) > 0}
}

// suspensionGlosses say what threads are stopped for, where it is no collection.
var suspensionGlosses = map[clr.SuspendReason]string{
	clr.SuspendReasonSuspendOther:                "the runtime, or its tracing",
	clr.SuspendReasonSuspendForGC:                "given up before a collection began",
	clr.SuspendReasonSuspendForAppDomainShutdown: "an application domain ends",
	clr.SuspendReasonSuspendForCodePitching:      "code is replaced",
	clr.SuspendReasonSuspendForShutdown:          "the process ends",
	clr.SuspendReasonSuspendForDebugger:          "a debugger",
	clr.SuspendReasonSuspendForGCPrep:            "the collector changes its structures",
	clr.SuspendReasonSuspendForDebuggerSweep:     "a debugger",
	clr.SuspendReasonSuspendForProfiler:          "a profiler",
}

func (c *Case) writeSuspensions(p *text.Page) {
	suspensions := c.Process.Process.Suspensions
	if len(suspensions) == 0 {
		return
	}
	p.Section("Threads stopped for no collection")
	var rows [][]string
	for _, s := range suspensions {
		gloss := suspensionGlosses[s.Reason]
		if s.Kind == gc.PauseHeapWalk {
			gloss = "the heap is walked for the trace"
		}
		rows = append(rows, []string{s.Reason.String(), units.Count(s.Count), units.Millis(s.Total), units.Millis(s.Max), gloss})
	}
	p.Table([]text.Column{
		{Heading: "reason", Left: true},
		{Heading: "count"},
		{Heading: "total ms"},
		{Heading: "max ms"},
		{Heading: "", Left: true, Rank: 1},
	}, rows)
}
