package compare

import "math"

// Bounds hold a figure that a trace may leave open: it is at least Low and at most High.
// They are equal if the figure is exact, and High is +Inf if nothing bounds it. Low is
// NaN if the figure is unknown.
type Bounds struct{ Low, High float64 }

// Exactly returns the bounds of an exact figure.
func Exactly(v float64) Bounds { return Bounds{v, v} }

// Exact reports whether the figure is exact.
func (b Bounds) Exact() bool { return b.Low == b.High }

// scaled returns the bounds of the figure divided by a number; unknown if it is zero.
func (b Bounds) scaled(by float64) Bounds {
	low, high := b.Low/by, b.High/by
	if math.IsNaN(low) || math.IsInf(low, 0) {
		return Exactly(math.NaN())
	}
	return Bounds{low, high}
}

// values holds the bounds of one metric for several runs.
type values struct{ low, high []float64 }

func (v *values) add(b Bounds) {
	v.low, v.high = append(v.low, b.Low), append(v.high, b.High)
}

// median returns the bounds of the values' median.
func (v *values) median() Bounds { return Bounds{medianOf(v.low), medianOf(v.high)} }

// valuesOf returns the metrics of runs on a basis, in the order of metrics.
func valuesOf(runs []*Run, basis Basis) []values {
	all := make([]values, len(metrics))
	for _, r := range runs {
		f := r.figures(nil, nil)
		for i := range metrics {
			all[i].add(metrics[i].bounds(&f, basis))
		}
	}
	return all
}

// A table has the values of one metric on both sides.
type table struct{ before, after values }

// least returns the values that make the change from before to after smallest.
func (t *table) least() (before, after []float64) { return t.before.high, t.after.low }

// most returns the values that make the change from before to after largest.
func (t *table) most() (before, after []float64) { return t.before.low, t.after.high }

// nearest returns the values that make the change smallest, whatever its direction;
// false if they allow for no change.
func (ch *Change) nearest() (before, after []float64, differ bool) {
	switch {
	case ch.shift.Low > 0:
		before, after = ch.least()
	case ch.shift.High < 0:
		before, after = ch.most()
	default:
		return nil, nil, false
	}
	return before, after, true
}
