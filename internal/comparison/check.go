package comparison

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gctrail/gctrail/gc/compare"
)

// A CheckStatus is the outcome of a check.
type CheckStatus string

// The statuses.
const (
	Within     CheckStatus = "within"
	Over       CheckStatus = "over"
	CannotTell CheckStatus = "cannot_tell"
)

// A Check is one line of a budget, compared with the runs.
type Check struct {
	Name   string       // as the budget has it
	Text   string       // in words
	Unit   compare.Unit // of Value and Limit
	Status CheckStatus
	Run    string  // whose Value it is; empty for changes from a baseline
	Value  float64 // NaN if unknown
	Most   float64 // the upper bound of Value, equal to it where it is exact
	Likely float64 // above Value if that is the lower bound of an estimate
	Limit  float64
	// Of changes from a baseline: Value and Limit are percentages, and the
	// interval holds Value with a confidence of 95 %.
	Low, High  float64
	RunsNeeded int
	Reason     string // why there is no answer, in words; empty if nothing is known to help
}

// A CheckResult is a budget compared with runs.
type CheckResult struct {
	Status CheckStatus // Over if one check is; CannotTell if none is and one is undecided
	Checks []Check
	// Strict reports whether CannotTell is a failure.
	Strict bool
}

// Failed reports whether the runs exceed the budget.
func (r *CheckResult) Failed() bool { return r.fails(r.Status) }

// fails reports whether a check of a status makes the result fail.
func (r *CheckResult) fails(s CheckStatus) bool { return s == Over || r.Strict && s == CannotTell }

// Check compares each run with the limits of the budget, and all runs together with the
// baseline, which may be empty. Checks that are over come first.
func (b *Budget) Check(runs, baseline []*compare.Run) *CheckResult {
	result := &CheckResult{Status: Within, Strict: b.CannotTell == "fail"}
	for _, run := range runs {
		for _, name := range slices.Sorted(maps.Keys(b.Limits)) {
			result.add(limitRun(run, name, b.Limits[name]))
		}
		for _, rule := range b.Findings {
			result.add(forbid(run, rule))
		}
	}
	if len(b.Baseline) > 0 && len(baseline) > 0 {
		c := compare.Compare(baseline, runs)
		for i := range c.Changes {
			if allowed, ok := b.Baseline[c.Changes[i].Name]; ok {
				result.add(allowance(&c.Changes[i], c.Basis, allowed, slices.ContainsFunc(runs, func(r *compare.Run) bool { return r.Holes })))
			}
		}
	}
	slices.SortStableFunc(result.Checks, func(a, b Check) int { return cmp.Compare(statusRank[a.Status], statusRank[b.Status]) })
	return result
}

// statusRank orders checks: the ones over their limit first.
var statusRank = map[CheckStatus]int{Over: 0, CannotTell: 1, Within: 2}

func (r *CheckResult) add(c Check) {
	r.Checks = append(r.Checks, c)
	if c.Status == Over || c.Status == CannotTell && r.Status == Within {
		r.Status = c.Status
	}
}

// eventsMissing explains why a figure below its limit is not within the budget.
const eventsMissing = "events are missing, so it may be more"

func limitRun(run *compare.Run, name string, most float64) Check {
	m, basis, err := lookUp(name)
	if err != nil {
		return Check{Name: name, Status: CannotTell, Run: run.Name, Value: math.NaN(), Limit: most}
	}
	value := m.Bounds(run, basis)
	_, words := suffixOn(basis)
	c := Check{Name: name, Text: m.Text + words, Unit: m.UnitOn(basis), Status: Within, Run: run.Name, Value: value.Low, Most: value.High, Likely: value.Likely, Limit: most}
	switch {
	case math.IsNaN(c.Value):
		c.Status = CannotTell
	case c.Value > most:
		c.Status = Over
	case c.Most > most:
		c.Status, c.Reason = CannotTell, boundsOf(m.Name)
	case run.Incomplete():
		c.Status, c.Reason = CannotTell, eventsMissing
	}
	return c
}

// forbid checks that a rule does not fire for a run. Limit and Value count findings.
func forbid(run *compare.Run, rule string) Check {
	c := Check{Name: rule, Text: "finding " + rule, Unit: compare.Count, Status: Within, Run: run.Name}
	switch {
	case slices.Contains(run.Findings, rule):
		c.Status, c.Value, c.Most = Over, 1, 1
	case run.Holes:
		c.Status, c.Reason = CannotTell, eventsMissing
	}
	return c
}

// allowance compares a change with the allowed percentage. The change is over it if the
// whole interval is and equal runs would rarely differ that much. It is within if it is at
// most as large with a confidence of 95 %, or does not matter, unless runs have holes.
func allowance(change *compare.Change, basis compare.Basis, allowed float64, holes bool) Check {
	c := Check{
		Name: change.Name, Text: metricName(change.Metric, basis) + " against the baseline", Unit: compare.Percent, Status: CannotTell,
		Value: change.Percent, Most: change.Percent, Limit: allowed, Low: change.Low, High: change.High,
	}
	switch {
	case change.Reason == compare.NotRecorded || change.Reason == compare.TooFewPauses:
	case change.Verdict == compare.Changed && change.Low > allowed:
		c.Status = Over
	case holes:
		c.Reason = eventsMissing
		return c
	case change.AtMost <= allowed, change.Verdict == compare.Same && allowed >= 100*change.Band():
		c.Status = Within
	}
	if c.Status == CannotTell {
		c.RunsNeeded, c.Reason = change.RunsNeeded, why(change)
	}
	return c
}
