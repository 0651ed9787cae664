package findings

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/internal/units"
)

// innocent reports whether no finding is worse than a note, in a trace that is
// complete, and with start-up included.
func (j *judgement) innocent(found []Finding) bool {
	if j.all.Pause.Count() == 0 || j.affected() || j.Trace.StartsUnrecorded || j.Trace.Damaged > 0 || j.overall() >= j.budget.Share {
		return false
	}
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Severity > Note && f.kind != quality })
}

const (
	innocentTitle  = "the garbage collector is innocent"
	innocentAdvice = "Look elsewhere: CPU, locks, I/O, other processes."
)

// innocentTested are programs without trouble.
var innocentTested = []Claim{{"gcload idle, .NET 10", "waits; a heap dump induced its only GC, of 1.1 ms"}}

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
	if j.Trace.Truncated || j.short() || j.all.PauseAtLeast() {
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
	case j.Trace.Damaged > 0 && j.share < j.budget.Share && !j.hurts():
		return NoVerdict, fmt.Sprintf("No verdict: the file is damaged; the GC pauses that can be read took %s, the longest %s.", share, longest)
	case j.innocent(found):
		return Innocent, fmt.Sprintf("The GC is innocent: pauses took %s (budget: %s), the longest %s (budget: %s).%s", share, j.budget.share(), longest, j.budget.pause(), j.unseen())
	case j.share >= j.budget.high():
		return Guilty, fmt.Sprintf("The GC is a problem: pauses took %s (budget: %s)%s.", share, j.budget.share(), causeOf(found))
	case j.share >= j.budget.Share:
		return CostsTime, fmt.Sprintf("The GC costs time: pauses took %s (budget: %s)%s.", share, j.budget.share(), causeOf(found))
	case j.hurts():
		return LongPauses, fmt.Sprintf("GC pauses are long: up to %s (budget: %s), %s%s.", longest, j.budget.pause(), share, causeOf(found))
	case j.overall() >= j.budget.Share:
		return WithinBudget, fmt.Sprintf("GC pauses are within budget after start-up: they took %s (budget: %s), the longest %s.", share, j.budget.share(), longest)
	default:
		return WithinBudget, fmt.Sprintf("GC pauses are within budget (%s, the longest %s), but %s.", share, longest, foremost(found))
	}
}

// mainCause returns the first finding that explains least of the pauses or more, in
// percent; nil if there is none.
func mainCause(found []Finding, least float64) *Finding {
	for i := range found {
		if f := &found[i]; f.Severity > Note && (f.kind == cause || f.kind == generic) && f.weight >= least {
			return f
		}
	}
	return nil
}

// causeOf names the first finding that explains pauses.
func causeOf(found []Finding) string {
	if f := mainCause(found, 0); f != nil {
		return "; " + f.Title
	}
	return ""
}

func foremost(found []Finding) string {
	for i := range found {
		if found[i].Severity > Note && found[i].kind != quality {
			return found[i].Title
		}
	}
	return "events were lost"
}
