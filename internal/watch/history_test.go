package watch

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/live"
)

func allocated(bytes int64, is gc.Certainty) gc.Collection {
	if is == gc.Uncertain {
		return gc.Collection{}
	}
	return gc.Collection{Allocated: gc.Some(bytes), AllocatedQuality: is}
}

// TestAllocationRateMarks: a rate is as certain as its collections.
func TestAllocationRateMarks(t *testing.T) {
	const mb = 1e6
	lossy := allocated(20*mb, gc.Exact)
	lossy.AffectedByLoss = true
	ticked := gc.Collection{AllocatedTicks: gc.Some[int64](20 * mb)}
	for name, test := range map[string]struct {
		of   gc.Collection
		idle time.Duration
		want stats.Rate
	}{
		"exact":              {of: allocated(20*mb, gc.Exact), want: stats.Rate{PerSecond: 20 * mb, Certainty: gc.Exact}},
		"estimate":           {of: allocated(20*mb, gc.Estimate), want: stats.Rate{PerSecond: 20 * mb, Certainty: gc.Estimate}},
		"lower bound":        {of: allocated(20*mb, gc.LowerBound), want: stats.Rate{PerSecond: 20 * mb, Certainty: gc.LowerBound}},
		"one is unknown":     {of: allocated(0, gc.Uncertain), want: stats.Rate{PerSecond: 10 * mb, Certainty: gc.LowerBound}},
		"events were lost":   {of: lossy, want: stats.Rate{PerSecond: 20 * mb, Certainty: gc.LowerBound}},
		"allocation ticks":   {of: ticked, want: stats.Rate{PerSecond: 20 * mb, Certainty: gc.Estimate}},
		"idle for some time": {of: allocated(20*mb, gc.Exact), idle: 20 * time.Second, want: stats.Rate{PerSecond: 2 * mb, Certainty: gc.Estimate}},
	} {
		t.Run(name, func(t *testing.T) {
			var a allocation
			first, last := allocated(99*mb, gc.LowerBound), allocated(20*mb, gc.Exact)
			for i, c := range []*gc.Collection{&first, &test.of, &last} {
				a.add(&Collection{Collection: c, Ended: noon.Add(time.Duration(i) * time.Second)})
			}
			if got := a.at(noon.Add(2*time.Second + test.idle)); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestAllocationRateAfterDrop: a rate leaves out the time in which collections were dropped.
func TestAllocationRateAfterDrop(t *testing.T) {
	r := watching()
	take := func(at time.Duration, dropped int, of gc.Collection) {
		of.Process, of.Start, of.End = &gc.Process{}, gc.Some(at), gc.Some(at)
		r.take(&live.Update{Kind: live.Collected, Start: noon, Collection: &of, Dropped: dropped}, nil, noon.Add(at))
	}
	take(time.Second, 0, allocated(20e6, gc.Exact))
	take(2*time.Second, 0, allocated(20e6, gc.Exact))
	take(9*time.Second, 50, allocated(20e6, gc.Exact))
	if got := r.rate.at(noon.Add(9 * time.Second)); got.Known() {
		t.Errorf("right after collections were dropped: %+v", got)
	}
	take(10*time.Second, 0, allocated(20e6, gc.Exact))
	if got, want := r.rate.at(noon.Add(10*time.Second)), (stats.Rate{PerSecond: 20e6, Certainty: gc.Exact}); got != want {
		t.Errorf("after collections were dropped: %+v, want %+v", got, want)
	}
}
