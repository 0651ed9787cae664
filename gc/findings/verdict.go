package findings

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/internal/units"
)

// innocence is the finding that the collector is not to blame.
func (c *Case) innocence() Finding {
	all := c.all()
	f := Finding{
		ID: "R01", Title: "the garbage collector is innocent", Severity: Note, Confidence: High,
		Says: fmt.Sprintf("Threads stood still %s of the time, never longer than %s; up to %d %% is normal.",
			units.Percent(c.share()), units.Duration(all.Pause.Max()), notablePauseShare),
		Evidence: []Figure{{"pause_pct", c.share()}, {"pause_max_ms", millis(all.Pause.Max())}},
		Advice:   []string{"Look elsewhere: CPU, locks, input and output, other processes."},
	}
	if c.Trace.Cut || c.Process.Watched() < watchedEnough {
		f.Confidence = Medium
	}
	return f
}

// Verdict sums the findings up in one sentence.
func (c *Case) Verdict(found []Finding) string {
	all := c.all()
	share, longest := units.Percent(c.share()), units.Duration(all.Pause.Max())
	if c.touched() {
		share = "at least " + share
	}
	switch {
	case all.Count == 0:
		return "No collection happened."
	case all.Pause.Count() == 0:
		return fmt.Sprintf("No verdict: of %s none is in the trace with its pauses.", counted(all.Count, "collection"))
	case c.touched() && c.share() < notablePauseShare:
		return fmt.Sprintf("No verdict, events were lost: in what is left, threads stood still for %s, %s at most at once.",
			units.Duration(all.Pause.Sum()), longest)
	case c.innocent(found):
		return fmt.Sprintf("The GC is innocent: threads stood still %s of the time, never longer than %s.", share, longest)
	case c.share() >= highPauseShare:
		return fmt.Sprintf("The GC is a problem: threads stood still %s of the time%s.", share, mainCause(found))
	case c.share() >= notablePauseShare:
		return fmt.Sprintf("The GC costs time: threads stood still %s of it%s.", share, mainCause(found))
	case c.hurts():
		return fmt.Sprintf("The GC stops threads for long: up to %s at once, %s of the time%s.", longest, share, mainCause(found))
	default:
		return fmt.Sprintf("The GC's pauses are no trouble (%s of the time, %s at most), but %s.", share, longest, foremost(found))
	}
}

// mainCause names the first finding that explains pauses.
func mainCause(found []Finding) string {
	for i := range found {
		if found[i].Severity > Note && kindOf(found[i].ID) == cause {
			return "; " + found[i].Title
		}
	}
	return ""
}

func foremost(found []Finding) string {
	for i := range found {
		if found[i].Severity > Note && kindOf(found[i].ID) != quality {
			return found[i].Title
		}
	}
	return ""
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return units.Count(n) + " " + noun + "s"
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
