package stats_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

const ms = time.Millisecond

func mark(root clr.RootType, d time.Duration, bytes int64) gc.Mark {
	return gc.Mark{Root: root, Duration: d, Bytes: gc.Some(bytes)}
}

func phase(name string, d time.Duration) gc.PhaseTime {
	return gc.PhaseTime{Phase: name, Duration: gc.Some(d)}
}

// hundredMillis returns a blocking collection with a pause of 100 ms, 10 of them suspending.
func hundredMillis() *gc.Collection {
	return &gc.Collection{
		Kind: gc.Blocking, AllPauses: true,
		Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Duration: 100 * ms, Suspend: gc.Some(10 * ms)}},
	}
}

// TestDivide checks that the parts of a pause add up to it, whatever the runtime times.
func TestDivide(t *testing.T) {
	timed := hundredMillis()
	timed.PhaseTimes = []gc.PhaseTime{
		phase("MarkRoots", 30*ms), phase("MarkShortWeak", 2*ms), phase("MarkScanFinalization", 4*ms), phase("MarkLongWeak", ms),
		phase("Plan", 20*ms), phase("Relocate", 15*ms), phase("Compact", 8*ms),
	}
	timed.Marks = []gc.Mark{mark(clr.RootTypeStack, 10*ms, 1), mark(clr.RootTypeOlder, 15*ms, 1), mark(clr.RootTypeNewFQ, 6*ms, 1)}
	wholeTimed := stats.Division{
		stats.Suspending: 10 * ms, stats.MarkStacks: 10 * ms, stats.MarkOlder: 15 * ms, stats.MarkOther: 5 * ms, stats.ScanWeak: 3 * ms,
		stats.MarkFinalizers: 4 * ms, stats.Planning: 20 * ms, stats.Relocating: 15 * ms, stats.Compacting: 8 * ms, stats.Outside: 10 * ms,
	}

	torn := hundredMillis() // .NET 8 writes impossible values
	torn.PhaseTimes = []gc.PhaseTime{phase("MarkRoots", 30*ms), {Phase: "Compact"}}
	wholeTorn := stats.Division{stats.Suspending: 10 * ms, stats.MarkOther: 30 * ms, stats.Untimed: 60 * ms}

	old := hundredMillis() // before .NET 6
	old.Marks = []gc.Mark{mark(clr.RootTypeStack, 10*ms, 1), mark(clr.RootTypeNewFQ, 6*ms, 1)}
	wholeOld := stats.Division{stats.Suspending: 10 * ms, stats.MarkStacks: 10 * ms, stats.MarkFinalizers: 6 * ms, stats.Untimed: 74 * ms}

	background := hundredMillis()
	background.Kind, background.PhaseTimes = gc.Background, timed.PhaseTimes
	wholeBackground := stats.Division{stats.Suspending: 10 * ms, stats.InBackground: 90 * ms}

	for name, tt := range map[string]struct {
		c    *gc.Collection
		want stats.Division
	}{
		"timed": {timed, wholeTimed}, "torn": {torn, wholeTorn}, "old": {old, wholeOld}, "background": {background, wholeBackground},
	} {
		if got, known := stats.Divide(tt.c); !known || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", name, got, known, tt.want)
		}
	}
	if _, known := stats.Divide(&gc.Collection{}); known {
		t.Error("divided an unknown pause")
	}
	if part, share, ok := stats.Mostly(timed); !ok || part != stats.Planning || share != 20 {
		t.Errorf("mostly %v, %g %%, %v", part, share, ok)
	}
	for name, c := range map[string]*gc.Collection{"torn": torn, "background": background, "unknown": {}} {
		if part, _, ok := stats.Mostly(c); ok {
			t.Errorf("%s: mostly %v", name, part)
		}
	}
}

// TestUsual checks that two pauses do not decide what all are spent on.
func TestUsual(t *testing.T) {
	var preempted, habit stats.Spent
	for range 10 {
		preempted.Add(ms/10, ms)
		habit.Add(8*ms, 10*ms)
	}
	preempted.Add(99*ms, 100*ms)
	preempted.Add(99*ms, 100*ms)
	if s := preempted.Share(); s < 90 {
		t.Errorf("%g %% of all pauses", s)
	}
	if s := preempted.Usual(); s < 9.9 || s > 10.1 {
		t.Errorf("usually %g %%, want 10", s)
	}
	if s := habit.Usual(); s < 79.9 || s > 80.1 {
		t.Errorf("a habit: %g %%, want 80", s)
	}
	var two stats.Spent
	two.Add(ms, ms)
	two.Add(ms, ms)
	if s := two.Usual(); s != 0 {
		t.Errorf("two pauses: %g %%", s)
	}
}
