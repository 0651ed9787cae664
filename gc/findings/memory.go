package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

// grows says whether a figure was larger in each third of the time than in the
// one before, and has not levelled off.
func grows(t *trend) (first, last int64, ok bool) {
	if len(t.values) < growthSamples {
		return 0, 0, false
	}
	first, middle, last := t.thirds()
	ok = first > 0 && middle > first && float64(last) >= growth*float64(first) && float64(last) >= stillGrowing*float64(middle)
	return first, last, ok
}

func liveGrows(c *Case) (Finding, bool) {
	first, last, ok := grows(&c.trends[liveBytes])
	if !ok || last-first < someBytes {
		return Finding{}, false
	}
	count := c.trends[liveBytes].count
	return Finding{
		Severity: Warning, Confidence: Medium,
		Says: fmt.Sprintf("What survived full collections rose from %s to %s over %s such collections, and had not levelled off.",
			units.Bytes(first), units.Bytes(last), units.Count(count)),
		Evidence: []Figure{{"live_first_bytes", float64(first)}, {"live_last_bytes", float64(last)}, {"full", float64(count)}},
		Advice: []string{
			"If it goes on, something keeps objects: compare two heap dumps (dotnet-gcdump collect), some minutes apart.",
			"A program that is still starting, or fills a cache, looks the same: trace for longer.",
		},
	}, true
}

func handlesGrow(c *Case) (Finding, bool) {
	first, last, ok := grows(&c.trends[handles])
	if !ok || last-first < manyHandles {
		return Finding{}, false
	}
	return Finding{
		Severity: Warning, Confidence: Medium,
		Says: fmt.Sprintf("The number of GC handles rose from %s to %s over %s full collections.",
			units.Count(first), units.Count(last), units.Count(c.trends[handles].count)),
		Evidence: []Figure{{"handles_first", float64(first)}, {"handles_last", float64(last)}},
		Advice:   []string{"Find who opens handles and does not free them: profile gc-verbose, then gctrail events --name SetGCHandle,DestroyGCHandle FILE."},
	}, true
}

func finalizers(c *Case) (Finding, bool) {
	t, all := &c.tallies[manyFinalizers], c.all()
	if t.count < several || of(t.count, all.Count) < largeShare/2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: Medium,
		Says: fmt.Sprintf("In %s of %s, %s dead objects or more were kept for their finalizers.",
			units.Count(t.count), counted(all.Count, "collection"), units.Count(finalizedObjects)),
		Evidence: []Figure{{"collections_with_many_finalizers", float64(t.count)}},
		Advice:   []string{"Dispose of such objects, and call GC.SuppressFinalize in Dispose: each lives through a collection more, with all it refers to."},
	}
	if c.hurts() {
		f.Severity = Warning
	}
	f.quote(t)
	return f, true
}

// holedOld looks at what the last collection left: the free space that the next
// one will find.
func holedOld(c *Case) (Finding, bool) {
	var free, size int64
	for _, i := range []int{2, 3} {
		if g := generation(c.Process.Last, i); g != nil && g.After.Known {
			free += g.Fragmentation.V
			size += g.After.V
		}
	}
	share := of(free, size)
	if free < someBytes || share < holedGen2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: Medium,
		Says: fmt.Sprintf("%s of generation 2 and the large object heap, %s of %s, were free space after the last collection; up to 15 %% is no worry.",
			units.Percent(share), units.Bytes(free), units.Bytes(size)),
		Evidence:    []Figure{{"free_pct", share}, {"free_bytes", float64(free)}, {"size_bytes", float64(size)}},
		Collections: []uint32{c.Process.Last.Number}, Shown: 1,
		Advice:   []string{"Usual after a peak of load; if it stays, let full collections compact."},
		Settings: []Setting{conserveMemory},
	}
	if free >= manyBytes {
		f.Severity = Warning
	}
	return f, true
}

func holedYoung(c *Case) (Finding, bool) {
	t, all := &c.tallies[holedGen0], c.all()
	if t.count < several || of(t.count, all.Count) < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: Medium,
		Says: fmt.Sprintf("After %s of %s, free space in generation 0 was %d %% of the heap or more.",
			units.Count(t.count), counted(all.Count, "collection"), holedShare),
		Evidence: []Figure{{"collections_with_holes", float64(t.count)}},
		Advice:   []string{"Pinned objects hold young memory apart: allocate buffers on the pinned heap (GC.AllocateArray with pinned: true), or pool them."},
	}
	f.quote(t)
	if peak := c.Process.Heap.Peak; peak.V >= manyBytes {
		f.Severity = Warning
	}
	return f, true
}

func swells(c *Case) (Finding, bool) {
	t, all := &c.tallies[farPeak], c.all()
	if t.count < several || of(t.count, all.Count) < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: Medium,
		Says: fmt.Sprintf("Before %s of %s the heap was %d times as large as after, or more; it reached %s.",
			units.Count(t.count), counted(all.Count, "collection"), peakRatio, units.Bytes(c.Process.Heap.Peak.V)),
		Evidence: []Figure{{"collections_from_a_far_peak", float64(t.count)}, {"heap_peak_bytes", float64(c.Process.Heap.Peak.V)}},
		Advice:   []string{"Right where memory is plenty. Where it is not, let new objects take less before they are collected."},
		Settings: []Setting{gen0MaxBudget, conserveMemory},
	}
	f.quote(t)
	return f, true
}

func heldBack(c *Case) (Finding, bool) {
	heap := c.Process.Heap
	if !heap.Committed.Known || !heap.After.Known || heap.Committed.V-heap.After.V < manyBytes || heap.Committed.V < committedRatio*heap.After.V {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High,
		Says: fmt.Sprintf("The collector held %s of memory in the end, the heap took %s of it; the rest is room for new objects and free regions.",
			units.Bytes(heap.Committed.V), units.Bytes(heap.After.V)),
		Evidence: []Figure{{"committed_bytes", float64(heap.Committed.V)}, {"heap_after_bytes", float64(heap.After.V)}},
		Advice:   []string{"What the process takes beyond that is not the collector's: native memory, stacks, code."},
		Settings: []Setting{conserveMemory, gen0MaxBudget},
	}, true
}
