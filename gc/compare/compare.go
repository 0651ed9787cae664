// Package compare finds what changed between runs of a program, and distinguishes
// change from noise.
//
// The unit of comparison is the run: collections of one run resemble their
// neighbours, so tests over single collections find differences even between
// the halves of one run. With four runs or more a side, metrics are compared by
// the Mann-Whitney test, the Hodges-Lehmann shift and its interval; with fewer,
// by a moving-block bootstrap within runs, widened by the noise measured
// between equal runs. docs/compare.md has the definitions and their sources.
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

// Alpha is the share of comparisons of equal runs that may find a change.
const Alpha = 0.05

// MinRuns is the number of runs per side needed to distinguish change from noise
// between runs.
const MinRuns = 4

// MaxRunsNeeded is the largest RunsNeeded; it means that many or more.
const MaxRunsNeeded = 100

// A Basis is what totals are divided by before they are compared.
type Basis string

// The bases of comparison.
const (
	PerRun    Basis = "run"    // runs are equally long
	PerSecond Basis = "second" // runs differ in length
	PerWork   Basis = "work"   // all runs state how much work they did
)

// A Change is the result for one metric. Unknown figures are NaN; unbounded
// intervals extend to infinity.
type Change struct {
	*Metric
	Verdict Verdict
	// Before and After are the medians over the runs, on the Basis.
	Before, After float64
	// Percent is the change relative to Before; Low and High bound it with a
	// confidence of 95 %.
	Percent, Low, High float64
	// P is the p-value, adjusted for the number of metrics; NaN without a test.
	P float64
	// RunsNeeded is how many more runs per side would decide a CannotTell, zero
	// if unknown.
	RunsNeeded int
	// Reason is why there is no result.
	Reason Reason
}

// A Reason is why a metric has no result.
type Reason string

// The reasons.
const (
	Decided       Reason = ""
	TooNoisy      Reason = "too_noisy"        // the interval is wider than the band
	TooFewRuns    Reason = "too_few_runs"     // for the test to find anything
	TooFewPauses  Reason = "too_few_pauses"   // for the percentile
	NotRecorded   Reason = "not_recorded"     // a run lacks the figure
	ParentDecides Reason = "parent_unchanged" // the metric it explains has not changed
)

// A Comparison is what changed between two sets of runs.
type Comparison struct {
	Verdict       Verdict
	Before, After []*Run
	Basis         Basis
	Changes       []Change // in the order of Metrics
	Notes         []Note
	Causes        []Cause

	table map[string][2][]float64 // by metric: the values of the runs before and after
	worth map[*Run]float64        // how many independent pauses each run has
}

// Compare compares two sets of runs. It needs at least one run on each side;
// runs without collections count.
func Compare(before, after []*Run) *Comparison {
	c := &Comparison{Before: before, After: after, Basis: basis(before, after)}
	c.Notes = notes(before, after, c.Basis)
	c.worth = make(map[*Run]float64)
	for _, r := range slices.Concat(before, after) {
		c.worth[r] = r.worth()
	}
	compare := c.bootstrap
	if min(len(before), len(after)) >= MinRuns {
		compare = c.ranks
	}
	c.tabulate()
	for i := range metrics {
		c.Changes = append(c.Changes, c.describe(&metrics[i]))
	}
	compare()
	c.gate()
	c.Verdict = c.verdict()
	c.Causes = causes(c)
	return c
}

// describe returns a change that is not decided yet.
func (c *Comparison) describe(m *Metric) Change {
	ch := Change{
		Metric: m, Verdict: CannotTell, P: math.NaN(),
		Before: medianOf(c.table[m.Name][0]), After: medianOf(c.table[m.Name][1]),
		Percent: math.NaN(), Low: math.Inf(-1), High: math.Inf(1),
	}
	needed, have := m.needed(), min(c.worthOf(c.Before), c.worthOf(c.After))
	switch {
	case math.IsNaN(ch.Before) || math.IsNaN(ch.After):
		ch.Reason = NotRecorded
	case have <= needed:
		ch.Reason = TooFewPauses
		runs := min(len(c.Before), len(c.After))
		ch.RunsNeeded = moreRuns(runs, float64(runs)*(needed+1)/max(have, 1))
	}
	return ch
}

// tabulate computes the metrics of all runs, on the comparison's basis.
func (c *Comparison) tabulate() {
	c.table = make(map[string][2][]float64)
	for side, runs := range [2][]*Run{c.Before, c.After} {
		for _, r := range runs {
			f := r.figures(nil, nil)
			for i := range metrics {
				m := &metrics[i]
				row := c.table[m.Name]
				row[side] = append(row[side], m.value(&f, c.Basis))
				c.table[m.Name] = row
			}
		}
	}
}

// gate takes back what was found of metrics whose primary metric has not changed.
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

// verdict returns that of the primary metrics: changed where one has, the same
// where all that can be judged are.
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

// decide sets the verdict from a change's interval in the metric's unit: wide is
// its 95 % interval, narrow its 90 % interval (two one-sided tests of 5 %).
func (ch *Change) decide(shift float64, wide, narrow [2]float64, significant bool) {
	matters := ch.matters(ch.Before)
	ch.Percent, ch.Low, ch.High = percent(shift, ch.Before), percent(wide[0], ch.Before), percent(wide[1], ch.Before)
	ch.Low = max(ch.Low, -100) // no metric is negative
	switch {
	case -matters <= narrow[0] && narrow[1] <= matters:
		ch.Verdict, ch.Reason = Same, Decided
	case significant && math.Abs(shift) > matters:
		ch.Verdict, ch.Reason = Changed, Decided
	default:
		ch.Verdict, ch.Reason = CannotTell, TooNoisy
	}
}

// percent returns a difference as a percentage of the value before.
func percent(difference, before float64) float64 {
	if before == 0 {
		if difference == 0 {
			return 0
		}
		return math.Copysign(math.Inf(1), difference)
	}
	return 100 * difference / math.Abs(before)
}

// moreRuns returns how many runs are missing to the number that is wanted.
func moreRuns(have int, wanted float64) int {
	return int(min(max(1, math.Ceil(wanted)-float64(have)), MaxRunsNeeded))
}

func medianOf(values []float64) float64 {
	sorted := sortedCopy(values)
	if len(sorted) > 0 && math.IsNaN(sorted[0]) { // NaN sorts first
		return math.NaN()
	}
	return median(sorted)
}
