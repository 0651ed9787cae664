package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

var serverRules = []rule{
	{
		id: "R63", title: "the other flavour of GC may fit better", kind: generic,
		threshold: "workstation GC with 500 MB a second on four processors or more; or server GC with four heaps or more for less than 100 MB",
		source:    "docs of workstation and server GC; the thresholds are own",
		find:      otherFlavour,
		advice: []advice{
			{when: "workstation GC", fits: onWorkstation, text: "Try server GC, and compare pauses and committed memory.", settings: []*setting{&serverGC}},
			{when: "server GC", fits: func(j *judgement, f *Finding) bool { return !onWorkstation(j, f) }, text: "Try workstation GC, or fewer heaps, and compare pauses and committed memory.", settings: []*setting{&workstationGC, &fewerHeaps}},
		},
	},
	{
		id: "R13", title: "several server GC processes share the processors", kind: generic,
		threshold: "the trace has two or more processes with server GC, and together they have more heaps than there are processors",
		source:    "mem-doc: several server GC processes on one machine",
		find:      serversCompete,
		advice: []advice{
			{text: "Give each process fewer heaps, or workstation GC: their GC threads compete for the processors.", settings: []*setting{&fewerHeaps, &workstationGC}},
		},
	},
	{
		id: "R70", title: "DATAS finds GC costly", kind: generic,
		threshold: "with three tunings or more, the throughput cost that DATAS measures is 10 % on average or more; it aims at 2 %",
		source:    "gc.cpp, calculate_new_heap_count; GCDynamicEvent SizeAdaptationTuning, HeapCountTuning in .NET 8",
		find:      costlyAdaptation,
		advice: []advice{
			{text: "If throughput matters more than memory, give gen 0 a larger budget under DATAS, or switch DATAS off; compare committed memory before and after.", settings: []*setting{&gen0Growth, &noDATAS}},
		},
	},
	{
		id: "R71", title: "the number of heaps goes up and down", kind: generic,
		threshold: "after start-up, the number of heaps changes direction three times or more",
		source:    "own; DATAS adjusts it to its measurements",
		find:      heapsOscillate,
		advice: []advice{
			{text: "If the load is steady, try a fixed number of heaps, and compare pauses: each change suspends all threads.", settings: []*setting{&theseHeaps}},
		},
	},
	{
		id: "R72", title: "DATAS finds gen 2 GCs costly", kind: generic,
		threshold: "with three tunings for full GCs or more, gen 2 GCs cost 10 % of the time on average",
		source:    "gc.cpp; GCDynamicEvent SizeAdaptationFullGCTuning",
		find:      costlyFullAdaptation,
		advice: []advice{
			{text: "Promote less into gen 2, and allocate fewer large objects: adapting the number of heaps helps little when most GC work is in gen 2."},
		},
	},
}

func onWorkstation(j *judgement, _ *Finding) bool { return !j.Summary.Process.Server.Or(false) }

func otherFlavour(j *judgement) (Finding, bool) {
	p := j.Summary.Process
	rate, heap := j.Summary.AllocationRate(), j.Summary.Heap
	switch {
	case !p.Server.Known():
		return Finding{}, false
	case !p.Server.Or(false) && j.Trace.CPUs >= manyCPUs && j.share >= j.budget.Share && rate.PerSecond >= fastAlloc*1_000_000:
		return Finding{
			Severity: Warning, Confidence: Medium,
			Description: fmt.Sprintf("Workstation GC serves %s of allocations on %d processors.", perSecond(rate), j.Trace.CPUs),
			Evidence:    append(j.shares(), Figure{"allocated_bytes_per_s", rate.PerSecond}, Figure{"processors", float64(j.Trace.CPUs)}),
		}, true
	case p.Server.Or(false) && heap.MinHeaps >= manyCPUs && heap.Peak.Known() && heap.Peak.Or(0) < smallServerHeap:
		return Finding{
			Severity: min(Warning, j.costs(100)), Confidence: Medium,
			Description: fmt.Sprintf("Server GC keeps %d heaps for at most %s.", heap.MaxHeaps, units.Bytes(heap.Peak.Or(0))),
			Evidence:    []Figure{{"heaps", float64(heap.MaxHeaps)}, {"heap_peak_bytes", float64(heap.Peak.Or(0))}},
		}, true
	}
	return Finding{}, false
}

func serversCompete(j *judgement) (Finding, bool) {
	t := &j.Trace
	if !j.Summary.Process.Server.Or(false) || t.Servers < 2 || t.CPUs == 0 || t.ServerHeaps <= t.CPUs {
		return Finding{}, false
	}
	return Finding{
		Severity: min(Warning, j.costs(100)), Confidence: Medium,
		Description: fmt.Sprintf("%d processes with server GC have %d heaps together on %s.", t.Servers, t.ServerHeaps, plural(t.CPUs, "processor")),
		Evidence:    []Figure{{"server_processes", float64(t.Servers)}, {"server_heaps", float64(t.ServerHeaps)}, {"processors", float64(t.CPUs)}},
	}, true
}

func costlyAdaptation(j *judgement) (Finding, bool) {
	a := &j.Summary.Process.Adaptation
	cost := a.MeanCost()
	if a.Tunings < several || cost.Or(0) < highCost {
		return Finding{}, false
	}
	heap := j.Summary.Heap
	return Finding{
		Severity: min(Warning, j.costs(100)), Confidence: Medium,
		Description: fmt.Sprintf("DATAS measured a throughput cost of %s on average in %s; it aims at %d %%. It uses %s.",
			units.Percent(cost.Or(0)), plural(a.Tunings, "tuning"), targetCost, heapsFrom(heap.MinHeaps, heap.MaxHeaps)),
		Evidence: []Figure{{"throughput_cost_pct", cost.Or(0)}, {"tunings", float64(a.Tunings)}, {"heaps_min", float64(heap.MinHeaps)}, {"heaps_max", float64(heap.MaxHeaps)}},
	}, true
}

func heapsOscillate(j *judgement) (Finding, bool) {
	if j.heaps.reversals < several {
		return Finding{}, false
	}
	heap := j.Summary.Heap
	return Finding{
		Severity: min(Warning, j.costs(100)), Confidence: Medium,
		Description: fmt.Sprintf("The number of heaps went up and down between %d and %d, and changed direction %s times.",
			heap.MinHeaps, heap.MaxHeaps, units.Count(j.heaps.reversals)),
		Evidence: []Figure{{"heap_reversals", float64(j.heaps.reversals)}, {"heaps_min", float64(heap.MinHeaps)}, {"heaps_max", float64(heap.MaxHeaps)}},
	}, true
}

func costlyFullAdaptation(j *judgement) (Finding, bool) {
	a := &j.Summary.Process.Adaptation
	cost := a.MeanFullCost()
	if a.FullTunings < several || cost.Or(0) < highCost {
		return Finding{}, false
	}
	return Finding{
		Severity: min(Warning, j.costs(100)), Confidence: Medium,
		Description: fmt.Sprintf("DATAS measured that gen 2 GCs cost %s of the time on average, in %s.",
			units.Percent(cost.Or(0)), plural(a.FullTunings, "tuning")),
		Evidence: []Figure{{"gen2_cost_pct", cost.Or(0)}, {"full_tunings", float64(a.FullTunings)}},
	}, true
}
