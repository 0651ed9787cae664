package trial

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Result is what an experiment has found.
type Result struct {
	Settings []*Outcomes // the first are the present ones
	Rounds   int         // that were completed
	Took     time.Duration
	Ending   Ending
	// Best are the settings that gain more than they cost, and that no other beats, the one
	// that gains most first.
	Best []*Outcomes

	table criticals
}

// Outcomes are the runs under one setting, and their figures.
type Outcomes struct {
	*Setting
	Runs    []Run
	Figures [NumMetrics]Figure
	// Front reports that no other setting beats this one.
	Front bool
	// Left is the round after which the setting was not run again, because others promised
	// more and there was no time for all; 0 if it was.
	Left int

	gain float64 // the decided gains, weighted, less the costs
}

// Candidates returns the settings that were tried instead of the present ones.
func (r *Result) Candidates() []*Outcomes { return r.Settings[1:] }

// Base returns the present settings.
func (r *Result) Base() *Outcomes { return r.Settings[0] }

func nameOf(o **Outcomes) string { return (*o).Name }

// Count returns the number of runs with an outcome.
func (o *Outcomes) Count(outcome Outcome) int {
	n := 0
	for i := range o.Runs {
		if o.Runs[i].Outcome == outcome {
			n++
		}
	}
	return n
}

// Bad returns how many runs did not end well.
func (o *Outcomes) Bad() int { return o.Count(Failed) + o.Count(TimedOut) }

// hopeless reports whether all runs failed, and there were enough of them.
func (o *Outcomes) hopeless() bool {
	return len(o.Runs) >= patience && o.Count(Completed) == 0
}

// decided reports whether every metric that can decide is decided.
func (o *Outcomes) decided() bool {
	return !slices.ContainsFunc(o.Figures[:], func(f Figure) bool { return f.Metric.decides && f.Known() && f.Against == CannotTell })
}

// series returns the values of a metric by round, NaN for a round without one.
func (o *Outcomes) series(metric int) []float64 {
	var values []float64
	for i := range o.Runs {
		run := &o.Runs[i]
		for len(values) <= run.Round {
			values = append(values, math.NaN())
		}
		if run.Outcome == Completed {
			values[run.Round] = run.Values[metric]
		}
	}
	return values
}

// judge computes all figures, compares them with the present settings, and chooses the best.
func (r *Result) judge() {
	deciding := r.deciding()
	compared := max(1, len(r.Candidates())) * numLooks * max(1, deciding)
	for _, o := range r.Settings {
		for i := range metrics {
			o.Figures[i] = r.table.figure(&metrics[i], o.series(i))
			if o != r.Base() {
				r.table.compare(&o.Figures[i], r.Base().series(i), o.series(i), Level/float64(compared))
			}
		}
		o.gain = o.gains(func(f *Figure) bool { return f.Against == Better || f.Against == Worse })
	}
	pairs := len(r.Settings) * (len(r.Settings) - 1) / 2
	level := Level / float64(max(1, pairs*numLooks*deciding))
	for _, o := range r.Settings {
		o.Front = o.Count(Completed) > 0 && !slices.ContainsFunc(r.Settings, func(other *Outcomes) bool { return other != o && r.table.beats(other, o, level) })
	}
	r.Best = nil
	for _, o := range r.Candidates() {
		if o.Front && o.gain > 0 && o.Bad() <= r.Base().Bad() {
			r.Best = append(r.Best, o)
		}
	}
	slices.SortStableFunc(r.Best, func(a, b *Outcomes) int { return cmp.Compare(b.gain, a.gain) })
}

// deciding returns the number of metrics that may decide, and that runs with the present
// settings have values of.
func (r *Result) deciding() int {
	known := func(v float64) bool { return !math.IsNaN(v) }
	n := 0
	for i := range metrics {
		if metrics[i].decides && slices.ContainsFunc(r.Base().series(i), known) {
			n++
		}
	}
	return n
}

// gains returns the gains of a setting less its costs, weighted, in the figures that count and can
// decide.
func (o *Outcomes) gains(counts func(*Figure) bool) (sum float64) {
	for i := range o.Figures {
		f := &o.Figures[i]
		switch {
		case !f.Metric.decides || !counts(f):
		case f.Metric.Higher:
			sum += f.Metric.weight * f.shift
		default:
			sum -= f.Metric.weight * f.shift
		}
	}
	return sum
}

// beats reports whether a setting is better than another in a metric that can decide, and
// worse in none.
func (t criticals) beats(a, b *Outcomes, level float64) bool {
	better := false
	for i := range metrics {
		if !metrics[i].decides {
			continue
		}
		f := Figure{Metric: &metrics[i]}
		t.compare(&f, b.series(i), a.series(i), level)
		switch f.Against {
		case Worse:
			return false
		case Better:
			better = true
		}
	}
	return better
}
