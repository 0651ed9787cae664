package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/units"
)

var memoryRules = []rule{
	{
		id: "R28", title: "objects in gen 2, the LOH and the POH keep growing", kind: aside,
		threshold: "after start-up, the bytes of objects there after each GC grow from each third of the time to the next, by 30 % and 10 MB in total, and do not level off, and R27 or R57 does not explain it",
		source:    "mem-doc, on leaks; the thresholds are own",
		find:      oldGrows,
		advice: []advice{
			{text: "If growth continues, something is retaining objects: compare heap snapshots taken a minute or more apart.", next: []Step{takeSnapshots, listObjects}},
			{when: "a short trace", fits: func(j *judgement, _ *Finding) bool { return j.short() }, text: "Record for longer: a program that starts or fills a cache looks the same."},
		},
	},
	{
		id: "R27", title: "the heap grows, and gen 2 is hardly collected", kind: aside,
		threshold: "the heap after a GC grows as in R28, with at most one gen 2 GC, a memory load that is not high, and not in the latency mode LowLatency (R57)",
		source:    "mem-doc: normal, since nothing requires a gen 2 GC",
		find:      growsUncollected,
		advice: []advice{
			{text: "If memory is plentiful, there is nothing to do: the GC sees no need to collect gen 2, and only a gen 2 GC shows how much is still in use. Otherwise limit the heap.", settings: []*setting{&hardLimitPercent}},
		},
	},
	{
		id: "R41", title: "much of gen 2 is unused free space", kind: aside,
		threshold: "at the beginning of three background gen 2 GCs or more, and half of them, 10 MB and 50 % of gen 2 or more were free space",
		source:    "mem-doc judges fragmentation at the beginning of gen 2 background GCs: up to 15 % is nothing to worry about, 70 to 80 % is not good",
		find:      fragmentedOld,
		advice: []advice{
			{text: "This is normal after a load peak. If it stays and memory matters, let the GC compact, and compare pauses before and after.", settings: []*setting{&conserveMemory}},
			{text: "Group objects with similar lifetimes, so that they die together."},
		},
	},
	{
		id: "R45", title: "much of the LOH is unused free space", kind: aside,
		threshold: "at the beginning of three background gen 2 GCs or more, and half of them, 10 MB and 50 % of the LOH or more were free space",
		source:    "mem-doc, as R41",
		find:      fragmentedLarge,
		advice: []advice{
			{text: "After a peak, set GCSettings.LargeObjectHeapCompactionMode to CompactOnce before one GC that may block."},
			{text: "Try to allocate large arrays in few sizes, and to reuse them. Then compare committed memory: a pool that rounds sizes up and keeps all arrays can hold more than it saves."},
		},
	},
	{
		id: "R46", title: "much of the pinned object heap is unused free space", kind: aside,
		threshold: "after three gen 2 GCs or more, and half of them, free space in the pinned object heap is 10 MB and 30 % of the heap or more",
		source:    "own; gc.cpp: the POH is swept, never compacted",
		find:      fragmentedPinned,
		advice:    []advice{{text: "Allocate pinned arrays once and reuse them: the GC never compacts the pinned object heap (POH), and only new pinned arrays that fit can use its free space."}},
	},
	{
		id: "R42", title: "survivors do not fit into gen 2's free space", kind: aside,
		threshold: "in three gen 1 GCs or more, survivors took less than half of gen 2's free space that was tried for them, and 10 MB or more was given up",
		source: "allocation.cpp, allocate_in_older_generation: pieces under 256 bytes that do not fit are given up until the next gen 2 GC, and so are the smallest remainders of others. " +
			"PerfView's free list efficiency: FreeListAllocated / (FreeListAllocated + FreeListRejected)",
		find: unfitFreeList,
		advice: []advice{
			{
				text: "Keep fewer objects that live for long and die one by one: reuse them, hold their contents in arrays of structs, or let them die in groups. " +
					"Where one dies between others that live on, an object of another size rarely fits, and gen 2 grows instead.",
			},
			{text: "If gen 2 grows and memory matters, let the GC compact, and compare pauses before and after.", settings: []*setting{&conserveMemory}},
		},
	},
	{
		id: "R30", title: "the heap grows far beyond its live size between GCs", kind: aside,
		threshold: "before three GCs or more, and half of all, the heap is five times as large as after, and 100 MB larger",
		source:    "mem-doc: the gen 0 budget decides the peak; the thresholds are own",
		find:      swells,
		advice: []advice{
			{text: "If memory is plentiful, there is nothing to do: a large gen 0 budget saves GCs. Otherwise make the budget smaller, and compare pauses before and after.", settings: []*setting{&gen0MaxBudget}},
		},
	},
	{
		id: "R60", title: "much more memory is committed than the heap needs", kind: aside,
		threshold: "committed memory is twice the heap after the last GC and 100 MB more, and R30 does not explain it",
		source:    "mem-doc: committed is the heap, gen 0's budget and free regions",
		find:      heldBack,
		advice: []advice{
			{text: "If memory is plentiful, there is nothing to do. Process memory beyond what the GC committed is native memory, stacks and code."},
			{
				when: "gen 0's budget is half of it or more", fits: budgetHolds, settings: []*setting{&gen0MaxBudget},
				text: "Otherwise make gen 0's budget smaller, and compare pauses before and after.",
			},
		},
	},
}

func oldGrows(j *judgement) (Finding, bool) {
	t := &j.trends[oldObjects]
	first, last, ok := t.grows()
	if _, uncollected := growsUncollected(j); !ok || last-first < someBytes || uncollected || j.usuallyIn(clr.PauseModeLowLatency) {
		return Finding{}, false
	}
	f := Finding{
		Severity: Warning, Confidence: Medium,
		Description: fmt.Sprintf("Objects in gen 2, the LOH and the POH grew from %s to %s over %s, and have not levelled off.",
			units.Bytes(first), units.Bytes(last), gcs(t.seen)),
		Evidence: []Figure{{"old_objects_first_bytes", float64(first)}, {"old_objects_last_bytes", float64(last)}},
		Next: []Step{{
			Action: ListCollections, Purpose: "see them grow",
			Figures: []string{"number", "start_ms", "generation", "heap_after_bytes", "promoted_bytes"},
		}},
	}
	if j.short() {
		f.Severity, f.Confidence = Note, Low
	}
	return f, true
}

func growsUncollected(j *judgement) (Finding, bool) {
	first, last, ok := j.trends[heapAfter].grows()
	if !ok || last-first < someBytes || j.tallies[full].count > 1 || j.tallies[highMemory].count > 0 || j.usuallyIn(clr.PauseModeLowLatency) {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: Medium,
		Description: fmt.Sprintf("The heap grew from %s to %s, with %s.",
			units.Bytes(first), units.Bytes(last), plural(j.tallies[full].count, "gen 2 GC")),
		Evidence: []Figure{{"heap_first_bytes", float64(first)}, {"heap_last_bytes", float64(last)}, {"full", float64(j.tallies[full].count)}},
	}, true
}

// atEntry turns the free space at the start of background collections into a
// finding.
func atEntry(j *judgement, i int, name string) (Finding, bool) {
	e := &j.entry[i]
	if e.tally.count < several || of(e.tally.count, e.seen) < largeShare {
		return Finding{}, false
	}
	return Finding{
		Severity: warningIf(e.free >= manyBytes), Confidence: Medium, quotes: &e.tally,
		Description: fmt.Sprintf("When %s of %s began, half of %s or more was free space (the most: %s of %s). Up to 15 %% is nothing to worry about.",
			units.Count(e.tally.count), plural(e.seen, "background gen 2 GC"), name, units.Bytes(e.free), units.Bytes(e.size)),
		Evidence: []Figure{{"background_gcs_with_free_space", float64(e.tally.count)}, {"free_pct", of(e.free, e.size)}, {"free_bytes", float64(e.free)}, {"size_bytes", float64(e.size)}},
	}, true
}

func fragmentedOld(j *judgement) (Finding, bool)   { return atEntry(j, 0, "gen 2") }
func fragmentedLarge(j *judgement) (Finding, bool) { return atEntry(j, 1, "the LOH") }

func fragmentedPinned(j *judgement) (Finding, bool) {
	t, fulls := &j.pinned.tally, j.tallies[full].count
	if t.count < several || of(t.count, fulls) < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: warningIf(j.pinned.free >= manyBytes), Confidence: High, quotes: t,
		Description: fmt.Sprintf("After %s of %s, %d %% of the heap or more was free space in the pinned object heap (the most: %s of its %s).",
			units.Count(t.count), plural(fulls, "gen 2 GC"), freeShare, units.Bytes(j.pinned.free), units.Bytes(j.pinned.size)),
		Evidence: []Figure{
			{"gcs_with_free_poh", float64(t.count)}, {"poh_free_bytes", float64(j.pinned.free)}, {"poh_size_bytes", float64(j.pinned.size)},
		},
	}
	f.quoteTypes(&j.Details, alloc.Pinned)
	return f, true
}

func unfitFreeList(j *judgement) (Finding, bool) {
	used := of(j.list.Allocated, j.list.Allocated+j.list.Rejected)
	if j.lists < several || j.list.Rejected < someBytes || used >= lowListUse {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: Medium,
		Description: fmt.Sprintf("%s gave up %s of gen 2's free space, in pieces too small for the survivors, until the next gen 2 GC. The survivors took %s: %s of what was tried.",
			plural(j.lists, "gen 1 GC"), units.Bytes(j.list.Rejected), units.Bytes(j.list.Allocated), units.Percent(used)),
		Evidence: []Figure{{"free_list_used_pct", used}, {"free_list_rejected_bytes", float64(j.list.Rejected)}},
		Next: []Step{{
			Action: ListCollections, Purpose: "see these GCs", Generation: gc.Some(1),
			Figures: []string{"number", "start_ms", "promoted_bytes", "heap_after_bytes"},
		}},
	}, true
}

func swells(j *judgement) (Finding, bool) {
	t := &j.tallies[farPeak]
	if t.count < several || of(t.count, j.all.Count) < largeShare {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: Medium, quotes: t,
		Description: fmt.Sprintf("Before %s of %s the heap was %d times as large as after, or more; it reached %s.",
			units.Count(t.count), gcs(j.all.Count), peakRatio, units.Bytes(j.Summary.Heap.Peak.Or(0))),
		Evidence: []Figure{{"gcs_from_a_far_peak", float64(t.count)}, {"heap_peak_bytes", float64(j.Summary.Heap.Peak.Or(0))}},
	}, true
}

func heldBack(j *judgement) (Finding, bool) {
	heap := j.Summary.Heap
	excess := j.excess()
	if excess < manyBytes || heap.Committed.Or(0) < committedRatio*heap.After.Or(0) {
		return Finding{}, false
	}
	if _, ok := swells(j); ok {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("After the last GC, %s was committed for a heap of %s; the rest is room for gen 0 and free regions.",
			units.Bytes(heap.Committed.Or(0)), units.Bytes(heap.After.Or(0))),
		Evidence: []Figure{{"committed_bytes", float64(heap.Committed.Or(0))}, {"heap_after_bytes", float64(heap.After.Or(0))}},
	}
	if j.gen0Budget > 0 {
		f.Description += fmt.Sprintf(" Gen 0's budget was %s.", units.Bytes(j.gen0Budget))
		f.Evidence = append(f.Evidence, Figure{"gen0_budget_bytes", float64(j.gen0Budget)})
	}
	return f, true
}

// excess returns by how much the committed memory exceeded the heap after the latest
// collection; 0 if unknown.
func (j *judgement) excess() int64 {
	heap := j.Summary.Heap
	if !heap.Committed.Known() || !heap.After.Known() {
		return 0
	}
	return heap.Committed.Or(0) - heap.After.Or(0)
}

// budgetHolds reports whether gen 0's budget explains half of the memory committed beyond
// the heap, and the proposed maximum would at least halve that budget.
func budgetHolds(j *judgement, _ *Finding) bool {
	heaps := int64(max(1, j.Summary.Heap.MaxHeaps))
	return 2*j.gen0Budget >= j.excess() && j.gen0Budget >= 2*maxGen0Budget*heaps
}
