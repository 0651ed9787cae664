package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

var markRules = []rule{
	{
		id: "R54", title: "one kind of root takes much of the pauses", kind: cause,
		threshold: "marking from one kind of root, and updating the references in it, take a quarter of the pauses or more (older objects and finalizers: half), also without the two GCs that spent most on it; GC handles: 1,000 or more, unless the objects that they hold take the time",
		source:    "own, after mem-doc on MarkWithType; gc.cpp, mark_phase and relocate_phase visit the same roots",
		find:      heavyRoots,
		advice: []advice{
			{
				when: "thread stacks themselves", fits: weighs(onStacks, false),
				text: "Look for deep stacks and many threads: deep recursion, hundreds of blocked threads. Each GC walks every frame, twice if it compacts.",
			},
			{
				when: "the objects that thread stacks hold", fits: weighs(onStacks, true),
				text: "Try to keep fewer objects alive: what local variables hold takes the time, not the stacks. One thread marks a long linked list, whatever the number of heaps.",
			},
			{
				when: "many handles", fits: manyOpen, text: "Try to free GC handles that are no longer needed.",
				next: []Step{listHandles},
			},
			{
				when: "many handles, and the trace does not name the code that allocates them",
				fits: both(manyOpen, handlesUnnamed), next: []Step{recordCreators},
			},
			{
				when: "many handles, from .NET 9 on, and the trace does not record them",
				fits: both(manyOpen, handlesUnknown), next: []Step{recordHandles},
			},
			{
				when: "the objects that handles hold", fits: weighs(onHandles, true),
				text: "Try to keep fewer objects alive: static fields and GC handles hold what takes the time. To see what, take a heap snapshot.",
			},
			{
				when: "older objects", fits: onRoots(onOlder),
				text: "Try to write less into old objects, and clear references early: the GC scans large caches and arrays again wherever they were written.",
			},
			{
				when: "objects with finalizers", fits: onRoots(onFinalizers),
				text: "Try to dispose of objects with finalizers, and to call GC.SuppressFinalize in Dispose.",
			},
			{
				when: "dependent handles", fits: onRoots(onDependent),
				text: "Try to keep fewer entries in ConditionalWeakTable and in what is built on it: each is a dependent handle, which every GC visits.",
			},
		},
	},
	{
		id: "R33", title: "old objects keep young ones alive", kind: generic,
		threshold: "in gen 0 and gen 1 GCs, half of the bytes or more were marked from older objects; these GCs are a quarter of the pauses, and marking from older objects is a tenth",
		source:    "mem-doc: MarkOlder",
		find:      oldRefersToYoung,
		advice:    []advice{{text: "Clear references in old objects early, and write less into them: the objects they refer to survive, however young they are."}},
	},
	{
		id: "R12", title: "the heaps wait for the slowest one to finish marking", kind: cause,
		threshold: "with several heaps, marking on the slowest takes longer than the mean by a quarter of the pauses or more",
		source:    "mem-doc: join imbalance; .NET 5 and later let idle heaps take over marking",
		find:      unevenMarking,
		advice: []advice{
			{when: "before .NET 5", fits: beforeNET5, text: "Try .NET 5 or later, where idle GC threads help to mark."},
			{text: unevenAdvice},
		},
	},
}

var listHandles = Step{Action: ListHandles, Purpose: "see which handles stay open", Events: []string{"SetGCHandle"}}

// recordHandles is the next step for runtimes that hide the creators of handles: see
// creatorsHidden.
var (
	recordHandles  = Step{Action: Record, Purpose: "record which handles are allocated", Recording: HandleStacks, Events: []string{"SetGCHandle"}}
	recordCreators = Step{Action: Record, Purpose: "record which handles are allocated, and by which code", Recording: HandleStacks, Events: []string{"SetGCHandle"}}
)

// weighs makes advice fit if the roots of a burden take the time, or the objects that
// they hold.
func weighs(on int, byObjects bool) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		i, _ := j.heaviest()
		return i == on && j.burdens[i].byObjects() == byObjects
	}
}

// onRoots makes advice fit if a kind of root is the heaviest, for either reason.
func onRoots(on int) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		i, _ := j.heaviest()
		return i == on
	}
}

func manyOpen(j *judgement, f *Finding) bool {
	return weighs(onHandles, false)(j, f) && j.manyHandles()
}

// manyHandles reports whether there are so many GC handles that visiting them can be
// expensive.
func (j *judgement) manyHandles() bool {
	return j.Summary.Last != nil && j.Summary.Last.Handles.Or(0) >= manyHandles
}

// leastBurden is the least share of the pauses, in percent, of a kind of root. It is
// higher for older objects, because marking from them is a part of every young
// collection.
func leastBurden(on int) float64 {
	if on == onOlder || on == onFinalizers {
		return largeShare
	}
	return largeShare / 2
}

func heavyRoots(j *judgement) (Finding, bool) {
	i, share := j.heaviest()
	b := &j.burdens[i]
	if share < leastBurden(i) || b.spent.Count < several || i == onHandles && !b.byObjects() && !j.manyHandles() {
		return Finding{}, false
	}
	f := Finding{
		Title:    burdenNames[i] + " take much of the pauses",
		Severity: j.costs(share), Confidence: High, weight: share,
		Evidence: []Figure{
			{"mark_ms", millis(b.marking)}, {"update_ms", millis(b.updating)}, {"marked_bytes", float64(b.bytes)}, {"roots_pct_of_pause", share},
		},
	}
	name := burdenNames[i]
	if i == onDependent || i == onHandles {
		if n := j.Summary.Last; n != nil && n.Handles.Known() {
			name += fmt.Sprintf(" (the process has %s GC handles)", units.Count(n.Handles.Or(0)))
		}
	}
	f.Description = fmt.Sprintf("Marking from %s took %s, for %s", name, units.Duration(b.marking), units.Bytes(b.bytes))
	if of(b.updating, b.spent.Pause) >= someShare {
		f.Description += fmt.Sprintf(", and updating the references in them about %s", units.Duration(b.updating))
	}
	f.Description += fmt.Sprintf(": %s of the pause time.", units.Percent(b.spent.Share()))
	if i == onHandles || i == onDependent {
		f.quoteHandles(&j.Details)
	}
	return f, true
}

func oldRefersToYoung(j *judgement) (Finding, bool) {
	var all int64
	for _, bytes := range j.marked {
		all += bytes
	}
	older, share := j.marked[clr.RootTypeOlder], j.burdens[onOlder].spent.Usual()
	if all < someBytes || of(older, all) < largeShare || j.young() < largeShare/2 || share < someShare {
		return Finding{}, false
	}
	return Finding{
		Severity: min(Warning, j.costs(share)), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("Gen 0 and gen 1 GCs marked %s of %s from older objects (%s), which took %s of the pause time.",
			units.Bytes(older), units.Bytes(all), units.Percent(of(older, all)), units.Percent(share)),
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
		Description: fmt.Sprintf("Marking on the slowest heap took %s longer than the mean of the heaps: %s of the pause time.",
			units.Duration(j.lateBy), units.Percent(share)),
		Evidence: []Figure{{"late_ms", millis(j.lateBy)}, {"late_pct_of_pause", share}},
	}, true
}
