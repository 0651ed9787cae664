package findings_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// assembled are histories that test rules at their thresholds: the rule fires on the
// first, and not on near, which is just below the threshold. A nil near is the calm
// history. why describes a program with such trouble.
var assembled = map[string]struct {
	why         string
	there, near func() history
	severity    findings.Severity
	settings    bool
}{
	"R05": {
		why: "a program that idles for most of a minute",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i >= 40 && i < 60 {
					pause(c, 99*time.Millisecond+time.Duration(i%2)*9*time.Millisecond, 0)
				}
			})
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i >= 40 && i < 60 {
					pause(c, 80*time.Millisecond, 0)
				}
			})
		},
		severity: findings.Warning,
	},
	"R11": {
		why: "one pause that something else on the machine made long",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i == 50 {
					pause(c, 110*time.Millisecond, 50*time.Microsecond)
				}
			})
		},
		near: func() history { // the one after it takes as long
			return calm().with(func(i int, c *gc.Collection) {
				if i == 50 || i == 51 {
					pause(c, 110*time.Millisecond, 50*time.Microsecond)
				}
			})
		},
		severity: findings.Warning,
	},
	"R28": {
		why: "a leak of minutes",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				c.Generations[2].After = gc.Some(int64(40+2*i) * mb)
			})
		},
		near: func() history { // it levels off
			return calm().with(func(i int, c *gc.Collection) {
				c.Generations[2].After = gc.Some(int64(40+2*min(i, 40)) * mb)
			})
		},
		severity: findings.Warning,
	},
	"R30": {
		why: "server GC on many processors",
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.HeapPeak = gc.Some(int64(500 * mb)) })
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.HeapPeak = gc.Some(int64(200 * mb)) })
		},
		severity: findings.Note,
		settings: true,
	},
	"R44": {
		why: "a program that pins thousands of objects",
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.PinnedObjects = gc.Some(int64(5000))
			})
		},
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		severity: findings.Warning,
	},
	"R63": {
		why: "server GC on many processors",
		there: func() history {
			h := calm().with(func(_ int, c *gc.Collection) { hurting(c); c.Heaps = gc.Some(16) })
			server(&h.process)
			return h
		},
		near: func() history {
			h := calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Heaps, c.HeapPeak = gc.Some(16), gc.Some(int64(4000*mb))
			})
			server(&h.process)
			return h
		},
		severity: findings.Warning,
		settings: true,
	},
	"R12": {
		why: "an object graph that one heap marks, on a server with several",
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Marks = []gc.Mark{
					{Heap: 0, Root: clr.RootTypeOlder, Duration: 100 * time.Millisecond},
					{Heap: 1, Root: clr.RootTypeOlder, Duration: 10 * time.Millisecond},
				}
			})
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Marks = []gc.Mark{
					{Heap: 0, Root: clr.RootTypeOlder, Duration: 50 * time.Millisecond},
					{Heap: 1, Root: clr.RootTypeOlder, Duration: 40 * time.Millisecond},
				}
			})
		},
		severity: findings.Problem,
	},
	"R13": {
		why: "several services on one machine",
		there: func() history {
			h := calm().with(func(_ int, c *gc.Collection) { hurting(c) })
			server(&h.process)
			h.trace.Servers, h.trace.ServerHeaps, h.trace.CPUs = 2, 11, 4 // besides its own
			return h
		},
		near: func() history {
			h := calm().with(func(_ int, c *gc.Collection) { hurting(c) })
			server(&h.process)
			h.trace.CPUs = 4
			return h
		},
		severity: findings.Warning,
		settings: true,
	},
	"R23": {
		why: "a machine without memory",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i%20 == 0 {
					c.Generation, c.Reason = gc.Some(2), gc.Some(clr.GCReasonPMFullGC)
				}
			})
		},
		severity: findings.Warning,
		settings: true,
	},
	"R25": {
		why: "threads that allocate large objects while a background GC is long",
		there: func() history {
			h := calm()
			h.process.AllocWaits = gc.AllocWaits{Count: 2, Total: 400 * time.Millisecond, Max: 300 * time.Millisecond}
			return h
		},
		near: func() history {
			h := calm()
			h.process.AllocWaits = gc.AllocWaits{Count: 20, Total: 400 * time.Millisecond, Max: 100 * time.Millisecond}
			return h
		},
		severity: findings.Warning,
	},
	"R27": {
		why: "a program that grows for minutes",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				c.Generation, c.Kind = gc.Some(0), gc.Blocking
				c.HeapAfter = gc.Some(int64(50+2*i) * mb)
			})
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) { c.HeapAfter = gc.Some(int64(50+2*i) * mb) })
		},
		severity: findings.Note,
		settings: true,
	},
	"R42": {
		why: "small objects that die among others, and survivors of another size",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i%4 == 0 {
					c.Generation, c.FreeList = gc.Some(1), gc.Some(gc.FreeList{Allocated: mb, Rejected: 2 * mb})
				}
			})
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i%4 == 0 {
					c.Generation, c.FreeList = gc.Some(1), gc.Some(gc.FreeList{Allocated: 3 * mb, Rejected: 2 * mb})
				}
			})
		},
		severity: findings.Note,
		settings: true,
	},
	"R45": {
		why:      "a load with a peak of large arrays",
		there:    func() history { return calm().with(func(_ int, c *gc.Collection) { free(c, 3, 40*mb, 30*mb) }) },
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { free(c, 3, 40*mb, 15*mb) }) },
		severity: findings.Note,
	},
	"R62": {
		why: "a program with large arrays whose gen 2 GCs have other reasons",
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if c.Generation.Or(0) == 2 {
					c.Generations[3].Before, c.Generations[3].Out, c.Generations[3].Freed = 40*mb, 2*mb, gc.Some(int64(38*mb))
				}
			})
		},
		severity: findings.Note,
	},
	"R71": {
		why: "a server whose load goes up and down for minutes",
		there: func() history {
			h := calm().with(func(i int, c *gc.Collection) { hurting(c); c.Heaps = gc.Some(1 + i/10%2) })
			server(&h.process)
			return h
		},
		near: func() history { // it grows with the load
			h := calm().with(func(i int, c *gc.Collection) { hurting(c); c.Heaps = gc.Some(1 + i/25) })
			server(&h.process)
			return h
		},
		severity: findings.Warning,
		settings: true,
	},
}

// free makes some of a generation free space before a collection.
func free(c *gc.Collection, generation int, size, unused int64) {
	c.Generations[generation].Before, c.Generations[generation].FreeBefore = size, unused
}

func TestAssembled(t *testing.T) {
	for id, tt := range assembled {
		f := find(tt.there().judged().Findings, id)
		if f == nil {
			t.Errorf("%s finds nothing", id)
			continue
		}
		if f.Severity != tt.severity {
			t.Errorf("%s is a %v, want %v", id, f.Severity, tt.severity)
		}
		if tt.settings != (len(f.Settings) > 0) {
			t.Errorf("%s has %d settings", id, len(f.Settings))
		}
		near := calm
		if tt.near != nil {
			near = tt.near
		}
		if f := find(near().judged().Findings, id); f != nil {
			t.Errorf("%s finds in the history that is nearly so: %s", id, f.Description)
		}
		whole(t, id, tt.there().judged().Findings)
	}
}
