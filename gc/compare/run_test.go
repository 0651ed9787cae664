package compare

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// TestRun holds what a run has of its collections.
func TestRun(t *testing.T) {
	const (
		s  = time.Second
		ms = time.Millisecond
	)
	process := &gc.Process{PID: 7}
	r := &Run{}
	for _, c := range []*gc.Collection{
		{ // without its start, before the trace
			Number: 5, Generation: gc.Some(2), Allocated: gc.Some[int64](10), AllocatedQuality: gc.Exact, CommittedBefore: gc.Some[int64](300), AffectedByLoss: true,
		},
		{
			Number: 1, Start: gc.Some(2 * s), Generation: gc.Some(3), Allocated: gc.Some[int64](20), AllocatedQuality: gc.Exact,
			CommittedBefore: gc.Some[int64](100), CommittedAfter: gc.Some[int64](90), HeapAfter: gc.Some[int64](50), HeapPeak: gc.Some[int64](70),
			Pauses: []gc.Pause{{Duration: 3 * ms, Suspend: gc.Some(ms)}}, AllPauses: true, Promoted: gc.Some[int64](4),
		},
		{
			Number: 6, Start: gc.Some(5 * s), Generation: gc.Some(-7), AllocatedTicks: gc.Some[int64](30), AllocatedQuality: gc.Estimate,
			CommittedBefore: gc.Some[int64](80), CommittedAfter: gc.Some[int64](110),
		},
		{Number: 7, Start: gc.Some(6 * s), AffectedByLoss: true, Allocated: gc.Some[int64](40), AllocatedQuality: gc.Exact},
	} {
		c.Process = process
		r.Add(c)
		if want := r.Collections >= 2; r.FromStart != want {
			t.Errorf("after collection %d, from the start: %v", c.Number, r.FromStart)
		}
	}
	if r.Process != process || r.Collections != 4 || r.Affected != 2 || r.exact != 20 {
		t.Errorf("%d collections, %d affected, %v bytes exactly", r.Collections, r.Affected, r.exact)
	}
	want := []sample{
		{[numFigures]float32{nan, nan, nan, 10, nan, nan, nan, 300}, 2},
		{[numFigures]float32{nan, 3, 1, 20, 4, 50, 70, 100}, 2},
		{[numFigures]float32{3, nan, nan, 30, nan, nan, nan, 110}, -1},
		{[numFigures]float32{1, nan, nan, 40, nan, nan, nan, nan}, -1},
	}
	if got := fmt.Sprint(r.samples); got != fmt.Sprint(want) {
		t.Errorf("samples %s, expected %v", got, want)
	}
	for _, c := range []struct {
		affected int
		holes    bool
		want     bool
	}{{0, false, false}, {1, false, true}, {0, true, true}} {
		if r := (&Run{Affected: c.affected, Holes: c.holes}); r.Incomplete() != c.want {
			t.Errorf("%+v is incomplete: %v", c, r.Incomplete())
		}
	}
}

// TestNotable: a cause is reported from a difference of ten percentage points on.
func TestNotable(t *testing.T) {
	run := func(induced int64, rules ...string) *Run {
		return &Run{reasons: map[string]int64{"Induced": induced, "AllocSmall": 1000 - induced}, Findings: rules}
	}
	for _, c := range []struct {
		before, after []*Run
		want          []Cause
	}{
		{[]*Run{run(100)}, []*Run{run(199)}, nil},
		{[]*Run{run(250)}, []*Run{run(375)}, []Cause{{"reason", "AllocSmall", 75, 62.5}, {"reason", "Induced", 25, 37.5}}},
		{[]*Run{run(0, "R1", "R2"), run(500, "R1")}, []*Run{run(250)}, []Cause{{"finding", "R1", 100, 0}, {"finding", "R2", 50, 0}}},
	} {
		if got := causes(&Comparison{Before: c.before, After: c.after}); !slices.Equal(got, c.want) {
			t.Errorf("causes %+v, expected %+v", got, c.want)
		}
	}
}

// TestDivisions: each way to divide the runs is tried once, or a sample of them.
func TestDivisions(t *testing.T) {
	for _, c := range []struct{ n, of, want int }{{1, 1, 1}, {2, 1, 2}, {5, 2, 10}, {10, 5, 252}, {20, 10, 1 + drawnDivisions}} {
		side := make([]int, c.of)
		for i := range side {
			side[i] = i
		}
		calls, seen := 0, make(map[string]bool)
		divisions(c.n, side, func(chosen []int) {
			calls++
			seen[fmt.Sprint(chosen)] = true
			sorted := slices.Compact(slices.Sorted(slices.Values(chosen)))
			if len(sorted) != c.of || sorted[0] < 0 || sorted[c.of-1] >= c.n {
				t.Fatalf("%v of %d", chosen, c.n)
			}
		})
		if calls != c.want || len(seen) != c.want {
			t.Errorf("%d of %d: %d divisions, %d different ones, expected %d", c.of, c.n, calls, len(seen), c.want)
		}
	}
}

// TestDistance: a difference of means counts in standard errors, if it matters.
func TestDistance(t *testing.T) {
	var f permuted
	f.add([]float64{1, 3}, []float64{5, 7}, 4)
	f.add([]float64{1, 3}, []float64{5, 7}, 2)
	f.add([]float64{1, 3}, []float64{3, 1}, 0)
	first := []int{0, 1}
	// The variance within the sides is 2, so the standard error is √2.
	for k, want := range []float64{0, 4 / (math.Sqrt2 + 0.05*2), 0} {
		if got := f.metrics[k].distance(first); math.Abs(got-want) > 1e-12 {
			t.Errorf("distance %d is %v, expected %v", k, got, want)
		}
	}
	if p := f.metrics[2].studentP(first); p != 1 {
		t.Errorf("p of equal means is %v", p)
	}
	if p := f.metrics[0].studentP(first); math.Abs(p-0.105573) > 1e-6 { // t = 2√2, 2 degrees of freedom
		t.Errorf("p is %v", p)
	}
}
