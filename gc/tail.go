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
	measured := ok && known && !a.unmeasured && len(rt.pending) == 0
	switch {
	case rt.ticked && measured:
		return rt.tickedTail(young, large)
	case rt.ticked && len(rt.pending) == 0:
		return rt.tickedTail(a.start, a.start)
	case !measured:
		return Tail{Quality: LowerBound, Until: a.start.at}
	default:
		most := a.mostByBudget()
		if rt.regions.any() {
			most = Opt[int64]{}
		}
		return Tail{Quality: LowerBound, Max: most, Until: a.start.at}
	}
}

// tickedTail returns what allocation ticks counted after the samples of gen0, and of the LOH
// and the POH.
func (rt *runtime) tickedTail(young, large sample) Tail {
	a := &rt.allocations
	granted := rt.ticksOf[gen0] - young.ticked[gen0]
	small := within(a.ofTicks.of(granted), a.tickMargin()+a.ofTicks.margin(granted))
	above := rt.ticksOf[loh] - large.ticked[loh] + rt.ticksOf[poh] - large.ticked[poh]
	sum := small.plus(within(above, 2*a.tickMargin()))
	return Tail{Bytes: sum.bytes, Quality: sum.is, Min: sum.low, Max: sum.high, Until: rt.process.Stopped}
}

// tickMargin is by how much ticks of one kind may miss what was allocated between two
// samples: on each heap, the first tick may count bytes from before it, and what follows the
// latest is in none.
func (a *allocations) tickMargin() int64 { return tickInterval * int64(max(1, a.heaps)) }

// overshoot is by how much the heaps may exceed the budget of gen0: the allocation contexts
// of many threads are filled after it is used up.
func (a *allocations) overshoot() int64 { return 1 << 20 * int64(max(1, a.heaps)) }

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
	most := a.cycle.budget - a.cycle.allocated + a.overshoot()
	for _, budget := range a.largeBudgets {
		most = saturate.Add(most, 2*max(budget, largeBudget*int64(max(1, a.heaps))))
	}
	return Some(max(0, most))
}
