package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

var limitRules = []rule{
	{
		id: "R61", title: "the heap is at its limit, near OutOfMemoryException", kind: cause, minor: true,
		threshold: "a GC was the last attempt before an OutOfMemoryException: condemned reason before_oom or limit_before_oom, or reason OutOfSpaceSOH or OutOfSpaceLOH",
		source:    "gc.cpp, generation_to_condemn and try_allocate_more_space",
		find:      atLimit,
		advice: []advice{
			{when: "a hard limit is known", fits: hardLimited, text: "Raise the limit of the heap, or keep fewer objects alive. To verify, check that committed memory stays below 90 % of the limit."},
			{when: "no limit is known", fits: func(j *judgement, f *Finding) bool { return !hardLimited(j, f) }, text: "Give the process or its container more memory, or keep fewer objects alive. If a hard limit is set (GCHeapHardLimit), raise it."},
		},
	},
	{
		id: "R22", title: "memory is scarce", kind: cause, minor: true,
		threshold: "the memory load at a GC is 90 % or more (or the value of GCHighMemPercent), or the system or host signalled low memory",
		source:    "gc.cpp, compute_memory_settings: 90 %, up to 97 % on machines of 80 GB and more; mem-doc",
		find:      memoryScarce,
		advice: []advice{
			{when: "without a hard limit", fits: func(j *judgement, f *Finding) bool { return !hardLimited(j, f) }, text: "Free memory, give the container more, or move other processes away: at a high memory load the GC runs blocking, compacting gen 2 GCs.", settings: []*setting{&highMemPercent, &hardLimitPercent}},
			{when: "with a hard limit", fits: hardLimited, text: "Compare committed memory with the limit: the memory load does not measure it."},
		},
	},
	{
		id: "R23", title: "the GC is in provisional mode", kind: cause, minor: true,
		threshold: "a GC has the reason PMFullGC, or one of the condemned reasons joined_pm_induced_full_gc, joined_pm_alloc_loh and joined_gen1_in_pm",
		source:    "gc.cpp: memory load is high, gen 2 is more than half of the heap and more than 10 % of it is free space",
		find:      inProvisionalMode,
		advice: []advice{
			{text: "Free memory, or raise the container's limit: under high memory load with a fragmented gen 2 the GC replaces gen 1 GCs with full blocking ones.", settings: []*setting{&highMemPercent}},
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
	if limit == 0 {
		return ""
	}
	from := "75 % of the container's memory"
	if configured {
		from = "set by GCHeapHardLimit or GCHeapHardLimitPercent"
	}
	text := fmt.Sprintf(" The heap may commit %s (%s)", units.Bytes(int64(limit)), from)
	if most := j.Summary.Heap.MaxCommitted; most.Known() {
		text += fmt.Sprintf("; it committed up to %s (%s)", units.Bytes(most.Or(0)), units.Percent(of(most.Or(0), int64(limit))))
	}
	return text + "."
}

func atLimit(j *judgement) (Finding, bool) {
	t := &j.tallies[beforeOOM]
	if t.count == 0 {
		return Finding{}, false
	}
	share := j.explains(t.pause)
	f := Finding{
		Severity: Problem, Confidence: High, weight: share,
		Description: fmt.Sprintf("%s of %s %s the last attempt before an OutOfMemoryException: %s of the pauses.%s",
			units.Count(t.count), gcs(j.all.Count), was(t.count), units.Percent(share), j.limitText()),
		Evidence: []Figure{{"last_attempts", float64(t.count)}, {"last_attempts_pause_pct", share}},
	}
	j.quote(&f, t)
	if limit, configured := j.hardLimit(); limit > 0 {
		f.Evidence = append(f.Evidence, Figure{"hard_limit_bytes", float64(limit)}, Figure{"committed_max_bytes", float64(j.Summary.Heap.MaxCommitted.Or(0))})
		if configured {
			if s, ok := higherLimit(limit).of(j.Summary.Process); ok {
				f.Settings = append(f.Settings, s)
			}
		}
	}
	return f, true
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// loadText names what the memory load is a share of: physical memory, limited by
// the container if there is one; or, from .NET 7 on, the address range of the heap
// if a larger share of that is in use. Under a hard limit the range is five times the
// limit (gc.cpp, generation_to_condemn; interface.cpp, GCHeap::Initialize).
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

func memoryScarce(j *judgement) (Finding, bool) {
	high, low := &j.tallies[highMemory], &j.tallies[lowMemory]
	if high.count == 0 && low.count == 0 {
		return Finding{}, false
	}
	load, threshold := j.Summary.Heap.MaxLoad.Or(0), highMemoryLoad(j.Summary.Process)
	f := Finding{
		Severity: Warning, Confidence: High, weight: j.explains(high.pause + low.pause),
		Description: fmt.Sprintf("At %s, %d %% or more of %s was in use, up to %d %%.%s",
			gcs(high.count), threshold, j.loadText(), load, j.limitText()),
		Evidence: []Figure{{"memory_load_pct", float64(load)}, {"at_high_load", float64(high.count)}, {"low_memory_signals", float64(low.count)}},
	}
	j.quote(&f, high)
	if high.count == 0 {
		f.Description = fmt.Sprintf("%s ran because the system or the host signalled low memory.", gcs(low.count))
		j.quote(&f, low)
	}
	if load >= veryHighLoad {
		f.Severity = Problem
	} else if j.tallies[fullFragmented].count == 0 && j.tallies[provisional].count == 0 && low.count == 0 {
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
	f := Finding{
		Severity: max(Warning, j.costs(share)), Confidence: High, weight: share,
		Description: fmt.Sprintf("%s of %s ran in provisional mode: %s of the pauses. The memory load reached %d %%.",
			units.Count(t.count), gcs(j.all.Count), units.Percent(share), j.Summary.Heap.MaxLoad.Or(0)),
		Evidence: []Figure{{"provisional", float64(t.count)}, {"provisional_pause_pct", share}, {"memory_load_pct", float64(j.Summary.Heap.MaxLoad.Or(0))}},
	}
	j.quote(&f, t)
	return f, true
}
