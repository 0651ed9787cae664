package compare

import "math"

// Bounds hold a figure that a trace may leave open: it is at least Low and at most High.
// They are equal if the figure is exact, and High is +Inf if nothing bounds it. Low is
// NaN if the figure is unknown. Likely is above Low if the figure is an estimate, whose error
// may go either way; otherwise the figure is exact or a lower bound.
type Bounds struct{ Low, High, Likely float64 }

// Exactly returns the bounds of an exact figure.
func Exactly(v float64) Bounds { return Bounds{Low: v, High: v} }

// Exact reports whether the figure is exact.
func (b Bounds) Exact() bool { return b.Low == b.High }

// scaled returns the bounds of the figure divided by a number; unknown if it is zero.
func (b Bounds) scaled(by float64) Bounds {
	low, high, likely := b.Low/by, b.High/by, b.Likely/by
	if math.IsNaN(low) || math.IsInf(low, 0) {
		return Exactly(math.NaN())
	}
	return Bounds{low, high, likely}
}

// values holds the bounds of one metric for several runs.
type values struct {
	low, high, likely []float64
	open              bool // whether one is a lower bound
}

func (v *values) add(b Bounds) {
	v.low, v.high, v.likely = append(v.low, b.Low), append(v.high, b.High), append(v.likely, max(b.Low, b.Likely))
	v.open = v.open || b.Low < b.High && !(b.Low < b.Likely)
}

// median returns the bounds of the values' median, which is a lower bound if one of them is.
func (v *values) median() Bounds {
	b := Bounds{Low: medianOf(v.low), High: medianOf(v.high)}
	if likely := medianOf(v.likely); likely > b.Low && !v.open {
		b.Likely = likely
	}
	return b
}

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
