package gc_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// impossible returns an error for a figure that no collection can have. It looks at
// every exported figure, however deep it lies.
func impossible(c *gc.Collection) error {
	for name, d := range map[string]gc.Opt[time.Duration]{"duration": c.Duration(), "pause": c.Pause(), "suspension": c.Suspend()} {
		if d.Known() && d.Or(0) < 0 {
			return fmt.Errorf("collection %d: %s of %v", c.Number, name, d.Or(0))
		}
	}
	if p, d := c.Pause(), c.Duration(); c.Complete && (!p.Known() || !d.Known()) {
		return fmt.Errorf("collection %d is complete, with pause %v, duration %v", c.Number, p, d)
	}
	if c.PauseStart.Known() && c.Start.Known() && c.PauseStart.Or(0) > c.Start.Or(0) {
		return fmt.Errorf("collection %d starts at %v, its pause at %v", c.Number, c.Start.Or(0), c.PauseStart.Or(0))
	}
	for i := range c.Generations {
		if s := c.Generations[i].Survival; s.Known() && (s.Or(0) < 0 || s.Or(0) > 100 || math.IsNaN(s.Or(0))) {
			return fmt.Errorf("collection %d: survival of %v %%", c.Number, s.Or(0))
		}
	}
	if (c.FreedQuality != gc.Uncertain) != c.Freed.Known() || (c.AllocatedQuality != gc.Uncertain) != c.Allocated.Known() {
		return fmt.Errorf("collection %d: freed %+v is %v, allocated %+v is %v", c.Number, c.Freed, c.FreedQuality, c.Allocated, c.AllocatedQuality)
	}
	return outOfBounds(fmt.Sprintf("collection %d", c.Number), reflect.ValueOf(*c))
}

// outOfBounds looks for signed integers that are negative, or more than a heap
// or a trace can hold.
func outOfBounds(name string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if n := v.Int(); n < 0 || n >= 1<<62 || v.Type() == reflect.TypeFor[int64]() && n >= 1<<47 {
			return fmt.Errorf("%s is %d", name, n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := outOfBounds(name, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || strings.HasPrefix(v.Type().Name(), "Opt[") {
				if err := outOfBounds(strings.Join([]string{name, field.Name}, " "), v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Whatever events say, and in whatever order they come, no collection has
// figures that cannot be.
func TestNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript()
		number := rapid.Uint32Range(1, 6)
		thread := rapid.Uint64Range(1, 3)
		bytes := rapid.OneOf(rapid.Uint64Range(0, 1000), rapid.Just(uint64(1)<<47-1), rapid.Uint64())
		now := rapid.Float64Range(-5, 5).Draw(t, "begin")
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now += rapid.Float64Range(-0.5, 2).Draw(t, "later")
			tid := thread.Draw(t, "thread")
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				s.suspendBegin(now, tid, rapid.SampledFrom([]clr.SuspendReason{1, 6, 0}).Draw(t, "reason"))
			case 1:
				s.suspendEnd(now, tid)
			case 2:
				s.restartBegin(now, tid)
			case 3:
				s.restartEnd(now, tid)
			case 4:
				s.start(now, tid, number.Draw(t, "number"), rapid.Uint32Range(0, 3).Draw(t, "depth"), clr.GCType(rapid.Uint32Range(0, 3).Draw(t, "type")))
			case 5:
				s.end(now, tid, number.Draw(t, "number"), rapid.Uint32Range(0, 3).Draw(t, "depth"))
			case 6:
				s.stats(now, tid, bytes.Draw(t, "size"))
			case 7:
				s.globalHistory(now, tid, rapid.Uint32Range(0, 3).Draw(t, "depth"), clr.GlobalMechanisms(rapid.Uint32Range(0, 3).Draw(t, "mechanisms")), rapid.Uint32Range(0, 3).Draw(t, "heaps"))
			case 8:
				var g [5]size
				for i := range g {
					g[i] = size{bytes.Draw(t, "before"), bytes.Draw(t, "free"), bytes.Draw(t, "after"), bytes.Draw(t, "free"), bytes.Draw(t, "in"), bytes.Draw(t, "out"), bytes.Draw(t, "budget")}
				}
				s.heap(now, tid, rapid.Uint32Range(0, 2).Draw(t, "heap"), g)
			case 9:
				s.tick(now, tid, clr.AllocationKind(rapid.Uint32Range(0, 3).Draw(t, "kind")), bytes.Draw(t, "amount"))
			}
		}
		m := gc.Model{Live: rapid.Bool().Draw(t, "live")}
		for c := range m.Collections(s) {
			if err := impossible(c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestMissingEvents checks that a collection whose pause lacks its end is affected by
// loss wherever the trace is damaged, even without any other sign of damage: an event
// that damage moved to another thread is not near the ranges of loss.
func TestMissingEvents(t *testing.T) {
	for name, loss := range map[string]trace.Loss{
		"damaged": {Settled: 1 << 62, Damaged: 1},
		"whole":   {Settled: 1 << 62},
	} {
		s := newScript()
		s.loss = loss
		s.blocking(1, 1, 1)
		s.blocking(3, 1, 2)
		for i := range s.events[len(s.events)-2:] {
			s.events[len(s.events)-2+i].TID = 0
		}
		s.blocking(5, 1, 3)
		got, _, _ := s.run(t)
		if c := got[2]; c.Complete || !c.AffectedByLoss {
			t.Errorf("%s: complete %v, affected %v", name, c.Complete, c.AffectedByLoss)
		}
		if c := got[1]; !c.Complete || c.AffectedByLoss {
			t.Errorf("%s: the first collection is complete %v, affected %v", name, c.Complete, c.AffectedByLoss)
		}
	}
}

// whole raises a blocking collection of gen1 with the sizes of its generations, and the
// memory that is committed at its start and end.
func (s *script) whole(ms float64, number uint32, generations [5]size, committed [2]uint64) {
	const tid = 1
	var after uint64
	for _, g := range generations {
		after += g.after
	}
	commit := func(ms float64, bytes uint64) {
		used := clr.CommittedUsage{TotalCommittedInUse: bytes}
		v := clr.GCDynamicEvent{Name: clr.NewUTF16("CommittedUsage"), Data: used.Append(nil), ClrInstanceID: s.clr}
		s.raise(ms, tid, clr.RuntimeProvider, 39, 0, v.Append(nil, 0, 8))
	}
	s.suspendBegin(ms-0.1, tid, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(ms-0.05, tid)
	s.start(ms, tid, number, 1, clr.GCTypeNonConcurrentGC)
	commit(ms, committed[0])
	s.history(ms+0.5, tid, 1, clr.GlobalMechanismsCompaction, generations)
	commit(ms+1, committed[1])
	s.end(ms+1, tid, number, 1)
	s.stats(ms+1, tid, after)
	s.restartBegin(ms+1.1, tid)
	s.restartEnd(ms+1.2, tid)
}

// TestImpossibleSizes checks that sizes contradicted by the trace itself are unknown, in
// a collection that is marked, and that neighbouring sizes stay known.
func TestImpossibleSizes(t *testing.T) {
	const mb = 1 << 20
	type change struct {
		generations [5]size
		committed   [2]uint64
	}
	for name, damage := range map[string]func(*change){
		"":                              func(*change) {},
		"gen0 beyond its budget":        func(c *change) { c.generations[0].before += 128 * mb },
		"gen1 grows":                    func(c *change) { c.generations[1].before += 8 * mb },
		"gen2 grows":                    func(c *change) { c.generations[2].before += 16 * mb; c.generations[2].after += 16 * mb },
		"gen2 shrinks":                  func(c *change) { c.generations[2].before += 16 * mb },
		"committed less than the heap":  func(c *change) { c.committed[0] = 1 * mb },
		"committed less than remains":   func(c *change) { c.committed[1] = 1 * mb },
		"committed more than the limit": func(c *change) { c.committed[1] = 512 * mb },
		"committed more than is used":   func(c *change) { c.committed[1] = 1 << 40 },
		"no memory is as large":         func(c *change) { c.committed[0] = 1 << 50 },
		"more survives in gen2":         func(c *change) { c.generations[2].out = 32 * mb },
		"free space beyond gen2":        func(c *change) { c.generations[2].freeBefore = 32 * mb },
		"a budget without measure":      func(c *change) { c.generations[1].budget = 1 << 40 },
		"beyond the address space":      func(c *change) { c.generations[3].before = 1 << 46; c.generations[3].after = 1 << 46 },
	} {
		s := newScript()
		if strings.Contains(name, "limit") {
			settings := clr.GCSettingsRundown{HardLimit: 200 * mb, ClrInstanceID: s.clr}
			s.raise(0.1, 1, clr.RundownProvider, 10, 0, settings.Append(nil, 0, 8))
		}
		for n := range uint32(3) {
			c := change{committed: [2]uint64{40 * mb, 40 * mb}}
			c.generations = [5]size{
				{before: 10 * mb, out: mb, budget: 10 * mb}, {before: mb, after: mb, in: mb, out: mb}, {before: 8 * mb, after: 8 * mb}, {},
			}
			if n == 1 {
				damage(&c)
			}
			s.whole(float64(10*n+10), n+1, c.generations, c.committed)
		}
		got, _, m := s.run(t)
		for n, unknown := range map[uint32]bool{1: false, 2: name != "", 3: false} {
			if c := got[n]; c.HeapBefore.Known() == unknown && c.CommittedBefore.Known() == unknown || n == 2 && c.AffectedByLoss != unknown {
				t.Errorf("%q: collection %d: before %v of %v, after %v of %v, affected %v", name, n, c.HeapBefore, c.CommittedBefore, c.HeapAfter, c.CommittedAfter, c.AffectedByLoss)
			}
		}
		if p := m.Processes()[0]; (len(s.loss.Ranges()) > 0) != (name != "") || (p.Settings != nil) != strings.Contains(name, "limit") {
			t.Errorf("%q: loss %v", name, s.loss.Ranges())
		}
	}
}

// TestUnusualSizes checks that sizes which only seem to contradict the trace stay known.
func TestUnusualSizes(t *testing.T) {
	const mb = 1 << 20
	usual := [5]size{{before: 10 * mb, out: mb, budget: 10 * mb}, {before: mb, after: mb, in: mb, out: mb}, {before: 8 * mb, after: 8 * mb}, {}}
	for name, change := range map[string]func(heaps *[][5]size){
		"survivors are padded":             func(heaps *[][5]size) { (*heaps)[0][1].out = 2*mb - 1 },
		"an uncollected generation shifts": func(heaps *[][5]size) { (*heaps)[0][2].before += mb / 2 },
		"threads overshoot the budget":     func(heaps *[][5]size) { (*heaps)[0][0].before = 80 * mb },
		"more heaps, of a budget each": func(heaps *[][5]size) {
			for range 9 {
				*heaps = append(*heaps, [5]size{{before: 16 * mb, budget: 10 * mb}})
			}
		},
	} {
		s := newScript()
		for n := range uint32(3) {
			ms, heaps := float64(10*n+10), [][5]size{usual}
			if n == 1 {
				change(&heaps)
			}
			s.suspendBegin(ms-0.1, 1, clr.SuspendReasonSuspendForGC)
			s.suspendEnd(ms-0.05, 1)
			s.start(ms, 1, n+1, 1, clr.GCTypeNonConcurrentGC)
			s.history(ms+0.5, 1, 1, clr.GlobalMechanismsCompaction, heaps...)
			s.end(ms+1, 1, n+1, 1)
			s.stats(ms+1, 1, 9*mb)
			s.restartBegin(ms+1.1, 1)
			s.restartEnd(ms+1.2, 1)
		}
		got, _, _ := s.run(t)
		for n := range uint32(3) {
			if c := got[n+1]; !c.HeapBefore.Known() || c.AffectedByLoss || !c.Complete {
				t.Errorf("%s: collection %d: before %v, affected %v", name, n+1, c.HeapBefore, c.AffectedByLoss)
			}
		}
	}
}

// TestChangedLimit checks that a heap may outgrow a limit that GC.RefreshMemoryLimit may have
// raised, because it suspends threads for a collection that does not begin.
func TestChangedLimit(t *testing.T) {
	const mb = 1 << 20
	for _, refreshed := range []bool{false, true} {
		s := newScript()
		settings := clr.GCSettingsRundown{HardLimit: 20 * mb, ClrInstanceID: s.clr}
		s.raise(0.1, 1, clr.RundownProvider, 10, 0, settings.Append(nil, 0, 8))
		if refreshed {
			s.suspendBegin(1, 1, clr.SuspendReasonSuspendForGC)
			s.suspendEnd(1.1, 1)
			s.restartBegin(1.2, 1)
			s.restartEnd(1.3, 1)
		}
		s.whole(10, 1, [5]size{{before: 30 * mb, out: mb}, {after: mb, in: mb}}, [2]uint64{40 * mb, 40 * mb})
		got, _, _ := s.run(t)
		if c := got[1]; c.HeapBefore.Known() != refreshed || c.AffectedByLoss == refreshed {
			t.Errorf("refreshed %v: before %v, affected %v", refreshed, c.HeapBefore, c.AffectedByLoss)
		}
	}
}
