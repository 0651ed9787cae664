package report

// figures are all figures, in the order in which docs/figures.md lists them.
var figures = []Figure{
	{
		Name: "collection", Unit: "count", Keys: []string{"count", "number", "clr_instance"},
		Text: "A garbage collection: one number of one runtime of one process, as the runtime counts them. A second GCStart of the same number " +
			"adds to the same collection; .NET Framework 4.5.2 raises two. A collection whose GCStart is not in the trace counts too. A number " +
			"without events does not: TryStartNoGCRegion takes one if it finds enough memory without collecting.",
		Source: "GCStart, GCEnd",
	},
	{
		Name: "generation", Unit: "0, 1 or 2", Keys: []string{"generation", "generations", "gen"},
		Text:   "What was collected: a generation and all younger ones; with 2 also the LOH and the POH. It comes from the history, because the collector may change its decision after GCStart.",
		Source: "CondemnedGeneration of GCGlobalHeapHistory, else Depth of GCStart (gc.cpp, generation_to_condemn)",
	},
	{
		Name: "kind", Unit: "word", Keys: []string{"kind", "kinds", "requested_kind"},
		Text: "blocking: threads are paused from start to end. background: gen 2, mostly while threads run. foreground: gen 0 or gen 1, blocking, during a background GC. " +
			"requested_kind is what GCStart announced: a background GC runs blocking if there is no thread or memory for it.",
		Source:  "the bit Concurrent of GCGlobalHeapHistory, Type of GCStart (gc.cpp, garbage_collect)",
		Differs: "PerfView shows what was announced.",
	},
	{
		Name: "reason", Unit: "word", Keys: []string{"reason", "reason_code", "reasons"},
		Text:   "What triggered the collection: AllocSmall and AllocLarge mean that a budget was used up; Induced and its variants mean GC.Collect.",
		Source: "Reason of GCStart (gc.h, gc_reason)",
	},
	{
		Name: "condemned", Unit: "words", Keys: []string{"condemned"},
		Text:   "Why this generation was chosen, by the deciding heap and for the whole GC.",
		Source: "CondemnReasons1 of GCPerHeapHistory and GCGlobalHeapHistory (gcrecord.h, gc_condemn_reason_condition)",
	},
	{
		Name: "pause mode", Unit: "word", Keys: []string{"pause_mode"},
		Text: "The latency mode in force: Interactive, the default with background GC; Batch, without it; LowLatency, which puts off gen 2 GCs; SustainedLowLatency; or NoGC, where GC.TryStartNoGCRegion needed the GC. " +
			"GCSettings.LatencyMode sets all but the last.",
		Source: "PauseMode of GCGlobalHeapHistory (gc.h, gc_pause_mode)",
	},
	{
		Name: "induced", Unit: "count", Keys: []string{"induced"},
		Text:    "Collections that the program requested with GC.Collect: the reasons Induced, InducedCompacting and InducedAggressive, and InducedNotForced, which GC.AddMemoryPressure requests, too. Collections for GC.TryStartNoGCRegion (pause mode NoGC) and for heap dumps of trace sessions have the same reasons, but do not count.",
		Source:  "Reason of GCStart",
		Differs: "PerfView counts Induced and InducedNotForced only.",
	},
	{
		Name: "start", Unit: "ms from the trace's start", Keys: []string{"start_ms", "start_time"},
		Text:   "GCStart. The suspension of threads, and so the pause, begins before it.",
		Source: "time of GCStart",
	},
	{
		Name: "duration", Unit: "ms", Keys: []string{"duration_ms"},
		Text:   "From GCStart to GCEnd of the same number, without the suspension before it. During most of a background GC, threads run. At the top level of a report, it is the length of the trace.",
		Source: "times of GCStart and GCEnd",
	},
	{
		Name: "pause", Unit: "ms", Keys: []string{"pause_ms", "pause_is", "pauses", "pause_start_ms", "longest_pause_ms"},
		Text: "How long the program's threads were paused for a collection: from SuspendEEBegin to RestartEEBegin, as the runtime itself and the metric dotnet.gc.pause.time count. A background " +
			"GC has two pauses: the initial one marks the roots, the final one completes marking. A pause that several GCs share is divided: each GC gets the time up to the start of the next one, the first " +
			"also the suspension before it; an ephemeral GC in the initial pause of a background GC gets the time from its start to its end, and the background GC the rest. " +
			"Where the runtime reports the length of each pause itself (GCPause, proposed for .NET 11), that is the pause, in whole microseconds.",
		Source: "GCPause, or GCSuspendEEBegin, GCSuspendEEEnd, GCRestartEEBegin by thread (threadsuspend.cpp; gc.cpp, do_post_gc)",
		Differs: "PerfView and TraceEvent count to RestartEEEnd, which the restarting thread often raises when the others are already running: their pauses are up to 5 % longer. They add the background GC's marking to an ephemeral GC inside " +
			"it, and mistake a heap walk for tracing for the final pause.",
	},
	{
		Name: "max pause", Unit: "ms", Keys: []string{"pause_max_ms", "max"},
		Text: "The longest pause of a collection. The two pauses of a background GC count as one, their sum.", Source: "pause",
	},
	{
		Name: "percentile", Unit: "ms", Keys: []string{"percentiles", "pause_p50_ms", "pause_p90_ms", "pause_p99_ms", "p50", "p90", "p99", "p99.9"},
		Text: "The shortest pause that 50, 90 or 99 % of the collections do not exceed: always a pause that occurred. Exact up to 32,768 collections of one kind; beyond that, at most 0.2 % too long. Collections with an unknown pause are left out. percentiles names the collection with each of them, the earliest of several.", Source: "pause",
	},
	{
		Name: "pause share", Unit: "%", Keys: []string{"pause_pct"},
		Text:    "The sum of the pauses divided by the time watched. null if lost events affect more than 1 % of the collections, or no pause is known.",
		Source:  "pause, watched",
		Differs: "PerfView divides by the time from the first collection to the last. The counter time-in-gc covers only the time since the last collection.",
	},
	{
		Name: "watched", Unit: "ms", Keys: []string{"watched_ms"},
		Text:   "How long the process was observed: from the start of its runtime (or of the trace, if it was already running) to the rundown at the end of the trace, or to the last event; narrowed by --from and --to.",
		Source: "RuntimeInformationStart of the runtime's and the rundown's provider",
	},
	{
		Name: "suspension", Unit: "ms", Keys: []string{"suspend_ms", "suspending"},
		Text:   "The part of a pause until all threads are suspended. Normally far below a millisecond.",
		Source: "GCSuspendEEBegin to GCSuspendEEEnd of the same thread",
	},
	{
		Name: "restart", Unit: "ms", Keys: []string{"restart_ms"},
		Text: "From RestartEEBegin to RestartEEEnd: not part of the pause (see pause).", Source: "GCRestartEEBegin, GCRestartEEEnd",
	},
	{
		Name: "suspension without collection", Unit: "ms", Keys: []string{"suspensions_without_gc", "other_suspension_ms", "total_ms", "max_ms", "heap_walk", "other"},
		Text: "Suspensions of threads that belong to no collection, by reason. heap_walk is the heap walk after a background GC that sessions with the keyword " +
			"gcheapsurvivalandmovement cause, of this trace or another one. The time that one waits for another suspension to end does not count. They are not part of pause; --from and --to do not narrow them.",
		Source: "GCSuspendEEBegin without a GCStart (gc.cpp, bgc_heap_walk_for_etw_p; DATAS changing the number of heaps; the debugger; the sample profiler)",
	},
	{
		Name: "worst window", Unit: "ms and %", Keys: []string{"worst_windows", "window_ms", "mutator_utilization_min_pct"},
		Text: "The window of 10 ms, 100 ms, 1 s or 10 s in which the program ran least: what a request of that length can experience. Its parts are paused, the time of GC pauses; other, that of suspensions outside GCs; " +
			"and the rest, in which the program ran: the minimum mutator utilisation. Windows longer than the time watched are left out.",
		Source: "pause, suspension without collection",
	},
	{
		Name: "bottleneck", Unit: "ms and %", Keys: []string{"length_ms", "mutator_utilization_pct", "from_ms", "to_ms"},
		Text: "An interval in which the program ran for less than --below (90 %) of the time, and was paused or suspended outside GCs for the rest. It begins and ends with a pause or another suspension and is as long as possible; " +
			"intervals shorter than --min-length (100 ms) are left out. If there are more than 1,000, those in which the program was suspended the longest are shown.",
		Source: "pause, suspension without collection; W. L. Ruzzo and M. Tompa, A linear time algorithm for finding all maximal scoring subsequences, 1999",
	},
	{
		Name: "as long", Unit: "count", Keys: []string{"as_long"},
		Text: "How many collections of the same generation and kind have a pause at least this long: those that gcs --pause-above lists.", Source: "pause",
	},
	{
		Name: "run metrics", Unit: "as shown", Keys: append([]string{"metrics_as"}, metricNames()...),
		Text: "The run metrics of Microsoft's GC.Infrastructure by their names, computed from gctrail's figures or, with --metrics-as traceevent, from TraceEvent's. " +
			"Means and sums ignore unknown values, 95P interpolates between the two nearest pauses, blocking gen 2 GCs are those that are not background GCs, and committed memory is measured at the start of the collection. " +
			"PctTimePausedInGC is a share of the time watched (TraceEvent: of the time from the first pause to the last GCHeapStats); it is unknown if lost events affect more than 1 % of the collections. incomplete and affected_by_loss count collections.",
		Source:  "GCTraceMetrics.cs and Statistics.cs of dotnet/performance, src/benchmarks/gc/GC.Infrastructure",
		Differs: "GC.Infrastructure uses TraceEvent: pauses to RestartEEEnd, promoted bytes of GCHeapStats.",
	},
	{
		Name: "since last", Unit: "ms", Keys: []string{"since_last_ms"},
		Text: "From RestartEEBegin of the previous collection to SuspendEEBegin of this one: how long threads could run.", Source: "pause",
	},
	{
		Name: "marking", Unit: "ms", Keys: []string{"mark", "ms"},
		Text:   "How long marking took, by heap and kind of root: each step from the end of the previous one, the first from GCStart. Tables show the slowest heap.",
		Source: "GCMarkWithType, which is raised at the end of a step (gceventstatus.h)",
	},
	{
		Name: "phase times", Unit: "ms", Keys: []string{"phase_times", "rest_ms", "longest_root", "mark_sized_ref_ms", "mark_roots_ms", "mark_short_weak_ms", "mark_scan_finalization_ms", "mark_long_weak_ms", "plan_ms", "relocate_ms", "sweep_ms", "compact_ms"},
		Text: "The phases of a collection in which threads were suspended, as the runtime times them: marking from sized references, from other roots, short weak handles, finalization and long weak handles; planning; then sweeping, or relocating and " +
			"compacting. Of a background collection only marking. rest_ms is the pause without its suspension and these phases: waiting, fixing handles, freeing memory, restarting. A phase longer than its pause is unknown, and so is the rest: .NET 8 sometimes writes such values. longest_root is the kind of root from which marking took longest on any heap.",
		Source: "Values of GCGlobalHeapHistory, version 4 (.NET 6 and later; gcpriv.h, etw_gc_time_info); mark",
	},
	{
		Name: "heap before", Unit: "bytes", Keys: []string{"heap_before_bytes", "GEN_before_bytes", "before_bytes"},
		Text: "The size of all generations at the start of the collection, including free space.", Source: "SizeBefore of GCPerHeapHistory, over generations and heaps",
	},
	{
		Name: "heap after", Unit: "bytes", Keys: []string{"heap_after_bytes", "after_bytes", "GEN_after_bytes", "GEN_bytes"},
		Text: "The size after the collection, including free space. For the whole heap it comes from GCHeapStats, like the runtime's HeapSizeBytes; when a background GC ends, gen 0 has already grown. For one generation it comes from the heap history; " +
			"up to .NET Core 3.1 the history covers only the collected generations and the next older one.",
		Source: "GenerationSize0 to 4 of GCHeapStats; SizeAfter of GCPerHeapHistory",
	},
	{
		Name: "thread wait", Unit: "ms", Keys: []string{"thread_wait_ms", "thread_run_ms", "thread_wait_pct", "thread_wait_pct_in_pauses"},
		Text: "How long the process's threads were ready to run but waited for a processor, how long they ran, and the share of waiting, over the whole time and around GC pauses. Only in traces that collect made on Linux.", Source: "ProcessThreadTime of the provider gctrail",
	},
	{
		Name: "throttled", Unit: "ms", Keys: []string{"throttled_ms", "quota_periods", "throttled_periods", "quota_processors"},
		Text: "How long the CPU quota of the process's cgroup kept threads from running, summed up over processors, and in how many of the quota's periods. Only in traces that collect made on Linux.", Source: "ProcessThrottling and ProcessLimits of the provider gctrail",
	},
	{
		Name: "resident", Unit: "bytes", Keys: []string{"rss_bytes", "resident MB", "RSS"},
		Text: "The process's memory that is in RAM, of whatever kind. Linux only.", Source: "VmRSS of /proc/PID/status",
	},
	{
		Name: "native", Unit: "bytes", Keys: []string{"native_bytes", "native_min_bytes", "native_max_bytes", "native MB"},
		Text:   "Resident memory outside the GC heap: code, stacks, native libraries. Exact (within 1 MB) where the ledger read the pages of the heap at the same time, otherwise null, with bounds. The lower bound is resident memory minus the memory committed for the heap at the latest GC and the budgets of gen 0, the LOH and the POH, which may have been allocated since. The upper bound is resident memory minus the small objects that survived that GC. Tables show the lower bound, as >100, or a dash. .NET 8 and later.",
		Source: "resident, /proc/PID/smaps, committed, budget",
	},
	{
		Name: "cgroup", Unit: "bytes", Keys: []string{"cgroup_used_bytes", "cgroup_limit_bytes", "cgroup MB", "limit MB"},
		Text: "What the process's cgroup, or the one above it with the lowest limit, uses, and its limit: a container is killed when it reaches it.", Source: "memory.current and memory.max; of version 1 memory.usage_in_bytes and memory.limit_in_bytes",
	},
	{
		Name: "heap peak", Unit: "bytes", Keys: []string{"heap_peak_bytes", "peak_bytes"},
		Text: "The larger of heap before and heap after; for a background GC, including the GCs that began while it ran. Of a process or a run, the largest of its GCs: reports, pages, diff, trend and check mean the same.", Source: "GCPerHeapHistory, GCHeapStats",
	},
	{
		Name: "promoted", Unit: "bytes", Keys: []string{"promoted_bytes"},
		Text:    "Bytes that survived in all collected generations; for a background GC, in gen 2, the LOH and the POH. Equal to the runtime's PromotedBytes.",
		Source:  "survived of each generation; TotalPromotedSizeN of GCHeapStats where there are no histories",
		Differs: "PerfView adds TotalPromotedSizeN, which lacks the POH, and for background GCs contains the value of an earlier GC.",
	},
	{
		Name: "survived", Unit: "bytes", Keys: []string{"GEN_out_bytes", "out_bytes"},
		Text: "Bytes of one generation that survived, whether they moved to an older one or not.", Source: "PinnedSurv and NonePinnedSurv of GCPerHeapHistory (gcrecord.h)",
	},
	{
		Name: "in", Unit: "bytes", Keys: []string{"GEN_in_bytes", "in_bytes"},
		Text: "Bytes promoted into the generation from the younger one.", Source: "In of GCPerHeapHistory",
	},
	{
		Name: "survival", Unit: "%", Keys: []string{"GEN_survival_pct", "survival_pct"},
		Text:    "Survived divided by the bytes of objects before (the size before without free space). In a report it covers all collections except background GCs. It is unknown for a single background GC, because other GCs promote objects into gen 2 meanwhile.",
		Source:  "GCPerHeapHistory",
		Differs: "PerfView takes the mean of the heaps' percentages, regardless of their sizes.",
	},
	{
		Name: "freed", Unit: "bytes", Keys: []string{"freed_bytes", "freed_is", "GEN_freed_bytes"},
		Text: "Bytes of objects found dead, whether their memory was returned to the system or became free space. Blocking: objects before minus survived, over the collected generations: exact. " +
			"Background, by generation. gen2: objects before, plus what was promoted into it meanwhile, minus objects after: exact. gen0 and gen1, which the final pause sweeps: what the GC before that pause left, " +
			"plus what was allocated up to the next GC, minus what that GC found. gen1 is exact. In gen0, what was allocated comes from allocation ticks; without ticks, from the budget if the next GC ran because it was used up, times the share " +
			"of the budget that became objects in other cycles of this process so far: an estimate. Without either it is a lower bound. " +
			"Large and pinned objects: objects before, plus allocation ticks, minus objects after: an estimate. Without ticks, objects before minus after: from .NET 9 on an estimate, because the sizes before include " +
			"what is allocated meanwhile; before .NET 9, or if the version is unknown, a lower bound. freed_is is the weakest of these. While a process is watched live, a background collection is shown at its end, and " +
			"figures that only the next collection would reveal are missing. A sum that includes an estimate is an estimate.",
		Source:  "GCPerHeapHistory: SizeBefore, FreeListBefore, FreeObjBefore, survived, In, SizeAfter; GCAllocationTick; FinalYoungestDesired of GCGlobalHeapHistory (background.cpp, background_ephemeral_sweep)",
		Differs: "no other tool shows it. Heap before minus heap after is a different figure, because swept memory stays in the heap as free space.",
	},
	{
		Name: "allocated", Unit: "bytes", Keys: []string{"allocated_bytes", "allocated_is", "allocated_max_bytes", "allocated_by_ticks_bytes"},
		Text: "Bytes of objects allocated since the previous GC: objects now in gen 0, the LOH and the POH, minus those that the previous GC left there. If a background GC swept " +
			"gen 0 between the two, allocated is as exact as freed, and allocated_is is exact, estimate or lower_bound. Allocations in the LOH and the POH while a background GC " +
			"sweeps count toward that GC. allocated_by_ticks_bytes is the sum of allocation ticks, " +
			"which come about every 100 kB. A report adds up allocated_bytes, uses ticks where it is unknown, and adds what ticks counted after the start of the last GC. Without ticks, what follows the last GC is unknown and the " +
			"sum is a lower bound; a sum that includes an estimate and no unknown part is an estimate; it is exact if all of it is known within 0.5 %. allocated_max_bytes is an upper bound: the sum plus what the budgets of gen 0, the LOH and the POH " +
			"allow before the next GC. It is null where nothing limits the rest: after lost events, in no-GC regions, while a background GC runs. Of a process without GCs, ticks are all that counts what it allocated (processes_without_gc). " +
			"What single GCs count ends at the start of the last one: in gcs, in files that convert writes, in records and metrics of the agent.",
		Source:  "GCPerHeapHistory of both; AllocationAmount64 of GCAllocationTick",
		Differs: "PerfView prefers ticks for background GCs, and counts only gen 0 in its first columns. GC.GetTotalAllocatedBytes of .NET 10 leaves out what was allocated on a heap that DATAS has taken away, until the heap comes back.",
	},
	{
		Name: "allocation rate", Unit: "bytes a second", Keys: []string{"allocated_bytes_per_s", "allocated_bytes_per_s_is"},
		Text: "Allocated over the time for which it is known, pauses included: from the start of the process, or from the first GC if the trace lacks that start, to the start of the last GC, or to the end if ticks count the rest. " +
			"allocated_bytes_per_s_is is exact, estimate or lower_bound, as allocated; an estimate where what follows the last GC is unknown.", Source: "allocated, start of the first and last GC, watched",
		Differs: "PerfView divides by the time between the pauses.",
	},
	{
		Name: "committed", Unit: "bytes", Keys: []string{"committed_bytes", "committed_max_bytes", "committed_before_bytes", "committed_after_bytes"},
		Text:   "Memory that the GC has committed: in use, free in its heaps, and free in the global list; like the runtime's TotalCommittedBytes. Memory about to be decommitted and bookkeeping are not included. Background GCs report it at their start only. .NET 8 and later.",
		Source: "TotalCommittedInUse, TotalCommittedInFree and TotalCommittedInGlobalFree of the dynamic event CommittedUsage",
	},
	{
		Name: "memory load", Unit: "%", Keys: []string{"memory_load_pct", "memory_load_max_pct"},
		Text: "How much of the memory of the machine, or of the container, was in use at the start of the GC.", Source: "MemoryPressure of GCGlobalHeapHistory",
	},
	{
		Name: "free space", Unit: "bytes", Keys: []string{"GEN_fragmentation_bytes", "fragmentation_bytes", "free"},
		Text: "Free space between the objects of a generation after the collection (fragmentation): on the free list, too small for it, or in gen 2 given up by gen 1 GCs until the next gen 2 GC.", Source: "FreeListAfter and FreeObjAfter of GCPerHeapHistory",
		Differs: "the GC's authors judge fragmentation at the start of the next full GC; PerfView shows it at the end of a GC, as gctrail does.",
	},
	{
		Name: "budget", Unit: "bytes", Keys: []string{"GEN_budget_bytes", "budget_bytes", "budget"},
		Text:   "How much may be allocated in the generation before its next collection, over all heaps. For gen 0 on several heaps it is the GC's final decision times the number of heaps.",
		Source: "NewAllocation of GCPerHeapHistory; for gen0 FinalYoungestDesired and NumHeaps of GCGlobalHeapHistory (gc.cpp, fire_pevents)",
	},
	{
		Name: "pinned", Unit: "objects and bytes", Keys: []string{"pinned_objects", "GEN_pinned_bytes", "pinned_bytes"},
		Text: "Objects that a collection found pinned, and the bytes of a generation that survived because they, or the objects around them, were pinned.", Source: "PinnedObjectCount of GCHeapStats; PinnedSurv of GCPerHeapHistory",
	},
	{
		Name: "finalization", Unit: "objects and bytes", Keys: []string{"finalization_promoted_bytes", "finalization_promoted_count"},
		Text: "Dead objects kept alive for their finalizers, and their bytes, which the runtime counts for gen 0 only.", Source: "FinalizationPromotedCount and FinalizationPromotedSize of GCHeapStats",
	},
	{
		Name: "handles", Unit: "count", Keys: []string{"gc_handles", "sync_blocks"},
		Text: "GC handles and sync blocks in use after the GC.", Source: "GCHandleCount and SinkBlockCount of GCHeapStats",
	},
	{
		Name: "open handles", Unit: "count", Keys: []string{"open", "left open", "created", "destroyed", "growth_per_s", "growth", "from_open"},
		Text:   "GC handles that were created in the trace and not destroyed in it, by kind. growth_per_s is by how many a second they grew over the second half of the time, 0 unless every quarter of it ends above the one before.",
		Source: "SetGCHandle, DestroyGCHandle",
	},
	{
		Name: "pins", Unit: "count and bytes", Keys: []string{"pins", "in a row", "longest_run", "by_handle", "by handle", "open_handles", "gap_bytes", "held apart", "plugs"},
		Text: "Objects that collections found pinned: one counts in each collection. in a row: the most collections one after the other with the same object pinned. by handle: those that a GC handle created in the trace pins; " +
			"the others are pinned by variables on stacks or by older handles. held apart: free memory before pinned objects.",
		Source: "PinObjectAtGCTime; SetGCHandle with the same handle; GapBeforeSize of PinPlugAtGCTime",
	},
	{
		Name: "finalized", Unit: "objects", Keys: []string{"finalized"},
		Text: "Objects whose finalizers ran, by type. The names of types need the keywords type and gcheapandtypenames.", Source: "FinalizeObject, BulkType",
	},
	{
		Name: "background phases", Unit: "ms", Keys: []string{"background_phases", "phase", "initial_mark", "concurrent_mark", "final_wait", "final_mark", "sweep_wait", "sweep"},
		Text: "The parts of background collections: initial_mark marks the roots in a pause, concurrent_mark what they lead to while the program runs, final_wait lasts until the threads are suspended again, final_mark marks what the program " +
			"changed meanwhile, in a pause, sweep_wait lasts until the program runs again, and sweep frees memory while it runs. number is the collection in which a phase took longest.",
		Source: "BGC1stNonConEnd, BGC1stConEnd, BGC2ndNonConBegin, BGC2ndNonConEnd, BGC2ndConBegin, BGC2ndConEnd of the private provider",
	},
	{
		Name: "heaps", Unit: "count", Keys: []string{"heaps", "heaps_min", "heaps_max"},
		Text: "GC heaps: one for workstation GC, up to one per processor for server GC; with DATAS (.NET 9 and later) the number changes.", Source: "NumHeaps of GCGlobalHeapHistory",
	},
	{
		Name: "mechanisms", Unit: "words", Keys: []string{"mechanisms", "compacted"},
		Text: "What the collection did; compacted is true if it moved objects together instead of leaving free space between them.", Source: "GlobalMechanisms of GCGlobalHeapHistory",
	},
	{
		Name: "complete", Unit: "yes or no", Keys: []string{"complete", "incomplete"},
		Text: "The trace has the start, end, statistics and all pauses of the collection. incomplete counts the collections that lack any of these.", Source: "GCStart, GCEnd, GCHeapStats, pause",
	},
	{
		Name: "affected by loss", Unit: "yes or no", Keys: []string{"affected_by_loss"},
		Text: "Events of the collection, or other events that its figures need, may have been lost. Sums that include such collections are lower bounds.", Source: "lost",
	},
	{
		Name: "lost", Unit: "events", Keys: []string{"lost", "events", "events_is", "left_out", "at", "at_in_all", "cut", "late", "damaged"},
		Text:   "Events missing from the trace. left_out: events that are in the trace, but not in the figures, because only the first 1,024 processes are distinguished. cut: the file is truncated. late: events that came too late to be put in order. damaged: places that could not be read. at: the times between which events were lost.",
		Source: "sequence numbers of each thread's events, and sequence points, of nettrace",
	},
	{
		Name: "collected", Unit: "events", Keys: []string{"collected", "providers", "keywords", "keywords_hex", "level"},
		Text: "What the session recorded, as far as its events show: traces do not contain the session's configuration. Keywords are those of events with only one keyword; level is the highest level of an event.", Source: "the descriptions of events in the trace",
	},
	{
		Name: "timeline", Unit: "bytes and ms by time", Keys: []string{"timeline", "bucket_ms", "collections"},
		Text: "Time in at most 64 buckets of equal width: how many collections began in each, how long the pauses were that began in it, and the sizes after the last collection that ended in it, or null if none did.", Source: "pause, heap after, committed",
	},
	{
		Name: "confidence", Unit: "word", Keys: []string{"confidence", "severity"},
		Text: "Of a finding: high if the events show it directly, medium if it is the likely explanation, low if it is one of several. severity: a problem is costly, a warning costs something, a note is worth knowing.", Source: "the rules in gc/findings",
	},
}
