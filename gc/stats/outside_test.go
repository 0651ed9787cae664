package stats_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// TestSuspended checks that the program's share of the worst windows, and of bottlenecks,
// leaves out suspensions outside collections, except before and after the selected time,
// and that the windows with the longest pauses do not count them.
func TestSuspended(t *testing.T) {
	const ms = time.Millisecond
	process := &gc.Process{Stopped: 2 * time.Second}
	outside := func(from, count, every, length time.Duration) []gc.Outside {
		var all []gc.Outside
		for i := range count {
			at := from + i*every
			all = append(all, gc.Outside{From: at, To: at + length, Suspended: length})
		}
		return all
	}
	collection := func(at, pause time.Duration, before []gc.Outside) *gc.Collection {
		return &gc.Collection{
			Process: process, Kind: gc.Blocking, Start: gc.Some(at), PauseStart: gc.Some(at), End: gc.Some(at + pause),
			Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: pause}}, AllPauses: true, Outside: before,
		}
	}
	var s stats.Summary
	s.From, s.To = gc.Some(100*ms), gc.Some(1900*ms)
	var b stats.Bottlenecks
	b.From, b.To, b.Below = s.From, s.To, 50
	for _, c := range []*gc.Collection{
		collection(150*ms, 5*ms, outside(0, 1, ms, 99*ms)),           // before the time that is looked at
		collection(610*ms, 20*ms, outside(500*ms, 100, ms, ms*6/10)), // 60 % of a tenth of a second
	} {
		s.Add(c)
		b.Add(c)
	}
	process.Outside = append(outside(1000*ms, 1, ms, 8*ms), outside(1900*ms, 1, ms, 99*ms)...)
	for _, tt := range []struct {
		of           string
		stalls       []stats.Stall
		pause, other [3]time.Duration
	}{
		{"all", s.Suspended(), [3]time.Duration{10 * ms, 20 * ms, 25 * ms}, [3]time.Duration{0, 42 * ms, 68 * ms}},
		{"pauses", s.Stalls(), [3]time.Duration{10 * ms, 20 * ms, 25 * ms}, [3]time.Duration{}},
	} {
		if len(tt.stalls) != 3 {
			t.Fatalf("%s: %d windows", tt.of, len(tt.stalls))
		}
		for i, got := range tt.stalls {
			if got.Pause != tt.pause[i] || got.Other != tt.other[i] {
				t.Errorf("%s, %v: %+v, want %v and %v", tt.of, got.Window, got, tt.pause[i], tt.other[i])
			}
		}
	}
	list, count := b.All()
	if count != 1 || list[0].From != 500*ms || list[0].To != 630*ms || list[0].Pause != 20*ms || list[0].Other != 60*ms || list[0].Pauses != 1 {
		t.Errorf("%d bottlenecks: %+v", count, list)
	}
}

// TestPauseWithoutStart checks that the worst windows count the final pause of a background
// collection whose first pause was before the trace.
func TestPauseWithoutStart(t *testing.T) {
	const ms = time.Millisecond
	var s stats.Summary
	s.Add(&gc.Collection{
		Process: &gc.Process{Stopped: time.Second}, Kind: gc.Background, End: gc.Some(40 * ms),
		Pauses: []gc.Pause{{Kind: gc.PauseFinal, Start: 20 * ms, Duration: 5 * ms}},
	})
	for _, got := range s.Stalls() {
		if got.Pause != 5*ms {
			t.Errorf("%+v", got)
		}
	}
	if len(s.Stalls()) == 0 {
		t.Error("no windows")
	}
}
