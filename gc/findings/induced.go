package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

var inducedRules = []rule{
	{
		id: "R21", title: "the program calls GC.Collect", kind: cause, minor: true,
		threshold: "three GCs or more with the reason Induced, InducedCompacting or InducedAggressive, and six of them a minute or a quarter of the pauses",
		source:    "mem-doc: induced GCs are the most common reason for full blocking ones; the thresholds are own",
		find:      callsCollect,
		advice: []advice{
			{text: "Remove the calls to GC.Collect, in libraries too: the GC chooses better times itself."},
			{when: "the trace does not name the callers", fits: callersUnknown, next: []Step{{Action: Record, Purpose: "record the callers, with the call stacks of GCTriggered", Recording: Triggers, Events: []string{"GCTriggered"}}}},
		},
	},
	{
		id: "R52", title: "GC.AddMemoryPressure or non-forced GC.Collect calls induce GCs", kind: cause, minor: true,
		threshold: "three GCs or more with the reason InducedNotForced, and six of them a minute or a quarter of the pauses",
		source:    "comutilnative.cpp, GCInterface::AddMemoryPressure: requests a GC that need not block, as GC.Collect does with Optimized or blocking: false",
		find:      memoryPressure,
		advice: []advice{
			{
				when: "the trace has calls to GC.AddMemoryPressure", fits: pressureSeen,
				text: "Free the native memory in Dispose, which needs no GC.AddMemoryPressure, or call that for large amounts only.",
			},
			{
				when: "and most of that is not removed", fits: func(j *judgement, f *Finding) bool { return pressureSeen(j, f) && pressureStays(j) },
				text: "Also try to call GC.RemoveMemoryPressure with the same amount when that memory is freed: pressure that is added and never removed grows for ever.",
			},
			{
				when: "the trace does not record such calls", fits: func(j *judgement, f *Finding) bool { return !pressureSeen(j, f) && j.Trace.Level < clr.LevelVerbose },
				text: "Find out which it is: GC.AddMemoryPressure, or GC.Collect with GCCollectionMode.Optimized or blocking: false.",
				next: []Step{{Action: Record, Purpose: "record calls to GC.AddMemoryPressure (IncreaseMemoryPressure)", Recording: Verbose, Events: []string{"IncreaseMemoryPressure"}}},
			},
			{
				when: "the trace records such calls, and they add too little", fits: func(j *judgement, f *Finding) bool { return !pressureSeen(j, f) && j.Trace.Level >= clr.LevelVerbose },
				text: "Try without the calls to GC.Collect with GCCollectionMode.Optimized or blocking: false.",
				next: []Step{{Action: Record, Purpose: "record the callers, with the call stacks of GCTriggered", Recording: Triggers, Events: []string{"GCTriggered"}}},
			},
		},
	},
}

// often reports whether a tally's collections are frequent, or cost much of the
// pauses.
func (j *judgement) often(t *tally) (perMinute, share float64, ok bool) {
	minutes := max(j.Summary.Watched().Minutes(), 1.0/60)
	perMinute, share = float64(t.count)/minutes, j.explains(t.pause)
	return perMinute, share, t.count >= several && (perMinute >= inducedPerMinute || share >= largeShare/2)
}

func callsCollect(j *judgement) (Finding, bool) {
	t := &j.tallies[collects]
	perMinute, share, ok := j.often(t)
	if !ok {
		return Finding{}, false
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share, quotes: t,
		Description: fmt.Sprintf("GC.Collect induced %s of %s: %s of the pause time.",
			units.Count(t.count), gcs(j.all.Count), units.Percent(share)),
		Evidence: []Figure{{"induced", float64(t.count)}, {"induced_pause_ms", millis(t.pause)}, {"induced_per_minute", perMinute}},
	}
	f.quoteCallers(j.Details.Collects, "Called from")
	if countCalls(f.Callers) > t.count {
		f.Description += " Not every call started a GC in this trace."
	}
	if j.Trace.Keywords&clr.KeywordGCHeapDump != 0 {
		f.Description += " The trace contains heap dumps, and each starts with an induced GC."
		f.Confidence = Low
	}
	return f, true
}

func memoryPressure(j *judgement) (Finding, bool) {
	t := &j.tallies[unforced]
	perMinute, share, ok := j.often(t)
	if !ok {
		return Finding{}, false
	}
	p := j.Summary.Process.Pressure
	f := Finding{
		Severity: j.costs(share), Confidence: Medium, weight: share, quotes: t,
		Description: fmt.Sprintf("%s of %s were induced and need not have blocked (InducedNotForced): %s of the pause time.",
			units.Count(t.count), gcs(j.all.Count), units.Percent(share)),
		Evidence: []Figure{
			{"induced_not_forced", float64(t.count)},
			{"induced_not_forced_pause_ms", millis(t.pause)},
			{"induced_per_minute", perMinute},
			{"memory_pressure_calls", float64(p.Increases)},
		},
	}
	switch {
	case pressureSeen(j, nil):
		f.Confidence = High
		f.Description += fmt.Sprintf(" GC.AddMemoryPressure was called %s for %s; %s of that was removed.",
			plural(p.Increases, "time"), units.Bytes(p.Added), units.Bytes(p.Removed))
	case j.Trace.Level >= clr.LevelVerbose:
		called := "not called"
		if p.Added > 0 {
			called = "called for " + units.Bytes(p.Added) + " only"
		}
		f.Description += " GC.AddMemoryPressure was " + called + ", so they come from GC.Collect with GCCollectionMode.Optimized or blocking: false."
	default:
		f.Description += " Such GCs come from GC.AddMemoryPressure, or from GC.Collect with GCCollectionMode.Optimized or blocking: false."
	}
	if small := j.tallies[fullTooSmall].count; 2*small > t.count {
		f.Description += " They blocked because gen 2 is too small for a background GC (gen2_too_small)."
	}
	f.quoteCallers(j.Details.Unforced, "Induced by")
	return f, true
}

// leastPressure is the least memory pressure, in bytes, for which the runtime induces a
// GC (comutilnative.cpp, MIN_MEMORYPRESSURE_BUDGET).
const leastPressure = 4 << 20

// pressureSeen reports whether calls to GC.AddMemoryPressure can have induced GCs.
func pressureSeen(j *judgement, _ *Finding) bool {
	return j.Summary.Process.Pressure.Added >= leastPressure
}

func pressureStays(j *judgement) bool {
	p := j.Summary.Process.Pressure
	return of(p.Removed, p.Added) < largeShare
}
