package stats_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// TestShares checks the shares of a window of a second: of collections, and of what the
// program had, which other suspensions reduce too.
func TestShares(t *testing.T) {
	s := stats.Stall{Window: time.Second, Pause: 200 * time.Millisecond, Other: 100 * time.Millisecond}
	if s.Share() != 20 || s.MutatorUtilization() != 70 {
		t.Errorf("%v %% paused, %v %% left", s.Share(), s.MutatorUtilization())
	}
	b := stats.Bottleneck{From: time.Second, To: 2 * time.Second, Pause: 200 * time.Millisecond, Other: 100 * time.Millisecond}
	if b.MutatorUtilization() != 70 {
		t.Errorf("a bottleneck: %v %% left", b.MutatorUtilization())
	}
}

func TestMean(t *testing.T) {
	var d stats.Distribution
	if d.Mean() != 0 {
		t.Errorf("the mean of nothing is %v", d.Mean())
	}
	for _, v := range []time.Duration{1, 2, 6} {
		d.Add(v)
	}
	if d.Mean() != 3 {
		t.Errorf("the mean of 1, 2 and 6 is %v", d.Mean())
	}
}

// TestDefaultBottleneck checks that without limits, bottlenecks are intervals of 100 ms in
// which the program has less than 90 % of the time.
func TestDefaultBottleneck(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		pauses, every, pause time.Duration
		want                 int
	}{
		{10, 95 * ms, 10 * ms, 1},
		{10, 105 * ms, 10 * ms, 0},
		{1, 1, 100 * ms, 1},
		{1, 1, 99 * ms, 0},
	} {
		process := &gc.Process{Stopped: time.Hour}
		var b stats.Bottlenecks
		for i := range tt.pauses {
			at := time.Second + i*tt.every
			b.Add(&gc.Collection{
				Process: process, Start: gc.Some(at), PauseStart: gc.Some(at), End: gc.Some(at + tt.pause), AllPauses: true,
				Pauses: []gc.Pause{{Start: at, Duration: tt.pause}},
			})
		}
		if list, count := b.All(); count != tt.want {
			t.Errorf("%d pauses of %v, each %v: %d bottlenecks, want %d: %+v", tt.pauses, tt.pause, tt.every, count, tt.want, list)
		}
	}
}
