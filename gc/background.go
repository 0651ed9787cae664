package gc

import (
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// A background collection frees memory in three ways. Its own histories show only
// one of them. In its final pause, before threads run again, it sweeps gen0 and gen1
// (background_ephemeral_sweep in the runtime's background.cpp): how much of them
// died is the difference between what the collection before that pause left and
// what the one after it found, with what was allocated between. Then it sweeps
// gen2, into which other collections promote meanwhile, and last LOH and POH, in
// which the program allocates meanwhile.

// swept returns when the collection swept gen0 and gen1.
func (b *building) swept() Opt[time.Duration] {
	for i := range b.Pauses {
		if p := &b.Pauses[i]; p.Kind == PauseFinal {
			return Some(p.Start + p.Suspend.Or(0))
		}
	}
	return Opt[time.Duration]{}
}

// awaitsSweep reports whether the nth pending collection still needs a later one to
// know what its sweep of gen0 and gen1 freed.
func (rt *runtime) awaitsSweep(n int) bool {
	b := rt.pending[n]
	if rt.model.Live || rt.model.crowded() || !b.ranBackground() || !b.histories() {
		return false
	}
	swept, ok := b.swept().Get()
	if !ok {
		return false
	}
	for _, o := range rt.pending[n+1:] {
		if start, ok := o.Start.Get(); ok && start > swept {
			return !o.histories() && !o.done()
		}
	}
	return true
}

// computeBackground computes the bytes freed by a background collection, and the bytes
// allocated since the collection before it.
func (b *building) computeBackground(inside []*building) {
	a := &b.rt.allocations
	b.useInside(inside)
	before := a.young // the collection before it
	var young amount
	if before.Known() {
		young = a.inGen0(b)
		a.cycle.allocated += young.bytes
	}
	b.FreedQuality = Exact
	b.sweepYoung(inside)
	b.sweepGen2(inside)
	large, ok := b.sweepLarge(inside).Get()
	var freed int64
	for i := range b.Generations {
		freed += b.Generations[i].Freed.Or(0)
	}
	b.Freed = Some(freed)
	if before.Known() && ok {
		b.setAllocated(young.plus(large))
	}
}

// setAllocated sets the bytes allocated since the collection before b, with their bounds.
func (b *building) setAllocated(a amount) {
	b.Allocated, b.AllocatedQuality, b.AllocatedLow, b.AllocatedHigh = Some(a.bytes), a.is, Some(a.low), a.high
}

// useInside makes a loss in the collections inside this one touch it too.
func (b *building) useInside(inside []*building) {
	for _, o := range inside {
		if b.contains(o) {
			b.needs.To = max(b.needs.To, o.told, o.End.Or(0))
		}
	}
}

// sweepYoung counts the bytes that died in gen0 and gen1 up to the final pause.
func (b *building) sweepYoung(inside []*building) {
	swept, ok := b.swept().Get()
	if !ok {
		b.FreedQuality = LowerBound
		return
	}
	a := &b.rt.allocations
	from, to, at := b.atStart(), b.atEnd(), (*building)(nil)
	c := a.cycle
	c.backgrounds++
	for _, o := range inside {
		switch {
		case !o.Start.Known():
			continue
		case o.Start.Or(0) > swept && o.histories():
			to, at = o.atStart(), o
			b.needs.To = max(b.needs.To, o.told)
		case o.Start.Or(0) > b.End.Or(0):
		case o.ended() && o.End.Or(0) <= swept && o.histories():
			from = o.atEnd()
			c = cycle{number: o.Number, left: Some(from), budget: o.youngBudget()}
			continue
		default: // too little is known of a collection next to the sweep
			b.FreedQuality = LowerBound
			return
		}
		break
	}
	allocated := a.acrossSweep(&c, from, to, at)
	b.Generations[gen0].Freed = Some(max(0, from.objects[gen0]+allocated.bytes-to.objects[gen0]))
	b.Generations[gen1].Freed = Some(max(0, from.objects[gen1]-to.objects[gen1]))
	b.FreedQuality = max(b.FreedQuality, allocated.is)
	b.excess += allocated.bytes - allocated.low
}

// sweepGen2 counts the bytes that died in gen2: the bytes at the start and the ones
// promoted into it meanwhile, less the bytes in the end.
func (b *building) sweepGen2(inside []*building) {
	var in int64
	for _, o := range inside {
		switch {
		case !b.contains(o):
		case o.histories():
			in = units.AddCapped(in, o.sums[gen2].in)
		default:
			b.FreedQuality = LowerBound
		}
	}
	s := &b.sums[gen2]
	b.Generations[gen2].Freed = Some(max(0, units.AddCapped(s.objectsBefore(), in)-s.objectsAfter()))
}

// sweepLarge counts the bytes that died in LOH and POH, and returns the bytes allocated
// there since the collection before the final pause. From .NET 9 on, the sizes before
// contain the allocations while the collection ran.
func (b *building) sweepLarge(inside []*building) (allocated Opt[amount]) {
	end := b.atEnd()
	last, known := b.largeBeforeSweep(inside).Get()
	var sum, freed int64
	for i := loh; i < len(b.Generations); i++ {
		there := b.sums[i].objectsBefore()
		switch {
		case known && b.rt.ticked:
			there = last.objects[i] + end.ticked[i] - last.ticked[i]
		case known:
			there = max(there, last.objects[i])
		}
		dead := max(0, there-end.objects[i])
		b.Generations[i].Freed = Some(dead)
		freed += dead
		sum += max(0, dead+end.objects[i]-last.objects[i])
	}
	b.bySizes = !b.rt.ticked
	b.FreedQuality = max(b.FreedQuality, Estimate)
	twice := countedTwice*int64(b.Heaps.Or(1)) + sum/25
	if b.bySizes {
		b.twice = min(twice, sum, freed)
	}
	if !known {
		b.FreedQuality = LowerBound
		return Opt[amount]{}
	}
	if !b.bySizes {
		margin := 2 * b.rt.allocations.tickMargin()
		b.excess += margin
		return Some(within(sum, margin))
	}
	return Some(amount{sum, Estimate, max(0, sum-twice), Some(units.AddCapped(sum, units.AddCapped(twice, sum/20)))})
}

// countedTwice bounds the bytes on each heap that the sizes before may count twice: the
// runtime adds allocations in the LOH and the POH during a background collection to them
// (background.cpp, bgc_record_uoh_allocation). In measured traces, up to a twentieth was
// missing.
const countedTwice = 1 << 20

// largeBeforeSweep returns the latest sample of LOH and POH before the sweep.
func (b *building) largeBeforeSweep(inside []*building) Opt[sample] {
	last := b.rt.allocations.largeAt(b.Start.Or(0))
	swept, ok := b.swept().Get()
	if !ok {
		return last
	}
	for _, o := range inside {
		if start, ok := o.Start.Get(); ok && start <= swept && o.histories() && b.contains(o) {
			last = Some(o.atStart())
		}
	}
	return last
}
