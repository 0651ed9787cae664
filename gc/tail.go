package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// A Tail is the allocation of a process after the start of its latest collection, which no
// Collection counts.
type Tail struct {
	// Bytes is the part that the trace shows, as certain as Quality. If nothing was
	// recorded, it is 0 and a LowerBound; if the process comes from no Model, it is
	// Uncertain.
	Bytes   int64
	Quality Certainty
	// Min and Max bound the true number of bytes. Max is unknown where neither
	// allocation ticks nor the budgets of the heaps limit it: in a no-GC region, while a
	// background collection runs, or if the latest collection was seen in part.
	Min int64
	Max Opt[int64]
	// Until is the time up to which allocation is known, from the collections and Bytes
	// together.
	Until time.Duration
}

// largeBudget is the initial budget of the LOH and of the POH on each heap (gc.cpp,
// static_data_table).
const largeBudget = 3 << 20

// Tail returns the allocation after the start of the latest collection so far. Call it
// after the last collection to get the tail of a whole trace.
func (p *Process) Tail() Tail {
	if len(p.runtimes) == 0 {
		return p.tail
	}
	sum := Tail{Quality: Exact, Max: Some[int64](0), Until: p.Stopped}
	for _, rt := range p.runtimes {
		t := rt.tail()
		sum.Bytes = units.AddCapped(sum.Bytes, t.Bytes)
		sum.Min = units.AddCapped(sum.Min, t.Min)
		sum.Quality = max(sum.Quality, t.Quality)
		sum.Until = min(sum.Until, t.Until)
		if most, ok := t.Max.Get(); ok && sum.Max.Known() {
			sum.Max = Some(units.AddCapped(sum.Max.Or(0), most))
		} else {
			sum.Max = Opt[int64]{}
		}
	}
	return sum
}

// tail returns the runtime's allocation after its latest collection. Where events were
// lost since, ticks count less than the truth, and a collection among the lost events may
// have begun new budgets.
func (rt *runtime) tail() Tail {
	whole := rt.wholeTail()
	since := rt.allocations.start.at
	if !rt.model.lost(since, rt.process.Stopped) {
		return whole
	}
	return Tail{Bytes: whole.Min, Min: whole.Min, Quality: LowerBound, Until: since}
}

// wholeTail returns the tail if no event since the latest collection was lost.
func (rt *runtime) wholeTail() Tail {
	a := &rt.allocations
	young, ok := a.young.Get()
	large, known := a.largeAt(math.MaxInt64).Get()
	measured := ok && known && !a.unmeasured && len(rt.pending) == 0
	switch {
	case rt.ticked && a.seen.count == 0 && rt.process.Server.Or(true):
		// Nothing says how many heaps there are, and each may miss a tick.
		t := rt.tickedTail(a.start, a.start)
		return Tail{Bytes: t.Bytes, Quality: t.Quality, Until: t.Until}
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

// tickedTail returns the bytes that allocation ticks counted after the samples of gen0, and
// of the LOH and the POH.
func (rt *runtime) tickedTail(young, large sample) Tail {
	a := &rt.allocations
	granted := rt.ticksOf[gen0] - young.ticked[gen0]
	small := within(a.ofTicks.of(granted), a.tickMargin()+a.ofTicks.margin(granted))
	above := rt.ticksOf[loh] - large.ticked[loh] + rt.ticksOf[poh] - large.ticked[poh]
	sum := small.plus(within(above, 2*a.tickMargin()))
	return Tail{Bytes: sum.bytes, Quality: sum.is, Min: sum.low, Max: sum.high, Until: rt.process.Stopped}
}

// tickMargin returns how far ticks of one kind may be off between two samples: on each
// heap, the first tick may count bytes from before the first sample, and no tick counts the
// bytes after the last one.
func (a *allocations) tickMargin() int64 { return clr.TickInterval * int64(max(1, a.heaps)) }

// overshoot returns how far the heaps may exceed the budget of gen0, because threads go on
// to fill their allocation contexts after it is used up.
func (a *allocations) overshoot() int64 { return 1 << 20 * int64(max(1, a.heaps)) }

// numbers are the range and the count of the collections' numbers.
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

// skipped reports whether numbers between the first and the last are missing. The start of
// a no-GC region takes a number without an event if there is enough memory.
func (n *numbers) skipped() bool {
	return n.count > 0 && int64(n.last)-int64(n.first) >= int64(n.count)
}

// mostByBudget returns the bytes that the current budgets let the heaps allocate before the
// next collection. The LOH and the POH count twice, because one large object may exceed the
// rest of a budget.
func (a *allocations) mostByBudget() Opt[int64] {
	if a.cycle.budget <= 0 || a.noGC || a.seen.skipped() {
		return Opt[int64]{}
	}
	most := a.cycle.budget - a.cycle.allocated + a.overshoot()
	for _, budget := range a.largeBudgets {
		most = units.AddCapped(most, 2*max(budget, largeBudget*int64(max(1, a.heaps))))
	}
	return Some(max(0, most))
}
