package findings

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return units.Count(n) + " " + noun + "s"
}

func gcs(n int) string { return plural(n, "GC") }

// heapsFrom formats the least and the largest number of heaps.
func heapsFrom(least, most int) string {
	if least == most {
		return plural(most, "heap")
	}
	return fmt.Sprintf("%d to %s", least, plural(most, "heap"))
}

// list joins words with commas and "and".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// atLeast formats a sum of bytes, marked if it is an estimate or a lower bound.
func atLeast(b stats.Bytes) string { return certaintyWords[b.Certainty()] + units.Bytes(b.Sum) }

// perSecond formats a rate, marked as atLeast does.
func perSecond(r stats.Rate) string {
	return certaintyWords[r.Certainty] + units.Bytes(units.IntCapped(r.PerSecond)) + "/s"
}

var certaintyWords = map[gc.Certainty]string{gc.Estimate: "about ", gc.LowerBound: "at least "}

// bound marks a figure of all pauses if pauses are unknown, or lost events may belong to
// more.
func (j *judgement) bound(figure string) string {
	if j.all.PauseAtLeast() && !strings.HasPrefix(figure, "<") {
		return "at least " + figure
	}
	return figure
}

// unseen returns how many GCs leave the total pause in doubt, and by how much, as a
// sentence that follows others; empty if none does.
func (j *judgement) unseen() string {
	n := max(j.all.PausesUnknown(), j.all.Affected)
	if n == 0 {
		return ""
	}
	said := fmt.Sprintf(" Pauses of %s of %s may be missing", units.Count(n), gcs(j.all.Count))
	if _, most, _ := j.Summary.PauseBounds(j.Trace.Loss.Incomplete()); most.Known() {
		said += fmt.Sprintf(": they took at most %s of the time", units.Percent(most.Or(100)))
	}
	return said + "."
}

// upper capitalises the first letter of a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
