package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A mutator raises the collections of a program, and counts what the program allocates,
// what survives and what dies.
type mutator struct {
	*script
	now            float64
	number         uint32
	young, old     uint64 // live bytes of gen0 and gen2
	budget         uint64
	large, started uint64 // objects in LOH now, and when the background collection began
	ticks          bool
}

func (m *mutator) allocate(small, large uint64) {
	m.now += 10
	m.young += small
	m.large += large
	if m.ticks {
		m.tick(m.now, 1, clr.AllocationKindSmall, small*5/4) // a fifth is lost at the ends of allocation contexts
		m.tick(m.now, 1, clr.AllocationKindLarge, large)
	}
}

// collect raises a collection of gen0 that leaves so much of it.
func (m *mutator) collect(kind clr.GCType, left uint64) {
	m.number++
	m.suspendBegin(m.now, 1, clr.SuspendReasonSuspendForGC)
	m.suspendEnd(m.now+0.1, 1)
	m.start(m.now+0.2, 1, m.number, 0, kind)
	m.histories(m.now+0.3, 0, 0, [5]size{{before: m.young, after: left, out: left}, {}, {before: m.old, after: m.old}, {before: m.large, after: m.large}})
	m.end(m.now+0.4, 1, m.number, 0)
	m.stats(m.now+0.4, 1, 0)
	m.restartBegin(m.now+0.5, 1)
	m.restartEnd(m.now+0.6, 1)
	m.young = left
	m.now++
}

// histories raises the histories of the one heap, with the budget of gen0.
func (m *mutator) histories(ms float64, depth uint32, mechanisms clr.GlobalMechanisms, g [5]size) {
	m.globalHistory(ms, 1, depth, mechanisms, 1)
	v := clr.GCPerHeapHistory{ClrInstanceID: m.clr, Values: make([]clr.GCPerHeapHistoryValue, len(g))}
	for i := range g {
		v.Values[i] = clr.GCPerHeapHistoryValue{SizeBefore: g[i].before, SizeAfter: g[i].after, NonePinnedSurv: g[i].out}
	}
	v.Values[0].NewAllocation = m.budget
	v.Count = uint32(len(g))
	m.raise(ms, 1, clr.RuntimeProvider, 204, 3, v.Append(nil, 3, 8))
}

// begin raises the first pause of a background collection.
func (m *mutator) begin() (number uint32) {
	m.number++
	m.suspendBegin(m.now, 1, clr.SuspendReasonSuspendForGC)
	m.suspendEnd(m.now+0.1, 1)
	m.start(m.now+0.2, 1, m.number, 2, clr.GCTypeBackgroundGC)
	m.restartBegin(m.now+0.5, 1)
	m.restartEnd(m.now+0.6, 1)
	m.started = m.young
	m.now++
	return m.number
}

// sweep raises the final pause, in which so much of gen0 dies.
func (m *mutator) sweep(dies uint64) {
	m.suspendBegin(m.now, 1, clr.SuspendReasonSuspendForGCPrep)
	m.suspendEnd(m.now+0.1, 1)
	m.restartBegin(m.now+0.5, 1)
	m.restartEnd(m.now+0.6, 1)
	m.young -= dies
	m.now++
}

// finish ends a background collection that found so much of LOH dead.
func (m *mutator) finish(number uint32, largeBefore, dies uint64) {
	m.large -= dies
	m.end(m.now, 1, number, 2)
	m.stats(m.now, 1, 0)
	m.histories(m.now, 2, clr.GlobalMechanismsConcurrent,
		[5]size{{before: m.started, after: m.young}, {}, {before: m.old, after: m.old}, {before: largeBefore, after: m.large}})
	m.now++
}

func (m *mutator) runtime(major uint16) {
	m.raise(m.now, 1, clr.RundownProvider, 187, 0, m.clr, uint16(2), [4]uint16{major, 0, 4, 0}, [4]uint16{}, uint32(0), uint8(0), uint16(0), [16]byte{}, uint16(0))
}

// TestBackgroundConserves: the bytes that a background collection frees of the young
// generations, and of large objects allocated while it runs, follow from the collections
// around it, from ticks, or from the budget.
func TestBackgroundConserves(t *testing.T) {
	type want struct {
		gen0, large          int64
		freedIs, allocatedIs gc.Certainty
		next                 int64 // allocated up to the collection behind it
	}
	for name, test := range map[string]struct {
		ticks      bool
		budget     uint64
		major      uint16
		sizesCount bool // the size of LOH before includes allocations meanwhile
		want       want
	}{
		"ticks":            {ticks: true, major: 8, want: want{400, 350, gc.Estimate, gc.Estimate, 900}},
		"budget":           {budget: 1000, major: 9, sizesCount: true, want: want{400, 350, gc.Estimate, gc.Estimate, 900}},
		"budget of .NET 8": {budget: 1000, major: 8, want: want{400, 150, gc.LowerBound, gc.LowerBound, 900}},
		"neither":          {major: 9, sizesCount: true, want: want{0, 350, gc.LowerBound, gc.Estimate, 500}},
		"no known version": {budget: 1000, sizesCount: true, want: want{400, 350, gc.LowerBound, gc.LowerBound, 900}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mutator{script: newScript(), ticks: test.ticks, budget: test.budget, old: 5000}
			m.allocate(900, 0)
			m.collect(clr.GCTypeNonConcurrentGC, 100)
			m.allocate(900, 100)
			m.collect(clr.GCTypeNonConcurrentGC, 100)
			m.allocate(300, 200)
			number := m.begin()
			before := m.large
			m.allocate(200, 200)
			m.sweep(400)
			if test.sizesCount {
				before = m.large
			}
			m.finish(number, before, 350)
			m.allocate(400, 0)
			m.collect(clr.GCTypeNonConcurrentGC, 100)
			if test.major > 0 {
				m.runtime(test.major)
			}
			got, _, _ := m.run(t)
			b, r := got[3], got[4]
			if b == nil || r == nil || b.Kind != gc.Background || !b.Complete {
				t.Fatalf("%+v\n%+v", b, r)
			}
			large := b.Generations[3].Freed
			if b.Generations[0].Freed != gc.Some(test.want.gen0) || large != gc.Some(test.want.large) ||
				b.Freed != gc.Some(test.want.gen0+test.want.large) || b.FreedQuality != test.want.freedIs {
				t.Errorf("freed %+v, %v: %+v", b.Freed, b.FreedQuality, b.Generations)
			}
			if b.AllocatedQuality != test.want.allocatedIs || b.Allocated.Or(0)+r.Allocated.Or(0) < test.want.next {
				t.Errorf("allocated %+v, %v, then %+v, %v", b.Allocated, b.AllocatedQuality, r.Allocated, r.AllocatedQuality)
			}
			var allocated, freed, left int64
			for _, c := range got {
				allocated += c.Allocated.Or(0)
				freed += c.Freed.Or(0)
			}
			for i, g := range r.Generations {
				if i != 2 {
					left += g.After.Or(0)
				}
			}
			if allocated-freed != left {
				t.Errorf("%d allocated, %d freed, %d left", allocated, freed, left)
			}
		})
	}
}

// TestFreedLowHolds checks the lower bound of the bytes freed where the size of the LOH
// before a background collection counts an object twice, and where it cannot.
func TestFreedLowHolds(t *testing.T) {
	const (
		object = 1 << 16
		freed  = 48 * object
	)
	for name, test := range map[string]struct {
		major       uint16
		twice       uint64
		least, most int64
	}{
		"twice":          {10, object, freed / 2, freed},
		"an old runtime": {8, 0, freed, freed},
		"no version":     {0, object, freed / 2, freed},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mutator{script: newScript(), old: 5000}
			m.allocate(900, 4*object)
			m.collect(clr.GCTypeNonConcurrentGC, 100)
			m.allocate(0, 48*object)
			number := m.begin()
			m.sweep(0)
			m.finish(number, m.large+test.twice, 48*object)
			m.allocate(0, object)
			m.collect(clr.GCTypeNonConcurrentGC, 100)
			if test.major > 0 {
				m.runtime(test.major)
			}
			got, _, _ := m.run(t)
			b := got[number]
			if b == nil || b.Kind != gc.Background || b.Freed != gc.Some(int64(freed+test.twice)) || b.FreedQuality != gc.LowerBound {
				t.Fatalf("%+v", b)
			}
			if low := b.FreedLow.Or(-1); low < test.least || low > test.most {
				t.Errorf("at least %d freed, want %d to %d", low, test.least, test.most)
			}
		})
	}
}

// TestObjectsAtTheEndCountOnce allocates a large object after a background collection has
// taken its sizes and before it ends: ticks count it by then, and the next collection finds
// it. All collections together count every large object once.
func TestObjectsAtTheEndCountOnce(t *testing.T) {
	m := &mutator{script: newScript(), ticks: true, old: 5000}
	m.runtime(10)
	m.allocate(900, 100)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	number := m.begin()
	m.allocate(0, 1000)
	m.sweep(0)
	m.allocate(0, 3000) // too late for the sizes
	m.large -= 3000
	m.finish(number, m.large, 0)
	m.large += 3000
	m.allocate(0, 2000)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	m.allocate(0, 500)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	got, order, _ := m.run(t)
	var sum int64
	for _, n := range order {
		c := got[n]
		sum += c.Allocated.Or(0)
		t.Logf("GC %d: %d bytes (%v)", n, c.Allocated.Or(0), c.AllocatedQuality)
	}
	if want := int64(900 + 100 + 1000 + 3000 + 2000 + 500); sum != want {
		t.Errorf("%d bytes, want %d", sum, want)
	}
}

// TestSweptCyclesTeachNothing: objects that died in gen0 between two collections that are
// not background ones would make allocation ticks seem to grant more than they did, even if
// only the sweep of an earlier background collection came between them.
func TestSweptCyclesTeachNothing(t *testing.T) {
	m := &mutator{script: newScript(), ticks: true, old: 5000}
	m.allocate(900, 0)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	m.allocate(600, 0)
	first := m.begin()
	m.sweep(400)
	m.finish(first, 0, 0)
	second := m.begin()
	m.allocate(200, 0)
	m.collect(clr.GCTypeForegroundGC, 100)
	m.allocate(600, 0)
	m.sweep(300)
	m.finish(second, 0, 0)
	third := m.begin()
	m.sweep(300)
	m.finish(third, 0, 0)
	m.allocate(400, 0)
	m.collect(clr.GCTypeNonConcurrentGC, 100)
	m.runtime(9)
	got, _, _ := m.run(t)
	for _, number := range []uint32{second, third} {
		b := got[number]
		if b == nil || b.Kind != gc.Background || b.FreedQuality != gc.LowerBound || b.Freed.Or(0) > 300 {
			t.Errorf("%+v", b)
		}
	}
}
