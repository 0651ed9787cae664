package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/units"
)

var largeRules = []rule{
	{
		id: "R24", title: "allocations of large or pinned objects trigger gen 2 GCs", kind: cause,
		threshold: "three gen 2 GCs or more, and half of them, have the reason AllocLarge: the budget of the LOH or POH is used up",
		source:    "gc.h, reason_alloc_loh; mem-doc",
		find:      largeObjects,
		advice:    append(slices.Clone(largeAdvice), allocationAdvice("the types and sizes that are allocated.")...),
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
		advice:    []advice{{text: "Reuse these objects, arrays with ArrayPool<T>: most of the LOH is dead when it is collected."}},
	},
}

// largeAdvice proposes alternatives to large allocations.
var largeAdvice = []advice{
	{
		when: "most of what these GCs freed was in the LOH, and most of that are strings", fits: mostlyOf(largeStrings),
		text: "Build large texts in a StringBuilder, or write them to a stream in pieces: each + copies the whole text. To verify, compare the number of gen 2 GCs with the reason AllocLarge.",
	},
	{
		when: "or most of that are arrays of collections", fits: mostlyOf(largeBuckets),
		text: "Create dictionaries, lists and sets with the capacity they need, or clear and reuse them: as they grow, each larger array goes to the LOH. To verify, compare the number of gen 2 GCs with the reason AllocLarge.",
	},
	{
		when: "or neither, or the types are unknown", fits: mostlyOf(largeArrays),
		text: "Reuse large objects (85,000 bytes and more), arrays with ArrayPool<T> or RecyclableMemoryStream, or split them. To verify, compare the number of gen 2 GCs with the reason AllocLarge.",
	},
	{
		when: "and a threshold covers at least 10 % of the sampled LOH allocation", fits: smallEnough,
		text: "Or raise GCLOHThreshold, so that the smaller of these objects are allocated in gen 0.", settings: []*setting{&lohThreshold},
	},
	{
		when: "and none covers that", fits: tooLarge,
		text: "Raising GCLOHThreshold would not help: nearly all sampled objects in the LOH are larger than its maximum.",
	},
	{
		when: "and the trace has no sizes of large objects", fits: sizesUnknown,
		text: "Check the sizes before raising GCLOHThreshold: this trace does not show them, and a threshold below them has no effect.",
	},
	{
		when: "most of it was in the POH", fits: func(j *judgement, f *Finding) bool { return !inLOH(j, f) },
		text: "Allocate pinned arrays once and reuse them: they come from the pinned object heap (GC.AllocateArray with pinned: true). GCLOHThreshold has no effect on them.",
	},
}

// largeKind is the kind of object that takes most of the LOH.
type largeKind uint8

const (
	largeArrays largeKind = iota // or unknown
	largeStrings
	largeBuckets // arrays that collections hold their entries in
)

// nouns name the kinds in sentences.
var nouns = [...]string{"large objects (85,000 bytes and more)", "large strings (85,000 bytes and more)", "large arrays of collections (85,000 bytes and more)"}

// bucketNames begin the names of types in which the class library's collections hold
// their entries.
var bucketNames = []string{"Entry[", "Slot[", "Node[", "VolatileNode[", "Bucket["}

func kindOfLarge(name string) largeKind {
	if name == "System.String" {
		return largeStrings
	}
	name = name[strings.LastIndexByte(strings.SplitN(name, "[", 2)[0], '+')+1:]
	name = strings.TrimPrefix(name, "System.Collections.Generic.")
	if strings.HasSuffix(name, "[]") && slices.ContainsFunc(bucketNames, func(b string) bool { return strings.HasPrefix(name, b) }) {
		return largeBuckets
	}
	return largeArrays
}

// largeKind returns the kind that takes half of the sampled LOH allocation or more.
func (d *Details) largeKind() largeKind {
	var shares [len(nouns)]float64
	for _, t := range d.typesOn(alloc.Large) {
		shares[kindOfLarge(t.Name)] += t.Share
	}
	for kind := range shares {
		if shares[kind] >= largeShare {
			return largeKind(kind)
		}
	}
	return largeArrays
}

func mostlyOf(kind largeKind) func(*judgement, *Finding) bool {
	return func(j *judgement, f *Finding) bool { return inLOH(j, f) && j.Details.largeKind() == kind }
}

// allocationAdvice returns advice on finding the allocated types, depending on the stacks
// and types in the trace.
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

// lohThresholds are the values of GCLOHThreshold, in bytes, that R24 chooses from. There
// is none above 4,194,216, because from .NET 7 on the runtime uses that for any larger
// one: the room in a region.
var lohThresholds = []uint64{200_000, 500_000, 1_000_000, 2_000_000, 4_000_000}

// ProposedLOHThresholds returns the values of GCLOHThreshold, in bytes, that R24 chooses
// from, in ascending order. Objects of that size and larger are allocated in the LOH.
func ProposedLOHThresholds() []uint64 { return slices.Clone(lohThresholds) }

const (
	coveredShare = 10 // percent of the LOH allocation below a threshold at which it is worth raising; own
	nearlyAll    = 90 // percent at which a larger threshold is not worth its copies; own
)

// threshold returns the smallest threshold that nearly all sampled large objects are below,
// or else the smallest one with the largest share, and the share in percent. ok is false if
// none covers enough, or sizes are unknown.
func (j *judgement) threshold() (size uint64, share float64, ok bool) {
	for i, below := range j.Details.LargeBelow {
		if share < nearlyAll && below > share {
			size, share = lohThresholds[i], below
		}
	}
	return size, share, share >= coveredShare
}

// raisable reports whether the runtime lets the threshold be raised, and objects in
// the LOH trigger GCs.
func raisable(j *judgement, f *Finding) bool {
	s := lohThreshold
	if size, _, ok := j.threshold(); ok {
		s = thresholdOf(size)
	}
	_, ok := s.of(j.Summary.Process)
	return ok && inLOH(j, f)
}

func smallEnough(j *judgement, f *Finding) bool {
	_, _, ok := j.threshold()
	return ok && raisable(j, f)
}

func tooLarge(j *judgement, f *Finding) bool {
	_, _, ok := j.threshold()
	return !ok && j.Details.LargeBelow != nil && raisable(j, f)
}

func sizesUnknown(j *judgement, f *Finding) bool {
	return j.Details.LargeBelow == nil && raisable(j, f)
}

func largeObjects(j *judgement) (Finding, bool) {
	t, fulls := &j.tallies[forLargeObjects], j.tallies[full].count
	if t.count < several || of(t.count, fulls) < largeShare {
		return Finding{}, false
	}
	share := j.explains(t.pause)
	heap, on := nouns[j.Details.largeKind()], alloc.Large
	if !inLOH(j, nil) {
		heap, on = "arrays in the pinned object heap", alloc.Pinned
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share, quotes: t,
		Description: fmt.Sprintf("%s of %s ran because %s had used up their budget: %s of the pause time.",
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
	if size, below, ok := j.threshold(); ok && on == alloc.Large {
		f.Description += fmt.Sprintf(" %s of the sampled LOH allocation is in objects below %s bytes.", units.Percent(below), units.Count(int(size)))
		f.Evidence = append(f.Evidence, Figure{"loh_threshold_bytes", float64(size)}, Figure{"loh_below_threshold_pct", below})
	}
	return f, true
}

func allocatorsWait(j *judgement) (Finding, bool) {
	w := j.Summary.Process.AllocWaits
	if w.Max < longWait {
		return Finding{}, false
	}
	return Finding{
		Severity: Warning, Confidence: High,
		Description: fmt.Sprintf("Threads that allocate large objects waited for background GCs %s: %s in total, %s at most.",
			plural(w.Count, "time"), units.Duration(w.Total), units.Duration(w.Max)),
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
		Severity: Note, Confidence: Medium, quotes: t,
		Description: fmt.Sprintf("In %s of %s the LOH was %d %% of the heap or more, and %d %% of its objects or more were dead.",
			units.Count(t.count), plural(j.tallies[full].count, "gen 2 GC"), largeHeapShare, deadShare),
		Evidence: []Figure{{"gcs_with_dead_loh", float64(t.count)}, {"heap_peak_bytes", float64(j.Summary.Heap.Peak.Or(0))}},
	}
	f.quoteTypes(&j.Details, alloc.Large)
	return f, true
}
