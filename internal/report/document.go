package report

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/trace"
)

// schemaVersion is raised when a key changes its meaning or goes away.
const schemaVersion = 2

// A Document is a report as values. gctrail report --format json encodes it as one line
// for each file, pages and Markdown read it, and the JSON Schema and the page's types are
// derived from it, so that a field is described once. docs/figures.md defines the figures.
type Document struct {
	SchemaVersion int                `json:"schema_version"`
	File          string             `json:"file"`
	Format        string             `json:"format"`
	StartTime     string             `json:"start_time"`
	Duration      Millis             `json:"duration_ms"`
	Code          findings.Code      `json:"verdict_code"`
	Verdict       string             `json:"verdict"`
	Processes     []Process          `json:"processes"` // most costly first
	WithoutGC     []ProcessWithoutGC `json:"processes_without_gc"`
	Lost          trace.Lost         `json:"lost"`
	Collected     Collected          `json:"collected"`
	CannotTell    []Gap              `json:"cannot_tell"`
	Next          []string           `json:"next"`
	NextIfEnded   gc.Opt[string]     `json:"next_if_ended"` // starts the program that Next selects by name
	Omitted       []string           `json:"omitted"`       // parts that only --full has
}

// A Process is a process with collections.
type Process struct {
	PID         gc.Opt[uint64]    `json:"pid"`
	Name        gc.Opt[string]    `json:"process"`
	CommandLine gc.Opt[string]    `json:"command_line"`
	Runtime     gc.Opt[string]    `json:"runtime"`
	Server      gc.Opt[bool]      `json:"server"`
	Code        findings.Code     `json:"verdict_code"`
	Verdict     string            `json:"verdict"`
	Totals      ProcessTotals     `json:"totals"`
	Findings    []Finding         `json:"findings"`
	Suspensions []Suspension      `json:"suspensions_without_gc"`
	Timeline    *Timeline         `json:"timeline"`
	Processors  *Processors       `json:"processors"`
	Memory      *MemoryHistory    `json:"memory"`
	Longest     []LongPause       `json:"longest_pauses"`
	Percentiles []PausePercentile `json:"percentiles"`
	Phases      []PhaseTotals     `json:"background_phases"`
	Omitted     Omitted           `json:"omitted"`
}

// Totals are figures of several collections.
type Totals struct {
	Count          int            `json:"count"`
	Pause          gc.Opt[Millis] `json:"pause_ms"`
	PauseMax       gc.Opt[Millis] `json:"pause_max_ms"`
	PauseP50       gc.Opt[Millis] `json:"pause_p50_ms"`
	PauseP90       gc.Opt[Millis] `json:"pause_p90_ms"`
	PauseP99       gc.Opt[Millis] `json:"pause_p99_ms"`
	AllocatedBytes gc.Opt[int64]  `json:"allocated_bytes"`
	FreedBytes     gc.Opt[int64]  `json:"freed_bytes"`
	PromotedBytes  gc.Opt[int64]  `json:"promoted_bytes"`
	AllocatedIs    gc.Opt[string] `json:"allocated_is"`
	FreedIs        gc.Opt[string] `json:"freed_is"`
}

type (
	// ProcessTotals are figures of all collections of a process.
	ProcessTotals struct {
		Totals
		Watched            Millis             `json:"watched_ms"`
		PausePct           gc.Opt[float64]    `json:"pause_pct"`
		Suspend            gc.Opt[Millis]     `json:"suspend_ms"`
		AllocatedMaxBytes  gc.Opt[int64]      `json:"allocated_max_bytes"`
		AllocatedPerSecond gc.Opt[float64]    `json:"allocated_bytes_per_s"`
		RateIs             gc.Opt[string]     `json:"allocated_bytes_per_s_is"`
		Incomplete         int                `json:"incomplete"`
		Affected           int                `json:"affected_by_loss"`
		Induced            int                `json:"induced"`
		Generations        []GenerationTotals `json:"generations"`
		Kinds              []KindTotals       `json:"kinds"`
		Reasons            []ReasonTotals     `json:"reasons"`
		Heap               HeapSizes          `json:"heap"`
		Worst              []WorstWindow      `json:"worst_windows"`

		pauseIs, allocatedIs, rateIs, freedIs, promotedIs gc.Certainty // for pages
		doubtful                                          int          // incomplete, or affected by loss
		missing                                           int          // not in the trace, although later ones show that they ran
	}
	// GenerationTotals are figures of the collections of a generation.
	GenerationTotals struct {
		Generation int `json:"generation"`
		Totals
	}
	// KindTotals are figures of the collections of a kind.
	KindTotals struct {
		Kind string `json:"kind"`
		Totals
	}
	// ReasonTotals are figures of the collections with a reason.
	ReasonTotals struct {
		Reason   gc.Opt[string] `json:"reason"`
		Code     gc.Opt[uint32] `json:"reason_code"`
		Count    int            `json:"count"`
		Pause    gc.Opt[Millis] `json:"pause_ms"`
		PauseMax gc.Opt[Millis] `json:"pause_max_ms"`
	}
	// HeapSizes are the sizes of a heap over all collections.
	HeapSizes struct {
		PeakBytes         gc.Opt[int64] `json:"peak_bytes"`
		AfterBytes        gc.Opt[int64] `json:"after_bytes"`
		CommittedBytes    gc.Opt[int64] `json:"committed_bytes"`
		CommittedMaxBytes gc.Opt[int64] `json:"committed_max_bytes"`
		LoadMaxPct        gc.Opt[int]   `json:"memory_load_max_pct"`
		HeapsMin          gc.Opt[int]   `json:"heaps_min"`
		HeapsMax          gc.Opt[int]   `json:"heaps_max"`
	}
	// A WorstWindow is the interval of a length in which threads were suspended for longest.
	WorstWindow struct {
		Window                Millis  `json:"window_ms"`
		From                  Millis  `json:"from_ms"`
		Pause                 Millis  `json:"pause_ms"`
		Other                 Millis  `json:"other_suspension_ms"`
		PausePct              float64 `json:"pause_pct"`
		MutatorUtilizationPct float64 `json:"mutator_utilization_min_pct"`
	}
)

type (
	// A Finding is a rule that fired. Package gc/findings names the members of its own types.
	Finding struct {
		ID               string                   `json:"id"`
		Title            string                   `json:"title"`
		Severity         string                   `json:"severity"`
		Confidence       string                   `json:"confidence"`
		Says             string                   `json:"says"`
		Evidence         map[string]float64       `json:"evidence"`
		Collections      []uint32                 `json:"collections"`
		CollectionsInAll int                      `json:"collections_in_all"`
		Advice           []string                 `json:"advice"`
		Settings         []Setting                `json:"settings"`
		Next             []Step                   `json:"next"`
		Types            []AllocatedType          `json:"types"`
		Callers          []findings.Caller        `json:"callers"`
		Handles          []findings.OpenHandles   `json:"handles"`
		Pins             []findings.PinnedType    `json:"pins"`
		Finalized        []findings.FinalizedType `json:"finalized"`
		Heaps            []HeapThread             `json:"heaps"`
	}
	// A Step is a command and its purpose.
	Step struct {
		Purpose string `json:"purpose"`
		Command string `json:"command"`
	}
	// A Setting of the runtime, in both spellings.
	Setting struct {
		Variable string         `json:"env"`
		Value    string         `json:"env_value_hex"`
		Property gc.Opt[string] `json:"runtimeconfig"`
		JSON     gc.Opt[string] `json:"runtimeconfig_value"`
		Effect   string         `json:"effect"`
		Cost     string         `json:"cost"`
		Since    gc.Opt[string] `json:"since"`
	}
	// An AllocatedType is a type that a finding quotes, with the method that allocates most.
	AllocatedType struct {
		Type      string         `json:"type"`
		Heap      gc.Opt[string] `json:"heap"`
		Source    string         `json:"source"`
		Bytes     int64          `json:"bytes"`
		LowBytes  int64          `json:"low_bytes"`
		HighBytes gc.Opt[int64]  `json:"high_bytes"`
		SharePct  float64        `json:"share_of_heap_pct"`
		From      gc.Opt[string] `json:"from"`
		FromBytes gc.Opt[int64]  `json:"from_bytes"`
	}
	// A HeapThread is the thread that collects a heap of server GC.
	HeapThread struct {
		Heap    uint32 `json:"heap"`
		Working Millis `json:"working_ms"`
		Waiting Millis `json:"waiting_ms"`
		Waking  Millis `json:"waking_ms"`
		Last    int    `json:"last"`
		Held    Millis `json:"held_ms"`
	}
)

type (
	// A Suspension sums up suspensions outside collections, of one reason and kind.
	Suspension struct {
		Reason string `json:"reason"`
		Code   uint32 `json:"reason_code"`
		Kind   string `json:"kind"`
		Count  int    `json:"count"`
		Total  Millis `json:"total_ms"`
		Max    Millis `json:"max_ms"`
	}
	// A Timeline divides the time into buckets of one length.
	Timeline struct {
		Start          Millis          `json:"start_ms"`
		Bucket         Millis          `json:"bucket_ms"`
		Collections    []int           `json:"collections"`
		Pause          []Millis        `json:"pause_ms"`
		HeapAfterBytes []gc.Opt[int64] `json:"heap_after_bytes"`
		CommittedBytes []gc.Opt[int64] `json:"committed_bytes"`
	}
	// Processors holds the processors, the processor time and the limits of a process, read
	// by the program that recorded the trace.
	Processors struct {
		Processors        gc.Opt[int]     `json:"processors"`
		MachineProcessors gc.Opt[int]     `json:"machine_processors"`
		QuotaProcessors   gc.Opt[float64] `json:"quota_processors"`
		MemoryLimitBytes  gc.Opt[int64]   `json:"memory_limit_bytes"`
		Settings          []string        `json:"settings"`
		Covered           gc.Opt[Millis]  `json:"covered_ms"`
		Run               gc.Opt[Millis]  `json:"thread_run_ms"`
		Wait              gc.Opt[Millis]  `json:"thread_wait_ms"`
		WaitPct           gc.Opt[float64] `json:"thread_wait_pct"`
		PauseWaitPct      gc.Opt[float64] `json:"thread_wait_pct_in_pauses"`
		GCThreads         gc.Opt[int]     `json:"gc_threads"`
		GCTime            gc.Opt[Millis]  `json:"gc_cpu_ms"`
		GCTimeMax         gc.Opt[Millis]  `json:"gc_cpu_max_ms"`
		GCTimePct         gc.Opt[float64] `json:"gc_cpu_pct"`
		GCTimeMaxPct      gc.Opt[float64] `json:"gc_cpu_max_pct"`
		BackgroundGCTime  gc.Opt[Millis]  `json:"background_gc_cpu_ms"`
		GCTimeSource      gc.Opt[string]  `json:"gc_cpu_source"`
		GCTimeEstimate    gc.Opt[Millis]  `json:"gc_cpu_estimate_ms"`
		GCTimeEstimatePct gc.Opt[float64] `json:"gc_cpu_estimate_pct"`
		PausingGCTime     gc.Opt[Millis]  `json:"pausing_gc_cpu_ms"`
		Samples           gc.Opt[uint64]  `json:"cpu_samples"`
		GCSamples         gc.Opt[uint64]  `json:"gc_cpu_samples"`
		UnknownSamples    gc.Opt[uint64]  `json:"cpu_samples_of_unknown"`
		SampleInterval    gc.Opt[Millis]  `json:"cpu_sample_ms"`
		QuotaPeriods      gc.Opt[int64]   `json:"quota_periods"`
		ThrottledPeriods  gc.Opt[int64]   `json:"throttled_periods"`
		Throttled         gc.Opt[Millis]  `json:"throttled_ms"`
		MachineBusy       gc.Opt[Millis]  `json:"machine_busy_ms"`
		MachineStolen     gc.Opt[Millis]  `json:"machine_stolen_ms"`
		MachineWait       gc.Opt[Millis]  `json:"machine_wait_ms"`
		CgroupWait        gc.Opt[Millis]  `json:"cgroup_wait_ms"`
	}
	// A MemoryHistory is the memory of a process by its ledger.
	MemoryHistory struct {
		End      gc.Opt[string] `json:"end"`
		Grew     gc.Opt[string] `json:"grew"`
		Says     string         `json:"says"`
		Until    string         `json:"until"`
		Timeline []MemoryMoment `json:"timeline"`
		MemorySizes
	}
	// A MemoryMoment is the memory of a process at a time.
	MemoryMoment struct {
		At Millis `json:"at_ms"`
		MemorySizes
	}
	// MemorySizes are the sizes of a ledger's record.
	MemorySizes struct {
		RSSBytes         gc.Opt[int64] `json:"rss_bytes"`
		HeapBytes        gc.Opt[int64] `json:"heap_bytes"`
		CommittedBytes   gc.Opt[int64] `json:"committed_bytes"`
		NativeBytes      gc.Opt[int64] `json:"native_bytes"`
		NativeMinBytes   gc.Opt[int64] `json:"native_min_bytes"`
		NativeMaxBytes   gc.Opt[int64] `json:"native_max_bytes"`
		CgroupUsedBytes  gc.Opt[int64] `json:"cgroup_used_bytes"`
		CgroupLimitBytes gc.Opt[int64] `json:"cgroup_limit_bytes"`
		HardLimitBytes   gc.Opt[int64] `json:"hard_limit_bytes"`
	}
	// A LongPause is a collection with one of the longest pauses.
	LongPause struct {
		Number        uint32         `json:"number"`
		Generation    gc.Opt[int]    `json:"generation"`
		Kind          string         `json:"kind"`
		Reason        gc.Opt[string] `json:"reason"`
		PauseStart    gc.Opt[Millis] `json:"pause_start_ms"`
		Pause         gc.Opt[Millis] `json:"pause_ms"`
		Suspend       gc.Opt[Millis] `json:"suspend_ms"`
		PromotedBytes gc.Opt[int64]  `json:"promoted_bytes"`
		Affected      bool           `json:"affected_by_loss"`
	}
	// A PausePercentile is the collection at a percentile of the pauses of a generation
	// and kind; of all where Kind is unknown.
	PausePercentile struct {
		Generation gc.Opt[int]    `json:"generation"`
		Kind       gc.Opt[string] `json:"kind"`
		Percentile string         `json:"percentile"`
		Pause      Millis         `json:"pause_ms"`
		Number     uint32         `json:"number"`
		Reason     gc.Opt[string] `json:"reason"`
		Start      gc.Opt[Millis] `json:"start_ms"`
		AsLong     int            `json:"as_long"`
	}
	// PhaseTotals are figures of one phase of background collections.
	PhaseTotals struct {
		Phase  string `json:"phase"`
		Count  int    `json:"count"`
		Total  Millis `json:"total_ms"`
		Max    Millis `json:"max_ms"`
		Number uint32 `json:"number"` // of the collection with the longest
	}
	// Omitted counts the parts that a document leaves out because there would be too
	// many.
	Omitted struct {
		Pauses int `json:"pauses"` // beyond longest_pauses; gctrail gcs has all
	}
)

type (
	// A ProcessWithoutGC is a process that raised events of the runtime, and had no GC.
	ProcessWithoutGC struct {
		PID               gc.Opt[uint64] `json:"pid"`
		Name              gc.Opt[string] `json:"process"`
		AllocatedBytes    gc.Opt[int64]  `json:"allocated_bytes"`
		AllocatedIs       gc.Opt[string] `json:"allocated_is"`
		AllocatedMaxBytes gc.Opt[int64]  `json:"allocated_max_bytes"`
	}
	// Collected describes the recording of the session, as far as events show it.
	Collected struct {
		Providers []Provider `json:"providers"`
	}
	// A Provider is a provider of events.
	Provider struct {
		Name        string `json:"name"`
		Keywords    uint64 `json:"keywords"`
		KeywordsHex string `json:"keywords_hex"`
		Level       uint8  `json:"level"`
		Events      uint64 `json:"events"`
	}
	// A Gap is a question that the trace cannot answer, with a command that would record
	// the answer.
	Gap struct {
		What    string         `json:"what"`
		Command gc.Opt[string] `json:"command"`
	}
)
