package findings

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A Trace describes the quality of the evidence in a whole trace.
type Trace struct {
	Keywords uint64 // of the recorded events of the runtime's provider
	Level    uint8  // the highest of them
	Events   uint64 // of the runtime's provider
	Loss     trace.Loss
	Sampled  bool // the runtime's sample profiler ran
	CPUs     int  // 0 if unknown

	// Until is the time up to which an unfinished trace has been recorded. It can be
	// later than the last event, because a process without events may still run. It is
	// unknown for a trace that was read to its end.
	Until gc.Opt[time.Duration]

	// Silence is the time without events at the beginning of the trace: see trace.Info.
	Silence time.Duration

	// StartsUnrecorded reports that the session did not record GCStart, so that the trace
	// may lack collections.
	StartsUnrecorded bool

	// Servers counts the processes of the trace with server GC, and ServerHeaps
	// their heaps.
	Servers, ServerHeaps int
}

// incomplete returns the reason why whole collections may be missing without a count of
// lost events; empty if there is none.
func (t *Trace) incomplete() string {
	switch {
	case t.Loss.Damaged > 0:
		return "the file is damaged"
	case t.Loss.Truncated:
		return "the trace is truncated"
	case t.Loss.Uncounted():
		return "parts of the trace may be missing"
	case t.Loss.LeftOut > 0:
		return fmt.Sprintf("only the first %s processes are read", units.Count(gc.MaxProcesses))
	}
	return ""
}

// sessionBits are keywords that an EventSource sets on its events for internal
// use.
const sessionBits = 0xF00000000000

// TraceOf describes the evidence of a source that was read to its end.
func TraceOf(src trace.Source) Trace {
	t := Trace{
		Loss: *src.Loss(), CPUs: src.Info().CPUs,
		Silence:          src.Info().Silence(),
		StartsUnrecorded: !clr.Declared(src.Info(), clr.KindGCStart),
	}
	for _, p := range RecordedOf(src) {
		switch p.Provider {
		case clr.SampleProvider:
			t.Sampled = true
		case clr.RuntimeProvider:
			t.Keywords, t.Level, t.Events = p.Keywords, p.Level, p.Events
		}
	}
	return t
}

// A Recorded describes the recorded events of one provider.
type Recorded struct {
	Provider string
	Keywords uint64 // that must have been enabled
	Level    uint8  // the highest of an event
	Events   uint64
}

// RecordedOf returns the recorded providers of a source that was read to its end,
// sorted by name.
func RecordedOf(src trace.Source) []Recorded {
	var all []Recorded
	for d, n := range src.Counts() {
		if n == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(r Recorded) bool { return r.Provider == d.Provider })
		if i < 0 {
			i = len(all)
			all = append(all, Recorded{Provider: d.Provider})
		}
		r := &all[i]
		r.Events += n
		r.Level = max(r.Level, d.Level)
		// It counts only if it is the only keyword, because any of an event's keywords
		// enables it.
		if k := d.Keywords &^ sessionBits; bits.OnesCount64(k) == 1 {
			r.Keywords |= k
		}
	}
	slices.SortFunc(all, func(a, b Recorded) int { return cmp.Compare(a.Provider, b.Provider) })
	return all
}

var traceRules = []rule{
	{
		id: "R80", title: "tracing itself costs pauses", kind: quality,
		threshold: "the session has the keyword GCHeapSurvivalAndMovement, GCHeapDump or GCSampledObjectAllocation, or half of the background GCs or more have a heap walk; a warning where heap walks take a tenth of the pauses",
		source:    "gc.cpp, bgc_heap_walk_for_etw_p; docs of the keywords",
		find:      tracingCosts,
		advice: []advice{
			{when: "the trace shows which", fits: tracedCostly, text: "Measure pauses with a trace without these keywords."},
			{when: "heap walks show it", fits: func(j *judgement, f *Finding) bool { return !tracedCostly(j, f) }, text: "Measure pauses with a trace of collections only: the session, or another one at the same time, records survival and movement (0x400000)."},
			{next: []Step{{Action: Record, Purpose: "record collections only", Recording: Collections}}},
		},
	},
	{
		id: "R81", title: "verbose events overflowed the buffer", kind: quality,
		threshold: "events were lost, and the session recorded the runtime's events at level verbose",
		source:    "own; allocation ticks, handles and pins make up to 30 MB a second",
		find:      verboseOverflow,
		advice: []advice{{
			text: "Measure pauses with a trace at level informational.",
			next: []Step{{Action: Record, Purpose: "record collections only", Recording: Collections}},
		}},
	},
	{
		id: "R83", title: "events were lost", kind: quality,
		threshold: "events were lost or places cannot be read; a warning, and no verdict, where more than 1 % of the GCs are affected",
		source:    "own",
		find:      eventsLost,
		advice: []advice{{
			when: "the level is below verbose", fits: func(j *judgement, _ *Finding) bool {
				return j.Trace.Loss.Dropped() > 0 && j.Trace.Level < clr.LevelVerbose
			},
			text: "Record with a larger buffer.",
			next: []Step{{Action: Record, Purpose: "record with a larger buffer", Recording: LargeBuffer}},
		}, {
			when: "otherwise", fits: func(j *judgement, _ *Finding) bool {
				return j.Trace.Loss.Dropped() == 0 || j.Trace.Level >= clr.LevelVerbose
			},
			text: "Treat sums as lower bounds.",
		}},
	},
	{
		id: "R84", title: "the trace is short", kind: quality,
		threshold: "the process was watched for less than 10 s, or there are fewer than 20 GCs",
		source:    "own",
		find:      shortOf,
		advice:    []advice{{text: "Record for half a minute or longer under the usual load.", next: []Step{{Action: Record, Purpose: "record for longer", Recording: Longer}}}},
	},
	{
		id: "R85", title: "the trace includes program start-up", kind: quality,
		threshold: "the first GC of the process is in the trace, and pauses took at least twice or at most half as large a share of the first 2 s as of the rest; or objects in gen 2, the LOH and the POH grew by 10 MB in that time",
		source:    "own: code is loaded and caches are filled",
		find:      startupDiffers,
		advice:    []advice{{text: "Judge the time after start-up, as these findings do."}},
	},
}

// costlyKeywords make the runtime do work for the trace.
const costlyKeywords = clr.KeywordGCHeapSurvivalAndMovement | clr.KeywordGCHeapDump |
	clr.KeywordGCSampledObjectAllocationHigh | clr.KeywordGCSampledObjectAllocationLow

func tracedCostly(j *judgement, _ *Finding) bool {
	return j.Trace.Keywords&costlyKeywords != 0
}

func tracingCosts(j *judgement) (Finding, bool) {
	walks := j.outsideOf(func(s *gc.SuspensionTotal) bool { return s.Kind == gc.PauseHeapWalk })
	var what []string
	for _, k := range []struct {
		keyword uint64
		costs   string
	}{
		{clr.KeywordGCHeapSurvivalAndMovement, fmt.Sprintf("survival and movement (%#x), which walks the heap while threads are paused", clr.KeywordGCHeapSurvivalAndMovement)},
		{clr.KeywordGCHeapDump, fmt.Sprintf("heap dumps (%#x), each of which is a full GC", clr.KeywordGCHeapDump)},
		{
			clr.KeywordGCSampledObjectAllocationHigh | clr.KeywordGCSampledObjectAllocationLow,
			fmt.Sprintf("sampled allocation (%#x, %#x), which makes allocations slower", clr.KeywordGCSampledObjectAllocationHigh, clr.KeywordGCSampledObjectAllocationLow),
		},
	} {
		if j.Trace.Keywords&k.keyword != 0 {
			what = append(what, k.costs)
		}
	}
	if len(what) == 0 && walks.count == 0 {
		return Finding{}, false
	}
	var said []string
	if len(what) > 0 {
		said = append(said, "The session recorded "+list(what)+".")
	}
	if walks.count > 0 {
		said = append(said, fmt.Sprintf("%s for the trace took %s, not counted in any GC's pause.", plural(walks.count, "heap walk"), units.Duration(walks.total)))
	}
	return Finding{
		Severity: warningIf(of(walks.total, j.all.Pause.Sum()) >= tracingShare), Confidence: High, Description: strings.Join(said, " "),
		Evidence: []Figure{{"heap_walks", float64(walks.count)}, {"heap_walk_ms", millis(walks.total)}},
	}, true
}

func verboseOverflow(j *judgement) (Finding, bool) {
	if j.Trace.Loss.Dropped() == 0 || j.Trace.Level < clr.LevelVerbose {
		return Finding{}, false
	}
	rate := 0.0
	if watched := j.Summary.Watched(); watched > 0 {
		rate = float64(j.Trace.Events) / watched.Seconds()
	}
	return Finding{
		Severity: Note, Confidence: Medium,
		Description: fmt.Sprintf("The session recorded level verbose, %s runtime events a second, and %s lost.",
			units.Count(int(min(rate, math.MaxInt32))), plural(int(min(j.Trace.Loss.Dropped(), math.MaxInt)), "event")+" "+was(int(min(j.Trace.Loss.Dropped(), 2)))),
		Evidence: []Figure{{"events_per_second", rate}, {"lost_events", float64(j.Trace.Loss.Dropped())}},
	}, true
}

func eventsLost(j *judgement) (Finding, bool) {
	if j.Trace.Loss.Dropped() == 0 && j.Trace.Loss.Damaged == 0 {
		return Finding{}, false
	}
	var what []string
	if j.Trace.Loss.Dropped() > 0 {
		what = append(what, plural(int(min(j.Trace.Loss.Dropped(), math.MaxInt)), "event")+" lost")
	}
	if j.Trace.Loss.Damaged > 0 {
		what = append(what, plural(j.Trace.Loss.Damaged, "unreadable place"))
	}
	then := "no GC is known to lack events"
	if j.all.Affected > 0 {
		then = fmt.Sprintf("the figures of %s of %s may be too low", units.Count(j.all.Affected), gcs(j.all.Count))
	}
	return Finding{
		Severity: warningIf(j.affected()), Confidence: High,
		Description: fmt.Sprintf("%s: %s.", list(what), then),
		Evidence:    []Figure{{"lost_events", float64(j.Trace.Loss.Dropped())}, {"affected", float64(j.all.Affected)}, {"collections", float64(j.all.Count)}},
	}, true
}

func shortOf(j *judgement) (Finding, bool) {
	if !j.short() || j.all.Count == 0 {
		return Finding{}, false
	}
	return Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("The trace shows %s in %s: shares and rates may differ over a longer time.", gcs(j.all.Count), units.Duration(j.Summary.Watched())),
		Evidence:    []Figure{{"watched_ms", millis(j.Summary.Watched())}, {"collections", float64(j.all.Count)}},
	}, true
}

func startupDiffers(j *judgement) (Finding, bool) {
	if !j.steady {
		return Finding{}, false
	}
	first, s := of(j.startup.pause, startupTime), &j.startup
	differs := max(first, j.share) >= 1 && (first >= 2*j.share || j.share >= 2*first)
	grew := s.old[1].Or(0) - s.old[0].Or(0)
	if !differs && grew < someBytes {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("GC pauses took %s of the program's first %s, and %s of the time after that.",
			units.Percent(first), units.Duration(startupTime), units.Percent(j.share)),
		Evidence: []Figure{{"startup_pause_pct", first}, {"steady_pause_pct", j.share}},
	}
	if grew >= someBytes {
		f.Description += fmt.Sprintf(" In these %s, objects in gen 2, the LOH and the POH grew from %s to %s.",
			units.Duration(startupTime), units.Bytes(s.old[0].Or(0)), units.Bytes(s.old[1].Or(0)))
		f.Evidence = append(f.Evidence, Figure{"startup_old_first_bytes", float64(s.old[0].Or(0))}, Figure{"startup_old_last_bytes", float64(s.old[1].Or(0))})
	}
	return f, true
}
