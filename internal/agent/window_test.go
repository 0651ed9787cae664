package agent

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// TestWindow has a program with trouble for four minutes and none afterwards: the
// findings last until the next window has lasted as long as the one with trouble.
func TestWindow(t *testing.T) {
	var w window
	troubled := func(minute int) bool {
		now := traceStart.Add(time.Duration(minute) * time.Minute)
		return slices.ContainsFunc(w.judge(now), func(f findings.Finding) bool { return f.ID == "R02" })
	}
	for second := range 12 * 60 {
		pause := time.Millisecond
		if second < 4*60 {
			pause = 500 * time.Millisecond
		}
		c := collectionOf(uint32(second), 0, pause)
		c.Reason = gc.Some(clr.GCReasonAllocSmall)
		w.add(c)
		if second%60 != 59 {
			continue
		}
		minute := (second + 1) / 60
		if got, want := troubled(minute), minute <= 10; got != want {
			t.Errorf("after %d minutes, pauses take much of the time: %v", minute, got)
		}
	}
	if troubled(30) || w.current != nil {
		t.Error("a process without collections has findings")
	}
}

// TestWindowBounded checks that the memory of a window does not grow with its number of
// collections.
func TestWindowBounded(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	n := 0
	held := func(collections int) int {
		for ; n < collections; n++ {
			c := collectionOf(uint32(n+1), n%3, time.Duration(1+n*7919%5000)*time.Microsecond)
			c.Collection.Start = gc.Some(time.Duration(n) * span / 100_001)
			c.Pauses[0].Start, c.PauseStart = c.Collection.Start.Or(0), c.Collection.Start
			c.Ended = traceStart.Add(c.Collection.Start.Or(0))
			happen(a, 1, c)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	few := held(1000)
	many := held(100_000)
	p := a.processes[1]
	if !p.window.current.since.Equal(traceStart) {
		t.Fatal("the collections are not all in one window")
	}
	if got := p.group.counters[key{collections, [3]string{"gen0"}}]; got < 33_000 {
		t.Fatalf("%v collections of gen0", got)
	}
	if grown := many - few; grown > 32<<10 {
		t.Errorf("%d bytes more are held after 100,000 collections than after 1,000", grown)
	}
}
