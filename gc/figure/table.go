package figure

import (
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// table has all figures of a collection, in the order of JSON lines.
var table = termed([]Figure{
	{
		Key: "pid", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return id(c.Process.PID) },
		Listed: &Listed{Place: 1, Varies: true},
	},
	{
		Key: "process", Type: Text, Value: func(c *gc.Collection) Value { return text(c.Process.Name) },
		Listed: &Listed{Place: 2, Rank: 4, Varies: true},
	},
	{Key: "runtime", Type: Text, Value: func(c *gc.Collection) Value { return text(c.Process.Runtime) }},
	{
		Key: "clr_instance", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return integer(c.ClrInstance) },
		Term: "collection", Always: true,
	},
	{
		Key: "number", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return integer(c.Number) },
		Means: &Definition{
			Name: "collection", Unit: "count",
			Text: "A garbage collection: one number of one runtime of one process, as the runtime counts them. A second GCStart of the same number " +
				"adds to the same collection; .NET Framework 4.5.2 raises two. A collection whose GCStart is not in the trace counts too. A number " +
				"without events does not: TryStartNoGCRegion takes one if it finds enough memory without collecting.",
			Source: "GCStart, GCEnd",
			Keys:   []string{"count"},
		},
		Always: true, Heading: "GC",
		Listed: &Listed{Place: 3},
		Until:  &Condition{Place: 7, Word: "number", Meaning: "the runtime's number of the collection", Example: "1000"},
		Page:   &PageColumn{Place: 1, ID: "number", Label: "GC", Width: 6, Start: true},
	},
	{
		Key: "generation", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Generation) },
		Means: &Definition{
			Name: "generation", Unit: "0, 1 or 2",
			Text:   "What was collected: a generation and all younger ones; with 2 also the LOH and the POH. It comes from the history, because the collector may change its decision after GCStart.",
			Source: "CondemnedGeneration of GCGlobalHeapHistory, else Depth of GCStart (gc.cpp, generation_to_condemn)",
			Keys:   []string{"gen"},
		},
		Heading: "gen",
		Listed:  &Listed{Place: 5},
		Until:   &Condition{Place: 4, Word: "gen", Meaning: "the collected generation", Example: "0, 1, 2", Below: 3},
		Page:    &PageColumn{Place: 3, ID: "gen", Label: "gen", Width: 4, Start: true},
	},
	{
		Key: "kind", Type: Text, Form: FormWord, Value: func(c *gc.Collection) Value { return kind(c.Kind) },
		Means: &Definition{
			Name: "kind", Unit: "word",
			Text: "blocking: threads are paused from start to end. background: gen 2, mostly while threads run. foreground: gen 0 or gen 1, blocking, during a background GC. " +
				"requested_kind is what GCStart announced: a background GC runs blocking if there is no thread or memory for it.",
			Source:  "the bit Concurrent of GCGlobalHeapHistory, Type of GCStart (gc.cpp, garbage_collect)",
			Differs: "PerfView shows what was announced.",
			Keys:    []string{"kinds"},
		},
		Listed: &Listed{Place: 6, Rank: 2},
		Until:  &Condition{Place: 5, Word: "kind", Meaning: "blocking, background or foreground", Example: "background", Words: kinds},
		Page:   &PageColumn{Place: 4, ID: "kind", Label: "kind", Width: 10, Start: true},
	},
	{Key: "requested_kind", Type: Text, Value: func(c *gc.Collection) Value { return kind(c.Requested) }, Term: "kind"},
	{
		Key: "reason", Type: Text, Form: FormWord, Value: func(c *gc.Collection) Value { return known(c.Reason, word) },
		Means: &Definition{
			Name: "reason", Unit: "word",
			Text:   "What triggered the collection: AllocSmall and AllocLarge mean that a budget was used up; Induced and its variants mean GC.Collect.",
			Source: "Reason of GCStart (gc.h, gc_reason)",
			Keys:   []string{"reasons"},
		},
		Listed: &Listed{Place: 7, Rank: 1},
		Until:  &Condition{Place: 6, Word: "reason", Meaning: "why it started", Example: "Induced, AllocSmall, ...", Words: reasons},
		Page:   &PageColumn{Place: 5, ID: "reason", Label: "reason", Width: 13, Start: true},
	},
	{
		Key: "reason_code", Type: Int, Value: func(c *gc.Collection) Value { return known(c.Reason, integer) },
		Term: "reason", Only: InJSON,
	},
	{
		Key: "condemned", Type: Words, Value: func(c *gc.Collection) Value { return bits(c.Condemned) },
		Means: &Definition{
			Name: "condemned", Unit: "words",
			Text:   "Why this generation was chosen, by the deciding heap and for the whole GC.",
			Source: "CondemnReasons1 of GCPerHeapHistory and GCGlobalHeapHistory (gcrecord.h, gc_condemn_reason_condition)",
		},
		Names: condemnedNames,
	},
	{Key: "start_time", Type: Time, Value: func(c *gc.Collection) Value { return span(c.Start) }, Term: "start", Only: InJSON},
	{
		Key: "start_ms", Type: Millis, Form: FormMoment, Value: func(c *gc.Collection) Value { return span(c.Start) },
		Means: &Definition{
			Name: "start", Unit: "ms from the trace's start",
			Text:   "GCStart. The suspension of threads, and so the pause, begins before it.",
			Source: "time of GCStart",
		},
		Listed: &Listed{Place: 4},
		Page:   &PageColumn{Place: 2, ID: "start", Label: "start", Width: 13, Start: true},
	},
	{
		Key: "duration_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Duration()) },
		Means: &Definition{
			Name: "duration", Unit: "ms",
			Text:   "From GCStart to GCEnd of the same number, without the suspension before it. During most of a background GC, threads run. At the top level of a report, it is the length of the trace.",
			Source: "times of GCStart and GCEnd",
		},
		Until: &Condition{Place: 3, Word: "duration", Meaning: "time from start to end", Example: "1.5s"},
		Page:  &PageColumn{Place: 8, ID: "duration", Label: "duration"},
	},
	{Key: "pause_start_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.PauseStart) }, Term: "pause"},
	{
		Key: "pause_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Pause()) },
		Means: &Definition{
			Name: "pause", Unit: "ms",
			Text: "How long the program's threads were paused for a collection: from SuspendEEBegin to RestartEEBegin, as the runtime itself and the metric dotnet.gc.pause.time count. A background " +
				"GC has two pauses: the initial one marks the roots, the final one completes marking. A pause that several GCs share is divided: each GC gets the time up to the start of the next one, the first " +
				"also the suspension before it; an ephemeral GC in the initial pause of a background GC gets the time from its start to its end, and the background GC the rest. " +
				"Where the runtime reports the length of each pause itself (GCPause, proposed for .NET 11), that is the pause, in whole microseconds.",
			Source: "GCPause, or GCSuspendEEBegin, GCSuspendEEEnd, GCRestartEEBegin by thread (threadsuspend.cpp; gc.cpp, do_post_gc)",
			Differs: "PerfView and TraceEvent count to RestartEEEnd, which the restarting thread often raises when the others are already running: their pauses are up to 5 % longer. They add the background GC's marking to an ephemeral GC inside " +
				"it, and mistake a heap walk for tracing for the final pause.",
			Keys: []string{"pause_is"},
		},
		Listed: &Listed{Place: 8},
		Until:  &Condition{Place: 1, Word: "pause", Meaning: "how long threads were paused", Example: "200ms"},
		Page:   &PageColumn{Place: 6, ID: "pause", Label: "pause", Start: true},
	},
	{
		Key: "suspend_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Suspend()) },
		Means: &Definition{
			Name: "suspension", Unit: "ms",
			Text:   "The part of a pause until all threads are suspended. Normally far below a millisecond.",
			Source: "GCSuspendEEBegin to GCSuspendEEEnd of the same thread",
			Keys:   []string{"suspending"},
		},
		Listed: &Listed{Place: 9, Rank: 8},
		Until:  &Condition{Place: 2, Word: "suspend", Meaning: "time until all threads were suspended", Example: "50ms"},
		Page:   &PageColumn{Place: 7, ID: "suspend", Label: "suspend", Start: true},
	},
	{Key: "pauses", Type: Int, Value: func(c *gc.Collection) Value { return integer(len(c.Pauses)) }, Term: "pause", Always: true, Only: InColumns},
	{
		Key: "pauses", Type: List, Term: "pause", Always: true, Only: InJSON,
		Items: &items[gc.Pause]{func(c *gc.Collection) []gc.Pause { return c.Pauses }, ofPause, true},
	},
	{Key: "longest_pause_ms", Type: Millis, Value: longestPause, Term: "pause", Only: InColumns},
	{
		Key: "since_last_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.SinceLast) },
		Means: &Definition{
			Name: "since last", Unit: "ms",
			Text: "From RestartEEBegin of the previous collection to SuspendEEBegin of this one: how long threads could run.", Source: "pause",
		},
		Page: &PageColumn{Place: 9, ID: "since", Label: "since last"},
	},
	{
		Key: HeapBefore, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapBefore) },
		Means: &Definition{
			Name: "heap before", Unit: "bytes",
			Text: "The size of all generations at the start of the collection, including free space.", Source: "SizeBefore of GCPerHeapHistory, over generations and heaps",
		},
		Heading: "before MB", Label: "Heap before",
		Listed: &Listed{Place: 11, Rank: 5},
		Until:  &Condition{Place: 9, Word: "before", Meaning: "heap size before", Example: "2GB"},
		Page:   &PageColumn{Place: 10, ID: "before", Label: "before", Start: true},
	},
	{
		Key: HeapAfter, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapAfter) },
		Means: &Definition{
			Name: "heap after", Unit: "bytes",
			Text: "The size after the collection, including free space. For the whole heap it comes from GCHeapStats, like the runtime's HeapSizeBytes; when a background GC ends, gen 0 has already grown. For one generation it comes from the heap history; " +
				"up to .NET Core 3.1 the history covers only the collected generations and the next older one.",
			Source: "GenerationSize0 to 4 of GCHeapStats; SizeAfter of GCPerHeapHistory",
			Keys:   []string{"GEN_bytes"},
		},
		Heading: "after MB", Label: "Heap after",
		Listed: &Listed{Place: 12, Rank: 3},
		Until:  &Condition{Place: 8, Word: "heap", Meaning: "heap size after", Example: "1.5GB"},
		Page:   &PageColumn{Place: 11, ID: "after", Label: "after", Start: true},
	},
	{Key: HeapPeak, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapPeak) }, Means: &Definition{
		Name: "heap peak", Unit: "bytes",
		Text: "The larger of heap before and heap after; for a background GC, including the GCs that began while it ran. Of a process or a run, the largest of its GCs: reports, pages, diff, trend and check mean the same.", Source: "GCPerHeapHistory, GCHeapStats",
		Keys: []string{"peak_bytes"},
	}},
	{
		Key: "promoted_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Promoted) },
		Means: &Definition{
			Name: "promoted", Unit: "bytes",
			Text:    "Bytes that survived in all collected generations; for a background GC, in gen 2, the LOH and the POH. Equal to the runtime's PromotedBytes.",
			Source:  "survived of each generation; TotalPromotedSizeN of GCHeapStats where there are no histories",
			Differs: "PerfView adds TotalPromotedSizeN, which lacks the POH, and for background GCs contains the value of an earlier GC.",
		},
		Label:  "Promoted",
		Listed: &Listed{Place: 14, Rank: 7},
		Until:  &Condition{Place: 11, Word: "promoted", Meaning: "bytes that survived", Example: "100MB"},
		Page:   &PageColumn{Place: 13, ID: "promoted", Label: "promoted", Start: true},
	},
	{
		Key: "freed_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Freed) },
		Means: &Definition{
			Name: "freed", Unit: "bytes",
			Text: "Bytes of objects found dead, whether their memory was returned to the system or became free space. Blocking: objects before minus survived, over the collected generations: exact. " +
				"Background, by generation. gen2: objects before, plus what was promoted into it meanwhile, minus objects after: exact. gen0 and gen1, which the final pause sweeps: what the GC before that pause left, " +
				"plus what was allocated up to the next GC, minus what that GC found. gen1 is exact. In gen0, what was allocated comes from allocation ticks; without ticks, from the budget if the next GC ran because it was used up, times the share " +
				"of the budget that became objects in other cycles of this process so far: an estimate. Without either it is a lower bound. " +
				"Large and pinned objects: objects before, plus allocation ticks, minus objects after: an estimate. Without ticks, objects before minus after: from .NET 9 on an estimate, because the sizes before include " +
				"what is allocated meanwhile; before .NET 9, or if the version is unknown, a lower bound. freed_is is the weakest of these. While a process is watched live, a background collection is shown at its end, and " +
				"figures that only the next collection would reveal are missing. A sum that includes an estimate is an estimate. A sum that is a lower bound is reduced by the error of the estimates in it; the figure of a single GC is not.",
			Source:  "GCPerHeapHistory: SizeBefore, FreeListBefore, FreeObjBefore, survived, In, SizeAfter; GCAllocationTick; FinalYoungestDesired of GCGlobalHeapHistory (background.cpp, background_ephemeral_sweep)",
			Differs: "no other tool shows it. Heap before minus heap after is a different figure, because swept memory stays in the heap as free space.",
		},
		Label:  "Freed",
		Is:     func(c *gc.Collection) gc.Certainty { return c.FreedQuality },
		Listed: &Listed{Place: 13, Rank: 4},
		Until:  &Condition{Place: 10, Word: "freed", Meaning: "bytes freed", Example: "10MB"},
		Page:   &PageColumn{Place: 12, ID: "freed", Label: "freed", Start: true},
	},
	{Key: "freed_is", Type: Text, Value: func(c *gc.Collection) Value { return word(c.FreedQuality) }, Term: "freed"},
	{
		Key: "allocated_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Allocated) },
		Means: &Definition{
			Name: "allocated", Unit: "bytes",
			Text: "Bytes of objects allocated since the previous GC: objects now in gen 0, the LOH and the POH, minus those that the previous GC left there. If a background GC swept " +
				"gen 0 between the two, allocated is as exact as freed, and allocated_is is exact, estimate or lower_bound. Allocations in the LOH and the POH while a background GC " +
				"sweeps count toward that GC. allocated_by_ticks_bytes is the sum of allocation ticks, " +
				"which come about every 100 kB. A report adds up allocated_bytes, uses ticks where it is unknown, and adds what ticks counted after the start of the last GC. Without ticks, what follows the last GC is unknown and the " +
				"sum is a lower bound; a sum that includes an estimate and no unknown part is an estimate; it is exact if all of it is known within 0.5 %. allocated_max_bytes is an upper bound: the sum plus what the budgets of gen 0, the LOH and the POH " +
				"allow before the next GC. It is null where nothing limits the rest: after lost events, in no-GC regions, while a background GC runs. Of a process without GCs, ticks are all that counts what it allocated (processes_without_gc). " +
				"What single GCs count ends at the start of the last one: in gcs, in files that convert writes, in records and metrics of the agent.",
			Source:  "GCPerHeapHistory of both; AllocationAmount64 of GCAllocationTick",
			Differs: "PerfView prefers ticks for background GCs, and counts only gen 0 in its first columns. GC.GetTotalAllocatedBytes of .NET 10 leaves out what was allocated on a heap that DATAS has taken away, until the heap comes back.",
			Keys:    []string{"allocated_max_bytes"},
		},
		Heading: "alloc MB", Label: "Allocated since the previous GC",
		Is:     func(c *gc.Collection) gc.Certainty { return c.AllocatedQuality },
		Listed: &Listed{Place: 10, Rank: 6},
		Until:  &Condition{Place: 13, Word: "allocated", Meaning: "allocated since the previous collection", Example: "500MB"},
		Page:   &PageColumn{Place: 14, ID: "allocated", Label: "allocated", Start: true},
	},
	{Key: "allocated_is", Type: Text, Value: func(c *gc.Collection) Value { return word(c.AllocatedQuality) }, Term: "allocated"},
	{Key: "allocated_by_ticks_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.AllocatedTicks) }, Term: "allocated"},
	{
		Key: "allocated_bytes_per_s", Type: Rate, Value: rate,
		Means: &Definition{
			Name: "allocation rate", Unit: "bytes a second",
			Text: "Allocated over the time for which it is known, pauses included: from the start of the process, or from the first GC if the trace lacks that start, to the start of the last GC, or to the end if ticks count the rest. " +
				"allocated_bytes_per_s_is is exact, estimate or lower_bound, as allocated; an estimate where what follows the last GC is unknown.", Source: "allocated, start of the first and last GC, watched",
			Differs: "PerfView divides by the time between the pauses.",
			Keys:    []string{"allocated_bytes_per_s_is"},
		},
		Only:  InConditions,
		Until: &Condition{Place: 14, Word: "rate", Meaning: "allocation rate since then", Example: "100MB/s"},
		Page:  &PageColumn{Place: 15, ID: "rate", Label: "alloc. rate", Width: 10},
	},
	{Key: "committed_before_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.CommittedBefore) }, Means: &Definition{
		Name: "committed", Unit: "bytes",
		Text:   "Memory that the GC has committed: in use, free in its heaps, and free in the global list; like the runtime's TotalCommittedBytes. Memory about to be decommitted and bookkeeping are not included. Background GCs report it at their start only. .NET 8 and later.",
		Source: "TotalCommittedInUse, TotalCommittedInFree and TotalCommittedInGlobalFree of the dynamic event CommittedUsage",
		Keys:   []string{"committed_bytes", "committed_max_bytes"},
	}},
	{
		Key: "committed_after_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.CommittedAfter) },
		Term:  "committed",
		Until: &Condition{Place: 12, Word: "committed", Meaning: "committed memory after", Example: "3GB"},
		Page:  &PageColumn{Place: 16, ID: "committed", Label: "committed", Start: true},
	},
	{
		Key: "memory_load_pct", Type: Percent, Value: func(c *gc.Collection) Value { return known(c.MemoryLoad, percent) },
		Means: &Definition{
			Name: "memory load", Unit: "%",
			Text: "How much of the memory of the machine, or of the container, was in use at the start of the GC.", Source: "MemoryPressure of GCGlobalHeapHistory",
			Keys: []string{"memory_load_max_pct"},
		},
		Form: FormPlain, Heading: "load %",
		Listed: &Listed{Place: 16, Rank: 10},
		Until:  &Condition{Place: 15, Word: "load", Meaning: "memory load of the machine or container", Example: "90%"},
		Page:   &PageColumn{Place: 17, ID: "load", Label: "load", Width: 7},
	},
	{
		Key: "heaps", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Heaps) },
		Means: &Definition{
			Name: "heaps", Unit: "count",
			Text: "GC heaps: one for workstation GC, up to one per processor for server GC; with DATAS (.NET 9 and later) the number changes.", Source: "NumHeaps of GCGlobalHeapHistory",
			Keys: []string{"heaps_min", "heaps_max"},
		},
		Page: &PageColumn{Place: 18, ID: "heaps", Label: "heaps"},
	},
	{
		Key: "generations", Type: List, Term: "generation", Only: InJSON,
		Items: &items[gc.Generation]{func(c *gc.Collection) []gc.Generation { return c.Generations }, ofGeneration, false},
	},
	{
		Key: "pinned_objects", Type: Int, Value: func(c *gc.Collection) Value { return count(c.PinnedObjects) },
		Means: &Definition{
			Name: "pinned", Unit: "objects and bytes",
			Text: "Objects that a collection found pinned, and the bytes of a generation that survived because they, or the objects around them, were pinned.", Source: "PinnedObjectCount of GCHeapStats; PinnedSurv of GCPerHeapHistory",
		},
		Heading: "pinned", Label: "Pinned objects",
		Listed: &Listed{Place: 15, Rank: 9},
		Until:  &Condition{Place: 16, Word: "pinned", Meaning: "pinned objects found", Example: "1000"},
		Page:   &PageColumn{Place: 19, ID: "pinned", Label: "pinned"},
	},
	{Key: "finalization_promoted_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.FinalizationPromoted) }, Means: &Definition{
		Name: "finalization", Unit: "objects and bytes",
		Text: "Dead objects kept alive for their finalizers, and their bytes, which the runtime counts for gen 0 only.", Source: "FinalizationPromotedCount and FinalizationPromotedSize of GCHeapStats",
	}},
	{Key: "finalization_promoted_count", Type: Int, Value: func(c *gc.Collection) Value { return count(c.FinalizationPromotedObjs) }, Term: "finalization"},
	{Key: "gc_handles", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Handles) }, Means: &Definition{
		Name: "handles", Unit: "count",
		Text: "GC handles and sync blocks in use after the GC.", Source: "GCHandleCount and SinkBlockCount of GCHeapStats",
	}},
	{Key: "sync_blocks", Type: Int, Value: func(c *gc.Collection) Value { return count(c.SyncBlocks) }, Term: "handles"},
	{
		Key: "mechanisms", Type: Words, Value: func(c *gc.Collection) Value { return bits(c.Mechanisms) },
		Means: &Definition{
			Name: "mechanisms", Unit: "words",
			Text: "What the collection did; compacted is true if it moved objects together instead of leaving free space between them.", Source: "GlobalMechanisms of GCGlobalHeapHistory",
		},
		Names: mechanismNames,
	},
	{
		Key: "compacted", Type: Bool, Value: func(c *gc.Collection) Value { return known(c.Compacted, boolean) },
		Term: "mechanisms",
	},
	{
		Key: "pause_mode", Type: Text, Value: func(c *gc.Collection) Value { return known(c.PauseMode, word) },
		Means: &Definition{
			Name: "pause mode", Unit: "word",
			Text: "The latency mode in force: Interactive, the default with background GC; Batch, without it; LowLatency, which puts off gen 2 GCs; SustainedLowLatency; or NoGC, where GC.TryStartNoGCRegion needed the GC. " +
				"GCSettings.LatencyMode sets all but the last.",
			Source: "PauseMode of GCGlobalHeapHistory (gc.h, gc_pause_mode)",
		},
	},
	{
		Key: "mark", Type: List, Means: &Definition{
			Name: "marking", Unit: "ms",
			Text:   "How long marking took, by heap and kind of root: each step from the end of the previous one, the first from GCStart. Tables show the slowest heap.",
			Source: "GCMarkWithType, which is raised at the end of a step (gceventstatus.h)",
		},
		Always: true, Only: InJSON,
		Items: &items[gc.Mark]{func(c *gc.Collection) []gc.Mark { return c.Marks }, ofMark, true},
	},
	{
		Key: "phase_times", Type: List, Means: &Definition{
			Name: "phase times", Unit: "ms",
			Text: "The phases of a collection in which threads were suspended, as the runtime times them: marking from sized references, from other roots, short weak handles, finalization and long weak handles; planning; then sweeping, or relocating and " +
				"compacting. Of a background collection only marking. rest_ms is the pause without its suspension and these phases: waiting, fixing handles, freeing memory, restarting. A phase longer than its pause is unknown, and so is the rest: .NET 8 sometimes writes such values. longest_root is the kind of root from which marking took longest on any heap.",
			Source: "Values of GCGlobalHeapHistory, version 4 (.NET 6 and later; gcpriv.h, etw_gc_time_info); mark",
			Keys:   []string{"rest_ms", "longest_root", "mark_sized_ref_ms", "mark_roots_ms", "mark_short_weak_ms", "mark_scan_finalization_ms", "mark_long_weak_ms", "plan_ms", "relocate_ms", "sweep_ms", "compact_ms"},
		},
		Always: true, Only: InJSON,
		Items: &items[gc.PhaseTime]{func(c *gc.Collection) []gc.PhaseTime { return c.PhaseTimes }, ofPhaseTime, true},
	},
	{
		Key: "complete", Type: Bool, Value: func(c *gc.Collection) Value { return boolean(c.Complete) }, Means: &Definition{
			Name: "complete", Unit: "yes or no",
			Text: "The trace has the start, end, statistics and all pauses of the collection. incomplete counts the collections that lack any of these.", Source: "GCStart, GCEnd, GCHeapStats, pause",
			Keys: []string{"incomplete"},
		},
		Always: true,
	},
	{
		Key: "affected_by_loss", Type: Bool, Value: func(c *gc.Collection) Value { return boolean(c.AffectedByLoss) }, Means: &Definition{
			Name: "affected by loss", Unit: "yes or no",
			Text: "Events of the collection, or other events that its figures need, may have been lost. Sums that include such collections are lower bounds.", Source: "lost",
		},
		Always: true,
	},
})

func kind(k gc.Kind) Value {
	if k == gc.KindUnknown {
		return Value{}
	}
	return word(k)
}

func kinds() []string {
	return []string{gc.Blocking.String(), gc.Background.String(), gc.Foreground.String()}
}

func reasons() []string {
	var words []string
	for r := range clr.GCReasonInducedAggressive + 1 {
		words = append(words, r.String())
	}
	return words
}

var (
	mechanismNames = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.GlobalMechanisms(bit).Names() })
	})
	condemnedNames = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.CondemnReasons1(bit).Names() })
	})
)

// bitNames returns the names of single bits. Made once, they spare every collection
// the slices of names.
func bitNames(names func(bit uint32) []string) *[32]string {
	var all [32]string
	for i := range all {
		if n := names(1 << i); len(n) == 1 {
			all[i] = n[0]
		}
	}
	return &all
}

func longestPause(c *gc.Collection) Value {
	if len(c.Pauses) == 0 {
		return Value{}
	}
	var longest time.Duration
	for i := range c.Pauses {
		longest = max(longest, c.Pauses[i].Duration)
	}
	return millis(longest)
}

// rate returns bytes a second of the time that threads could run.
func rate(c *gc.Collection) Value {
	since := c.SinceLast.Or(0)
	allocated, known := c.Allocated.Get()
	if !known || since <= 0 {
		return Value{}
	}
	return Number(Rate, float64(allocated)/since.Seconds())
}
