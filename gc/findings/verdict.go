package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/internal/units"
)

// innocent reports whether no finding is worse than a note, in a complete trace, and with
// start-up included.
func (j *judgement) innocent(found []Finding) bool {
	if j.all.Pause.Count() == 0 || j.affected() || j.Trace.StartsUnrecorded || j.Trace.incomplete() != "" || j.overall() >= j.budget.Share {
		return false
	}
	if j.tooShort() || j.undecided() != "" || j.suspendedElsewhere() != "" {
		return false
	}
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Severity > Note && f.kind != quality })
}

// tooShort reports whether the trace is too short to say that pauses are within budget.
// In a short time, a single pause within the budget would exceed the share, and a few GCs
// are not representative of the others.
func (j *judgement) tooShort() bool {
	watched := j.Summary.Watched()
	return watched.Seconds() < 100*j.budget.Pause.Seconds()/j.budget.Share || watched < shortTrace && j.all.Count < several
}

// undecided describes the unknown pauses, if they decide whether pauses are within budget;
// otherwise it is empty.
func (j *judgement) undecided() string {
	least, most, longest := j.Summary.PauseBounds(j.Trace.Loss.Incomplete())
	n := max(j.all.PausesUnknown(), j.all.Affected)
	switch {
	case n == 0:
		return ""
	case least.Or(0) < j.budget.Share && most.Or(100) >= j.budget.Share:
		return fmt.Sprintf("pauses of %s of %s may be missing: they took from %s to %s of the time (budget: %s)",
			units.Count(n), gcs(j.all.Count), units.Percent(least.Or(0)), units.Percent(most.Or(100)), j.budget.share())
	case j.all.Pause.Max() <= j.budget.Pause && longest > j.budget.Pause:
		return fmt.Sprintf("pauses of %s of %s may be missing: the longest took from %s to %s (budget: %s)",
			units.Count(n), gcs(j.all.Count), units.Duration(j.all.Pause.Max()), units.Duration(longest), j.budget.pause())
	}
	return ""
}

const (
	innocentTitle  = "the garbage collector is innocent"
	innocentAdvice = "Look elsewhere: CPU, locks, I/O, other processes."
)

// innocence returns the finding that the garbage collector is not to blame.
func (j *judgement) innocence() Finding {
	f := Finding{
		ID: "R01", Title: innocentTitle, Severity: Note, Confidence: High, kind: symptom,
		Description: fmt.Sprintf("GC pauses took %s of the time%s, the longest %s (budget: %s).%s",
			j.bound(units.Percent(j.overall())), j.besideBudget(), units.Duration(j.all.Pause.Max()), j.budget.pause(), j.unseen()),
		Evidence: append(j.shares(),
			Figure{"budget_pct", j.budget.Share},
			Figure{"pause_max_ms", millis(j.all.Pause.Max())},
			Figure{"budget_ms", millis(j.budget.Pause)},
		),
		Advice: []string{innocentAdvice},
	}
	if j.short() || j.all.PauseAtLeast() {
		f.Confidence = Medium
	}
	return f
}

// A Code is a verdict for programs.
type Code string

// The codes of verdicts.
const (
	Innocent      Code = "innocent"       // no finding is worse than a note
	WithinBudget  Code = "within_budget"  // pauses are within budget, but there are findings
	LongPauses    Code = "long_pauses"    // single pauses exceed the budget
	Suspended     Code = "suspended"      // pauses are within budget, but threads are suspended outside collections for more than it
	CostsTime     Code = "costs_time"     // the share of time paused exceeds the budget
	Guilty        Code = "problem"        // the share is at least twice the budget
	NoCollections Code = "no_collections" // were recorded
	NoVerdict     Code = "no_verdict"     // the trace does not contain enough
)

// verdict sums the findings up, as a code and in words.
func (j *judgement) verdict(found []Finding) (Code, string) {
	share, longest := j.bound(units.Percent(j.overall())), units.Duration(j.all.Pause.Max())
	if j.steady && j.budget.level(j.share) != j.budget.level(j.overall()) {
		share = fmt.Sprintf("%s of the time, and %s after start-up", share, units.Percent(j.share))
	} else {
		share += " of the time"
	}
	elsewhere, also := j.suspendedElsewhere(), ""
	if elsewhere != "" {
		also = " " + upper(elsewhere) + "."
	}
	switch {
	case j.all.Count == 0:
		return NoCollections, "No GC happened."
	case j.Trace.StartsUnrecorded:
		return NoVerdict, "No verdict: the trace did not record GCStart, so GCs may be missing."
	case j.all.Pause.Count() == 0:
		return NoVerdict, "No verdict: no GC in this trace has a complete pause."
	case j.affected() && j.share < j.budget.Share:
		return NoVerdict, fmt.Sprintf("No verdict: events were lost; the recorded GC pauses took %s, the longest %s.",
			units.Duration(j.all.Pause.Sum()), longest)
	case j.Trace.incomplete() != "" && j.share < j.budget.Share && !j.hurts():
		return NoVerdict, fmt.Sprintf("No verdict: %s; the GC pauses that can be read took %s, the longest %s.%s", j.Trace.incomplete(), share, longest, beside(found))
	case j.innocent(found):
		return Innocent, fmt.Sprintf("Pauses took %s (budget: %s), the longest %s (budget: %s): the GC is innocent.%s", share, j.budget.share(), longest, j.budget.pause(), j.unseen())
	case j.share >= j.budget.high():
		return Guilty, fmt.Sprintf("Pauses took %s (budget: %s)%s.%s", share, j.budget.share(), causeOf(found), also)
	case j.share >= j.budget.Share:
		return CostsTime, fmt.Sprintf("Pauses took %s (budget: %s)%s.%s", share, j.budget.share(), causeOf(found), also)
	case j.hurts():
		return LongPauses, fmt.Sprintf("Pauses lasted up to %s (budget: %s) and took %s%s.%s", longest, j.budget.pause(), share, causeOf(found), also)
	case elsewhere != "":
		return Suspended, fmt.Sprintf("Pauses took %s (budget: %s), the longest %s, but %s.", share, j.budget.share(), longest, elsewhere)
	case j.undecided() != "":
		return NoVerdict, fmt.Sprintf("No verdict: %s.%s", j.undecided(), beside(found))
	case j.tooShort():
		return NoVerdict, fmt.Sprintf("No verdict: %s in %s is too little to judge by; pauses took %s (budget: %s), the longest %s.%s",
			gcs(j.all.Count), units.Duration(j.Summary.Watched()), share, j.budget.share(), longest, beside(found))
	case j.overall() >= j.budget.Share:
		return WithinBudget, fmt.Sprintf("Pauses took %s (budget: %s), the longest %s: within budget after start-up.", share, j.budget.share(), longest)
	default:
		return WithinBudget, fmt.Sprintf("Pauses took %s, the longest %s: within budget, but %s.", share, longest, cmp.Or(foremost(found), "events were lost"))
	}
}

// heaviestCause returns the finding that explains most of the pauses. It prefers a specific
// cause to a generic one that explains up to twice as much, because that one counts the
// pauses that it touches as a whole. It is nil if no finding explains a quarter.
func heaviestCause(found []Finding) *Finding {
	var heaviest *Finding
	for i := range found {
		f := &found[i]
		if f.Severity == Note || f.kind != cause && f.kind != generic || f.weight < largeShare/2 {
			continue
		}
		if heaviest == nil || f.explainsMore(heaviest) {
			heaviest = f
		}
	}
	return heaviest
}

// explainsMore reports whether f explains more of the pauses than g does.
func (f *Finding) explainsMore(g *Finding) bool {
	switch {
	case f.kind == cause && g.kind == generic:
		return genericCounts*f.weight >= g.weight
	case f.kind == generic && g.kind == cause:
		return f.weight > genericCounts*g.weight
	}
	return f.weight > g.weight
}

// genericCounts is the factor by which a generic cause must outweigh a specific one; own.
const genericCounts = 2

// causeOf names the finding that explains most of the pauses, or else the first specific
// cause.
func causeOf(found []Finding) string {
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Severity == Problem && f.rule.ends }); i >= 0 {
		return "; " + found[i].Title
	}
	if f := heaviestCause(found); f != nil {
		return "; " + f.Title
	}
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Severity > Note && f.kind == cause }); i >= 0 {
		return "; " + found[i].Title
	}
	return ""
}

// foremost returns the title of the first finding that is not about the trace; empty if
// there is none.
func foremost(found []Finding) string {
	for i := range found {
		if found[i].Severity > Note && found[i].kind != quality {
			return found[i].Title
		}
	}
	return ""
}

// beside returns the foremost finding as a sentence that follows others, if there is one.
func beside(found []Finding) string {
	if title := foremost(found); title != "" {
		return " " + upper(title) + "."
	}
	return ""
}
