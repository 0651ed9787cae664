package gc

import (
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// A sample is the content of a heap at one moment, by generation.
type sample struct {
	at      time.Duration
	objects [5]int64 // bytes in objects, live or dead
	ticked  [5]int64 // bytes that allocation ticks had counted by then
	// running is set if the program allocated meanwhile: ticks then count objects of the
	// LOH and the POH that objects does not.
	running bool
}

// atStart returns the sizes at the start, from the histories.
func (b *building) atStart() sample {
	s := sample{at: b.Start.Or(0), ticked: b.tickedAtStart}
	for i := range s.objects {
		s.objects[i] = b.sums[i].objectsBefore()
	}
	return s
}

// atEnd returns the sizes at the end, from the histories. A generation whose size after
// is not recorded was not collected.
func (b *building) atEnd() sample {
	s := sample{at: b.End.Or(0), ticked: b.tickedAtEnd, running: b.Kind == Background}
	for i := range s.objects {
		s.objects[i] = b.sums[i].objectsBefore()
		if b.recordedAfter(i) {
			s.objects[i] = b.sums[i].objectsAfter()
		}
	}
	return s
}

// allocations follows the bytes in objects of one runtime from collection to
// collection, in order of their start.
type allocations struct {
	young Opt[sample] // the latest in which gen0 and gen1 count
	large []sample    // samples that count LOH and POH and may still be needed
	cycle cycle

	// The latest background collection sweeps gen0 and gen1 at sweepFrom, and the older
	// generations from then to sweepTo.
	sweepFrom, sweepTo time.Duration
	// unmeasured is set after a background collection that is known too incompletely, because it
	// may sweep LOH and POH until the next collection of gen2 ends.
	unmeasured bool

	ofTicks, ofBudget ratio

	start        sample // at the start of the latest collection, without sizes
	heaps        int    // that it had
	seen         numbers
	noGC         bool     // there was a no-GC region
	largeBudgets [2]int64 // of LOH and POH, as the latest collection of gen2 left them
}

// A cycle is the time from one collection that is not a background one to the
// next.
type cycle struct {
	number      uint32
	backgrounds uint32      // background collections that took a number in it
	left        Opt[sample] // by the collection that it begins with
	budget      int64       // of gen0
	allocated   int64       // in gen0, up to the latest sample
	swept       bool        // by a background collection before the latest
}

// exhausts reports whether all of the cycle's budget was allocated when b began.
func (c *cycle) exhausts(b *building) bool {
	return c.budget > 0 && c.left.Known() && b.Requested != Background &&
		b.Reason == Some(clr.GCReasonAllocSmall) && b.Number == c.number+c.backgrounds+1
}

// sweptBetween reports whether gen0 and gen1 were swept between two times.
func (a *allocations) sweptBetween(from, to time.Duration) bool {
	return from <= a.sweepFrom && a.sweepFrom <= to && a.sweepTo > 0
}

// An amount is a number of bytes and the bounds of the true one.
type amount struct {
	bytes int64
	is    Certainty
	low   int64
	high  Opt[int64]
}

// exactly returns a known amount.
func exactly(bytes int64) amount { return amount{bytes, Exact, bytes, Some(bytes)} }

// within returns an estimate that is wrong by no more than margin.
func within(bytes, margin int64) amount {
	return amount{bytes, Estimate, max(0, bytes-margin), Some(units.AddCapped(bytes, margin))}
}

// plus returns the sum of two amounts.
func (a amount) plus(b amount) amount {
	sum := amount{bytes: units.AddCapped(a.bytes, b.bytes), is: max(a.is, b.is), low: units.AddCapped(a.low, b.low)}
	if a.high.Known() && b.high.Known() {
		sum.high = Some(units.AddCapped(a.high.Or(0), b.high.Or(0)))
	}
	return sum
}

// atLeast raises the amount and its bounds to a lower bound that holds.
func (a amount) atLeast(least int64) amount {
	a.bytes, a.low = max(a.bytes, least, 0), max(a.low, least, 0)
	if a.high.Known() {
		a.high = Some(max(a.high.Or(0), a.bytes))
	}
	return a
}

// acrossSweep returns the bytes allocated in gen0 between two samples if a
// background collection swept it between them. at is the collection that took
// the second sample, nil if none did at its start.
func (a *allocations) acrossSweep(c *cycle, from, to sample, at *building) amount {
	least := max(0, to.objects[gen0]-from.objects[gen0])
	switch {
	case a.ofTicks.known():
		return a.byTicks(from, to)
	case at != nil && c.exhausts(at) && a.ofBudget.known():
		return within(a.ofBudget.of(c.budget)-c.allocated, a.ofBudget.margin(c.budget)).atLeast(least)
	case c.budget > 0:
		return amount{least, LowerBound, least, Some(max(least, c.budget-c.allocated+a.overshoot()))}
	default:
		return amount{bytes: least, is: LowerBound, low: least}
	}
}

// byTicks returns the bytes that ticks counted in gen0 between two samples.
func (a *allocations) byTicks(from, to sample) amount {
	granted := to.ticked[gen0] - from.ticked[gen0]
	return within(a.ofTicks.of(granted), a.tickMargin()+a.ofTicks.margin(granted)).atLeast(to.objects[gen0] - from.objects[gen0])
}

// inGen0 returns the bytes allocated in gen0 since the collection before b.
func (a *allocations) inGen0(b *building) amount {
	now, from := b.atStart(), a.young.Or(sample{})
	switch {
	case a.sweptBetween(from.at, now.at) && now.ticked[gen0] > 0:
		return a.byTicks(from, now)
	case a.sweptBetween(from.at, now.at):
		return a.acrossSweep(&a.cycle, from, now, b)
	}
	return exactly(max(0, now.objects[gen0]-from.objects[gen0]))
}

// inLarge returns the bytes allocated in LOH and POH since the collection before b, which
// is not a background one. What is allocated while a background collection sweeps is
// counted by that one. After an unmeasured collection, base may precede several
// collections, and each would count the same bytes again.
func (a *allocations) inLarge(b *building, base sample) amount {
	switch {
	case a.sweeping(b.Start.Or(0)):
		return exactly(0)
	case a.unmeasured:
		return amount{is: LowerBound}
	}
	now := b.atStart()
	if base.running && b.rt.ticked { // by ticks up to base, so by ticks from there, too
		grown := now.ticked[loh] - base.ticked[loh] + now.ticked[poh] - base.ticked[poh]
		return within(max(0, grown), 2*a.tickMargin())
	}
	return exactly(max(0, now.objects[loh]-base.objects[loh]) + max(0, now.objects[poh]-base.objects[poh]))
}

// sweeping reports whether a background collection may have been sweeping LOH
// and POH at a time.
func (a *allocations) sweeping(at time.Duration) bool { return a.sweepFrom <= at && at < a.sweepTo }

// largeAt returns the latest sample of LOH and POH at a time.
func (a *allocations) largeAt(at time.Duration) (s Opt[sample]) {
	for _, l := range a.large {
		if l.at <= at && (!s.known || l.at >= s.v.at) {
			s = Some(l)
		}
	}
	return s
}

// youngBudget returns how much may be allocated in gen0 after the collection. With server
// GC, the budgets in the heaps' histories come before the decision that counts, which gives
// each heap the same: also to a single one, as DATAS may have it.
func (b *building) youngBudget() int64 {
	if desired, ok := b.desired.Get(); ok && (b.Heaps.Or(0) > 1 || b.rt.process.Server.Or(false)) {
		return desired * int64(max(1, b.Heaps.Or(1)))
	}
	return b.sums[gen0].budget
}

// begin makes the start of the process the first sample, if b is its first
// collection.
func (a *allocations) begin(b *building) {
	if b.Number == 1 {
		*a = allocations{young: Some(sample{}), large: []sample{{}}}
	}
}

// follow processes a finished collection.
func (a *allocations) follow(b *building) {
	a.noteBudgets(b)
	measured := b.Generations != nil && b.Start.Known() && b.End.Known()
	switch {
	case b.early:
		a.sweepBy(b)
		if b.Generations != nil && b.ended() {
			a.measured(b.atEnd())
		}
	case b.Kind == Background:
		a.cycle.backgrounds++
		a.sweepBy(b)
		if measured {
			a.young, a.unmeasured = Some(b.atStart()), false
			a.measured(b.atEnd())
		} else {
			a.young, a.unmeasured = Opt[sample]{}, true
		}
	case !measured:
		a.young, a.large, a.cycle = Opt[sample]{}, nil, cycle{}
	default:
		a.learn(b)
		left := b.atEnd()
		a.young = Some(left)
		a.cycle = cycle{number: b.Number, left: a.young, budget: b.youngBudget()}
		if b.Generation.Or(0) == gen2 { // no other one runs
			a.unmeasured, a.sweepTo = false, min(a.sweepTo, b.Start.Or(0))
		}
		if !a.unmeasured && !a.sweeping(b.Start.Or(0)) {
			a.measured(left)
		}
	}
}

// noteBudgets notes the figures that bound the allocation after b.
func (a *allocations) noteBudgets(b *building) {
	if at, ok := b.Start.Get(); ok && at >= a.start.at {
		a.start = sample{at: at, ticked: b.tickedAtStart}
	}
	a.heaps = b.Heaps.Or(a.heaps)
	a.seen.add(b.Number)
	a.noGC = a.noGC || b.PauseMode == Some(clr.PauseModeNoGC)
	if b.Generations == nil {
		return
	}
	for i, n := range [...]int64{b.sums[loh].budget, b.sums[poh].budget} {
		if n > 0 {
			a.largeBudgets[i] = n
		}
	}
}

// sweepBy notes when a background collection swept, as far as is known.
func (a *allocations) sweepBy(b *building) {
	if left, ok := a.cycle.left.Get(); ok && a.sweptBetween(left.at, b.Start.Or(0)) {
		a.cycle.swept = true
	}
	a.sweepFrom, a.sweepTo = b.Start.Or(0), math.MaxInt64
	if end, ok := b.End.Get(); ok {
		a.sweepTo = end
	}
	if swept, ok := b.swept().Get(); ok {
		a.sweepFrom = swept
	} else if !b.End.Known() {
		a.sweepFrom = math.MaxInt64
	}
}

// learn compares the bytes allocated in gen0 in a cycle with the ticks and the budget.
func (a *allocations) learn(b *building) {
	now := b.atStart()
	from, ok := a.cycle.left.Get()
	if !ok || a.cycle.swept || a.sweptBetween(from.at, now.at) {
		return
	}
	allocated := now.objects[gen0] - from.objects[gen0]
	a.ofTicks.add(allocated, now.ticked[gen0]-from.ticked[gen0])
	if a.cycle.exhausts(b) {
		a.ofBudget.add(allocated, a.cycle.budget)
	}
}

// measured adds a sample of LOH and POH, and forgets samples that no later collection
// will need.
func (a *allocations) measured(s sample) {
	latest := a.largeAt(s.at).Or(sample{})
	a.large = slices.DeleteFunc(a.large, func(o sample) bool { return o.at < latest.at })
	a.large = newest(append(a.large, s))
}
