package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/internal/saturate"
)

// A Tail is what a process allocated after the start of its latest collection: no
// Collection counts it.
type Tail struct {
	// Bytes is what the trace shows of it, as certain as Quality says. Where nothing
	// was recorded it is 0 and a LowerBound; if the process comes from no Model it is
	// Uncertain.
	Bytes   int64
	Quality Certainty
	// Min and Max bound the true number of bytes. Max is unknown where neither
	// allocation ticks nor the budgets of the heaps limit it: in a no-GC region, while a
	// background collection runs, or if the latest collection was seen in part.
	Min int64
	Max Opt[int64]
	// Until is the time up to which Bytes, and what the collections count before it, are
	// known.
	Until time.Duration
}

// tickInterval is how many bytes of a kind a heap gives out between two allocation
// ticks (gc.cpp, etw_allocation_tick).
const tickInterval = 102_400

// largeBudget is the initial budget of the LOH and of the POH on each heap (gc.cpp,
// static_data_table).
const largeBudget = 3 << 20

// Tail returns what was allocated after the start of the latest collection, as far as is
// known when it is called: of a whole trace, call it after the last collection.
func (p *Process) Tail() Tail {
	if len(p.runtimes) == 0 {
		return p.tail
	}
	sum := Tail{Quality: Exact, Max: Some[int64](0), Until: p.Stopped}
	for _, rt := range p.runtimes {
		t := rt.tail()
		sum.Bytes = saturate.Add(sum.Bytes, t.Bytes)
		sum.Min = saturate.Add(sum.Min, t.Min)
		sum.Quality = max(sum.Quality, t.Quality)
		sum.Until = min(sum.Until, t.Until)
		if most, ok := t.Max.Get(); ok && sum.Max.Known() {
			sum.Max = Some(saturate.Add(sum.Max.Or(0), most))
		} else {
			sum.Max = Opt[int64]{}
		}
	}
	return sum
}

// tail returns what the runtime allocated after its latest collection.
func (rt *runtime) tail() Tail {
	a := &rt.allocations
	young, ok := a.young.Get()
	large, known := a.largeAt(math.MaxInt64).Get()
	switch {
	case !ok || !known || a.unmeasured || len(rt.pending) > 0:
		return Tail{Quality: LowerBound, Until: a.last}
	case rt.ticked:
		return rt.tickedTail(young, large)
	default:
		return Tail{Quality: LowerBound, Max: a.mostByBudget(), Until: a.last}
	}
}

// tickedTail returns what allocation ticks counted after the latest collection. On each
// heap, each kind's next tick may count what was allocated before the sample, and what was
// allocated since the latest tick is in none.
func (rt *runtime) tickedTail(young, large sample) Tail {
	a := &rt.allocations
	slack := 3 * tickInterval * int64(max(1, a.heaps))
	granted := rt.ticksOf[gen0] - young.ticked[gen0]
	objects := granted
	if a.ofTicks.known() {
		objects = a.ofTicks.of(granted)
	}
	above := rt.ticksOf[loh] - large.ticked[loh] + rt.ticksOf[poh] - large.ticked[poh]
	bytes := saturate.Add(objects, above)
	return Tail{
		Bytes: bytes, Quality: Estimate, Until: rt.process.Stopped,
		Min: max(0, bytes-slack), Max: Some(saturate.Add(saturate.Add(granted, above), slack)),
	}
}

// numbers are those of collections.
type numbers struct {
	first, last uint32
	count       int
}

func (n *numbers) add(number uint32) {
	if n.count == 0 {
		n.first = number
	}
	n.first, n.last = min(n.first, number), max(n.last, number)
	n.count++
}

// skipped reports whether numbers between the first and the last were not seen. The start
// of a no-GC region takes a number, and raises no event if there is memory enough.
func (n *numbers) skipped() bool {
	return n.count > 0 && int64(n.last)-int64(n.first) >= int64(n.count)
}

// mostByBudget returns what the budgets in force let the heaps allocate before the next
// collection. An object may be larger than what is left of a budget: that much again is
// allowed for the LOH and the POH, where objects are large.
func (a *allocations) mostByBudget() Opt[int64] {
	if a.cycle.budget <= 0 || a.noGC || a.seen.skipped() {
		return Opt[int64]{}
	}
	most := a.cycle.budget - a.cycle.allocated + overshoot*int64(max(1, a.heaps))
	for _, budget := range a.largeBudgets {
		most = saturate.Add(most, 2*max(budget, largeBudget*int64(max(1, a.heaps))))
	}
	return Some(max(0, most))
}

// overshoot is by how much a heap may exceed its budget of gen0: the allocation contexts
// of many threads are filled after it is used up.
const overshoot = 1 << 20
