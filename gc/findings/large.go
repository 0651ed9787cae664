package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/units"
)

var largeRules = []rule{
	{
		id: "R24", title: "allocations of large or pinned arrays trigger gen 2 GCs", kind: cause,
		threshold: "three gen 2 GCs or more, and half of them, have the reason AllocLarge: the budget of the LOH or POH is used up",
		source:    "gc.h, reason_alloc_loh; mem-doc",
		find:      largeObjects,
		advice: append([]advice{
			{
				when: "most of what these GCs freed was in the LOH", fits: inLOH,
				text: "Reuse arrays of 85,000 bytes and more with ArrayPool<T> or RecyclableMemoryStream, or split them. To verify, compare the number of gen 2 GCs with the reason AllocLarge.",
			},
			{
				when: "and at least 10 % of the sampled LOH allocation is in objects below 200,000 bytes", fits: smallEnough,
				text: "Or raise GCLOHThreshold, so that the smaller of these objects are allocated in gen 0.", settings: []*setting{&lohThreshold},
			},
			{
				when: "and less than 10 % is", fits: tooLarge,
				text: "Raising GCLOHThreshold to 200,000 bytes would not help: nearly all sampled objects in the LOH are at least that large.",
			},
			{
				when: "and the trace has no sizes of large objects", fits: sizesUnknown,
				text:     "Check the sizes before raising GCLOHThreshold: this trace does not show whether the objects are below the new threshold.",
				settings: []*setting{&lohThreshold},
			},
			{
				when: "most of it was in the POH", fits: func(j *judgement, f *Finding) bool { return !inLOH(j, f) },
				text: "Allocate pinned arrays once and reuse them: they come from the pinned object heap (GC.AllocateArray with pinned: true). GCLOHThreshold has no effect on them.",
			},
		}, allocationAdvice("the types and sizes that are allocated.")...),
	},
	{
		id: "R25", title: "allocating threads wait for background GCs", kind: cause, minor: true,
		threshold: "a thread that allocates a large object waits 200 ms or longer for a background GC",
		source:    "PerfView's GCStats: LOH allocation pause over 200 ms",
		find:      allocatorsWait,
		advice:    []advice{{text: "Reuse large arrays with ArrayPool<T>, so that fewer are allocated while a background GC runs."}},
	},
	{
		id: "R62", title: "most large objects are short-lived", kind: aside,
		threshold: "in three gen 2 GCs or more, and half of all, the LOH was 30 % of the heap and 80 % of its objects were dead, and R24 does not apply",
		source:    "own, after mem-doc on temporary large objects",
		find:      largeTurnover,
		advice:    []advice{{text: "Reuse these arrays with ArrayPool<T>: most of the LOH is dead when it is collected."}},
	},
}

// allocationAdvice is how to find what is allocated, by what the trace shows of it.
func allocationAdvice(what string) []advice {
	return []advice{
		{
			when: "the trace names allocated types, and the methods that allocate them", fits: allocatorsNamed, text: "Look at " + what,
			next: []Step{{Action: ListAllocations, Purpose: "see the types and what allocates them"}},
		},
		{
			when: "it names the types only", fits: onlyTypesNamed, text: "Look at " + what,
			next: []Step{
				{Action: ListTypes, Purpose: "see the types"},
				{Action: Record, Purpose: "record what allocates them, by type and stack", Recording: Allocations, Events: []string{"GCAllocationTick"}},
			},
		},
		{
			when: "it names no allocated type", fits: typesUnnamed, text: "Find " + what,
			next: []Step{{Action: Record, Purpose: "record what is allocated, by type and stack", Recording: Allocations, Events: []string{"GCAllocationTick"}}},
		},
	}
}

func allocatorsNamed(j *judgement, _ *Finding) bool { return j.Details.NamesAllocators() }
func typesUnnamed(j *judgement, _ *Finding) bool    { return len(j.Details.Types) == 0 }
func onlyTypesNamed(j *judgement, f *Finding) bool {
	return !allocatorsNamed(j, f) && !typesUnnamed(j, f)
}

// inLOH reports whether collections that large allocations triggered freed more
// in the LOH than in the POH.
func inLOH(j *judgement, _ *Finding) bool { return j.large[0] >= j.large[1] }

// ProposedLOHThreshold is the GCLOHThreshold, in bytes, that R24 proposes. Objects of
// that size and larger are allocated in the LOH.
const ProposedLOHThreshold = 200_000

// coveredShare is the least share of the LOH allocation, in percent, in objects below
// the proposed threshold at which it is worth raising.
const coveredShare = 10

// raisable reports whether the runtime lets the threshold be raised, and objects in
// the LOH trigger GCs.
func raisable(j *judgement, f *Finding) bool {
	_, ok := lohThreshold.of(j.Summary.Process)
	return ok && inLOH(j, f)
}

func smallEnough(j *judgement, f *Finding) bool {
	return raisable(j, f) && j.Details.LargeBelow.Or(0) >= coveredShare
}

func tooLarge(j *judgement, f *Finding) bool {
	return raisable(j, f) && j.Details.LargeBelow.Known() && !smallEnough(j, f)
}

func sizesUnknown(j *judgement, f *Finding) bool {
	return raisable(j, f) && !j.Details.LargeBelow.Known()
}

func largeObjects(j *judgement) (Finding, bool) {
	t, fulls := &j.tallies[forLargeObjects], j.tallies[full].count
	if t.count < several || of(t.count, fulls) < largeShare {
		return Finding{}, false
	}
	share := j.explains(t.pause)
	heap, on := "large arrays (85,000 bytes and more)", alloc.Large
	if !inLOH(j, nil) {
		heap, on = "arrays in the pinned object heap", alloc.Pinned
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share,
		Description: fmt.Sprintf("%s of %s ran because %s had used up their budget: %s of the pauses.",
			units.Count(t.count), plural(fulls, "gen 2 GC"), heap, units.Percent(share)),
		Evidence: []Figure{
			{"for_large_objects", float64(t.count)},
			{"full", float64(fulls)},
			{"pause_ms", millis(t.pause)},
			{"freed_in_loh_bytes", float64(j.large[0])},
			{"freed_in_poh_bytes", float64(j.large[1])},
		},
	}
	f.quoteTypes(&j.Details, on)
	if below, known := j.Details.LargeBelow.Get(); known && on == alloc.Large {
		f.Description += fmt.Sprintf(" %s of the sampled LOH allocation is in objects below %s bytes.", units.Percent(below), units.Count(ProposedLOHThreshold))
		f.Evidence = append(f.Evidence, Figure{"loh_below_threshold_pct", below})
	}
	j.quote(&f, t)
	return f, true
}

func allocatorsWait(j *judgement) (Finding, bool) {
	w := j.Summary.Process.AllocWaits
	if w.Max < longWait {
		return Finding{}, false
	}
	return Finding{
		Severity: Warning, Confidence: High,
		Description: fmt.Sprintf("Threads that allocate large objects waited for background GCs %s times: %s in total, %s at most.",
			units.Count(w.Count), units.Duration(w.Total), units.Duration(w.Max)),
		Evidence: []Figure{{"waits", float64(w.Count)}, {"wait_ms", millis(w.Total)}, {"wait_max_ms", millis(w.Max)}},
		Next: []Step{{
			Action: ListCollections, Purpose: "see the background GCs", Kind: gc.Background, Generation: gc.Some(2),
			Figures: []string{"number", "start_ms", "duration_ms", "reason", "heap_before_bytes"},
		}},
	}, true
}

func largeTurnover(j *judgement) (Finding, bool) {
	t := &j.tallies[largeAndDead]
	if t.count < several || of(t.count, j.tallies[full].count) < largeShare {
		return Finding{}, false
	}
	if _, ok := largeObjects(j); ok && j.hurts() {
		return Finding{}, false // R24 says so
	}
	f := Finding{
		Severity: Note, Confidence: Medium,
		Description: fmt.Sprintf("In %s of %s the LOH was %d %% of the heap or more, and %d %% of its objects or more were dead.",
			units.Count(t.count), plural(j.tallies[full].count, "gen 2 GC"), largeHeapShare, deadShare),
		Evidence: []Figure{{"gcs_with_dead_loh", float64(t.count)}, {"heap_peak_bytes", float64(j.Summary.Heap.Peak.Or(0))}},
	}
	f.quoteTypes(&j.Details, alloc.Large)
	j.quote(&f, t)
	return f, true
}
