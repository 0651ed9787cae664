package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

func tracingCosts(c *Case) (Finding, bool) {
	var walks time.Duration
	var count int
	if c.Process.Process != nil {
		for _, s := range c.Process.Process.Suspensions {
			if s.Kind == gc.PauseHeapWalk {
				walks += s.Total
				count += s.Count
			}
		}
	}
	var what []string
	for _, k := range []struct {
		keyword uint64
		costs   string
	}{
		{keywordSurvival, "survival and movement (0x400000): the heap is walked while threads stand still"},
		{keywordHeapDump, "heap dumps (0x100000): each is a full collection"},
		{keywordSampled, "sampled allocation (0x200000, 0x2000000): objects are allocated on a slower path"},
	} {
		if c.Trace.Keywords&k.keyword != 0 {
			what = append(what, k.costs)
		}
	}
	if len(what) == 0 && count == 0 {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Evidence: []Figure{{"heap_walks", float64(count)}, {"heap_walk_ms", millis(walks)}},
		Advice:   []string{"Judge pauses by a trace without these keywords: profile gc-collect."},
	}
	if len(what) > 0 {
		f.Says = "The session collected " + list(what) + "."
	}
	if count > 0 {
		f.Says += fmt.Sprintf(" %s of the heap for the trace took %s, which no collection is charged with.", counted(count, "walk"), units.Duration(walks))
	}
	if of(walks, c.all().Pause.Sum()) >= tracingShare {
		f.Severity = Warning
	}
	return f, true
}

func eventsLost(c *Case) (Finding, bool) {
	all := c.all()
	if c.Trace.Lost == 0 && all.Affected == 0 {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Says: fmt.Sprintf("%s events are not in the trace; the figures of %s of %s may lack some.",
			units.Count(c.Trace.Lost), units.Count(all.Affected), counted(all.Count, "collection")),
		Evidence: []Figure{{"lost_events", float64(c.Trace.Lost)}, {"affected", float64(all.Affected)}, {"collections", float64(all.Count)}},
		Advice:   []string{"Collect fewer kinds of events (profile gc-collect), or give the buffer more room: dotnet-trace collect --buffersize 1024."},
	}
	if c.touched() {
		f.Severity = Warning
	}
	return f, true
}
