package findings

import (
	"fmt"
	"math"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

func tracingCosts(c *Case) (Finding, bool) {
	var walks time.Duration
	var count int
	for _, s := range c.Process.Process.Suspensions {
		if s.Kind == gc.PauseHeapWalk {
			walks += s.Total
			count += s.Count
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

// otherStops looks at the suspensions that belong to no collection.
func otherStops(c *Case) (Finding, bool) {
	var total, longest time.Duration
	var count int
	var reasons []string
	for _, s := range c.Process.Process.Suspensions {
		if s.Kind == gc.PauseHeapWalk {
			continue
		}
		total, longest, count = total+s.Total, max(longest, s.Max), count+s.Count
		reasons = append(reasons, s.Reason.String())
	}
	share := of(total, c.Process.Watched())
	if of(total, c.all().Pause.Sum()) < otherShare || total < longPause {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Says: fmt.Sprintf("%s stopped threads for %s (%s of the time), %s at most, and belong to no collection: %s.",
			counted(count, "suspension"), units.Duration(total), units.Percent(share), units.Duration(longest), list(reasons)),
		Evidence: []Figure{{"other_suspensions", float64(count)}, {"other_suspension_ms", millis(total)}, {"other_suspension_pct", share}},
		Advice:   []string{"See what raised them: gctrail events --name GCSuspendEEBegin FILE."},
	}
	if c.Trace.Sampled {
		f.Says += " The trace has CPU samples, and each of them stops all threads."
		f.Advice = []string{"Judge pauses by a trace without CPU samples: profile gc-collect."}
	} else if share >= notablePauseShare {
		f.Severity = Warning
	}
	return f, true
}

func eventsLost(c *Case) (Finding, bool) {
	all := c.all()
	if c.Trace.Lost == 0 && c.Trace.Damaged == 0 {
		return Finding{}, false
	}
	var what []string
	if c.Trace.Lost > 0 {
		what = append(what, counted(int(min(c.Trace.Lost, math.MaxInt)), "lost event"))
	}
	if c.Trace.Damaged > 0 {
		what = append(what, counted(c.Trace.Damaged, "unreadable place"))
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Says: fmt.Sprintf("%s: the figures of %s of %s may lack some.",
			list(what), units.Count(all.Affected), counted(all.Count, "collection")),
		Evidence: []Figure{{"lost_events", float64(c.Trace.Lost)}, {"affected", float64(all.Affected)}, {"collections", float64(all.Count)}},
		Advice:   []string{"Collect fewer kinds of events (profile gc-collect), or give the buffer more room: gctrail collect --buffersize 1024."},
	}
	if c.touched() {
		f.Severity = Warning
	}
	return f, true
}
