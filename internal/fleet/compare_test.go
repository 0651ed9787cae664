package fleet

import (
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
)

// TestRatesOfFewCollections: rates refer to the time between collections, so that the
// pauses of few collections never exceed that time, and allocated bytes belong to it.
func TestRatesOfFewCollections(t *testing.T) {
	at := func(second int, since gc.Opt[time.Duration]) figures {
		return figures{
			at: int64(second) * int64(time.Second), pause: gc.Some(200 * time.Millisecond), sinceLast: since, allocated: gc.Some[int64](50e6),
		}
	}
	unknown, since := gc.Opt[time.Duration]{}, gc.Some(9800*time.Millisecond)
	for _, test := range []struct {
		name        string
		rows        []figures
		collections int
		share, rate float64
	}{
		{"one, after another", []figures{at(100, since)}, 1, 2, 5e6},
		{"two, the first after another", []figures{at(110, since), at(100, since)}, 2, 2, 5e6},
		{"two, the first known to follow none", []figures{at(100, unknown), at(110, since)}, 1, 2, 5e6},
	} {
		run := (&process{name: "app", collections: test.rows}).run()
		got := make(map[string]float64)
		for _, m := range compare.Metrics() {
			got[m.Name] = m.Bounds(run, compare.PerSecond).Low
		}
		near := func(a, b float64) bool { return a > 0.97*b && a < 1.03*b }
		if run.Collections != test.collections || !near(got["pause_pct"], test.share) || !near(got["allocated_bytes"], test.rate) {
			t.Errorf("%s: %d collections, %.2f %% paused, %.3g bytes/s; want %d, %v, %v",
				test.name, run.Collections, got["pause_pct"], got["allocated_bytes"], test.collections, test.share, test.rate)
		}
	}
	if run := (&process{name: "app", collections: []figures{at(100, unknown)}}).run(); run != nil {
		t.Errorf("one collection after an unknown time is a run of %v", run.Watched())
	}
}

// An estimate of a quantile is at most the longest pause.
func TestQuantileAtMostLongest(t *testing.T) {
	var s sum
	for s.pauses.quantile(0.99) <= s.Longest { // until the middle of the bucket is above
		s = sum{Group: Group{Longest: s.Longest + time.Millisecond}}
		s.pauses.add(s.Longest)
	}
	if g := s.group(); g.P99 > g.Longest || g.Median > g.Longest {
		t.Errorf("p50 %v, p99 %v of pauses of %v", g.Median, g.P99, g.Longest)
	}
}

// TestLowerBoundOfRun: a run with a collection whose allocated bytes are a lower bound
// allocated at least the sum.
func TestLowerBoundOfRun(t *testing.T) {
	for is, most := range map[gc.Certainty]float64{gc.Exact: 100e6, gc.LowerBound: math.Inf(1)} {
		var rows []figures
		for i := range 2 {
			rows = append(rows, figures{
				at: int64(i+1) * int64(time.Second), sinceLast: gc.Some(time.Second), pause: gc.Some(time.Millisecond),
				allocated: gc.Some[int64](50e6), allocatedIs: is,
			})
		}
		run := (&process{name: "app", collections: rows}).run()
		for _, m := range compare.Metrics() {
			if got, want := m.Bounds(run, compare.PerRun), (compare.Bounds{Low: 100e6, High: most}); m.Name == "allocated_bytes" && got != want {
				t.Errorf("%v: allocated %+v, want %+v", is, got, want)
			}
		}
	}
}
