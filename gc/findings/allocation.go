package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

func youngSurvive(c *Case) (Finding, bool) {
	s := c.Process.Survival(0)
	survived := s.Percent()
	if s.Collections < several || !survived.Known || survived.V <= highSurvival || 2*c.tallies[induced].count > c.all().Count {
		return Finding{}, false // what is asked for comes too early to tell
	}
	share := young(c)
	return Finding{
		Severity: c.costs(share), Confidence: Medium, weight: share,
		Says: fmt.Sprintf("%s of what was new survived its first collection (%s in %s); below %d %% is usual.",
			units.Percent(survived.V), units.Bytes(s.Survived), counted(s.Collections, "collection"), highSurvival),
		Evidence: []Figure{{"gen0_survival_pct", survived.V}, {"gen0_survived_bytes", float64(s.Survived)}},
		Advice: []string{
			"Each survivor is copied, often twice, before it is old: that makes young collections long. Look for caches, large batches, and requests that wait for long with their data.",
		},
	}, true
}

// young is the share of the pauses that collections of generations 0 and 1 take,
// in percent.
func young(c *Case) float64 {
	p := &c.Process
	return of(p.Generation(0).Pause.Sum()+p.Generation(1).Pause.Sum(), p.All().Pause.Sum())
}

func frequentYoung(c *Case) (Finding, bool) {
	s := c.Process.Survival(0)
	survived, gen0 := s.Percent(), c.Process.Generation(0)
	share := of(gen0.Pause.Sum(), c.all().Pause.Sum())
	if c.share() < notablePauseShare || !survived.Known || survived.V >= lowSurvival || share < largeShare {
		return Finding{}, false
	}
	rate := float64(gen0.Count) / c.Process.Watched().Seconds()
	return Finding{
		Severity: c.costs(share), Confidence: Medium, weight: share,
		Says: fmt.Sprintf("%s of generation 0 a second, of %s each on average, and only %s of what was new survived.",
			counted(int(rate+0.5), "collection"), units.Duration(gen0.Pause.Mean()), units.Percent(survived.V)),
		Evidence: []Figure{{"gen0_per_second", rate}, {"gen0_pause_mean_ms", millis(gen0.Pause.Mean())}, {"gen0_survival_pct", survived.V}},
		Advice:   []string{"Allocate less, or let generation 0 grow larger before it is collected."},
		Settings: flavoured(c, gen0Size),
	}, true
}

// flavoured adds the server collector where the workstation one runs and there
// are processors for it.
func flavoured(c *Case, s Setting) []Setting {
	if server := c.Process.Process.Server; server.Known && !server.V && c.Trace.CPUs >= manyCPUs {
		return []Setting{s, serverGC}
	}
	return []Setting{s}
}

func allocatesFast(c *Case) (Finding, bool) {
	rate := c.Process.AllocationRate()
	if !rate.Known || rate.V < fastAlloc*1_000_000 {
		return Finding{}, false
	}
	allocated := c.all().Allocated
	f := Finding{
		Severity: min(Warning, c.costs(100)), Confidence: High,
		Says: fmt.Sprintf("%s were allocated, %s a second.", atLeast(allocated), units.Bytes(int64(rate.V))),
		Evidence: []Figure{
			{"allocated_bytes", float64(allocated.Sum)}, {"allocated_bytes_per_s", rate.V},
		},
		Advice: []string{c.seeTypes() + "."},
	}
	return f, true
}

// seeTypes says how to see what types are allocated: allocation ticks tell, which
// the trace may have.
func (c *Case) seeTypes() string {
	const events = "gctrail events --name GCAllocationTick FILE"
	if c.tallies[ticked].count > 0 {
		return "To see which types: " + events
	}
	return "To see which types, collect allocation ticks: profile gc-verbose, then " + events
}

// atLeast writes a sum of bytes, and says where the true one may be another.
func atLeast(b stats.Bytes) string {
	switch {
	case b.Estimated:
		return "About " + units.Bytes(b.Sum)
	case b.AtLeast:
		return "At least " + units.Bytes(b.Sum)
	}
	return units.Bytes(b.Sum)
}

func pinning(c *Case) (Finding, bool) {
	t, all := &c.tallies[manyPinned], c.all()
	if t.count < several || of(t.count, all.Count) < largeShare/2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: min(Warning, c.costs(100)), Confidence: Medium,
		Says: fmt.Sprintf("In %s of %s, %s objects or more were pinned.",
			units.Count(t.count), counted(all.Count, "collection"), units.Count(pinnedObjects)),
		Evidence: []Figure{{"collections_with_many_pinned", float64(t.count)}},
		Advice: []string{
			"Pin early and in batches, allocate buffers on the pinned heap (GC.AllocateArray with pinned: true), or pool them.",
			"To see what is pinned, collect handles and pins: profile gc-verbose, then gctrail events --name PinObjectAtGCTime FILE.",
		},
	}
	f.quote(t)
	return f, true
}

func otherFlavour(c *Case) (Finding, bool) {
	p := c.Process.Process
	rate, heap := c.Process.AllocationRate(), c.Process.Heap
	switch {
	case !p.Server.Known:
		return Finding{}, false
	case !p.Server.V && c.Trace.CPUs >= manyCPUs && c.share() >= notablePauseShare && rate.V >= fastAlloc*1_000_000:
		return Finding{
			Severity: Warning, Confidence: Medium,
			Says:     fmt.Sprintf("The workstation collector serves %s a second on %d processors.", units.Bytes(int64(rate.V)), c.Trace.CPUs),
			Evidence: []Figure{{"allocated_bytes_per_s", rate.V}, {"processors", float64(c.Trace.CPUs)}, {"pause_pct", c.share()}},
			Settings: []Setting{serverGC},
		}, true
	case p.Server.V && heap.MinHeaps >= manyCPUs && heap.Peak.Known && heap.Peak.V < smallServerHeap:
		return Finding{
			Severity: min(Warning, c.costs(100)), Confidence: Medium,
			Says:     fmt.Sprintf("The server collector keeps %d heaps for no more than %s.", heap.MaxHeaps, units.Bytes(heap.Peak.V)),
			Evidence: []Figure{{"heaps", float64(heap.MaxHeaps)}, {"heap_peak_bytes", float64(heap.Peak.V)}},
			Settings: []Setting{heapCount, workstationGC},
		}, true
	}
	return Finding{}, false
}

func heapsChange(c *Case) (Finding, bool) {
	heap := c.Process.Heap
	if heap.HeapChanges < several {
		return Finding{}, false
	}
	return Finding{
		Severity: min(Warning, c.costs(100)), Confidence: Medium,
		Says: fmt.Sprintf("The number of heaps changed %s times, between %d and %d: the collector adapts to the program (DATAS).",
			units.Count(heap.HeapChanges), heap.MinHeaps, heap.MaxHeaps),
		Evidence: []Figure{{"heap_changes", float64(heap.HeapChanges)}, {"heaps_min", float64(heap.MinHeaps)}, {"heaps_max", float64(heap.MaxHeaps)}},
		Advice:   []string{"Where throughput matters more than memory, aim lower or switch the adaptation off."},
		Settings: []Setting{targetTCP, noDATAS},
	}, true
}
