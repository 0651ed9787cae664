package findings_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

const mb = 1_000_000

// A history is what a process went through.
type history struct {
	process gc.Process
	trace   findings.Trace
	n       int
	every   time.Duration
	change  func(i int, c *gc.Collection)
}

// calm is a process in whose collections nothing is to be found: each tenth is
// a full one in the background, the others are young and short.
func calm() history {
	return history{
		process: gc.Process{PID: 1, Server: gc.Some(false), Stopped: 100 * time.Second},
		trace:   findings.Trace{Keywords: 1, CPUs: 2},
		n:       100, every: time.Second,
	}
}

func (h history) with(change func(i int, c *gc.Collection)) history {
	h.change = change
	return h
}

func (h history) collection(i int) *gc.Collection {
	c := &gc.Collection{
		Process:    &h.process,
		Number:     uint32(i + 1),
		Generation: gc.Some(0),
		Kind:       gc.Blocking,
		Reason:     gc.Some(clr.GCReasonAllocSmall),
		Start:      gc.Some(time.Duration(i)*h.every + 10*time.Microsecond),
		HeapBefore: gc.Some(int64(60 * mb)), HeapAfter: gc.Some(int64(50 * mb)), HeapPeak: gc.Some(int64(60 * mb)),
		CommittedAfter: gc.Some(int64(70 * mb)),
		Promoted:       gc.Some(int64(mb)),
		Freed:          gc.Some(int64(9 * mb)), FreedIs: gc.Exact,
		Allocated:     gc.Some(int64(10 * mb)),
		MemoryLoad:    gc.Some(40),
		Heaps:         gc.Some(1),
		PinnedObjects: gc.Some(int64(3)),
		Handles:       gc.Some(int64(500)),
		Complete:      true,
		Generations: []gc.Generation{
			{Name: "gen0", Before: 10 * mb, After: gc.Some(int64(0)), Out: mb, Freed: gc.Some(int64(9 * mb)), Fragmentation: gc.Some(int64(0))},
			{Name: "gen1", Before: mb, After: gc.Some(int64(mb)), Fragmentation: gc.Some(int64(0))},
			{Name: "gen2", Before: 40 * mb, After: gc.Some(int64(40 * mb)), Fragmentation: gc.Some(int64(2 * mb))},
			{Name: "loh", Before: 9 * mb, After: gc.Some(int64(9 * mb)), Fragmentation: gc.Some(int64(mb))},
			{Name: "poh"},
		},
	}
	if i%10 == 9 {
		c.Generation, c.Kind, c.Promoted = gc.Some(2), gc.Background, gc.Some(int64(40*mb))
	}
	pause(c, 5*time.Millisecond, 50*time.Microsecond)
	c.End = gc.Some(c.Start.V + 5*time.Millisecond)
	if h.change != nil {
		h.change(i, c)
	}
	return c
}

// pause gives c one pause, with its suspension.
func pause(c *gc.Collection, d, suspend time.Duration) {
	begin := c.Start.V - 10*time.Microsecond
	c.PauseStart, c.AllPauses = gc.Some(begin), true
	c.Pauses = []gc.Pause{{Kind: gc.PauseBlocking, Start: begin, Duration: d, Suspend: gc.Some(suspend)}}
}

func (h history) judged() *findings.Case {
	c := &findings.Case{Trace: h.trace}
	for i := range h.n {
		c.Add(h.collection(i))
	}
	return c
}

// hurting makes all pauses ten times as long.
func hurting(c *gc.Collection) { pause(c, 120*time.Millisecond, 50*time.Microsecond) }

// old makes every second collection a full one that stops all threads.
func old(i int, c *gc.Collection) {
	hurting(c)
	if i%2 == 0 {
		c.Generation, c.Kind = gc.Some(2), gc.Blocking
	}
}

func server(p *gc.Process) { p.Server = gc.Some(true) }

// cases are, for each rule, a history in which it finds something, and one that
// is nearly so in which it does not. A nil near is the calm one.
var cases = map[string]struct {
	there, near func() history
	severity    findings.Severity
	settings    bool
}{
	"R02": {
		there:    func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { pause(c, 49*time.Millisecond, 0) }) },
		severity: findings.Problem,
	},
	"R05": {
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
	"R03": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i == 40 {
					pause(c, 250*time.Millisecond, 0)
				}
			})
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i == 40 {
					pause(c, 100*time.Millisecond, 0)
				}
			})
		},
		severity: findings.Problem,
	},
	"R10": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i%5 == 0 {
					pause(c, 180*time.Millisecond, 150*time.Millisecond)
				}
			})
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { pause(c, time.Millisecond, 900*time.Microsecond) })
		},
		severity: findings.Warning,
	},
	"R11": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i == 41 {
					pause(c, 200*time.Millisecond, 0)
				}
			})
		},
		near: func() history { // it also promoted much
			return calm().with(func(i int, c *gc.Collection) {
				if i == 41 {
					pause(c, 200*time.Millisecond, 0)
					c.Promoted = gc.Some(int64(30 * mb))
				}
			})
		},
		severity: findings.Warning,
	},
	"R14": {
		there: func() history {
			h := calm()
			h.process.Suspensions = []gc.SuspensionTotal{{Kind: gc.PauseOther, Count: 100, Total: 6 * time.Second, Max: time.Second}}
			return h
		},
		near: func() history {
			h := calm()
			h.process.Suspensions = []gc.SuspensionTotal{{Kind: gc.PauseOther, Count: 1, Total: 20 * time.Millisecond, Max: time.Millisecond}}
			return h
		},
		severity: findings.Warning,
	},
	"R20": {
		there:    func() history { return calm().with(old) },
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		severity: findings.Problem,
	},
	"R21": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i%4 == 0 {
					hurting(c)
					c.Reason = gc.Some(clr.GCReasonInduced)
				}
			})
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if i == 50 || i == 60 {
					c.Reason = gc.Some(clr.GCReasonInduced)
				}
			})
		},
		severity: findings.Warning,
	},
	"R22": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) { c.MemoryLoad = gc.Some(30 + i*68/100) })
		},
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { c.MemoryLoad = gc.Some(89) }) },
		severity: findings.Problem,
		settings: true,
	},
	"R24": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				old(i, c)
				c.Reason = gc.Some(clr.GCReasonAllocLarge)
			})
		},
		near:     func() history { return calm().with(old) },
		severity: findings.Problem,
		settings: true,
	},
	"R28": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				if c.Generation.V == 2 {
					c.Promoted = gc.Some(int64(40+2*i) * mb)
				}
			})
		},
		near: func() history { // it levels off
			return calm().with(func(i int, c *gc.Collection) {
				if c.Generation.V == 2 {
					c.Promoted = gc.Some(int64(40+2*min(i, 40)) * mb)
				}
			})
		},
		severity: findings.Warning,
	},
	"R29": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Generations[0].Out, c.Generations[0].Freed = mb/10, gc.Some(int64(99*mb/10))
			})
		},
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		severity: findings.Problem,
		settings: true,
	},
	"R30": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.HeapPeak = gc.Some(int64(500 * mb)) })
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.HeapPeak = gc.Some(int64(200 * mb)) })
		},
		severity: findings.Note,
		settings: true,
	},
	"R31": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Allocated = gc.Some(int64(600 * mb))
			})
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.Allocated = gc.Some(int64(600 * mb)) })
		},
		severity: findings.Warning,
	},
	"R32": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Generations[0].Out = 5 * mb
			})
		},
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		severity: findings.Problem,
	},
	"R40": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.Generations[0].Fragmentation = gc.Some(int64(20 * mb)) })
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.Generations[0].Fragmentation = gc.Some(int64(14 * mb)) })
		},
		severity: findings.Note,
	},
	"R41": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.Generations[2].Fragmentation = gc.Some(int64(30 * mb)) })
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.Generations[2].Fragmentation = gc.Some(int64(10 * mb)) })
		},
		severity: findings.Note,
		settings: true,
	},
	"R43": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) {
				old(i, c)
				c.Condemned = gc.Some(clr.CondemnReasons1MaxGenerationHighFragmentation)
			})
		},
		near:     func() history { return calm().with(old) },
		severity: findings.Problem,
	},
	"R44": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.PinnedObjects = gc.Some(int64(5000))
			})
		},
		near:     func() history { return calm().with(func(_ int, c *gc.Collection) { hurting(c) }) },
		severity: findings.Warning,
	},
	"R50": {
		there: func() history {
			return calm().with(func(i int, c *gc.Collection) { c.Handles = gc.Some(int64(500 + 100*i)) })
		},
		near: func() history {
			return calm().with(func(i int, c *gc.Collection) { c.Handles = gc.Some(int64(500 + 5*i)) })
		},
		severity: findings.Warning,
	},
	"R51": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.FinalizationPromotedObjs = gc.Some(int64(2000)) })
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.FinalizationPromotedObjs = gc.Some(int64(900)) })
		},
		severity: findings.Note,
	},
	"R54": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Marks = []gc.Mark{{Heap: 0, Root: clr.RootTypeStack, Duration: time.Millisecond}, {Heap: 0, Root: clr.RootTypeOlder, Duration: 100 * time.Millisecond}}
			})
		},
		near: func() history {
			return calm().with(func(_ int, c *gc.Collection) {
				hurting(c)
				c.Marks = []gc.Mark{{Heap: 0, Root: clr.RootTypeStack, Duration: 30 * time.Millisecond}, {Heap: 0, Root: clr.RootTypeOlder, Duration: 30 * time.Millisecond}}
			})
		},
		severity: findings.Problem,
	},
	"R60": {
		there: func() history {
			return calm().with(func(_ int, c *gc.Collection) { c.CommittedAfter = gc.Some(int64(200 * mb)) })
		},
		severity: findings.Note,
		settings: true,
	},
	"R63": {
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
	"R70": {
		there: func() history {
			h := calm().with(func(i int, c *gc.Collection) { hurting(c); c.Heaps = gc.Some(1 + i/10%2) })
			server(&h.process)
			return h
		},
		near: func() history {
			h := calm().with(func(i int, c *gc.Collection) { hurting(c); c.Heaps = gc.Some(1 + i/50) })
			server(&h.process)
			return h
		},
		severity: findings.Warning,
		settings: true,
	},
	"R80": {
		there: func() history {
			h := calm()
			h.trace.Keywords = 0x400001
			h.process.Suspensions = []gc.SuspensionTotal{{Kind: gc.PauseHeapWalk, Count: 4, Total: 80 * time.Millisecond, Max: 30 * time.Millisecond}}
			return h
		},
		severity: findings.Warning,
	},
	"R83": {
		there: func() history {
			h := calm().with(func(i int, c *gc.Collection) { c.AffectedByLoss = i%10 == 0 })
			h.trace.Lost = 1234
			return h
		},
		severity: findings.Warning,
	},
}

func find(found []findings.Finding, id string) *findings.Finding {
	for i := range found {
		if found[i].ID == id {
			return &found[i]
		}
	}
	return nil
}

func TestRules(t *testing.T) {
	for id, tt := range cases {
		found := tt.there().judged().Findings()
		f := find(found, id)
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
		if f := find(near().judged().Findings(), id); f != nil {
			t.Errorf("%s finds in the history that is nearly so: %s", id, f.Says)
		}
	}
}

// TestEveryFindingIsWhole checks all findings of all histories for what they owe
// to a reader.
func TestEveryFindingIsWhole(t *testing.T) {
	for id, tt := range cases {
		found := tt.there().judged().Findings()
		for i, f := range found {
			if f.Title == "" || f.Says == "" || len(f.Evidence) == 0 || len(f.Advice)+len(f.Settings) == 0 {
				t.Errorf("%s in the history for %s lacks something: %+v", f.ID, id, f)
			}
			if !strings.HasSuffix(f.Says, ".") || strings.Contains(f.Says, "NaN") || strings.Contains(f.Says, "%!") {
				t.Errorf("%s says %q", f.ID, f.Says)
			}
			for _, e := range f.Evidence {
				if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) || e.Value < 0 {
					t.Errorf("%s: %s is %v", f.ID, e.Name, e.Value)
				}
			}
			if len(f.Collections) > f.Shown {
				t.Errorf("%s shows %v of %d", f.ID, f.Collections, f.Shown)
			}
			for _, s := range f.Settings {
				if !strings.HasPrefix(s.Variable, "DOTNET_") || !strings.HasPrefix(s.Value, "0x") || s.Effect == "" || (s.Property == "") != (s.JSON == "") {
					t.Errorf("%s: setting %+v", f.ID, s)
				}
			}
			if i > 0 && f.ID != "R01" && found[i-1].ID != "R01" && f.Severity > found[i-1].Severity {
				t.Errorf("in the history for %s, %s comes after %s", id, f.ID, found[i-1].ID)
			}
			if _, ok := cases[f.ID]; !ok && f.ID != "R01" {
				t.Errorf("%s has no test", f.ID)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		history  history
		want     string
		innocent bool
	}{
		{calm(), "The GC is innocent: threads stood still 0.50 % of the time, never longer than 5.00 ms.", true},
		{cases["R02"].there(), "The GC is a problem: threads stood still 12.0 % of the time", false},
		{cases["R20"].there(), "; full collections that stop all threads are common.", false},
		{cases["R03"].there(), "The GC stops threads for long: up to 250 ms at once", false},
		{cases["R50"].there(), "The GC's pauses are no trouble (0.50 % of the time, 5.00 ms at most), but handles keep growing.", false},
		{cases["R83"].there(), "No verdict, events were lost: in what is left, threads stood still for 500 ms", false},
		{cases["R80"].there(), "The GC is innocent", true},
		{history{process: gc.Process{Stopped: time.Second}, n: 1, every: time.Second}.with(func(_ int, c *gc.Collection) {
			c.Pauses, c.AllPauses = nil, false
		}), "No verdict: of 1 collection none is in the trace with its pauses.", false},
	} {
		c := tt.history.judged()
		found := c.Findings()
		if got := c.Verdict(found); !strings.Contains(got, tt.want) {
			t.Errorf("verdict %q, want %q", got, tt.want)
		}
		if got := len(found) > 0 && found[0].ID == "R01"; got != tt.innocent {
			t.Errorf("%s: innocent is %v, want %v", tt.want, got, tt.innocent)
		}
	}
}

// TestQuotesTheWorst checks that a finding names the collections that cost most.
func TestQuotesTheWorst(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		pause(c, time.Duration(101+i*7%100)*time.Millisecond, 0)
	})
	var want []int
	for i := range h.n {
		want = append(want, i)
	}
	slices.SortFunc(want, func(a, b int) int { return b*7%100 - a*7%100 })
	f := find(h.judged().Findings(), "R03")
	if f == nil || f.Shown != h.n {
		t.Fatalf("%+v", f)
	}
	for i, n := range f.Collections {
		if int(n) != want[i]+1 {
			t.Errorf("collections %v, want those after %v", f.Collections, want[:len(f.Collections)])
			break
		}
	}
}

// TestAdviceOnTypes checks that nobody is sent to collect the allocation ticks
// that the trace has.
func TestAdviceOnTypes(t *testing.T) {
	for _, ticks := range []bool{false, true} {
		h := calm().with(func(_ int, c *gc.Collection) {
			hurting(c)
			c.Allocated = gc.Some(int64(1000 * mb))
			c.AllocatedTicks = gc.Opt[int64]{V: 1000 * mb, Known: ticks}
		})
		f := find(h.judged().Findings(), "R31")
		if f == nil {
			t.Fatal("no finding")
		}
		if collects := strings.Contains(f.Advice[0], "gc-verbose"); collects == ticks {
			t.Errorf("with ticks in the trace %v: %s", ticks, f.Advice[0])
		}
	}
}
