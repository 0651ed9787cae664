package trial

import (
	"math"

	"github.com/gctrail/gctrail/gc/compare"
)

// Level is how often an experiment whose settings are all equal may find one that is better
// or worse. It is divided by the number of settings, of looks, and of metrics that can decide
// (Bonferroni): the sum of all errors is at most the level, however the metrics depend on each
// other.
const Level = 0.02

// sameLevel is how often a difference that matters may pass as none.
const sameLevel = 0.05

// confidence of the interval of a setting's own value.
const confidence = 0.95

// A Verdict is how a setting compares with the present ones in a metric.
type Verdict uint8

// The verdicts.
const (
	CannotTell Verdict = iota
	Same
	Better
	Worse
)

// String returns the verdict, as in JSON.
func (v Verdict) String() string { return [...]string{"cannot_tell", "same", "better", "worse"}[v] }

// Words returns the verdict in words.
func (v Verdict) Words() string { return [...]string{"cannot tell", "same", "better", "worse"}[v] }

// A Figure is a metric of all runs under a setting.
type Figure struct {
	Metric           *Metric
	Runs             int     // with a value
	Value, Low, High float64 // the mean of the runs, and where it lies with 95 % confidence; NaN if unknown

	// Against is the verdict on the setting against the present ones. Change is the
	// difference as a share of the present value, in percent, with the interval that holds
	// at the level that the verdict takes. NaN is unknown.
	Against                       Verdict
	Change, ChangeLow, ChangeHigh float64

	shift float64 // the mean difference of logarithms
}

// Known reports whether runs have the metric.
func (f *Figure) Known() bool { return f.Runs > 0 }

// figure returns the figure of some values, compared with nothing.
func (t criticals) figure(m *Metric, series []float64) Figure {
	f := Figure{Metric: m, Change: math.NaN(), ChangeLow: math.NaN(), ChangeHigh: math.NaN()}
	var values []float64
	for _, v := range series {
		if !math.IsNaN(v) {
			values = append(values, m.scaled(v))
		}
	}
	f.Runs = len(values)
	center, standardError := meanOf(values)
	half := t.of(1-confidence, len(values)-1) * standardError
	f.Value, f.Low, f.High = atLeast0(m.unscaled(center)), atLeast0(m.unscaled(center-half)), atLeast0(m.unscaled(center+half))
	if m.Unit == Percent {
		f.High = min(f.High, 100) // of the time, or of the processor time
	}
	return f
}

// atLeast0 removes what rounding leaves below 0.
func atLeast0(v float64) float64 { return max(0, v) }

// leastError is the share of the band by which the standard error is increased, so that
// values that agree by chance do not stand out, as in gc/compare.
const leastError = 0.02

// leastSame is the number of rounds from which two settings may be the same.
const leastSame = 3

// compare compares the rounds in which both settings have a value: what slows a round down
// slows both.
func (t criticals) compare(f *Figure, base, series []float64, level float64) {
	m := f.Metric
	var differences, before []float64
	for round := range min(len(base), len(series)) {
		if d := m.scaled(series[round]) - m.scaled(base[round]); !math.IsNaN(d) {
			differences, before = append(differences, d), append(before, m.scaled(base[round]))
		}
	}
	if len(differences) < 2 {
		return
	}
	center, standardError := meanOf(differences)
	standardError += leastError * m.band
	from, _ := meanOf(before)
	now := m.unscaled(from)
	difference := func(shift float64) float64 { return m.unscaled(from+shift) - now }
	half := t.of(level, len(differences)-1) * standardError
	f.shift = center
	f.Change, f.ChangeLow, f.ChangeHigh = share(difference(center), now), max(-100, share(difference(center-half), now)), share(difference(center+half), now)
	matters := m.matters(now)
	near := t.of(2*sameLevel, len(differences)-1) * standardError
	switch {
	case math.Abs(center) > half && math.Abs(difference(center)) > matters:
		f.Against = Worse
		if center > 0 == m.Higher {
			f.Against = Better
		}
	case difference(center-near) >= -matters && difference(center+near) <= matters && len(differences) >= leastSame:
		f.Against = Same
	}
}

// share returns a difference in percent of a value; NaN if that is zero.
func share(difference, of float64) float64 {
	switch {
	case difference == 0:
		return 0
	case math.Abs(of) < zero:
		return math.NaN()
	}
	return 100 * difference / of
}

// zero is what rounding may leave of 0.
const zero = 1e-9

// meanOf returns the mean of some values and its standard error, NaN if there are too few.
func meanOf(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

// criticals remembers quantiles of Student's distribution.
type criticals map[criticalKey]float64

type criticalKey struct {
	level   float64
	freedom int
}

// of returns how many standard errors a mean may be away from its true value, in both
// directions together, with a probability of level.
func (t criticals) of(level float64, freedom int) float64 {
	if freedom < 1 {
		return math.Inf(1)
	}
	key := criticalKey{level, freedom}
	if _, ok := t[key]; !ok {
		t[key] = compare.StudentQuantile(level/2, float64(freedom))
	}
	return t[key]
}
