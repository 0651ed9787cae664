package report

import "github.com/gctrail/gctrail/gc/figure"

// figures are the definitions of all figures, in the order in which docs/figures.md lists
// them: of a collection, then of several and of a trace.
var figures = append(figure.Definitions(), []figure.Definition{
	{
		Name: "induced", Unit: "count", Keys: []string{"induced"},
		Text:    "Collections that the program requested with GC.Collect: the reasons Induced, InducedCompacting and InducedAggressive, and InducedNotForced, which GC.AddMemoryPressure requests, too. Collections for GC.TryStartNoGCRegion (pause mode NoGC) and for heap dumps of trace sessions have the same reasons, but do not count.",
		Source:  "Reason of GCStart",
		Differs: "PerfView counts Induced and InducedNotForced only.",
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
		Name: "thread wait", Unit: "ms", Keys: []string{"thread_wait_ms", "thread_run_ms", "thread_wait_pct", "thread_wait_pct_in_pauses"},
		Text: "How long the process's threads were ready to run but waited for a processor, how long they ran, and the share of waiting, over the whole time and around GC pauses. Only in traces that collect made on Linux; on Windows, how long they ran is known, and the others are null.", Source: "ProcessThreadTime of the provider gctrail",
	},
	{
		Name: "GC processor time", Unit: "ms", Keys: []string{"gc_cpu_ms", "gc_cpu_pct", "gc_cpu_max_ms", "gc_cpu_max_pct", "background_gc_cpu_ms", "gc_threads", "gc_cpu_source"},
		Text: "The processor time of the threads that do nothing but collect, which the runtime names .NET Server GC and .NET BGC, and its share of the program's: what the GC used at least, because threads that ended count up to the last reading, and because with workstation GC the thread that starts a collection does the work unless a background GC does it. " +
			"gc_cpu_max_ms and gc_cpu_max_pct also take all of the pauses of workstation GC, in which that thread may have waited; they are null for server GC, whose own threads do the work, and where GCs are missing. Time that the program's threads spend waiting for a GC, and on allocating, is not in it. In traces that collect, run or top made on Linux or Windows; gc_cpu_source is then thread_times. Other values of it: see GC processor time by the kernel.",
		Source: "GCThreadTime and ProcessThreadTime of the provider gctrail",
	},
	{
		Name: "GC processor time by the kernel", Unit: "ms", Keys: []string{"gc_cpu_estimate_ms", "gc_cpu_estimate_pct", "pausing_gc_cpu_ms", "cpu_samples", "gc_cpu_samples", "cpu_samples_of_unknown", "cpu_sample_ms"},
		Text: "What the GC used by the events of Windows' kernel, in an .etl that has CPU samples (gc_cpu_source samples) or context switches (context_switches, which are preferred). Of the GC are the threads of server GC and of background GC, and each thread that pauses the others for a GC from then until they run again (pausing_gc_cpu_ms). " +
			"The events of collections show which threads these are: those of server GC mark, the one of background GC ends a background collection. Of samples, a time is their number times their interval: gc_cpu_estimate_ms is gc_cpu_samples × cpu_sample_ms (1 ms, as usual, if the trace does not say), and gc_cpu_ms and gc_cpu_max_ms are its bounds with 95 % confidence, of a Poisson distribution. " +
			"Samples of threads whose process the trace does not show (cpu_samples_of_unknown) are in gc_cpu_max_ms. That is null, and gc_cpu_ms a lower bound, where events were lost, GCs or the start or end of a pause are missing, a background GC had not ended, or the trace does not show all threads of server GC. Samples of EventPipe's Microsoft-DotNETCore-SampleProfiler are not processor time, because it suspends all threads and samples each of them whether it ran or not: they are not used.",
		Source: "PerfInfo 46 and 72 to 74, Thread 1 to 4 and 36 of the kernel; SuspendEEBegin to RestartEEEnd, GCMark…, GCEnd",
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
		Name: "retained", Unit: "bytes", Keys: []string{"retained_bytes", "retained MB", "live_objects", "live_bytes", "dominator"},
		Text: "In a heap snapshot, the bytes that would be free without these objects: their own, and those of all objects to which every way from a root leads through them. Of objects one of which retains another of the same row only the first counts. " +
			"Alive is what roots reach; weak handles are no roots, and the value of a dependent handle is reached from its key. Unknown if a part of the snapshot is missing.",
		Source: "GCBulkNode, GCBulkEdge, GCBulkRootEdge, GCBulkRootConditionalWeakTableElementEdge, GCBulkRootStaticVar; or a .gcdump file",
	},
	{
		Name: "request", Unit: "span", Keys: []string{"requests", "span", "route", "name of a span", "kind of a span", "trace_id", "trace id", "span_id", "parent_span_id", "nested"},
		Text: "A piece of the program's work, from the start to the stop of a System.Diagnostics.Activity. request is what the program calls it, or the method and the path that it is for, or else the name of the operation. " +
			"Of spans in each other, nested ones, the outermost is the request; where a program has spans of the kinds Server and Consumer, only these are requests.",
		Source: "ActivityStart and ActivityStop, or the events of a listener, of Microsoft-Diagnostics-DiagnosticSource",
	},
	{
		Name: "request paused", Unit: "ms", Keys: []string{"gc_paused_ms", "paused ms", "other_suspended_ms", "other ms"},
		Text:   "The time within a span in which the program's threads were suspended, for collections and otherwise, from GCSuspendEEBegin to GCRestartEEBegin. What the GC costs otherwise, such as processors that background collections use, is not in it.",
		Source: "GCSuspendEEBegin, GCRestartEEBegin",
	},
	{
		Name: "request without threads", Unit: "ms", Keys: []string{"pool_stalled_ms", "pool stalled ms"},
		Text: "The time within a span in which the thread pool began no work although some waited in its queue: the half seconds before it added a thread for starvation. What needed a thread of the pool then waited for one, for at least as long. " +
			"That a span has none does not show that it did not wait: a queue that moves slowly is not starvation, and a wait before the span is not in it. 0 in traces without the keyword threading.",
		Source: "ThreadPoolWorkerThreadAdjustmentAdjustment with reason 6; GateThread of the runtime's PortableThreadPool",
	},
	{
		Name: "request percentiles", Unit: "ms", Keys: []string{"p50_ms", "p99_ms", "longest_ms", "p50_running_ms", "p99_running_ms", "without pauses", "slowest_paused_pct", "slowest paused %"},
		Text:   "Of the durations of complete requests, and of their durations less their pauses (without pauses). slowest paused %: of the slowest 1 %, the part of their time together in which they were paused. paused counts the requests that a pause touched. Exact up to 32,768 requests, beyond that to 0.2 %.",
		Source: "the spans",
	},
	{
		Name: "what-if", Unit: "as shown", Keys: []string{"gcs_per_minute", "GCs a minute", "paused_pct", "peak committed", "pause p50", "pause p99", "at least", "at most", "assumes"},
		Text: "Figures of a program as it is in the trace (now), and bounds of what they would be with other settings (at least, low; at most, high): collections a minute, the share of the time paused, the most memory committed at a collection. " +
			"What the bounds assume is said with them. They are unknown, with the reason, where the events do not determine them.",
		Source: "pause, budget, survivors and reasons of the collections, and the runtime's rule for budgets (dynamic_tuning.cpp)",
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
}...)
