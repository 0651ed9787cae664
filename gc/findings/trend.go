package findings

import (
	"slices"

	"github.com/gctrail/gctrail/internal/timeline"
)

// A thinned list retains every so many values of a series: when it is full, it drops every other
// one.
type thinned[T int64 | point] struct {
	values []T
	every  int // retains one value in every; 0 stands for 1
	seen   int
}

// add adds a value. The list then has fewer than full ones.
func (t *thinned[T]) add(v T, full int) {
	if t.seen%max(1, t.every) == 0 {
		t.values = append(t.values, v)
	}
	t.seen++
	if len(t.values) < full {
		return
	}
	t.values, t.every = timeline.Halve(t.values, func(_, _ *T) {}), 2*max(1, t.every)
}

// A trend has the values of a figure over time.
type trend struct{ thinned[int64] }

// maxValues bounds the values of a trend.
const maxValues = 121

// grows reports whether a figure was larger in each third of the time than in the
// previous one, and has not levelled off. first and last are the medians of the
// first and the last third.
func (t *trend) grows() (first, last int64, ok bool) {
	n := len(t.values)
	if n < growthSamples {
		return 0, 0, false
	}
	first = medianOf(slices.Clone(t.values[:n/3]))
	between := medianOf(slices.Clone(t.values[n/3 : n-n/3]))
	last = medianOf(slices.Clone(t.values[n-n/3:]))
	ok = first >= 0 && between > first && float64(last) >= growth*float64(first) && float64(last) >= stillGrowing*float64(between)
	return first, last, ok
}
