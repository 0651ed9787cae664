package findings

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// TestGrows: a figure grows if each third of its values is more than the one before, by 30 % in
// all and by 10 % at the end.
func TestGrows(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   bool
	}{
		{[]int64{100, 100, 100, 118, 118, 118, 130, 130, 130}, true},
		{[]int64{100, 100, 100, 118, 118, 118, 129, 130, 129}, false}, // 29 %
		{[]int64{100, 100, 100, 118, 118, 118, 130, 130}, false},      // too few
		{[]int64{100, 100, 100, 100, 100, 100, 130, 130, 130}, false}, // between is no more than first
		{[]int64{100, 100, 100, 200, 200, 200, 221, 221, 221}, true},
		{[]int64{100, 100, 100, 200, 200, 200, 219, 219, 219}, false}, // levels off
		{[]int64{0, 0, 0, 1, 1, 1, 2, 2, 2}, true},
		{[]int64{-1, -1, -1, 1, 1, 1, 2, 2, 2}, false},                // unknown
		{[]int64{1, 100, 999, 118, 118, 118, 118, 1, 130, 999}, true}, // medians; the middle has one more
	} {
		tr := trend{thinned[int64]{values: c.values}}
		first, last, ok := tr.grows()
		if ok != c.want {
			t.Errorf("%v: from %d to %d: %v", c.values, first, last, ok)
		}
	}
}

// TestThinned: of however many values, half of a bound or more are retained, at equal distances.
func TestThinned(t *testing.T) {
	var tr trend
	var fit pauseFit
	for i := range int64(10_000) {
		tr.add(i, maxValues)
		c := &gc.Collection{Promoted: gc.Some(i), AllPauses: true, Pauses: []gc.Pause{{Duration: time.Second, Suspend: gc.Some(time.Duration(0))}}}
		fit.add(c, false)
		n := len(tr.values)
		if every := int64(max(1, tr.every)); tr.values[n-1] != int64(n-1)*every || tr.values[n/2] != int64(n/2)*every || n > maxValues || i >= maxValues && n < maxValues/2 {
			t.Fatalf("after %d, %d values, every %d: %v", i, n, every, tr.values)
		}
		n = len(fit.values)
		every := int64(max(1, fit.every))
		if last := fit.values[n-1].promoted; last != int64(n-1)*every || n >= maxSample || i >= maxSample && n < maxSample/2 || last+every <= i {
			t.Fatalf("after %d, %d pauses, every %d, the last is %d", i, n, fit.every, last)
		}
	}
	if tr.seen != 10_000 || fit.seen != 10_000 {
		t.Errorf("%d and %d values", tr.seen, fit.seen)
	}
}
