package findings

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

var limitRules = []rule{
	{
		id: "R64", title: "the program threw OutOfMemoryException", kind: cause, ends: true, minor: true,
		threshold: "the trace records exceptions, and has one of the type System.OutOfMemoryException",
		source:    "ExceptionThrown",
		find:      ranOut,
		advice:    limitAdvice,
	},
	{
		id: "R65", title: "the trace breaks off as it does in an OutOfMemoryException", kind: cause, ends: true, minor: true,
		threshold: "the trace is truncated within a second after its latest GC, which was the last attempt before an OutOfMemoryException, and R64 does not apply",
		source:    "own; a process that dies of an exception writes no rundown",
		find:      breaksOff,
		advice:    limitAdvice,
	},
	{
		id: "R61", title: "the heap is at its limit, near OutOfMemoryException", kind: cause, ends: true, minor: true,
		threshold: "a GC was the last attempt before an OutOfMemoryException: condemned reason before_oom or limit_before_oom, or reason OutOfSpaceSOH or OutOfSpaceLOH; and neither R64 nor R65 applies",
		source:    "gc.cpp, generation_to_condemn and try_allocate_more_space",
		find:      atLimit,
		advice:    limitAdvice,
	},
	{
		id: "R22", title: "the GC treats memory as scarce", kind: cause, minor: true,
		threshold: "the memory load at a GC is 90 % or more (or the value of GCHighMemPercent), or the system or host signalled low memory",
		source:    "gc.cpp, compute_memory_settings: 90 %, up to 97 % on machines of 80 GB and more; mem-doc",
		find:      memoryScarce,
		advice: []advice{
			{
				when: "GCHighMemPercent is set below 90, and the load is below 90 %", fits: scarceBySetting,
				text: "Remove GCHighMemPercent, or raise it: the GC runs more gen 2 GCs than this memory load needs.", settings: []*setting{&usualHighMem},
			},
			{
				when: "otherwise, without a hard limit", fits: func(j *judgement, f *Finding) bool { return !scarceBySetting(j, f) && !hardLimited(j, f) },
				text: "Try to free memory, to give the container more, or to move other processes away: at a high memory load the GC runs blocking, compacting gen 2 GCs. " +
					"On a machine where a load of 90 % leaves plenty of memory, try a higher GCHighMemPercent.",
				settings: []*setting{&highMemPercent},
			},
			{
				when: "otherwise, with a hard limit", fits: func(j *judgement, f *Finding) bool { return !scarceBySetting(j, f) && hardLimited(j, f) },
				text: "Compare committed memory with the limit: the memory load does not show how full the heap is.",
			},
		},
	},
	{
		id: "R23", title: "the GC is in provisional mode", kind: cause, minor: true,
		threshold: "a GC has the reason PMFullGC, or one of the condemned reasons joined_pm_induced_full_gc, joined_pm_alloc_loh and joined_gen1_in_pm",
		source:    "gc.cpp: memory load is high, gen 2 is more than half of the heap and more than 10 % of it is free space",
		find:      inProvisionalMode,
		advice: []advice{
			{
				when: "GCHighMemPercent is set below 90, and the load is below 90 %", fits: scarceBySetting,
				text: "Remove GCHighMemPercent, or raise it: it makes memory count as scarce.", settings: []*setting{&usualHighMem},
			},
			{
				when: "otherwise", fits: func(j *judgement, f *Finding) bool { return !scarceBySetting(j, f) },
				text: "Try to free memory, or to raise the container's limit: under high memory load with a fragmented gen 2 the GC replaces gen 1 GCs with full blocking ones.", settings: []*setting{&highMemPercent},
			},
		},
	},
}

// hardLimit returns how much the heap may commit, zero if no event has a limit.
// configured reports whether a setting limits it; otherwise the limit is 75 %
// of the container's memory (gc.cpp, compute_memory_settings).
func (c *Case) hardLimit() (limit uint64, configured bool) {
	s := c.Summary.Process.Settings
	if s == nil || s.HardLimit >= 1<<62 {
		return 0, false
	}
	return s.HardLimit, s.BitSettings&clr.GCSettingsBitsHardLimitConfigured != 0
}

func hardLimited(j *judgement, _ *Finding) bool {
	limit, _ := j.hardLimit()
	return limit > 0
}

// limitText names the limit, and how much of it was committed.
func (j *judgement) limitText() string {
	limit, configured := j.hardLimit()
	most, known := j.Summary.Heap.MaxCommitted.Get()
	if limit == 0 && known && j.tallies[beforeOOM].count > 0 {
		return fmt.Sprintf(" The heap had committed up to %s.", units.Bytes(most))
	}
	if limit == 0 {
		return ""
	}
	from := "75 % of the container's memory"
	if configured {
		from = "set by GCHeapHardLimit or GCHeapHardLimitPercent"
	}
	text := fmt.Sprintf(" The heap may commit %s (%s)", units.Bytes(int64(limit)), from)
	if known {
		text += fmt.Sprintf("; it committed up to %s (%s)", units.Bytes(most), units.Percent(of(most, int64(limit))))
	}
	return text + "."
}

// limitAdvice is for a heap without room. It depends on free space, because raising the
// limit does not help if unusable free space fills the heap.
var limitAdvice = []advice{
	{
		when: "the pinned object heap holds 10 % of the heap as free space, and more than the LOH", fits: holds(4),
		text: "Allocate pinned arrays once and reuse them. Do not count on a higher limit: much of it becomes free space too.",
	},
	{
		when: "the LOH holds that much", fits: holds(3),
		text: "Try to allocate large arrays in few sizes, and to reuse them: free space in the LOH only helps arrays that fit. A higher limit may fill with free space too.",
	},
	{
		when: "neither, and the limit is known", fits: func(j *judgement, f *Finding) bool { return holdsNone(j, f) && hardLimited(j, f) },
		text: "Keep fewer objects alive, or raise the limit. To verify, check that committed memory stays below 90 % of the limit.", settings: []*setting{&higherLimit},
	},
	{
		when: "neither, and the limit is unknown", fits: func(j *judgement, f *Finding) bool { return holdsNone(j, f) && !hardLimited(j, f) },
		text: "Keep fewer objects alive, or give the heap more memory. The trace does not show the heap's limit, which is 75 % of the container's memory unless it is set.",
	},
}

// ranOut, breaksOff and atLimit find the same trouble, from the surest evidence to the least.
func ranOut(j *judgement) (Finding, bool) {
	n := j.Summary.Process.OutOfMemory
	if n == 0 {
		return Finding{}, false
	}
	f := j.limited(fmt.Sprintf("The program threw OutOfMemoryException: the trace has %s, including rethrown exceptions.", plural(n, "event")), 100)
	f.Evidence = append([]Figure{{"out_of_memory_exceptions", float64(n)}}, f.Evidence...)
	return f, true
}

func breaksOff(j *judgement) (Finding, bool) {
	after, ok := j.endsInAttempt()
	if _, thrown := ranOut(j); !ok || thrown {
		return Finding{}, false
	}
	f := j.limited(fmt.Sprintf("The trace breaks off %s after GC %d, which was the last attempt before an OutOfMemoryException: the program most likely died of it.",
		units.Duration(after), j.attempt.number), 100)
	f.Confidence = Medium
	return f, true
}

func atLimit(j *judgement) (Finding, bool) {
	_, thrown := ranOut(j)
	if _, ends := breaksOff(j); thrown || ends || j.tallies[beforeOOM].count == 0 {
		return Finding{}, false
	}
	return j.limited("", j.explains(j.tallies[beforeOOM].pause)), true
}

// limited returns a finding of a heap without room, which begins with a sentence.
func (j *judgement) limited(begins string, weight float64) Finding {
	t := &j.tallies[beforeOOM]
	share := j.explains(t.pause)
	f := Finding{Severity: Problem, Confidence: High, weight: weight, Description: begins, quotes: t}
	if t.count > 0 {
		f.Description = strings.TrimSpace(fmt.Sprintf("%s %s of %s %s the last attempt before an OutOfMemoryException: %s of the pause time.",
			begins, units.Count(t.count), gcs(j.all.Count), was(t.count), units.Percent(share)))
		f.Evidence = []Figure{{"last_attempts", float64(t.count)}, {"last_attempts_pause_pct", share}}
	}
	f.Description += j.limitText() + j.attempt.text()
	if limit, _ := j.hardLimit(); limit > 0 {
		f.Evidence = append(f.Evidence, Figure{"hard_limit_bytes", float64(limit)})
	}
	if most, known := j.Summary.Heap.MaxCommitted.Get(); known {
		f.Evidence = append(f.Evidence, Figure{"committed_max_bytes", float64(most)})
	}
	if h := j.attempt.held; h.size > 0 {
		f.Evidence = append(f.Evidence, Figure{"held_free_bytes", float64(h.free)}, Figure{"held_size_bytes", float64(h.size)})
	}
	return f
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// loadText names the memory behind the memory load: physical memory, limited by the
// container if there is one; or, from .NET 7 on, the address range of the heap if a
// larger share of that is in use. Under a hard limit the range is five times the limit
// (gc.cpp, generation_to_condemn; interface.cpp, GCHeap::Initialize).
func (j *judgement) loadText() string {
	limit, configured := j.hardLimit()
	v := versionOf(j.Summary.Process)
	switch {
	case limit == 0:
		return "the memory of the machine or its container"
	case configured && v.known && (v.framework || v.major < 7):
		return "the machine's memory"
	case configured:
		return "the machine's memory, or of the heap's address range (five times the hard limit),"
	default:
		return "the container's memory"
	}
}

// scarceBySetting reports whether memory counts as scarce only because of GCHighMemPercent.
func scarceBySetting(j *judgement, _ *Finding) bool {
	load, known := j.Summary.Heap.MaxLoad.Get()
	return known && load < highLoad && highMemoryLoad(j.Summary.Process) < highLoad && j.tallies[lowMemory].count == 0
}

func memoryScarce(j *judgement) (Finding, bool) {
	high, low := &j.tallies[highMemory], &j.tallies[lowMemory]
	if high.count == 0 && low.count == 0 {
		return Finding{}, false
	}
	load, threshold := j.Summary.Heap.MaxLoad.Or(0), highMemoryLoad(j.Summary.Process)
	f := Finding{
		Severity: problemIf(load >= veryHighLoad), Confidence: High, weight: j.explains(high.pause + low.pause),
		Description: fmt.Sprintf("At %s, %d %% or more of %s was in use, up to %d %%.%s",
			gcs(high.count), threshold, j.loadText(), load, j.limitText()),
		Evidence: []Figure{{"memory_load_pct", float64(load)}, {"at_high_load", float64(high.count)}, {"low_memory_signals", float64(low.count)}},
	}
	if scarceBySetting(j, nil) {
		f.Description = fmt.Sprintf("GCHighMemPercent=%d makes the GC treat memory as scarce: at %s, up to %d %% of %s was in use.%s",
			threshold, gcs(high.count), load, j.loadText(), j.limitText())
	}
	f.quotes = high
	if high.count == 0 {
		f.Description = fmt.Sprintf("%s ran because the system or the host signalled low memory.", gcs(low.count))
		f.quotes = low
	}
	if load < veryHighLoad && j.tallies[fullFragmented].count == 0 && j.tallies[provisional].count == 0 && low.count == 0 {
		f.Confidence = Medium // on a large machine, the GC may start to save memory only at 97 %
	}
	return f, true
}

func inProvisionalMode(j *judgement) (Finding, bool) {
	t := &j.tallies[provisional]
	if t.count == 0 {
		return Finding{}, false
	}
	share := j.explains(t.pause)
	return Finding{
		Severity: max(Warning, j.costs(share)), Confidence: High, weight: share, quotes: t,
		Description: fmt.Sprintf("%s of %s ran in provisional mode: %s of the pause time. The memory load reached %d %%.",
			units.Count(t.count), gcs(j.all.Count), units.Percent(share), j.Summary.Heap.MaxLoad.Or(0)),
		Evidence: []Figure{{"provisional", float64(t.count)}, {"provisional_pause_pct", share}, {"memory_load_pct", float64(j.Summary.Heap.MaxLoad.Or(0))}},
	}, true
}
