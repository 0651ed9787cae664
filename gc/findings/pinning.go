package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

var pinRules = []rule{
	{
		id: "R44", title: "many objects are pinned", kind: cause,
		threshold: "in three GCs or more, and a quarter of all, 1,000 objects or more were pinned",
		source:    "mem-doc, on pinning; the thresholds are own",
		find:      pinning,
		advice:    pinAdvice,
	},
	{
		id: "R40", title: "pinned objects fragment gen 0", kind: cause, minor: true,
		threshold: "after three GCs or more, and half of all, free space in gen 0 is 10 MB and 30 % of the heap or more",
		source:    "mem-doc: fragmentation in gen 0 is normal unless gen 0 is a large part of the heap",
		find:      fragmentedYoung,
		advice:    pinAdvice,
	},
}

var pinAdvice = []advice{
	{when: "from .NET 5 on", fits: sinceNET5, text: "Allocate buffers that are pinned in the pinned object heap (GC.AllocateArray with pinned: true), once, and reuse them."},
	{when: "before .NET 5", fits: beforeNET5, text: "Try to allocate buffers early, to pool them and to pin them in batches, so that they are in gen 2."},
	{next: []Step{listPins}},
	{when: "the trace does not record pinned objects", fits: pinsUnknown, next: []Step{recordPins}},
}

var listPins = Step{Action: ListPins, Purpose: "see what is pinned", Events: []string{"PinObjectAtGCTime"}}

var recordPins = Step{Action: Record, Purpose: "record what is pinned", Recording: Verbose, Events: []string{"PinObjectAtGCTime"}}

func pinsUnknown(j *judgement, _ *Finding) bool { return len(j.Details.Pins) == 0 }

// beforeNET5 reports whether the runtime is known to have no pinned object heap.
func beforeNET5(j *judgement, _ *Finding) bool {
	v := versionOf(j.Summary.Process)
	return v.known && (v.framework || v.major < 5)
}

func sinceNET5(j *judgement, f *Finding) bool { return !beforeNET5(j, f) }

func pinning(j *judgement) (Finding, bool) {
	t := &j.tallies[manyPinned]
	if t.count < several || of(t.count, j.all.Count) < largeShare/2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: min(Warning, j.costs(j.explains(t.pause))), Confidence: Medium, weight: j.explains(t.pause), quotes: t,
		Description: fmt.Sprintf("In %s of %s, %s objects or more were pinned.",
			units.Count(t.count), gcs(j.all.Count), units.Count(pinnedObjects)),
		Evidence: []Figure{{"gcs_with_many_pinned", float64(t.count)}},
	}
	f.quotePins(&j.Details)
	return f, true
}

func fragmentedYoung(j *judgement) (Finding, bool) {
	t := &j.tallies[fragmentedGen0]
	if t.count < several || of(t.count, j.all.Count) < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity:   max(warningIf(j.Summary.Heap.Peak.Or(0) >= manyBytes), min(Warning, j.costs(j.explains(t.pause)))),
		Confidence: Medium, weight: j.explains(t.pause), quotes: t,
		Description: fmt.Sprintf("After %s of %s, free space in gen 0 was %d %% of the heap or more.",
			units.Count(t.count), gcs(j.all.Count), freeShare),
		Evidence: []Figure{{"gcs_with_free_gen0", float64(t.count)}},
	}
	f.quotePins(&j.Details)
	return f, true
}
