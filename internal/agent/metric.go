package agent

import (
	"slices"
	"strings"
)

// A metric is defined once for Prometheus and OTLP. Names that begin with dotnet. are
// from OpenTelemetry's semantic conventions; dotnet.gc.pause.duration is proposed there.
// The others are our own.
type metric struct {
	index            int // in metrics
	name, unit, help string
	kind             kind
	labels           []string // keys of attributes
}

type kind uint8

const (
	counter   kind = iota
	level          // a gauge whose values add up over processes
	peak           // a gauge of which the largest matters
	histogram      // of seconds
)

// Keys of the attributes of metrics.
const (
	generationKey = "dotnet.gc.heap.generation"
	kindKey       = "gc.kind"
	reasonKey     = "gc.reason"
)

// metrics are all metrics, in the order of their definitions.
var metrics []*metric

func define(name, unit, help string, kind kind, labels ...string) *metric {
	m := &metric{len(metrics), name, unit, help, kind, labels}
	metrics = append(metrics, m)
	return m
}

var (
	collections     = define("dotnet.gc.collections", "{collection}", "Collections, by the generation collected.", counter, generationKey)
	pauseTime       = define("dotnet.gc.pause.time", "s", "Time paused in GC.", counter)
	pauseDuration   = define("dotnet.gc.pause.duration", "s", "Length of GC pauses, by the generation collected, the kind of collection and its reason.", histogram, generationKey, kindKey, reasonKey)
	suspendDuration = define("gctrail.gc.suspend.duration", "s", "Time that it took to suspend all threads, for each collection.", histogram)
	allocated       = define("dotnet.gc.heap.total_allocated", "By", "Bytes allocated, up to the start of the latest collection; at least, where a collection does not show all.", counter)
	promoted        = define("gctrail.gc.promoted", "By", "Bytes that survived collections.", counter)
	heapSize        = define("dotnet.gc.last_collection.heap.size", "By", "Heap size after the latest collection that measured it, with free space.", level, generationKey)
	fragmentation   = define("dotnet.gc.last_collection.heap.fragmentation.size", "By", "Free space after the latest collection that measured it.", level, generationKey)
	committed       = define("dotnet.gc.last_collection.memory.committed_size", "By", "Memory committed for the heap at the latest collection.", level)
	budget          = define("gctrail.gc.last_collection.budget", "By", "Allocation budget until the next collection.", level, generationKey)
	pinned          = define("gctrail.gc.last_collection.pinned_objects", "{object}", "Pinned objects that the latest collection found.", level)
	handles         = define("gctrail.gc.last_collection.handles", "{handle}", "GC handles at the latest collection.", level)
	allocationRate  = define("gctrail.gc.last_collection.allocation_rate", "By/s", "Allocation rate between the latest two collections; at least, or about, after a background collection.", level)
	memoryLoad      = define("gctrail.gc.last_collection.memory_load", "1", "Share of the machine's, or the container's, memory in use at the latest collection.", peak)
	hardLimit       = define("gctrail.gc.hard_limit", "By", "Limit of the GC heap: GCHeapHardLimit or GCHeapHardLimitPercent, or three quarters of the container's limit.", level)
	found           = define("gctrail.gc.finding", "", "1 for each finding on the collections of the last five to ten minutes.", peak, "gc.finding", "gc.severity")

	workingSet       = define("dotnet.process.memory.working_set", "By", "Resident memory of the process.", level)
	memoryPart       = define("gctrail.process.memory", "By", "Parts of the resident memory, and what is swapped out.", level, "memory.type")
	nativeMemory     = define("gctrail.process.memory.native", "By", "Resident memory outside the GC heap, at least.", level)
	cgroupUsed       = define("gctrail.cgroup.memory.used", "By", "Memory that the process's cgroup uses; of the one above it that has the lowest limit.", peak)
	cgroupLimit      = define("gctrail.cgroup.memory.limit", "By", "Lowest limit of the process's cgroup and those above it.", peak)
	cgroupKills      = define("gctrail.cgroup.memory.oom_kills", "{process}", "Processes of the cgroup that the kernel has killed because memory ran out.", peak)
	threadsRan       = define("gctrail.process.cpu.run.time", "s", "Time for which threads of the process ran.", counter)
	threadsWaited    = define("gctrail.process.cpu.wait.time", "s", "Time for which threads of the process that could run waited for a processor.", counter)
	threadsCollected = define("gctrail.gc.cpu", "s", "Time for which threads of the process ran that only collect garbage: what the GC used at least, and nearly all with server GC.", counter)
	quotaPeriods     = define("gctrail.cgroup.cpu.periods", "{period}", "Periods of the CPU quota of the process's cgroup; of the one above it that has the lowest.", counter)
	throttledPeriods = define("gctrail.cgroup.cpu.throttled.periods", "{period}", "Periods of the same in which threads had to wait for the next one.", counter)
	throttledTime    = define("gctrail.cgroup.cpu.throttled.time", "s", "Time for which they waited, summed up over processors.", counter)
	processesEnded   = define("gctrail.process.ended", "{process}", "Processes that ended, by how, and by the part of their memory that grew.", counter, "cause", "memory")

	attached           = define("gctrail.process.attached", "{process}", "Processes whose collections are counted.", level)
	collectionsBefore  = define("gctrail.process.collections_before", "{collection}", "Collections before the agent attached, which no other metric counts.", level)
	collectionsMissing = define("gctrail.process.collections_missing", "{collection}", "Collections since then that were not seen, or have not ended.", level)
	eventsLost         = define("gctrail.process.events_lost", "{event}", "Events that the runtime had no room for.", counter)

	selfProcesses = define("gctrail.agent.processes", "{process}", "Processes of this machine, by what the agent can do with them.", level, "state")
	selfEnded     = define("gctrail.agent.processes_ended", "{process}", "Processes that ended while the agent was attached.", counter)
	selfCaptures  = define("gctrail.agent.captures", "{capture}", "Traces that rules or people asked for, by what became of them.", counter, "outcome")
	selfDumps     = define("gctrail.agent.dumps", "{snapshot}", "Heap snapshots that rules asked for, by what became of them.", counter, "outcome")
	selfItems     = define("gctrail.agent.otlp.items", "{item}", "Log records and data points, by what became of them.", counter, "signal", "outcome")
	selfQueue     = define("gctrail.agent.otlp.queue.size", "By", "Size of the requests that wait for the endpoint.", level)
	selfRequests  = define("gctrail.agent.otlp.requests", "{request}", "Requests sent to the endpoint.", counter)
	selfFailures  = define("gctrail.agent.otlp.failures", "{request}", "Requests that failed and are tried again.", counter)

	profilesSent      = define("gctrail.profiles", "{profile}", "Profiles, by what became of them.", counter, "outcome")
	profilesQueue     = define("gctrail.profiles.queue.size", "By", "Size of the profiles that wait for the receiver.", level)
	profilesFailures  = define("gctrail.profiles.failures", "{request}", "Requests to the receiver of profiles that failed and are tried again.", counter)
	profilesProcesses = define("gctrail.profiles.processes", "{process}", "Processes whose allocations are sampled.", level)
	profilesLists     = define("gctrail.profiles.method_lists", "{list}", "Lists of methods that runtimes were asked for, to name the frames of stacks.", counter)
	profilesSessions  = define("gctrail.profiles.sessions_ended", "{session}", "Sessions of samples that could not begin, or that ended before their process.", counter)
	profilesRests     = define("gctrail.profiles.rests", "{rest}", "Times that a process rested from samples, because it raised too many.", counter)
	profilesLost      = define("gctrail.profiles.events_lost", "{event}", "Samples that runtimes had no room for.", counter)
)

// unitSuffixes are the suffixes of Prometheus names for units; see OpenTelemetry's
// "Prometheus and OpenMetrics Compatibility".
var unitSuffixes = map[string]string{"s": "_seconds", "By": "_bytes", "1": "_ratio", "By/s": "_bytes_per_second"}

// prometheusName returns the name of a metric as Prometheus spells it.
func (m *metric) prometheusName() string {
	name := underscored(m.name)
	if suffix := unitSuffixes[m.unit]; !strings.HasSuffix(name, suffix) {
		name += suffix
	}
	if m.kind == counter {
		name += "_total"
	}
	return name
}

func underscored(s string) string { return strings.ReplaceAll(s, ".", "_") }

// named returns the metric's labels with the configured key for the generation.
func (m *metric) named(generation string) []string {
	labels := slices.Clone(m.labels)
	for i := range labels {
		if labels[i] == generationKey {
			labels[i] = generation
		}
	}
	return labels
}
