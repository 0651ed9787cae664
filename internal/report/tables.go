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
	c.writeLedger(p)
	c.writeLongest(p)
	c.writeSuspensions(p)
}

// ofPauses returns a figure of pauses, unknown if none is known.
func ofPauses(t *stats.Totals, d time.Duration) gc.Opt[time.Duration] {
	return gc.SomeIf(d, t.Pause.Count() > 0)
}

func (c *Case) writePauses(p *text.Page) {
	type row struct {
		name string
		*stats.Totals
	}
	all := c.Summary.All()
	rows := text.Each(c.Summary.Classes(), func(class *stats.Class) row { return row{className(*class), class.Totals} })
	if len(rows) > 1 {
		rows = append(rows, row{"all", all})
	}
	var g grid
	g.words("GC", 0, text.Each(rows, func(r *row) string { return r.name }))
	g.numbers("count", 0, text.Each(rows, func(r *row) string { return units.Count(r.Count) }))
	g.timeSums("total", 0, text.Each(rows, func(r *row) gc.Sum[time.Duration] { return r.Totals.TotalPause() }))
	g.numbers("%", 4, text.Each(rows, func(r *row) string {
		if all.Pause.Sum() <= 0 || r.Pause.Count() == 0 {
			return units.Unknown
		}
		return units.Share(100 * float64(r.Pause.Sum()) / float64(all.Pause.Sum()))
	}))
	single := units.TimeScale(all.Pause.Max())
	for _, p := range [...]struct {
		of   float64
		rank int
	}{{50, 0}, {90, 5}, {99, 0}} {
		g.timesIn(single, fmt.Sprintf("p%.0f", p.of), p.rank, text.Each(rows, func(r *row) gc.Opt[time.Duration] {
			return ofPauses(r.Totals, r.Pause.Percentile(p.of))
		}))
	}
	g.timesIn(single, "max", 0, text.Each(rows, func(r *row) gc.Opt[time.Duration] { return ofPauses(r.Totals, r.Pause.Max()) }))
	g.timeSums("suspending", 3, text.Each(rows, func(r *row) gc.Sum[time.Duration] { return r.Totals.TotalSuspend() }))
	g.sizes("promoted", 2, text.Each(rows, func(r *row) stats.Bytes { return r.Promoted }))
	g.sizes("freed", 1, text.Each(rows, func(r *row) stats.Bytes { return r.Freed }))
	g.section(p, "Pauses")
	if !all.Pause.Exact() {
		p.Line("Percentiles are up to 0.2 %% too long.")
	}
	c.writePercentiles(p)
	c.writeWindows(p)
	c.writePhases(p)
}

// writeWindows writes the worst windows, and the time that they left the program.
func (c *Case) writeWindows(p *text.Page) {
	stalls := c.Summary.Suspended()
	var g grid
	g.numbers("window", 0, text.Each(stalls, func(s *stats.Stall) string { return units.Duration(s.Window) }))
	g.times("paused", 0, text.Each(stalls, func(s *stats.Stall) gc.Opt[time.Duration] { return gc.Some(s.Pause) }))
	g.numbers("%", 0, text.Each(stalls, func(s *stats.Stall) string { return units.Share(s.Share()) }))
	if slices.ContainsFunc(stalls, func(s stats.Stall) bool { return s.Other > 0 }) {
		g.times("other", 0, text.Each(stalls, func(s *stats.Stall) gc.Opt[time.Duration] { return gc.Some(s.Other) }))
	}
	g.numbers("program %", 0, text.Each(stalls, func(s *stats.Stall) string { return units.Share(s.MutatorUtilization()) }))
	g.times("from", 0, text.Each(stalls, func(s *stats.Stall) gc.Opt[time.Duration] { return gc.Some(s.From) }))
	g.section(p, "Worst windows")
}

func (c *Case) writeReasons(p *text.Page) {
	rows := c.Summary.Reasons()
	var g grid
	g.words("reason", 0, text.Each(rows, func(r *stats.Reason) string { name, _ := reasonWords(r.Reason); return name }))
	g.numbers("count", 0, text.Each(rows, func(r *stats.Reason) string { return units.Count(r.Count) }))
	g.timeSums("total", 0, text.Each(rows, func(r *stats.Reason) gc.Sum[time.Duration] { return r.Totals.TotalPause() }))
	g.times("max", 0, text.Each(rows, func(r *stats.Reason) gc.Opt[time.Duration] { return ofPauses(r.Totals, r.Pause.Max()) }))
	g.words("", 1, text.Each(rows, glossOf))
	g.section(p, "Why GCs happened")
}

// reasonGlosses explain reasons.
var reasonGlosses = map[clr.GCReason]string{
	clr.GCReasonAllocSmall:            "budget for new objects used up",
	clr.GCReasonAllocLarge:            "budget for large objects used up",
	clr.GCReasonInduced:               "GC.Collect",
	clr.GCReasonInducedNotForced:      "GC.AddMemoryPressure, or GC.Collect that may be non-blocking",
	clr.GCReasonInducedCompacting:     "GC.Collect, compacting",
	clr.GCReasonInducedAggressive:     "GC.Collect, aggressive",
	clr.GCReasonInducedLowMemory:      "low memory, blocking",
	clr.GCReasonLowMemory:             "the system signalled low memory",
	clr.GCReasonLowMemoryHost:         "the host signalled low memory",
	clr.GCReasonLowMemoryHostBlocking: "the host signalled low memory",
	clr.GCReasonOutOfSpaceSOH:         "no space for small objects",
	clr.GCReasonOutOfSpaceLOH:         "no space for large objects",
	clr.GCReasonPMFullGC:              "high memory load, fragmented gen 2",
	clr.GCReasonInternal:              "stress mode",
	clr.GCReasonEmpty:                 "no reason given",
	clr.GCReasonBGCTuningSOH:          "experimental tuning of background GCs",
	clr.GCReasonBGCTuningLOH:          "experimental tuning of background GCs, for large objects",
	clr.GCReasonBGCStepping:           "experimental tuning of background GCs, step by step",
}

// glossOf explains the reason of collections. GC.TryStartNoGCRegion and sessions that dump
// the heap cause collections with the reason of GC.Collect.
func glossOf(r *stats.Reason) string {
	_, gloss := reasonWords(r.Reason)
	if r.Reason != gc.Some(clr.GCReasonInduced) {
		return gloss
	}
	var of []string
	for _, why := range [...]struct {
		count int
		gloss string
	}{{r.Induced, gloss}, {r.HeapDumps, "heap dump of a session"}, {r.Count - r.Induced - r.HeapDumps, "GC.TryStartNoGCRegion"}} {
		if why.count > 0 {
			of = append(of, why.gloss)
		}
	}
	return strings.Join(of, ", or ")
}

func reasonWords(r gc.Opt[clr.GCReason]) (name, gloss string) {
	if v, ok := r.Get(); ok {
		return v.String(), reasonGlosses[v]
	}
	return "unknown", "start not in the trace"
}

// writeGenerations writes the survival of each generation, and its final size.
func (c *Case) writeGenerations(p *text.Page) {
	last := c.Summary.Last
	if last == nil {
		return
	}
	type row struct {
		*gc.Generation
		*stats.Survival
	}
	rows := make([]row, len(last.Generations))
	for i := range last.Generations {
		rows[i] = row{&last.Generations[i], c.Summary.Survival(i)}
	}
	survival := func(of func(*stats.Survival) int64) []stats.Bytes {
		return text.Each(rows, func(r *row) stats.Bytes { return stats.Bytes{Sum: of(r.Survival), Known: r.Collections} })
	}
	var g grid
	g.words("", 0, text.Each(rows, func(r *row) string { return r.Name }))
	g.numbers("GCs", 2, text.Each(rows, func(r *row) string { return units.Count(r.Collections) }))
	g.sizes("survived", 1, survival(func(s *stats.Survival) int64 { return s.Survived }))
	g.numbers("%", 0, text.Each(rows, func(r *row) string {
		if share, ok := r.Percent().Get(); ok && r.Collections > 0 {
			return units.Share(share)
		}
		return units.Unknown
	}))
	g.sizes("freed", 0, survival(func(s *stats.Survival) int64 { return s.Freed }))
	g.sizes("size", 0, text.Each(rows, func(r *row) stats.Bytes { return exact(r.After) }))
	g.sizes("free space", 0, text.Each(rows, func(r *row) stats.Bytes { return exact(r.Fragmentation) }))
	g.sizes("budget", 3, text.Each(rows, func(r *row) stats.Bytes {
		return stats.Bytes{Sum: r.Budget, Known: int(min(1, r.Budget))} // 0 if the collection sets none
	}))
	g.section(p, fmt.Sprintf("Generations: survival in blocking GCs, sizes after GC %d", last.Number))
}

func (c *Case) writeMemory(p *text.Page) {
	h := c.Summary.Heap
	var parts []string
	for _, s := range []struct {
		name string
		size gc.Opt[int64]
	}{{"peak", h.Peak}, {"after the last GC", h.After}, {"committed", h.Committed}, {"largest committed", h.MaxCommitted}} {
		if size, ok := s.size.Get(); ok {
			parts = append(parts, s.name+" "+units.Bytes(size))
		}
	}
	if load, ok := h.MaxLoad.Get(); ok {
		parts = append(parts, fmt.Sprintf("memory load up to %d %%", load))
	}
	if len(parts) > 0 {
		p.Prose("", "Heap: "+strings.Join(parts, ", ")+".")
	}
}

func (c *Case) writeLongest(p *text.Page) {
	rows := c.Summary.Longest
	type collection = *gc.Collection
	var g grid
	g.numbers("GC", 0, text.Each(rows, func(c *collection) string { return fmt.Sprint((*c).Number) }))
	g.times("at", 0, text.Each(rows, func(c *collection) gc.Opt[time.Duration] { return (*c).PauseStart }))
	g.times("pause", 0, text.Each(rows, func(c *collection) gc.Opt[time.Duration] { return (*c).Pause() }))
	g.times("suspending", 2, text.Each(rows, func(c *collection) gc.Opt[time.Duration] { return (*c).Suspend() }))
	g.times("marking", 3, text.Each(rows, func(c *collection) gc.Opt[time.Duration] { return marking(*c) }))
	g.words("mostly", 7, text.Each(rows, func(c *collection) string { return mostly(*c) }))
	g.words("kind", 0, text.Each(rows, func(c *collection) string {
		if g, ok := (*c).Generation.Get(); ok {
			return fmt.Sprintf("gen%d %v", g, (*c).Kind)
		}
		return units.Unknown
	}))
	g.words("reason", 0, text.Each(rows, func(c *collection) string { name, _ := reasonWords((*c).Reason); return name }))
	g.sizes("promoted", 4, text.Each(rows, func(c *collection) stats.Bytes { return exact((*c).Promoted) }))
	g.sizes("heap", 5, text.Each(rows, func(c *collection) stats.Bytes { return exact((*c).HeapAfter) }))
	g.words("decided by", 6, text.Each(rows, func(c *collection) string { return strings.Join((*c).Condemned.Or(0).Names(), " ") }))
	g.section(p, "Longest pauses")
}

// mostly returns the longest part of a pause with its share, empty if the runtime does not
// time the parts.
func mostly(c *gc.Collection) string {
	part, share, timed := stats.Mostly(c)
	if !timed {
		return units.Unknown
	}
	return fmt.Sprintf("%v %s", part, units.Percent(share))
}

// marking returns how long the slowest heap marked.
func marking(c *gc.Collection) gc.Opt[time.Duration] {
	if len(c.Marks) == 0 {
		return gc.Opt[time.Duration]{}
	}
	var longest, sum time.Duration
	for i, m := range c.Marks {
		if i > 0 && m.Heap != c.Marks[i-1].Heap {
			sum = 0
		}
		sum += m.Duration
		longest = max(longest, sum)
	}
	return gc.Some(longest)
}

// suspensionGlosses say why threads are suspended outside GCs.
var suspensionGlosses = map[clr.SuspendReason]string{
	clr.SuspendReasonSuspendOther:                "the runtime, or its tracing",
	clr.SuspendReasonSuspendForGC:                "given up before a GC began",
	clr.SuspendReasonSuspendForAppDomainShutdown: "an application domain unloads",
	clr.SuspendReasonSuspendForCodePitching:      "code is replaced",
	clr.SuspendReasonSuspendForShutdown:          "the process exits",
	clr.SuspendReasonSuspendForDebugger:          "a debugger",
	clr.SuspendReasonSuspendForGCPrep:            "the GC changes its structures",
	clr.SuspendReasonSuspendForDebuggerSweep:     "a debugger",
	clr.SuspendReasonSuspendForProfiler:          "a profiler",
}

func (c *Case) writeSuspensions(p *text.Page) {
	suspensions := c.Suspensions()
	type total = gc.SuspensionTotal
	var g grid
	g.words("reason", 0, text.Each(suspensions, func(s *total) string { return s.Reason.String() }))
	g.numbers("count", 0, text.Each(suspensions, func(s *total) string { return units.Count(s.Count) }))
	g.times("total", 0, text.Each(suspensions, func(s *total) gc.Opt[time.Duration] { return gc.Some(s.Total) }))
	g.times("max", 0, text.Each(suspensions, func(s *total) gc.Opt[time.Duration] { return gc.Some(s.Max) }))
	g.words("", 1, text.Each(suspensions, func(s *total) string {
		if s.Kind == gc.PauseHeapWalk {
			return "the heap is walked for the trace"
		}
		return suspensionGlosses[s.Reason]
	}))
	g.section(p, "Suspensions outside GCs")
}
