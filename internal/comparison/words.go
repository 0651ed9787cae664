// Package comparison shows the changes between runs as text, JSON and Markdown, and checks
// runs with a budget for their garbage collection: absolute limits, and changes from a
// baseline.
package comparison

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Summary returns the comparison in one sentence: changed, unchanged and undecided
// metrics.
func Summary(c *compare.Comparison) string {
	var changed, same, unknown []string
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Explains != "" {
			continue
		}
		switch ch.Verdict {
		case compare.Changed:
			changed = append(changed, metricName(ch.Metric, c.Basis)+" "+magnitude(ch))
		case compare.Same:
			same = append(same, metricName(ch.Metric, c.Basis))
		default:
			unknown = append(unknown, metricName(ch.Metric, c.Basis)+undecided(ch))
		}
	}
	var parts []string
	if len(changed) > 0 {
		parts = append(parts, "changed: "+strings.Join(changed, ", "))
	}
	if len(same) > 0 {
		parts = append(parts, "the same: "+strings.Join(same, ", "))
	}
	if len(unknown) > 0 {
		parts = append(parts, "cannot tell: "+strings.Join(unknown, ", "))
	}
	return text.Sentence(strings.Join(parts, "; ")) + "."
}

// magnitude returns a change in words: "12 % more", "3.1 times as much".
func magnitude(ch *compare.Change) string {
	switch p := ch.Percent; {
	case math.IsNaN(p) && ch.Low > 0:
		return "at least " + Signed(ch.Low)[1:] + " more"
	case math.IsNaN(p):
		return "at least " + Signed(ch.High)[1:] + " less"
	case math.IsInf(p, 0):
		return "from " + bounded(ch.Before, ch.Unit) + " to " + bounded(ch.After, ch.Unit)
	case p > 200:
		return units.Number(1+p/100) + " times as much"
	case p > 0:
		return Signed(p)[1:] + " more"
	default:
		return Signed(p)[1:] + " less"
	}
}

// undecided returns the reason why a metric is undecided, in brackets.
func undecided(ch *compare.Change) string {
	if why := why(ch); why != "" {
		return " (" + why + ")"
	}
	return ""
}

// why returns the reason that a metric has no result; empty if it has one.
func why(ch *compare.Change) string {
	why := map[compare.Reason]string{
		compare.EndUnknown:    boundsOf(ch.Name),
		compare.NotRecorded:   "not recorded in every run",
		compare.TooFewPauses:  "too few pauses",
		compare.TooFewRuns:    "too few runs",
		compare.TooNoisy:      "the runs vary too much",
		compare.ParentDecides: "no clear change of " + textOf(ch.Explains),
	}[ch.Reason]
	if needed := needed(ch.RunsNeeded); needed != "" && ch.Reason != compare.NotRecorded {
		why = needed
	}
	return why
}

// endUnknown explains compare.EndUnknown, and names the recordings that avoid it.
const endUnknown = "the end of the runs hides it; gctrail run records it"

// boundsOf returns why the value of a metric is known only within bounds: what a program
// allocates after its last collection is one reason.
func boundsOf(metric string) string {
	if metric == "gc_cpu_pct" {
		return "the trace only bounds it"
	}
	return endUnknown
}

// textOf returns a metric in words.
func textOf(name string) string {
	for _, m := range compare.Metrics() {
		if m.Name == name {
			return m.Text
		}
	}
	return name
}

// needed returns how many more runs a side would decide; empty if unknown.
func needed(runs int) string {
	switch {
	case runs == 0:
		return ""
	case runs == 1:
		return "1 more run a side needed"
	case runs >= compare.MaxRunsNeeded:
		return fmt.Sprintf("%d or more runs a side needed", compare.MaxRunsNeeded)
	}
	return fmt.Sprintf("%d more runs a side needed", runs)
}

// Signed returns a change in percent with its sign, and at most one decimal; of large ones, how
// many times as much it is.
func Signed(p float64) string {
	switch {
	case math.IsNaN(p):
		return units.Unknown
	case math.IsInf(p, 1):
		return "+∞"
	case math.IsInf(p, -1):
		return "-∞"
	case p >= 1000:
		return units.Number(1+p/100) + " times"
	case math.Abs(p) >= 10:
		return fmt.Sprintf("%+.0f %%", p)
	}
	return fmt.Sprintf("%+.1f %%", p)
}

// Interval returns the interval of a change; empty if it is not bounded.
func Interval(low, high float64) string {
	if !finite(low) || !finite(high) {
		return ""
	}
	ends, unit := [2]string{Signed(low), Signed(high)}, " %"
	if high >= 1000 {
		ends, unit = [2]string{units.Number(1+low/100) + " times", units.Number(1+high/100) + " times"}, " times"
	}
	if ends[0] == ends[1] {
		return ends[0]
	}
	return strings.TrimSuffix(ends[0], unit) + " to " + ends[1]
}

// nearlyExact is the largest relative difference of bounds that are shown as one figure.
const nearlyExact = 0.005

// bounded returns a value that may be an estimate or a lower bound, marked as reports mark it.
func bounded(b compare.Bounds, unit compare.Unit) string {
	value, is := max(b.Low, b.Likely), gc.Exact
	switch {
	case !(b.High > b.Low+nearlyExact*math.Abs(b.Low)):
	case b.Likely > b.Low:
		is = gc.Estimate
	default:
		is = gc.LowerBound
	}
	return is.Mark() + figure(value, unit)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// figure returns a value in its unit, or in that of a total where it is a part of one; - if
// unknown.
func figure(v float64, unit compare.Unit) string {
	if !finite(v) {
		return units.Unknown
	}
	total, _, _ := strings.Cut(string(unit), "_per_")
	switch compare.Unit(total) {
	case compare.Bytes:
		return units.Bytes(int64(min(v, math.MaxInt64/2)))
	case compare.Milliseconds:
		return units.Duration(time.Duration(min(v, 1e12) * float64(time.Millisecond)))
	case compare.Percent:
		return fmt.Sprintf("%.1f %%", v)
	}
	if v != math.Trunc(v) && v < 100 {
		return units.Number(v) // a rate
	}
	return units.Count(int64(math.Round(min(v, 1e15))))
}

// metricName returns a metric in words, with the basis that it is compared on.
func metricName(m *compare.Metric, basis compare.Basis) string {
	if !m.Total {
		return m.Text
	}
	_, words := suffixOn(basis)
	return m.Text + cmp.Or(words, " per run")
}

var verdicts = map[compare.Verdict]string{
	compare.Changed:    "changed",
	compare.Same:       "same",
	compare.CannotTell: "cannot tell",
}
