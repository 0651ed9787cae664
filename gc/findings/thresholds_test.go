package findings_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// committed returns a history with a heap of some bytes after each collection, more
// committed for it, and a budget of gen 0.
func committed(after, of, budget int64) history {
	return calm().with(func(_ int, c *gc.Collection) {
		c.HeapAfter, c.CommittedAfter = gc.Some(after), gc.Some(of)
		c.Generations[0].Budget = budget
	}).of(".NET 10.0.12")
}

// started returns a history of ten seconds that has a collection each 100 ms: 20 in its
// start-up of 2 s. It calls change with each of them.
func started(change func(startup bool, i int, c *gc.Collection)) history {
	h := calm().with(func(i int, c *gc.Collection) { change(i < 20, i, c) })
	h.every = 100 * time.Millisecond
	h.process.Stopped = 10 * time.Second
	return h
}

// paused gives collections of the start-up and later ones a pause each.
func paused(startup, later time.Duration) history {
	return started(func(is bool, _ int, c *gc.Collection) {
		if is {
			pause(c, startup, 0)
		} else {
			pause(c, later, 0)
		}
	})
}

// TestThresholds checks rules at their thresholds, and just below them.
func TestThresholds(t *testing.T) {
	grown := func(by int64) history {
		return started(func(startup bool, i int, c *gc.Collection) {
			c.Generations[2].After = gc.Some(int64(40 * mb))
			if startup && i == 19 {
				c.Generations[2].After = gc.Some(40*mb + by)
			}
		})
	}
	each := func(change func(c *gc.Collection)) history {
		return calm().with(func(_ int, c *gc.Collection) { change(c) })
	}
	few := func(n int, change func(c *gc.Collection)) history {
		return calm().with(func(i int, c *gc.Collection) {
			if i < n {
				change(c)
			}
		})
	}
	load := func(percent int) history { return few(1, func(c *gc.Collection) { c.MemoryLoad = gc.Some(percent) }) }
	peak := func(bytes int64) history { return each(func(c *gc.Collection) { c.HeapPeak = gc.Some(bytes) }) }
	induced := func(n int) history { return few(n, func(c *gc.Collection) { c.Reason = gc.Some(clr.GCReasonInduced) }) }
	suspended := func(n int, d time.Duration) history {
		return few(n, func(c *gc.Collection) { pause(c, 20*time.Millisecond, d) })
	}
	pinned := func(n int64) history {
		return each(func(c *gc.Collection) { hurting(c); c.PinnedObjects = gc.Some(n) })
	}
	waits := func(longest time.Duration) history {
		h := calm()
		h.process.AllocWaits = gc.AllocWaits{Count: 1, Total: longest, Max: longest}
		return h
	}
	surviving := func(bytes int64) history { // of 10 MB
		return each(func(c *gc.Collection) {
			pause(c, 9*time.Millisecond, 0)
			c.Generations[0].Out, c.Generations[0].Freed = bytes, gc.Some(10*mb-bytes)
		})
	}
	surviving5 := func(bytes int64) history {
		h := surviving(bytes)
		h.every, h.process.Stopped = 100*time.Millisecond, 10*time.Second
		return h
	}
	for _, tt := range []struct {
		name     string
		id       string
		at, near history
	}{
		{"memory load of 90 %", "R22", load(90), load(89)},
		{"peak of five times the heap", "R30", peak(250 * mb), peak(250*mb - 1)},
		{"six induced a minute", "R21", induced(10), induced(9)},
		{"three suspensions of 10 ms", "R10", suspended(3, 10*time.Millisecond), suspended(3, 10*time.Millisecond-1)},
		{"three slow suspensions", "R10", suspended(3, 15*time.Millisecond), suspended(2, 15*time.Millisecond)},
		{"1,000 pinned objects", "R44", pinned(1000), pinned(999)},
		{"a wait of 200 ms", "R25", waits(200 * time.Millisecond), waits(200*time.Millisecond - 1)},
		{"less than 5 % survive", "R29", surviving5(mb/2 - 1), surviving5(mb / 2)},
		{"committed, 100 MB more", "R60", committed(50*mb, 150*mb, 0), committed(50*mb, 150*mb-1, 0)},
		{"committed, twice the heap", "R60", committed(200*mb, 400*mb, 0), committed(200*mb, 400*mb-1, 0)},
		{"start-up, twice the pauses", "R85", paused(10*time.Millisecond, 5*time.Millisecond), paused(9900*time.Microsecond, 5*time.Millisecond)},
		{"start-up, half the pauses", "R85", paused(2500*time.Microsecond, 5*time.Millisecond), paused(2600*time.Microsecond, 5*time.Millisecond)},
		{"start-up, 1 % paused", "R85", paused(time.Millisecond, 400*time.Microsecond), paused(990*time.Microsecond, 400*time.Microsecond)},
		{"start-up, 10 MB of growth", "R85", grown(10 * mb), grown(10*mb - 1)},
	} {
		if find(tt.at.judged().Findings, tt.id) == nil {
			t.Errorf("%s: %s does not fire", tt.name, tt.id)
		}
		if f := find(tt.near.judged().Findings, tt.id); f != nil {
			t.Errorf("%s: %s fires just below the threshold: %s", tt.name, tt.id, f.Description)
		}
	}
}

// TestStartupEnds checks that a collection that starts two seconds after the program is
// no part of its start-up.
func TestStartupEnds(t *testing.T) {
	h := started(func(startup bool, i int, c *gc.Collection) {
		switch {
		case startup:
			pause(c, 20*time.Millisecond, 0)
		case i == 20:
			c.Start = gc.Some(2 * time.Second)
			pause(c, 80*time.Millisecond, 0)
		}
	})
	f := find(h.judged().Findings, "R85")
	if f == nil || !slices.Contains(f.Evidence, findings.Figure{Name: "startup_pause_pct", Value: 20}) {
		t.Errorf("%+v, want 20 pauses of 20 ms in 2 s", f)
	}
}

// TestBudgetOfCommitted checks when a lower budget of gen 0 is advised against much
// committed memory: if the budget is half of the excess, and twice the advised maximum.
func TestBudgetOfCommitted(t *testing.T) {
	const advised = 0x2000000
	for name, tt := range map[string]struct {
		committed, budget int64
		want              bool
	}{
		"half of the excess":        {450 * mb, 200 * mb, true},
		"less than half":            {450 * mb, 200*mb - 1, false},
		"twice the advised maximum": {150 * mb, 2 * advised, true},
		"less than twice as much":   {150 * mb, 2*advised - 1, false},
	} {
		f := find(committed(50*mb, tt.committed, tt.budget).judged().Findings, "R60")
		if f == nil {
			t.Errorf("%s: R60 does not fire", name)
			continue
		}
		if got := slices.ContainsFunc(f.Settings, func(s findings.Setting) bool { return s.Value == "0x2000000" }); got != tt.want {
			t.Errorf("%s: a lower budget is advised: %t", name, got)
		}
	}
}
