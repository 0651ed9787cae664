package findings

import "slices"

// A trend retains a figure's values, thinned out evenly.
type trend struct {
	values []int64
	every  int // retains one value in every
	skip   int // values to skip before the next is retained
	count  int
}

// maxValues bounds trend.values.
const maxValues = 120

func (t *trend) add(v int64) {
	t.count++
	if t.skip > 0 {
		t.skip--
		return
	}
	if len(t.values) == maxValues {
		for i := range maxValues / 2 {
			t.values[i] = t.values[2*i]
		}
		t.values = t.values[:maxValues/2]
		t.every = max(1, t.every) * 2
	}
	t.values = append(t.values, v)
	t.skip = max(1, t.every) - 1
}

// grows reports whether a figure was larger in each third of the time than in the
// previous one, and has not levelled off. first and last are the medians of the
// first and the last third.
func (t *trend) grows() (first, last int64, ok bool) {
	n := len(t.values)
	if n < growthSamples {
		return 0, 0, false
	}
	first = middle(t.values[:n/3])
	between := middle(t.values[n/3 : n-n/3])
	last = middle(t.values[n-n/3:])
	ok = first >= 0 && between > first && float64(last) >= growth*float64(first) && float64(last) >= stillGrowing*float64(between)
	return first, last, ok
}

// middle returns the median.
func middle(values []int64) int64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s[len(s)/2]
}
