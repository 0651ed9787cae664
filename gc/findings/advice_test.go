package findings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// unforced makes every second collection induced, without the need to block.
func unforced(pressure gc.Pressure) history {
	h := calm().with(func(i int, c *gc.Collection) {
		hurting(c)
		if i%2 == 0 {
			c.Reason = gc.Some(clr.GCReasonInducedNotForced)
		}
	})
	h.trace.Level, h.process.Pressure = 5, pressure
	return h
}

// compacting makes every second collection compact a fragmented gen 2.
func compacting(reason clr.GCReason) history {
	return calm().with(func(i int, c *gc.Collection) {
		old(i, c)
		c.Reason = gc.Some(reason)
		if i%2 == 0 {
			c.Condemned = gc.Some(clr.CondemnReasons1MaxGenerationHighFragmentation)
		}
	})
}

// jointly moves the condemned reasons of its collections to the sums of all heaps.
func (h history) jointly() history {
	change := h.change
	return h.with(func(i int, c *gc.Collection) {
		change(i, c)
		c.Joint = c.Condemned
	})
}

// budgeted gives gen 0 a budget.
func (h history) budgeted(bytes int64) history {
	change := h.change
	return h.with(func(i int, c *gc.Collection) {
		change(i, c)
		c.Generations[0].Budget = bytes
	})
}

// attempts makes every second collection a last attempt before an OutOfMemoryException
// under a hard limit, with free bytes in a generation of 40 MB.
func attempts(generation int, free int64) history {
	h := calm().with(func(i int, c *gc.Collection) {
		old(i, c)
		c.HeapAfter = gc.Some(int64(50 * mb))
		g := &c.Generations[generation]
		g.After, g.Fragmentation = gc.Some(int64(40*mb)), gc.Some(free)
		if i%2 == 0 {
			c.Condemned = gc.Some(clr.CondemnReasons1BeforeOOM)
		}
	})
	h.process.Settings = &clr.GCSettingsRundown{HardLimit: 60 * mb, BitSettings: clr.GCSettingsBitsHardLimitConfigured}
	return h
}

func (h history) of(runtime string) history {
	h.process.Runtime = runtime
	return h
}

// heaps makes a history of a server GC with some heaps, on a machine with so many
// server processes in all.
func (h history) heaps(heaps, servers, cpus int) history {
	change := h.change
	server(&h.process)
	h.trace.Servers, h.trace.ServerHeaps, h.trace.CPUs = servers-1, (servers-1)*heaps, cpus
	return h.with(func(i int, c *gc.Collection) {
		change(i, c)
		c.Heaps = gc.Some(heaps)
	})
}

// adapting makes a history of a process with DATAS.
func (h history) adapting() history {
	server(&h.process)
	h.process.Adaptation = gc.Adaptation{Tunings: 10, Cost: 10}
	return h
}

func suffering() history {
	return calm().with(func(_ int, c *gc.Collection) { hurting(c) })
}

// TestAdvice checks advice that a finding gives in one case, and leaves out in another
// that looks like it.
func TestAdvice(t *testing.T) {
	pinned := calm().with(func(_ int, c *gc.Collection) {
		hurting(c)
		c.PinnedObjects = gc.Some(int64(5000))
	})
	held := calm().with(func(_ int, c *gc.Collection) { c.CommittedAfter = gc.Some(int64(500 * mb)) })
	for name, tt := range map[string]struct {
		history    history
		id         string
		says, nots []string // without says: the rule does not fire
	}{
		"pressure":           {unforced(gc.Pressure{Increases: 100, Added: 100 * mb}), "R52", []string{"called 100 times for 100 MB", "GC.RemoveMemoryPressure"}, []string{"GC.Collect with"}},
		"pressure, removed":  {unforced(gc.Pressure{Increases: 100, Added: 100 * mb, Removed: 100 * mb}), "R52", []string{"for large amounts only"}, []string{"GC.RemoveMemoryPressure"}},
		"too little":         {unforced(gc.Pressure{Increases: 81, Added: 122_000}), "R52", []string{"called for 122 kB only, so they come from GC.Collect"}, []string{"Call GC.AddMemoryPressure"}},
		"no pressure":        {unforced(gc.Pressure{}), "R52", []string{"was not called"}, []string{"Call GC.AddMemoryPressure"}},
		"fragmented":         {compacting(clr.GCReasonAllocSmall).of(".NET 10.0.12"), "R43", []string{"Group objects"}, []string{"DATAS", "GCConserveMemory"}},
		"conserving":         {compacting(clr.GCReasonAllocSmall).jointly().of(".NET 10.0.12"), "R43", []string{"Lower GCConserveMemory or remove it", "which is set, allows"}, []string{"DATAS"}},
		"conserving, server": {compacting(clr.GCReasonAllocSmall).jointly().of(".NET 10.0.12").heaps(2, 1, 2), "R43", []string{"Lower GCConserveMemory or remove it", "which the program or DATAS sets"}, []string{"DATAS runs"}},
		"conserving, DATAS":  {compacting(clr.GCReasonAllocSmall).jointly().of(".NET 10.0.12").adapting(), "R43", []string{"DATAS runs these GCs", "GCConserveMemory=0x1"}, []string{"remove it"}},
		"fragmented, 3.1":    {compacting(clr.GCReasonAllocSmall).of(".NET Core 3.1.2"), "R43", []string{"Group objects"}, []string{"GCConserveMemory"}},
		"limit, live":        {attempts(4, mb).of(".NET 10.0.12"), "R61", []string{"raise the limit", "GCHeapHardLimit=0x"}, []string{"free space"}},
		"limit, POH":         {attempts(4, 30*mb).of(".NET 10.0.12"), "R61", []string{"30.0 MB of the 40.0 MB in the pinned object heap were free space", "Allocate pinned arrays once"}, []string{"GCHeapHardLimit=0x", "raise the limit"}},
		"limit, LOH":         {attempts(3, 30*mb).of(".NET 10.0.12"), "R61", []string{"30.0 MB of the 40.0 MB in the LOH were free space"}, []string{"GCHeapHardLimit=0x", "never compacts"}},
		"induced":            {compacting(clr.GCReasonInducedCompacting), "R43", nil, nil},
		"pinned":             {pinned.of(".NET 5.0.17"), "R44", []string{"GC.AllocateArray"}, nil},
		"pinned, 3.1":        {pinned.of(".NET Core 3.1.2"), "R44", []string{"Try to allocate buffers early, to pool them"}, []string{"GC.AllocateArray"}},
		"committed":          {held.of(".NET 10.0.12"), "R60", []string{"If memory is plentiful"}, []string{"GCConserveMemory", "GCGen0MaxBudget"}},
		"committed, budget":  {held.budgeted(400 * mb).of(".NET 10.0.12"), "R60", []string{"GCGen0MaxBudget=0x2000000", "Gen 0's budget was 400 MB"}, []string{"GCConserveMemory"}},
		"committed, DATAS":   {held.of(".NET 10.0.12").adapting(), "R60", []string{"If memory is plentiful"}, []string{"GCConserveMemory"}},
		"two servers":        {suffering().heaps(8, 2, 8), "R13", []string{"GCHeapCount=0x4", "4 heaps instead"}, nil},
		"two small servers":  {suffering().heaps(2, 2, 2), "R13", []string{"GCHeapCount=0x1", "1 heap instead"}, nil},
		"many heaps":         {suffering().heaps(16, 1, 16), "R63", []string{"GCHeapCount=0x8"}, nil},
		"heaps up and down":  {assembled["R71"].there(), "R71", []string{"GCHeapCount=0x2"}, nil},
		"one cause":          {compacting(clr.GCReasonAllocSmall), "R02", []string{"Start with R43: blocking gen 2 GCs run to compact a fragmented gen 2."}, []string{"background"}},
		"no cause":           {suffering(), "R02", []string{"Shorten object lifetimes"}, []string{"Start with", "GCgen0size"}},
		"gen 1, dying":       {middleAged(1), "R02", []string{"die soon after"}, nil},
		"gen 1, living":      {middleAged(9), "R02", []string{"copied into gen 2"}, []string{"die soon after"}},
		"heap walks":         {walked(10), "R80", []string{"trace of collections only"}, []string{"these keywords"}},
		"another suspension": {walked(1), "R80", nil, nil},
	} {
		f := find(tt.history.judged().Findings, tt.id)
		if (f != nil) != (tt.says != nil) {
			t.Errorf("%s: %s: %+v", name, tt.id, f)
			continue
		}
		if f == nil {
			continue
		}
		said := f.Description + "\n" + strings.Join(f.Advice, "\n")
		for _, s := range f.Settings {
			said += "\n" + s.Variable + "=" + s.Value + ": " + s.Effect
		}
		for _, want := range tt.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: nothing says %q:\n%s", name, want, said)
			}
		}
		for _, not := range tt.nots {
			if strings.Contains(said, not) {
				t.Errorf("%s: something says %q:\n%s", name, not, said)
			}
		}
	}
}

// middleAged makes all collections gen 1 ones, of whose 10 MB in gen 1 some survive.
func middleAged(survive int64) history {
	return suffering().with(func(_ int, c *gc.Collection) {
		hurting(c)
		c.Generation, c.Kind = gc.Some(1), gc.Blocking
		c.Generations[1].Before, c.Generations[1].Out = 10*mb, survive*mb
		c.Generations[1].Freed = gc.Some((10 - survive) * mb)
		c.Generations[0].Out, c.Generations[0].Freed = mb, gc.Some(int64(9*mb))
	})
}

// walked makes suspensions that look like heap walks.
func walked(n int) history {
	h := suffering()
	h.process.Suspensions = []gc.SuspensionTotal{{
		Kind: gc.PauseHeapWalk, Reason: clr.SuspendReasonSuspendForGCPrep, Count: n, Total: time.Duration(n) * time.Millisecond, Max: time.Millisecond,
	}}
	return h
}

// TestGenericCausesRankBelow checks that a specific cause of half the pauses comes before
// generic ones, because these are less severe.
func TestGenericCausesRankBelow(t *testing.T) {
	h := compacting(clr.GCReasonAllocSmall)
	change := h.change
	h = h.with(func(i int, c *gc.Collection) {
		change(i, c)
		if i%2 == 0 {
			pause(c, 200*time.Millisecond, 0)
		}
		c.Generations[0].Out, c.Generations[0].Freed = 5*mb, gc.Some(int64(5*mb))
	})
	found := h.judged().Findings
	specific, generic := find(found, "R43"), find(found, "R32")
	if specific == nil || generic == nil || generic.Severity >= specific.Severity {
		t.Errorf("%+v, %+v", specific, generic)
	}
}

// TestVerdictAfterStartup checks that a verdict names the share that it judges.
func TestVerdictAfterStartup(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		pause(c, 8*time.Millisecond, 0)
		if i < 20 {
			pause(c, 60*time.Millisecond, 0)
		}
	})
	h.every, h.process.Stopped = 100*time.Millisecond, 10*time.Second
	const want = "Pauses took 18.4 % of the time, and 8.0 % after start-up (budget: 5 %)"
	if r := h.judged(); r.Code != findings.CostsTime || !strings.HasPrefix(r.Verdict, want) {
		t.Errorf("%s: %s", r.Code, r.Verdict)
	}
}
