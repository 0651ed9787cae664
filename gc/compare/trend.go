package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Trend is a metric over many runs, in their order.
type Trend struct {
	*Metric
	Basis  Basis
	Values []float64 // by run; NaN if the run lacks it
	Most   []float64 // upper bounds of the values, equal to them where they are exact
	Likely []float64 // above the values of estimates
	Steps  []Step

	scale float64 // divisor of the totals of a median run
	open  bool    // whether the bounds leave more than the band open
	apart float64 // the mean distance between the values
}

// A Step is a run at which the level of a metric changes.
type Step struct {
	Run           int // the first after the change
	Before, After float64
	Percent       float64 // relative to Before; NaN if the ends of runs may hide more than matters
}

// MinTrend is the number of runs needed to find a change among them. With fewer, more
// permutations than Alpha allows would divide as well as any values: one in 126 of ten
// values' permutations has the same two halves.
const MinTrend = 10

const minStretch = 4 // runs

// Trends finds the steps of all metrics over runs in their order. Steps that
// are too small to matter are left out, and metrics that explain a primary one are
// examined only if that one has a step. Totals are compared on the basis that Compare
// would choose.
func Trends(runs []*Run) []Trend {
	basis := basisOf(runs)
	all, scale := valuesOf(runs, basis), Scale(runs, basis)
	trends := make([]Trend, len(metrics))
	for i := range trends {
		t := &trends[i]
		*t = Trend{Metric: &metrics[i], Basis: basis, Values: all[i].low, Most: all[i].high, Likely: all[i].likely, scale: scale}
		t.open = t.hides()
	}
	stepped := make(map[string]bool)
	for i, found := range stepping(trends, len(runs)) {
		if t := &trends[i]; found {
			t.find()
			stepped[t.Name] = len(t.Steps) > 0
		}
	}
	for i := range trends {
		if t := &trends[i]; stepped[t.Explains] {
			t.find()
		}
	}
	return trends
}

// hides reports whether the bounds of a typical run leave more open than the band.
func (t *Trend) hides() bool {
	var widths, values []float64
	for i, v := range t.Values {
		if !math.IsNaN(v) {
			widths, values = append(widths, t.Most[i]-v), append(values, v)
		}
	}
	return medianOf(widths) > t.Matters(medianOf(values), t.scale)
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

// EndUnknown reports whether the runs may have done more after their last collections,
// which their traces do not show, than a change that matters.
func (t *Trend) EndUnknown() bool { return t.open }

// Verdict returns Changed, NoChange or CannotTell.
func (t *Trend) Verdict() Verdict {
	switch {
	case len(t.Steps) > 0:
		return Changed
	case t.Known() < MinTrend || t.open:
		return CannotTell
	}
	return NoChange
}

// TrendsVerdict returns the verdict of the primary metrics: Changed if one has a step,
// CannotTell if the ends of runs may hide one, and NoChange if no metric that can be judged
// has one.
func TrendsVerdict(trends []Trend) Verdict {
	verdict, hidden := CannotTell, false
	for i := range trends {
		switch t := &trends[i]; {
		case t.Explains != "":
		case t.Verdict() == Changed:
			return Changed
		case t.open:
			hidden = true
		case t.Verdict() == NoChange:
			verdict = NoChange
		}
	}
	if hidden {
		return CannotTell
	}
	return verdict
}

// find looks for steps among the runs that have the metric.
func (t *Trend) find() {
	var values, most []float64
	var positions []int
	for i, v := range t.Values {
		if !math.IsNaN(v) {
			values, most, positions = append(values, v), append(most, t.Most[i]), append(positions, i)
		}
	}
	bounds := slices.Concat([]int{0}, ChangePoints(values, minStretch, Alpha), []int{len(values)})
	for i, at := range bounds[1 : len(bounds)-1] {
		from, to := bounds[i], bounds[i+2]
		s := Step{Run: positions[at], Before: medianOf(values[from:at]), After: medianOf(values[at:to])}
		more := s.After - medianOf(most[from:at])
		less := s.Before - medianOf(most[at:to])
		if max(more, less) <= t.Matters(s.Before, t.scale) {
			continue
		}
		s.Percent = math.NaN()
		if s.After-s.Before-more <= t.Matters(s.Before, t.scale) {
			s.Percent = percent(s.After-s.Before, values[from:at])
		}
		t.Steps = append(t.Steps, s)
	}
}

// stepping reports which of the primary metrics have a step: at most the share Alpha of
// the orders of the runs divides any primary metric as clearly. It tests the metrics
// together, so that the share of false alarms is bounded over all of them.
func stepping(trends []Trend, runs int) map[int]bool {
	observed := make(map[int]float64)
	order := make([]int, runs)
	for i := range order {
		order[i] = i
	}
	scratch := make([]float64, 0, runs)
	for i := range trends {
		if t := &trends[i]; t.Explains == "" && t.Known() >= 2*minStretch {
			t.apart = t.distances()
			observed[i] = t.division(order, scratch)
		}
	}
	as := make(map[int]int)
	random := rand.New(rand.NewPCG(seed, uint64(runs)))
	for range permutations {
		random.Shuffle(runs, func(a, b int) { order[a], order[b] = order[b], order[a] })
		largest := 0.0
		for i := range observed {
			largest = max(largest, trends[i].division(order, scratch))
		}
		for i, energy := range observed {
			if largest >= energy*(1-slack) {
				as[i]++
			}
		}
	}
	found := make(map[int]bool)
	for i := range observed {
		found[i] = float64(as[i]+1)/(permutations+1) <= Alpha
	}
	return found
}

// division returns how clearly runs in this order divide: the energy of the best division
// relative to the distances between all values, so that metrics can be compared; 0 if its
// two levels do not differ by enough to matter.
func (t *Trend) division(order []int, scratch []float64) float64 {
	values := scratch[:0]
	for _, i := range order {
		if !math.IsNaN(t.Values[i]) {
			values = append(values, t.Values[i])
		}
	}
	d := divide(values, minStretch)
	if d.at == 0 {
		return 0
	}
	before, after := medianOf(values[:d.at]), medianOf(values[d.at:])
	if math.Abs(after-before) <= t.Matters(before, t.scale) {
		return 0
	}
	return d.energy / t.apart
}

// distances returns the mean distance between the known values.
func (t *Trend) distances() float64 {
	sum := 0.0
	for i, v := range t.Values {
		for _, w := range t.Values[:i] {
			sum += finite(math.Abs(v - w))
		}
	}
	return meanDistance(sum, float64(t.Known()))
}
