package findings

import (
	"fmt"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/internal/units"
)

var joinRules = []rule{{
	id: "R15", title: "the threads of server GC wait for each other", kind: generic,
	threshold: "in three GCs or more with join events, the threads of the heaps wait for each other, or wake up, in a quarter of the pauses or more; a note below ten GCs",
	source:    "mem-doc: join imbalance; the threshold is own",
	find:      waitingHeaps,
	advice: []advice{
		{
			when: "below ten GCs", fits: func(j *judgement, _ *Finding) bool { return !enoughJoins(j) },
			text: "Record for longer: so few GCs do not show why the threads usually wait.",
			next: []Step{{Action: Record, Purpose: "record for longer", Recording: Longer}},
		},
		{when: "one heap marks more than the others", fits: waitsBecause(join.UnevenRoots), text: unevenAdvice},
		{
			when: "threads take long to wake up, and were short of processors", fits: both(waitsBecause(join.SlowWake, join.AllSlowWake), starved),
			text: "Give the process the processors that its GC threads need: raise its CPU limit, or move other programs away.",
		},
		{
			when: "threads take long to wake up, and the trace does not show whether processors were short",
			fits: both(waitsBecause(join.SlowWake, join.AllSlowWake), shortOfProcessors(0)),
			text: "Find out whether the GC threads get the processors that they need: look at the CPU quota, and at other programs.",
			next: []Step{recordProcessors},
		},
		{
			when: "threads take long to wake up, and there are more than four heaps", settings: []*setting{&fewerHeaps}, text: "Or use fewer heaps.",
			fits: both(waitsBecause(join.SlowWake, join.AllSlowWake), func(_ *judgement, f *Finding) bool { return len(f.Heaps) > manyCPUs }),
		},
		{
			when: "one heap works longer than the others, and processors may have been short",
			fits: both(waitsBecause(join.SlowWork), func(j *judgement, f *Finding) bool { return !shortOfProcessors(noShortage)(j, f) }),
			text: "Look for other programs on the processor of that heap's thread.",
		},
		{
			when: "no heap stands out", fits: waitsBecause(join.CauseUnknown),
			text: "Many short phases make threads wait: try to make the GC run less often, with a larger gen 0 or fewer large arrays.",
		},
		{
			when: "no heap stands out, and the heaps have less than 100 MB together", settings: []*setting{&workstationGC},
			text: "Or try workstation GC, and compare pauses.",
			fits: both(waitsBecause(join.CauseUnknown), func(j *judgement, _ *Finding) bool { return j.Summary.Heap.Peak.Or(smallServerHeap) < smallServerHeap }),
		},
		{next: []Step{{Action: ListJoins, Purpose: "see in which phases the heaps wait", Events: []string{"GCJoin"}}}},
	},
}}

// unevenAdvice is for one thread that marks more than the others.
const unevenAdvice = "Look for one huge array or one long linked list that refers to most of the young objects: one GC thread marks through it."

// both reports whether two conditions hold.
func both(a, b func(*judgement, *Finding) bool) func(*judgement, *Finding) bool {
	return func(j *judgement, f *Finding) bool { return a(j, f) && b(j, f) }
}

// enoughJoins reports whether enough collections have join events to explain why their
// threads usually wait. A few are not enough, because a thread may lose its processor in
// some of them.
func enoughJoins(j *judgement) bool { return j.Details.Joins.Collections >= manyJoins }

func waitsBecause(causes ...join.Cause) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		s, _ := j.Details.Joins.Straggler()
		return enoughJoins(j) && slices.Contains(causes, s.Cause)
	}
}

func waitingHeaps(j *judgement) (Finding, bool) {
	sum := j.Details.Joins
	if sum == nil || sum.Collections < several {
		return Finding{}, false
	}
	heaps := sum.Heaps()
	straggler, ok := sum.Straggler()
	if !ok || len(heaps) < 2 {
		return Finding{}, false
	}
	var waiting, waking time.Duration
	for i := range heaps {
		waiting += heaps[i].Waiting
		waking += heaps[i].Waking
	}
	n := time.Duration(len(heaps))
	waiting, waking = waiting/n, waking/n
	if of(waiting+waking, sum.Pause()) < largeShare/2 {
		return Finding{}, false
	}
	share := j.explains(waiting + waking)
	severity, confidence := min(Warning, j.costs(share)), Medium
	if !enoughJoins(j) {
		severity, confidence = Note, Low
	}
	return Finding{
		Severity: severity, Confidence: confidence, weight: share, Heaps: heaps,
		Description: fmt.Sprintf("In %s, the threads of %d heaps waited for each other in %s of the pauses, and took %s to wake up. Other heaps waited %s for heap %d. %s",
			gcs(sum.Collections), len(heaps), units.Percent(of(waiting, sum.Pause())), units.Percent(of(waking, sum.Pause())),
			units.Duration(straggler.Held), straggler.Heap, straggler.Explain()),
		Evidence: []Figure{
			{"waiting_pct_of_pause", of(waiting, sum.Pause())},
			{"waking_pct_of_pause", of(waking, sum.Pause())},
			{"straggler_heap", float64(straggler.Heap)},
			{"held_ms", millis(straggler.Held)},
		},
	}, true
}
