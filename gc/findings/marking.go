package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

var markRules = []rule{
	{
		id: "R54", title: "marking from one kind of root takes much of the pauses", kind: cause,
		threshold: "marking from one kind of root takes half of the pauses or more",
		source:    "own, after mem-doc on MarkWithType",
		find:      longMark,
		advice: []advice{
			{when: "stacks", fits: marksFrom(clr.RootTypeStack), text: "Look for deep stacks and many threads: runaway recursion, blocked threads."},
			{when: "handles", fits: marksFrom(clr.RootTypeHandles), text: "Free GC handles that are no longer needed.", next: []Step{listHandles}},
			{when: "handles, and the trace does not name the code that allocates them", fits: func(j *judgement, f *Finding) bool {
				return marksFrom(clr.RootTypeHandles)(j, f) && handlesUnnamed(j, f)
			}, next: []Step{recordCreators}},
			{when: "handles, from .NET 9 on, and the trace does not record them", fits: func(j *judgement, f *Finding) bool {
				return marksFrom(clr.RootTypeHandles)(j, f) && handlesUnknown(j, f)
			}, next: []Step{recordHandles}},
			{when: "older objects", fits: marksFrom(clr.RootTypeOlder), text: "Write less into old objects, and clear references early: the GC scans large caches and arrays again whenever they are written."},
			{when: "the finalizer queue", fits: marksFrom(clr.RootTypeFinalizeQueue), text: "Dispose of objects with finalizers, and call GC.SuppressFinalize in Dispose."},
			{when: "dependent handles", fits: marksFrom(clr.RootTypeDependentHandles), text: "Keep fewer entries in ConditionalWeakTable and in what is built on it: each is a dependent handle."},
		},
	},
	{
		id: "R33", title: "old objects keep young ones alive", kind: generic,
		threshold: "in gen 0 and gen 1 GCs, half of the bytes or more were marked from older objects, and these GCs are a quarter of the pauses",
		source:    "mem-doc: MarkOlder",
		find:      oldRefersToYoung,
		advice:    []advice{{text: "Clear references in old objects early, and write less into them: the objects they refer to survive, however young they are."}},
	},
	{
		id: "R12", title: "the heaps wait for the slowest one to finish marking", kind: cause,
		threshold: "with several heaps, marking on the slowest takes longer than the mean by a quarter of the pauses or more",
		source:    "mem-doc: join imbalance; .NET 5 and later let idle heaps take over marking",
		tested:    []Claim{{"a program under .NET Core 3.1 with server GC", "in two of its GCs one heap marks nearly everything"}},
		find:      unevenMarking,
		advice: []advice{
			{when: "before .NET 5", fits: beforeNET5, text: "Try .NET 5 or later, where idle GC threads help to mark.", basis: Basis{Untried: "no runtime before .NET 5 at hand"}},
			{text: unevenAdvice, basis: Basis{Looks: true}},
		},
	},
}

var listHandles = Step{Action: ListHandles, Purpose: "see which handles stay open", Events: []string{"SetGCHandle"}}

// recordHandles is for the runtimes that hide what creates handles: see creatorsHidden.
var (
	recordHandles  = Step{Action: Record, Purpose: "record which handles are allocated", Recording: HandleStacks, Events: []string{"SetGCHandle"}}
	recordCreators = Step{Action: Record, Purpose: "record which handles are allocated, and by which code", Recording: HandleStacks, Events: []string{"SetGCHandle"}}
)

// longestMark returns the kind of root from which marking took longest.
func (c *Case) longestMark() (clr.RootType, time.Duration) {
	worst := 0
	for root := range c.marking {
		if c.marking[root].duration > c.marking[worst].duration {
			worst = root
		}
	}
	return clr.RootType(worst), c.marking[worst].duration
}

func marksFrom(root clr.RootType) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		worst, _ := j.longestMark()
		return worst == root
	}
}

func longMark(j *judgement) (Finding, bool) {
	root, took := j.longestMark()
	share := j.explains(took)
	if share < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share,
		Description: fmt.Sprintf("Marking from %v took %s: %s of the pauses.", root, units.Duration(took), units.Percent(share)),
		Evidence:    []Figure{{"mark_ms", millis(took)}, {"mark_pct_of_pause", share}},
	}
	if root == clr.RootTypeHandles {
		f.quoteHandles(&j.Details)
	}
	return f, true
}

func oldRefersToYoung(j *judgement) (Finding, bool) {
	var all int64
	for root := range j.marking {
		all += j.marking[root].bytes
	}
	older := j.marking[clr.RootTypeOlder].bytes
	share := j.explains(j.Summary.Generation(0).Pause.Sum() + j.Summary.Generation(1).Pause.Sum())
	if all < someBytes || of(older, all) < largeShare || share < largeShare/2 {
		return Finding{}, false
	}
	return Finding{
		Severity: min(Warning, j.costs(share)), Confidence: Medium, weight: share * float64(older) / float64(all),
		Description: fmt.Sprintf("Gen 0 and gen 1 GCs marked %s of %s from older objects (%s).",
			units.Bytes(older), units.Bytes(all), units.Percent(of(older, all))),
		Evidence: []Figure{{"marked_from_older_bytes", float64(older)}, {"marked_bytes", float64(all)}},
	}, true
}

func unevenMarking(j *judgement) (Finding, bool) {
	share := j.explains(j.lateBy)
	if share < largeShare/2 {
		return Finding{}, false
	}
	return Finding{
		Severity: j.costs(share), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("Marking on the slowest heap took %s longer than the mean of the heaps: %s of the pauses.",
			units.Duration(j.lateBy), units.Percent(share)),
		Evidence: []Figure{{"late_ms", millis(j.lateBy)}, {"late_pct_of_pause", share}},
	}, true
}
