package compare

import "math"

// A Trend is a metric over many runs, in their order.
type Trend struct {
	*Metric
	Basis  Basis
	Values []float64 // by run; NaN if the run lacks it
	Steps  []Step
}

// A Step is a run at which the level of a metric changes.
type Step struct {
	Run           int // the first after the change
	Before, After float64
	Percent       float64 // relative to Before
}

// MinTrend is the number of runs needed to find a change among them. Of fewer, more
// permutations than trendAlpha allows divide as well as any values do: of ten values, one
// in 126 has the same two halves.
const MinTrend = 10

const (
	minStretch = 4    // runs
	trendAlpha = 0.01 // for each metric: there are several
)

// Trends finds the steps of all metrics over runs in their order. Steps that
// are too small to matter are left out. Totals are compared per second unless
// all runs are equally long or state their work.
func Trends(runs []*Run) []Trend {
	b := basis(runs, nil)
	trends := make([]Trend, 0, len(metrics))
	for i := range metrics {
		t := Trend{Metric: &metrics[i], Basis: b, Values: make([]float64, len(runs))}
		trends = append(trends, t)
	}
	for at, r := range runs {
		f := r.figures(nil, nil)
		for i := range trends {
			trends[i].Values[at] = trends[i].value(&f, b)
		}
	}
	for i := range trends {
		trends[i].find()
	}
	return trends
}

// Known returns how many runs have the metric.
func (t *Trend) Known() int {
	n := 0
	for _, v := range t.Values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// Verdict returns Changed, NoChange or CannotTell.
func (t *Trend) Verdict() Verdict {
	switch {
	case len(t.Steps) > 0:
		return Changed
	case t.Known() < MinTrend:
		return CannotTell
	}
	return NoChange
}

// TrendsVerdict returns the verdict of the primary metrics: changed where one has, and no
// change where all that can be judged have none.
func TrendsVerdict(trends []Trend) Verdict {
	verdict := CannotTell
	for i := range trends {
		switch t := &trends[i]; {
		case t.Explains != "":
		case t.Verdict() == Changed:
			return Changed
		case t.Verdict() == NoChange:
			verdict = NoChange
		}
	}
	return verdict
}

// find looks for steps among the runs that have the metric.
func (t *Trend) find() {
	var values []float64
	var positions []int
	for i, v := range t.Values {
		if !math.IsNaN(v) {
			values, positions = append(values, v), append(positions, i)
		}
	}
	points := ChangePoints(values, minStretch, trendAlpha)
	for i, at := range points {
		from, to := 0, len(values)
		if i > 0 {
			from = points[i-1]
		}
		if i+1 < len(points) {
			to = points[i+1]
		}
		s := Step{Run: positions[at], Before: medianOf(values[from:at]), After: medianOf(values[at:to])}
		if math.Abs(s.After-s.Before) <= t.matters(s.Before) {
			continue
		}
		s.Percent = percent(s.After-s.Before, s.Before)
		t.Steps = append(t.Steps, s)
	}
}
