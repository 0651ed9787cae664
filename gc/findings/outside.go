package findings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

var outsideRules = []rule{
	{
		id: "R14", title: "threads are also suspended outside GCs", kind: aside,
		threshold: "such suspensions take 100 ms or more in total, and at least a tenth as long as the pauses; a warning where their share of the time exceeds the budget, a problem at twice the budget",
		source:    "own",
		find:      otherSuspensions,
		advice: []advice{
			{
				when: "the trace has CPU samples", fits: func(j *judgement, _ *Finding) bool { return j.Trace.Sampled },
				text: "Measure pauses without CPU samples: each sample suspends all threads.",
				next: []Step{{Action: Record, Purpose: "record without CPU samples", Recording: Collections}},
			},
			{
				when: "otherwise", fits: func(j *judgement, _ *Finding) bool { return !j.Trace.Sampled },
				text: "Find out what suspends them: CPU samples of another session, a debugger, a profiler, or replacement of methods (ReJIT).",
				next: []Step{{Action: ListEvents, Purpose: "see when, and on which threads", Events: []string{"GCSuspendEEBegin"}}},
			},
		},
	},
}

// Suspensions returns the suspensions that belong to no collection. Suspensions in
// background collections count as heap walks if the session has the keyword for survival
// and movement, or if there are at least half as many as background collections. Otherwise
// they have other reasons, which do not occur in each.
func (c *Case) Suspensions() []gc.SuspensionTotal {
	var walks int
	for _, s := range c.Summary.Process.Suspensions {
		if s.Kind == gc.PauseHeapWalk {
			walks += s.Count
		}
	}
	walked := c.Trace.Keywords&clr.KeywordGCHeapSurvivalAndMovement != 0 || 2*walks >= c.Summary.Class(2, gc.Background).Count
	var all []gc.SuspensionTotal
	for _, s := range c.Summary.Process.Suspensions {
		if s.Kind == gc.PauseHeapWalk && !walked {
			s.Kind = gc.PauseOther
		}
		i := slices.IndexFunc(all, func(o gc.SuspensionTotal) bool { return o.Reason == s.Reason && o.Kind == s.Kind })
		if i < 0 {
			all = append(all, s)
			continue
		}
		all[i].Count += s.Count
		all[i].Total = units.AddCapped(all[i].Total, s.Total)
		all[i].Max = max(all[i].Max, s.Max)
	}
	return all
}

// An outside sums up suspensions that belong to no collection.
type outside struct {
	count          int
	total, longest time.Duration
	by             []gc.SuspensionTotal // in descending order of time
}

// outsideOf sums up the wanted suspensions that belong to no collection.
func (j *judgement) outsideOf(wanted func(*gc.SuspensionTotal) bool) outside {
	var o outside
	for _, s := range j.Suspensions() {
		if wanted(&s) {
			o.count += s.Count
			o.total = units.AddCapped(o.total, s.Total)
			o.longest = max(o.longest, s.Max)
			o.by = append(o.by, s)
		}
	}
	slices.SortStableFunc(o.by, func(a, b gc.SuspensionTotal) int { return cmp.Compare(b.Total, a.Total) })
	return o
}

// suspenders names the causes of suspensions outside collections.
var suspenders = map[clr.SuspendReason]string{
	clr.SuspendReasonSuspendOther:                "the runtime or a tool in the process",
	clr.SuspendReasonSuspendForGC:                "GCs that were given up",
	clr.SuspendReasonSuspendForAppDomainShutdown: "unloading of an application domain",
	clr.SuspendReasonSuspendForCodePitching:      "replacement of methods (ReJIT)",
	clr.SuspendReasonSuspendForShutdown:          "the end of the process",
	clr.SuspendReasonSuspendForDebugger:          "a debugger",
	clr.SuspendReasonSuspendForGCPrep:            "preparation of GCs, such as a change of the number of heaps",
	clr.SuspendReasonSuspendForDebuggerSweep:     "a debugger",
	clr.SuspendReasonSuspendForProfiler:          "a profiler",
}

// suspender names the cause of the suspensions of one reason and kind.
func (j *judgement) suspender(s *gc.SuspensionTotal) string {
	switch {
	case s.Kind == gc.PauseHeapWalk:
		return "heap walks for the trace"
	case s.Reason == clr.SuspendReasonSuspendOther && j.Trace.Sampled:
		return "CPU samples"
	}
	if name, ok := suspenders[s.Reason]; ok {
		return name
	}
	return s.Reason.String()
}

// suspendersOf names the causes that take at least a tenth of the time of the suspensions.
func (j *judgement) suspendersOf(o *outside) string {
	var names []string
	for i := range o.by {
		s := &o.by[i]
		if name := j.suspender(s); of(s.Total, o.total) >= someShare && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return list(names)
}

// otherSuspensions judges the suspensions that belong to no collection.
func otherSuspensions(j *judgement) (Finding, bool) {
	o := j.outsideOf(func(s *gc.SuspensionTotal) bool { return s.Kind != gc.PauseHeapWalk })
	share := of(o.total, j.processWatched())
	if of(o.total, j.all.Pause.Sum()) < otherShare || o.total < suspendedLong {
		return Finding{}, false
	}
	reasons := make([]string, len(o.by))
	for i := range o.by {
		reasons[i] = o.by[i].Reason.String()
	}
	return Finding{
		Severity: Severity(j.budget.level(share)), Confidence: High,
		Description: fmt.Sprintf("%s outside GCs took %s (%s of the time; budget for pauses: %s), the longest %s. The cause: %s (%s).",
			plural(o.count, "suspension"), units.Duration(o.total), units.Percent(share), j.budget.share(), units.Duration(o.longest), j.suspendersOf(&o), list(slices.Compact(reasons))),
		Evidence: []Figure{{"other_suspensions", float64(o.count)}, {"other_suspension_ms", millis(o.total)}, {"other_suspension_pct", share}},
	}, true
}

// processWatched returns how long the process was watched. It ignores the selected part,
// because the suspensions outside collections are counted over the whole time.
func (j *judgement) processWatched() time.Duration {
	return j.Summary.Process.Watched(gc.Opt[time.Duration]{}, gc.Opt[time.Duration]{})
}

// suspendedElsewhere describes, for a verdict, the share of the time that threads were
// suspended outside collections, heap walks included, and the causes; empty within the
// budget.
func (j *judgement) suspendedElsewhere() string {
	o := j.outsideOf(func(*gc.SuspensionTotal) bool { return true })
	share := of(o.total, j.processWatched())
	if share < j.budget.Share || o.total < suspendedLong {
		return ""
	}
	return fmt.Sprintf("threads were suspended outside GCs for %s of the time, by %s", units.Percent(share), j.suspendersOf(&o))
}

// suspendedLong is the least total of suspensions outside GCs worth reporting.
const suspendedLong = 100 * time.Millisecond
