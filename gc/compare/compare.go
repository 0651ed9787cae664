// Package compare finds changes between runs of a program, and distinguishes them from
// noise.
//
// The unit of comparison is the run. Tests over single collections would find differences
// even between the halves of one run, because collections resemble their neighbours. With
// five runs or more a side, a permutation test over runs finds changes. The
// Hodges-Lehmann shift and its interval bound them; with fewer than four runs, a
// moving-block bootstrap within runs does, widened by the noise between equal runs.
// docs/compare.md has the definitions and their sources.
package compare

import (
	"math"
	"slices"
)

// A Verdict is the result for a metric, or for a comparison.
type Verdict string

// The verdicts. CannotTell is a full answer: more runs are needed.
const (
	Changed    Verdict = "changed"
	Same       Verdict = "same"
	NoChange   Verdict = "no_change" // of a Trend: none was found, though there are runs enough
	CannotTell Verdict = "cannot_tell"
)

// Alpha is the share of comparisons of equal runs that may find a change, in any of
// the primary metrics.
const Alpha = 0.01

// outside is the share of intervals that may miss the change.
const outside = 0.05

// MinRuns is the number of runs per side from which a metric can be Changed. Fewer are
// not significant, because one division of ten runs into halves in 126 is as extreme as
// any, but one in 35 of eight runs.
const MinRuns = 5

// minRanked is the number of runs per side from which their ranks bound a change.
const minRanked = 4

// MaxRunsNeeded is the largest RunsNeeded; it means that many or more.
const MaxRunsNeeded = 100

// A Change is the result for one metric. Unknown figures are NaN; unbounded
// intervals extend to infinity.
type Change struct {
	*Metric
	Verdict Verdict
	// Before and After bound the medians over the runs, on the Basis.
	Before, After Bounds
	// Percent is the change relative to Before; NaN if the bounds are further apart than
	// the band, or the medians contradict the interval. It lies between Low and High with a
	// confidence of 95 %, and is at most AtMost with the same confidence.
	Percent, Low, High, AtMost float64
	// P is the p-value, adjusted for the number of metrics; NaN without a test.
	P float64
	// RunsNeeded is how many more runs per side would decide a CannotTell, zero
	// if unknown.
	RunsNeeded int
	// Reason is why there is no result.
	Reason Reason

	// In the metric's unit: the difference that matters, bounds of the shift between the
	// sides, and the intervals that hold it with a confidence of 95 and of 90 %.
	matters             float64
	shift, wide, narrow Bounds

	table // of the runs
}

// A Reason is why a metric has no result.
type Reason string

// The reasons.
const (
	Decided       Reason = ""
	EndUnknown    Reason = "end_unknown"      // more than the band may hide after the runs' last collections
	TooNoisy      Reason = "too_noisy"        // the interval is wider than the band
	TooFewRuns    Reason = "too_few_runs"     // for the test to find anything
	TooFewPauses  Reason = "too_few_pauses"   // for the percentile
	NotRecorded   Reason = "not_recorded"     // a run lacks the figure
	ParentDecides Reason = "parent_unchanged" // the metric it explains has not changed
)

// A Comparison lists the changes between two sets of runs.
type Comparison struct {
	Verdict       Verdict
	Before, After []*Run
	Basis         Basis
	Changes       []Change // in the order of Metrics
	Notes         []Note
	Causes        []Cause

	worth map[*Run]float64 // how many independent pauses each run has
	scale float64          // divisor of the totals of a median run
}

// Compare compares two sets of runs. It needs at least one run on each side;
// runs without collections count.
func Compare(before, after []*Run) *Comparison {
	c := &Comparison{Before: before, After: after, Basis: basisOf(before, after)}
	c.scale = Scale(slices.Concat(before, after), c.Basis)
	c.worth = make(map[*Run]float64)
	for _, r := range slices.Concat(before, after) {
		c.worth[r] = r.worth()
	}
	valuesBefore, valuesAfter := valuesOf(before, c.Basis), valuesOf(after, c.Basis)
	for i := range metrics {
		c.Changes = append(c.Changes, c.describe(&metrics[i], table{valuesBefore[i], valuesAfter[i]}))
	}
	c.bound()
	c.test("")
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Explains == "" {
			c.test(ch.Name)
		}
	}
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Reason == Decided {
			c.decide(ch)
		}
	}
	c.gate()
	c.Verdict = c.verdict()
	c.Notes = notes(c)
	c.Causes = causes(c)
	return c
}

// runs returns the smaller number of runs of the two sides.
func (c *Comparison) runs() int { return min(len(c.Before), len(c.After)) }

// describe returns a change that is not decided yet.
func (c *Comparison) describe(m *Metric, t table) Change {
	ch := Change{
		Metric: m, table: t, Verdict: CannotTell, P: math.NaN(), Before: t.before.median(), After: t.after.median(),
		Percent: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), AtMost: math.Inf(1),
	}
	needed, have := m.needed(), min(c.worthOf(c.Before), c.worthOf(c.After))
	switch {
	case math.IsNaN(ch.Before.Low) || math.IsNaN(ch.After.Low):
		ch.Reason = NotRecorded
	case have <= needed:
		ch.Reason = TooFewPauses
		runs := c.runs()
		ch.RunsNeeded = moreRuns(runs, float64(runs)*(needed+1)/max(have, 1))
	}
	ch.matters = m.Matters(ch.Before.Low, c.scale)
	return ch
}

// gate withdraws the changes of metrics whose primary metric has not changed.
func (c *Comparison) gate() {
	primary := make(map[string]Verdict)
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Explains == "" {
			primary[ch.Name] = ch.Verdict
		} else if ch.Verdict == Changed && primary[ch.Explains] != Changed {
			ch.Verdict, ch.Reason = CannotTell, ParentDecides
		}
	}
}

// worthOf returns how many independent pauses all runs have together.
func (c *Comparison) worthOf(runs []*Run) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += c.worth[r]
	}
	return sum
}

// verdict returns the verdict of the primary metrics: Changed if one has, NoChange if
// none of the metrics that can be judged has.
func (c *Comparison) verdict() Verdict {
	same := false
	undecided := false
	for i := range c.Changes {
		ch := &c.Changes[i]
		switch {
		case ch.Explains != "":
		case ch.Verdict == Changed:
			return Changed
		case ch.Verdict == Same:
			same = true
		case ch.Reason != NotRecorded && ch.Reason != TooFewPauses:
			undecided = true
		}
	}
	if undecided || !same {
		return CannotTell
	}
	return Same
}

// decide sets the verdict of a change whose intervals are known.
func (c *Comparison) decide(ch *Change) {
	low, high := ch.shift.Low, ch.shift.High
	ch.Low = -100 // no metric is negative
	if p := percent(ch.wide.Low, ch.before.high); p > ch.Low {
		ch.Low = p
	}
	ch.High, ch.AtMost = percent(ch.wide.High, ch.before.low), percent(ch.narrow.High, ch.before.low)
	if high-low <= ch.matters {
		ch.Percent = percent(ch.estimate(ch.After.Low-ch.Before.Low), ch.before.low)
	}
	far := ch.wide.Low > ch.matters || ch.wide.High < -ch.matters
	switch {
	case -ch.matters <= ch.narrow.Low && ch.narrow.High <= ch.matters:
		ch.Verdict, ch.Reason = Same, Decided
	case far && ch.P <= Alpha:
		ch.Verdict, ch.Reason = Changed, Decided
	case !far && high-low > ch.matters:
		ch.Reason = EndUnknown // more runs would not change that
	case c.runs() < MinRuns && far:
		ch.Reason, ch.RunsNeeded = TooFewRuns, MinRuns-c.runs()
	default:
		ch.Reason, ch.RunsNeeded = TooNoisy, c.missingRuns(ch)
	}
}

// estimate returns the shift, or the difference of the medians if their directions
// differ, because readers see the medians next to it. It returns NaN if the interval
// excludes that difference, as it may where runs fall into two groups.
func (ch *Change) estimate(difference float64) float64 {
	shift := (ch.shift.Low + ch.shift.High) / 2
	switch {
	case shift*difference > 0 || shift == difference:
		return shift
	case ch.wide.Low <= difference && difference <= ch.wide.High:
		return difference
	default:
		return math.NaN()
	}
}

// missingRuns estimates how many more runs a side would decide a change. An interval
// shrinks with the square root of their number, until it lies entirely within or outside
// the differences that do not matter.
func (c *Comparison) missingRuns(ch *Change) int {
	n, shift := c.runs(), (ch.shift.Low+ch.shift.High)/2
	half := (ch.narrow.High - ch.narrow.Low) / 2
	room := math.Abs(math.Abs(shift) - ch.matters)
	if math.IsNaN(shift) || math.IsInf(half, 0) || room == 0 {
		return MaxRunsNeeded
	}
	return max(moreRuns(n, float64(n)*(half/room)*(half/room)), MinRuns-n)
}

// percent returns a difference as a percentage of the median before.
func percent(difference float64, values []float64) float64 {
	before := medianOf(values)
	if before == 0 {
		if difference == 0 {
			return 0
		}
		return math.Copysign(math.Inf(1), difference)
	}
	return 100 * difference / math.Abs(before)
}

// moreRuns returns how many runs are missing to the wanted number.
func moreRuns(have int, wanted float64) int {
	return int(min(max(1, math.Ceil(wanted)-float64(have)), MaxRunsNeeded))
}

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) > 0 && math.IsNaN(sorted[0]) { // NaN sorts first
		return math.NaN()
	}
	return median(sorted)
}
