package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

var pauseRules = []rule{
	{
		id: "R02", title: "GC pauses take much of the time", kind: symptom,
		threshold: "pauses take the budgeted share of the time (5 %) or more, start-up excluded where the trace includes it; a problem at twice that",
		source:    "mem-doc: up to 5 % is normal",
		find:      pauseShare,
		advice: []advice{
			{when: "one cause explains a quarter of the pauses", fits: caused, text: "Start with %s.", cause: true},
			{
				when: "otherwise, if short pauses of gen 0 dominate", fits: mostly(func(j *judgement, d dominant) bool { return shortYoung(d) && !j.muchSurvives() }),
				text: "Allocate less, or give gen 0 a larger budget.", settings: []*setting{&gen0Size},
			},
			{
				when: "long pauses of gen 0 dominate though little survives", fits: mostly(func(j *judgement, d dominant) bool { return longYoung(d) && j.littleSurvives() }),
				text: timeUnclear, next: []Step{listYoung},
			},
			{
				when: "pauses of gen 0 dominate, and much survives",
				fits: mostly(func(j *judgement, d dominant) bool {
					return longYoung(d) && !j.littleSurvives() || shortYoung(d) && j.muchSurvives()
				}),
				text: "Shorten object lifetimes, or keep fewer objects alive: survivors make gen 0 GCs long.",
			},
			{
				when: "pauses of gen 1 dominate, and most objects of gen 1 die", fits: mostly(func(j *judgement, d dominant) bool { return ofGeneration(1)(d) && !j.mostOfGen1Survives() }),
				text: "Look for objects that survive one GC and die soon after: batches, buffers of requests, caches with a short lifetime.",
			},
			{
				when: "pauses of gen 1 dominate, and most objects of gen 1 survive", fits: mostly(func(j *judgement, d dominant) bool { return ofGeneration(1)(d) && j.mostOfGen1Survives() }),
				text: "Keep fewer objects alive: those that reach gen 1 are copied into gen 2. Look for caches, queues and sessions that hold what requests create.",
			},
			{when: "induced blocking gen 2 GCs dominate", fits: mostly(inducedFull), text: "Remove the calls that induce full GCs; a larger gen 0 does not help."},
			{
				when: "other blocking gen 2 GCs dominate, and background GC is off", fits: mostly(func(j *judgement, d dominant) bool { return blockingFull(j, d) && j.concurrentOff() }),
				text: "Switch background GC on: gen 2 is then collected while threads run. A larger gen 0 does not help.", settings: []*setting{&concurrentGC},
			},
			{
				when: "other blocking gen 2 GCs dominate, and the trace has condemned reasons of such GCs",
				fits: mostly(func(j *judgement, d dominant) bool { return runsBlocking(j, d) && j.tallies[fullCondemned].count > 0 }),
				text: "Find out why gen 2 is not collected in the background: see the condemned reasons of these GCs. A larger gen 0 does not help.", next: []Step{listFull},
			},
			{
				when: "other blocking gen 2 GCs dominate, and it has none",
				fits: mostly(func(j *judgement, d dominant) bool { return runsBlocking(j, d) && j.tallies[fullCondemned].count == 0 }),
				text: "Find out why gen 2 is not collected in the background. A GC that was requested as a background GC runs blocking while it has no thread or no memory to do so, as the first of a process often does.",
				next: []Step{listRequested},
			},
			{
				when: "gen 2 GCs triggered by large or pinned arrays dominate", fits: mostly(largeFull),
				text: "Reuse large arrays with ArrayPool<T>: allocating them triggers these gen 2 GCs, and a larger gen 0 does not help.",
			},
			{when: "other background gen 2 GCs dominate", fits: mostly(backgroundFull), text: "Promote less into gen 2: shorten object lifetimes, or keep fewer objects alive."},
		},
	},
	{
		id: "R05", title: "GC pauses pile up in one stretch of time", kind: symptom,
		threshold: "pauses stay within the budgeted share overall, but take twice that or more of some 10 s",
		source:    "own; 10 s is the interval of most dashboards",
		find:      stretches,
		advice:    []advice{{text: "Find out what the program did then, and report on this stretch alone."}},
	},
	{
		id: "R03", title: "single GC pauses are long", kind: symptom,
		threshold: "a pause exceeds the budget (100 ms); a problem above twice the budget",
		source:    "PerfView's guide: 100 ms; PerfView's GCStats lists pauses over 200 ms",
		find:      longSinglePauses,
		advice:    []advice{{text: "Look at what these GCs have in common: generation, kind, reason, and the bytes they promoted."}},
	},
	{
		id: "R11", title: "some pauses are unusually long for what the GC promoted", kind: generic,
		threshold: "of 20 or more blocking or foreground GCs of one generation, one worked for 10 ms or longer: over 5 times as long as the bytes it promoted explain (by a robust line through the others), and 6 median absolute deviations more; the GCs before and after it did not, and it is not among the first 2 s of the program",
		source:    "gc-analysis R11, after mem-doc on a GC of 200 ms among ones of 5 and 6 ms that promoted as much; thresholds own",
		find:      oddPauses,
		advice: byShortage(
			"Solve the shortage of processors first: it can make any pause long.",
			"Look for paging, and for what else the machine did at that time: over the whole trace, processors were not short. A trace with context switches shows it.",
			"Look for what else ran at that time: other processes, a CPU quota below the number of heaps, paging. A trace with context switches shows it.",
		),
	},
	{
		id: "R04", title: "counters of time in GC overstate these pauses", kind: aside,
		threshold: "pauses take less than the budgeted share, but several took as long as the program had run since the previous GC",
		source:    "docs of EventCounters: time-in-gc is the share since the previous GC, not over an interval",
		find:      misleadingCounter,
		advice: []advice{
			{text: "Alert on the rate of dotnet.gc.pause.time, not on the counter time-in-gc, which is the share since the previous GC."},
		},
	},
}

var listFull = Step{
	Action: ListCollections, Purpose: "see why these GCs were blocking", Generation: gc.Some(2), Kind: gc.Blocking,
	Figures: []string{"number", "reason", "condemned", "pause_ms", "memory_load_pct"},
}

var listRequested = Step{
	Action: ListCollections, Purpose: "see which kind of GC was requested", Generation: gc.Some(2), Kind: gc.Blocking,
	Figures: []string{"number", "reason", "kind", "requested_kind", "pause_ms"},
}

func pauseShare(j *judgement) (Finding, bool) {
	if j.share < j.budget.Share {
		return Finding{}, false
	}
	f := Finding{
		Severity: problemIf(j.share >= j.budget.high()), Confidence: High,
		Description: fmt.Sprintf("GC pauses took %s: %s of %s%s, %s on average over %s.",
			j.bound(units.Duration(j.all.Pause.Sum())), units.Percent(j.overall()), units.Duration(j.Summary.Watched()), j.besideBudget(),
			units.Duration(j.all.Pause.Mean()), gcs(j.all.Pause.Count())),
		Evidence: append(j.shares(), Figure{"pause_ms", millis(j.all.Pause.Sum())}, Figure{"pause_mean_ms", millis(j.all.Pause.Mean())}),
	}
	if j.affected() {
		f.Confidence = Medium
	}
	d := j.dominant()
	f.Description += fmt.Sprintf(" %s of that went to %s.", units.Percent(j.explains(d.pause)), d) + j.spentOn()
	return f, true
}

// A dominant is the generation and kind of collection with most of the pauses, and the
// most common reason of these.
type dominant struct {
	generation  gc.Opt[int]
	kind        gc.Kind
	reason      clr.GCReason
	reasonKnown bool
	pause       time.Duration
	mean        time.Duration
}

func (d dominant) String() string {
	if !d.generation.Known() {
		return "GCs of unknown generation"
	}
	s := fmt.Sprintf("%v gen %d GCs", d.kind, d.generation.Or(0))
	if d.reasonKnown {
		s += fmt.Sprintf(" (reason %v)", d.reason)
	}
	return s
}

func (j *judgement) dominant() dominant {
	var best dominant
	for _, class := range j.Summary.Classes() {
		if best.pause > 0 && class.Pause.Sum() <= best.pause {
			continue
		}
		best = dominant{generation: class.Generation, kind: class.Kind, pause: class.Pause.Sum(), mean: class.Pause.Mean()}
	}
	g := 3
	if best.generation.Known() {
		g = best.generation.Or(0)
	}
	var longest time.Duration
	for reason, d := range j.causes[g][best.kind&3] {
		if d > longest {
			longest, best.reason, best.reasonKnown = d, clr.GCReason(reason), reason < numReasons-1
		}
	}
	return best
}

// caused reports whether one cause explains a quarter of the pauses.
func caused(j *judgement, _ *Finding) bool { return j.cause != nil }

// mostly makes advice fit if the dominant collections are of some sort, and no cause
// explains them.
func mostly(is func(*judgement, dominant) bool) func(*judgement, *Finding) bool {
	return func(j *judgement, f *Finding) bool { return !caused(j, f) && is(j, j.dominant()) }
}

func ofGeneration(n int) func(dominant) bool {
	return func(d dominant) bool { return d.generation == gc.Some(n) }
}

func shortYoung(d dominant) bool { return ofGeneration(0)(d) && d.mean < longOnAverage }
func longYoung(d dominant) bool  { return ofGeneration(0)(d) && d.mean >= longOnAverage }

func (j *judgement) littleSurvives() bool {
	survival := j.Summary.Survival(0).Percent()
	return survival.Known() && survival.Or(0) < lowSurvival
}

func (j *judgement) muchSurvives() bool {
	return j.Summary.Survival(0).Percent().Or(0) > highSurvival
}

func (j *judgement) mostOfGen1Survives() bool {
	return j.Summary.Survival(1).Percent().Or(0) > largeShare
}

func isInduced(r clr.GCReason) bool {
	switch r {
	case clr.GCReasonInduced, clr.GCReasonInducedNotForced, clr.GCReasonInducedCompacting, clr.GCReasonInducedAggressive:
		return true
	}
	return false
}

func isLarge(r clr.GCReason) bool { return r == clr.GCReasonAllocLarge }

func inducedFull(_ *judgement, d dominant) bool {
	return ofGeneration(2)(d) && d.kind != gc.Background && isInduced(d.reason)
}

func largeFull(_ *judgement, d dominant) bool { return ofGeneration(2)(d) && isLarge(d.reason) }

func blockingFull(_ *judgement, d dominant) bool {
	return ofGeneration(2)(d) && d.kind != gc.Background && !isInduced(d.reason) && !isLarge(d.reason)
}

// runsBlocking reports whether such GCs dominate without a known reason to block.
func runsBlocking(j *judgement, d dominant) bool {
	return blockingFull(j, d) && !j.concurrentOff() && !j.batched()
}

func backgroundFull(_ *judgement, d dominant) bool {
	return ofGeneration(2)(d) && d.kind == gc.Background && !isLarge(d.reason)
}

// stretches looks for stretches with many pauses. The whole trace can look well
// nevertheless, because a program may idle for most of it.
func stretches(j *judgement) (Finding, bool) {
	worst := j.worst
	if j.share >= j.budget.Share || worst.Share() < j.budget.high() {
		return Finding{}, false
	}
	return Finding{
		Severity: Warning, Confidence: High,
		Description: fmt.Sprintf("GC pauses took %s of the whole time, but %s of the %s that began at %s.",
			j.bound(units.Percent(j.overall())), units.Percent(worst.Share()), units.Duration(worst.Window), units.Duration(worst.From)),
		Evidence: append(j.shares(), Figure{"worst_window_pct", worst.Share()}),
		Next: []Step{{
			Action: Report, Purpose: "report on this stretch alone",
			From: gc.Some(worst.From), To: gc.Some(worst.From + worst.Window),
		}},
	}, true
}

func longSinglePauses(j *judgement) (Finding, bool) {
	if j.long.count == 0 {
		return Finding{}, false
	}
	f := Finding{
		Severity: problemIf(j.all.Pause.Max() > veryLongPause*j.budget.Pause), Confidence: High, quotes: &j.long,
		Description: fmt.Sprintf("%s of %s paused the program for longer than %s, the longest for %s.",
			units.Count(j.long.count), gcs(j.all.Count), j.budget.pause(), units.Duration(j.all.Pause.Max())),
		Evidence: []Figure{{"pauses_over_budget", float64(j.long.count)}, {"budget_ms", millis(j.budget.Pause)}, {"pause_max_ms", millis(j.all.Pause.Max())}},
		Next: []Step{{
			Action: ListCollections, Purpose: "see what these GCs did", MinPause: j.budget.Pause,
			Figures: []string{"number", "start_ms", "generation", "kind", "reason", "pause_ms", "suspend_ms", "promoted_bytes"},
		}},
	}
	if longest := j.Summary.Longest; len(longest) > 0 {
		d := longest[0]
		what := "a GC of unknown generation"
		if classed(d) {
			what = fmt.Sprintf("a %v gen %d GC", d.Kind, d.Generation.Or(0))
		}
		f.Description += fmt.Sprintf(" The longest was %s", what)
		if s := stopping(d); s.Known() {
			f.Description += fmt.Sprintf("; suspending the threads took %s of it", units.Duration(s.Or(0)))
		}
		if part, took := longestPart(d); took > 0 {
			f.Description += fmt.Sprintf(", %v %s", part, units.Duration(took))
		}
		f.Description += "."
	}
	return f, true
}

// longestPart returns the part of a pause after its suspension that took longest, if the
// runtime times it.
func longestPart(c *gc.Collection) (stats.Part, time.Duration) {
	d, known := stats.Divide(c)
	d[stats.Suspending] = 0
	part := d.Longest()
	if !known || part >= stats.InBackground {
		return part, 0
	}
	return part, d[part]
}

func misleadingCounter(j *judgement) (Finding, bool) {
	t := &j.tallies[dearInterval]
	if j.share >= j.budget.Share || t.count < several {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High, quotes: t,
		Description: fmt.Sprintf("After %s, the counter time-in-gc was 50 %% or more; over the whole time pauses took %s.",
			gcs(t.count), j.bound(units.Percent(j.overall()))),
		Evidence: append(j.shares(), Figure{"collections_at_half_the_time", float64(t.count)}),
	}, true
}
