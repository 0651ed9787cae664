package gc

import (
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// The indexes of generations in histories.
const (
	gen0 = iota
	gen1
	gen2
	loh
	poh
)

// previous holds the values of earlier collections that a collection's figures need.
type previous struct {
	number uint32
	known  bool
	from   time.Duration // later loss touches the collections that refer to this one

	pause Opt[time.Duration] // its PauseStart
	since time.Duration      // the beginning of the time that it refers to

	restarts []time.Duration // RestartEEBegin of the pauses that may still matter
	left     []Generation    // a copy, because the Collection is the caller's; empty if it is a background collection's
	heaps    int             // that left is the sum of; 0 if unknown

	committed Opt[int64] // as last reported
}

// release finishes the collections that expect no more events, in order of their start,
// because the figures of a collection depend on earlier ones, and a background
// collection's also on the ones inside it.
func (rt *runtime) release() {
	n := 0
	for n < len(rt.pending) && rt.pending[n].done() && rt.insideDone(n) && !rt.awaitsSweep(n) {
		rt.finish(n)
		n++
	}
	for _, b := range rt.pending[:n] {
		rt.model.recycled.take(b)
	}
	rt.pending = slices.Delete(rt.pending, 0, n)
}

// insideDone reports whether all collections that began before the end of the
// nth pending one are done.
func (rt *runtime) insideDone(n int) bool {
	b := rt.pending[n]
	if b.Requested != Background {
		return true
	}
	for _, o := range slices.Backward(rt.pending[n+1:]) {
		if b.contains(o) && !o.done() {
			return false
		}
	}
	return true
}

// contains reports whether o began while b, a background collection, ran.
func (b *building) contains(o *building) bool {
	return o != b && b.Requested == Background && o.Start.Known() && b.Start.Known() && o.Start.Or(0) >= b.Start.Or(0) &&
		(!b.End.Known() || o.Start.Or(0) <= b.End.Or(0))
}

// finishAll finishes the remaining collections at the end of the trace.
func (rt *runtime) finishAll() {
	for n := range rt.pending {
		rt.finish(n)
	}
	rt.pending = nil
}

// finish computes the figures of the nth pending collection.
func (rt *runtime) finish(n int) {
	b := rt.pending[n]
	var inside []*building
	if b.Requested == Background {
		inside = rt.pending[n+1:]
	}
	b.resolveKind()
	b.useReported()
	b.computeIntervals(&rt.last)
	b.computeMarks()
	b.rejectPhases()
	if b.histories() {
		rt.sized = true
		b.computeSizes()
		rt.allocations.begin(b)
		switch {
		case b.early: // its values at its beginning are unknown
		case b.Kind == Background:
			b.computeBackground(inside)
		default:
			b.computeBlocking()
		}
	} else if b.stats && !b.bare && !rt.historied {
		b.usePromotedByStats()
	}
	b.computePeak(inside)
	if !rt.ticked {
		b.AllocatedTicks = Opt[int64]{}
	}
	b.referred = b.windows > 0 || !b.restarted() // noted here because reject may forget pauses
	b.doubted = b.reject() || b.damaged
	b.Complete = b.Start.Known() && b.ended() && b.stats && b.Pause().Known()
	b.lacking = rt.completed && !b.Complete
	if b.doubted || b.misses() || b.missesHistories(rt.pending[n+1:]) {
		rt.model.missing(b.order(), max(b.order(), b.End.Or(0)))
		if b.done() || rt.model.ending { // else it is given up
			rt.model.gaps.Add(0, b.needs.From, rt.model.now)
		}
	}
	if b.Complete && !rt.completed {
		rt.completed, rt.first = true, b.Number
	}
	rt.last.follow(b)
	rt.allocations.follow(b)
	b.finished = true
	rt.forget(b)
	*b.room = b.Collection
	rt.model.hold(b.room)
}

// misses reports whether events of the collection are not in the trace although it
// did not begin or end in the middle of them, and the session raises their kinds. A
// background collection that began before the trace may end after others that are
// complete.
func (b *building) misses() bool {
	switch {
	case b.Complete, !b.Start.Known() && b.rt.beganBefore(b):
		return false
	case b.rt.model.ending: // but a suspension begins before its collection ends
		return b.rt.completed && b.ended() && b.stats && b.windows == 0 && len(b.Pauses) == 0
	default:
		return b.rt.completed || b.windows > 0 && b.rt.restarts.raised
	}
}

// missesHistories reports whether histories are not in the trace although the session
// raises them. A server's background collection has its histories after its end, so that
// the trace may end before them if no later collection begins.
func (b *building) missesHistories(later []*building) bool {
	if !b.Complete || !b.rt.sized || b.histories() {
		return false
	}
	return b.Kind != Background || !b.rt.model.ending ||
		slices.ContainsFunc(later, func(o *building) bool { return o.Start.Or(0) > b.End.Or(0) })
}

// forget drops the state of threads for a finished collection: in a long run, many
// threads come and go.
func (rt *runtime) forget(b *building) {
	if rt.ended[b.endThread] == b {
		delete(rt.ended, b.endThread)
	}
	if rt.history[b.historyThread] == b {
		delete(rt.history, b.historyThread)
	}
	if rt.numbered[b.Number] == b {
		delete(rt.numbered, b.Number)
	}
	switch b {
	case rt.blocking:
		rt.blocking = nil
	case rt.background:
		rt.background = nil
	}
	if rt.lastBackground == b {
		rt.lastBackground = nil
	}
	rt.model.room.open--
}

func (b *building) resolveKind() {
	switch {
	case b.ranBackground():
		b.Kind = Background
	case b.Requested == Background:
		b.Kind = Blocking
	default:
		b.Kind = b.Requested
	}
	b.AllPauses = b.windows == 0 && len(b.Pauses) > 0 && (b.Kind != Background || b.initial && b.final)
}

// computeIntervals finds the times between this collection and the one before it.
func (b *building) computeIntervals(last *previous) {
	b.needs = trace.Range{From: min(last.from, b.order()), To: max(b.order(), b.told)}
	if b.rt.historied && !b.histories() { // they were awaited until now
		b.needs.To = max(b.needs.To, b.rt.model.now)
	}
	if b.PauseStart.Known() {
		b.needs.From = min(b.needs.From, b.PauseStart.Or(0))
	}
	if b.PauseStart.Known() && b.PauseStart == last.pause { // both look back from it
		b.needs.From = min(b.needs.From, last.since)
	}
	b.follows = last.known && last.number+1 == b.Number || b.Number == 1
	for i := range b.Pauses {
		p := &b.Pauses[i]
		b.needs.To = max(b.needs.To, p.End())
	}
	for _, r := range b.restarts { // a suspension with a loss in it can be two; the first is used
		b.needs.To = max(b.needs.To, r)
	}
	if b.End.Known() {
		b.needs.To = max(b.needs.To, b.End.Or(0))
	}
	if r, ok := last.restarted(b.PauseStart.Or(0)); ok && b.PauseStart.Known() {
		b.SinceLast = Some(b.PauseStart.Or(0) - r)
	}
}

// restarted returns the latest restart up to a time.
func (p *previous) restarted(at time.Duration) (latest time.Duration, ok bool) {
	for _, r := range p.restarts {
		if r <= at && (!ok || r > latest) {
			latest, ok = r, true
		}
	}
	return latest, ok
}

// computeSizes takes the generations from the histories.
func (b *building) computeSizes() {
	var before, promoted int64
	if cap(b.room.Generations) < b.records {
		b.room.Generations = make([]Generation, b.records)
	}
	b.Generations = b.room.Generations[:b.records]
	for i := range b.Generations {
		s := &b.sums[i]
		g := &b.Generations[i]
		*g = s.public(i, b.pinned, b.recordedAfter(i))
		if i == gen0 {
			g.Budget = b.youngBudget()
		}
		before += s.before
		promoted += s.survived
		if b.Kind != Background && b.condemns(i) {
			g.Survival = s.survival()
		}
	}
	b.HeapBefore, b.Promoted = Some(before), Some(promoted)
}

// public returns the sums as the ith Generation, with the figures that the histories have.
func (g *generation) public(i int, pinned, after bool) Generation {
	return Generation{
		Name: generationNames[i], Before: g.before, FreeBefore: g.freeBefore, In: g.in, Out: g.survived, Budget: g.budget, Pinned: SomeIf(g.pinned, pinned),
		After: SomeIf(g.after, after), Fragmentation: SomeIf(g.freeAfter, after), FreeList: SomeIf(g.listed, after),
	}
}

// maxPadding is by how much the survivors of a small generation may be larger than
// its objects were: 7 KB more was seen, and 0.3 % of a large one.
const maxPadding = 16 << 10

// survival returns how much of the objects survived, in percent: unknown if
// there were none, or more survived than there were and padding accounts for.
func (g *generation) survival() Opt[float64] {
	objects := g.objectsBefore()
	plausible := objects > 0 && g.survived-objects <= objects/100+maxPadding
	return SomeIf(100*float64(min(g.survived, objects))/float64(objects), plausible)
}

// recordedAfter reports whether the sizes after the collection describe generation i.
// CoreCLR up to 3.1 writes only the condemned generations and the next older one.
func (b *building) recordedAfter(i int) bool {
	if b.allAfter || b.sums[i].after != 0 {
		return true
	}
	if i >= loh {
		return b.Generation.Or(0) == 2
	}
	return i <= b.Generation.Or(0)+1
}

// condemns reports whether generation i was collected. The histories of a background
// collection do not include what its final pause sweeps of gen0 and gen1.
func (b *building) condemns(i int) bool {
	switch {
	case i >= loh:
		return b.Generation.Or(0) == 2
	case b.Kind == Background:
		return i == gen2
	default:
		return i <= b.Generation.Or(0)
	}
}

// computeBlocking computes the bytes freed by a collection that is not a background one,
// and the bytes allocated since the collection before it.
func (b *building) computeBlocking() {
	var freed int64
	for i := range b.Generations {
		if b.condemns(i) {
			dead := max(0, b.sums[i].objectsBefore()-b.sums[i].survived)
			b.Generations[i].Freed = Some(dead)
			freed += dead
		}
	}
	b.Freed, b.FreedQuality = Some(freed), Exact
	a := &b.rt.allocations
	if large := a.largeAt(b.Start.Or(0)); b.Start.Known() && a.young.Known() && large.Known() {
		b.setAllocated(a.inGen0(b).plus(a.inLarge(b, large.Or(sample{}))))
	}
}

// follow makes b the previous collection.
func (p *previous) follow(b *building) {
	if !b.early { // the one before b in order is the one before the next
		p.number, p.known = b.Number, true
	}
	if p.committed = b.CommittedAfter; !p.committed.Known() {
		p.committed = b.CommittedBefore
	}
	p.pause, p.since, p.left = b.PauseStart, b.needs.From, p.left[:0]
	if b.Kind != Background && b.Kind != KindUnknown {
		p.left, p.heaps = append(p.left, b.Generations...), b.Heaps.Or(0)
	}
	switch {
	case !b.Start.Known():
	case b.Kind == Background, !b.ended(), b.rt.ticked: // ticks are counted from its start on
		p.from = b.Start.Or(0)
	default:
		p.from = b.End.Or(0)
	}
	if latest, ok := p.restarted(b.PauseStart.Or(0)); ok && b.PauseStart.Known() {
		p.restarts = slices.DeleteFunc(p.restarts, func(r time.Duration) bool { return r < latest })
	}
	if len(b.restarts) == 0 { // the next pause is longer after this one's than after an earlier one's
		p.restarts = nil
	}
	p.restarts = newest(append(p.restarts, b.restarts...))
}

// newest drops the first of more than maxMeasured values.
func newest[T any](s []T) []T { return slices.Delete(s, 0, max(0, len(s)-maxMeasured)) }

// weight returns the collection's share of the limit on held back ones.
func (c *Collection) weight() int {
	return collectionWeight + len(c.PerHeap) + (len(c.Marks)+len(c.Outside))/markWeight
}

// usePromotedByStats uses the statistics for runtimes that raise no histories. For others it
// would be wrong, because their collections may also promote objects in the POH, which the
// statistics leave out. After a background collection, the values of gen0 and gen1 date from an
// earlier one.
func (b *building) usePromotedByStats() {
	var sum int64
	for i, n := range b.promoted {
		if b.Kind != Background || i >= gen2 {
			sum += n
		}
	}
	b.Promoted = Some(sum)
}

// computePeak computes the larger of before and after; while a background collection runs,
// other collections may show larger sizes.
func (b *building) computePeak(inside []*building) {
	if !b.HeapBefore.Known() || !b.HeapAfter.Known() {
		return
	}
	top := max(b.HeapBefore.Or(0), b.HeapAfter.Or(0))
	for _, o := range inside {
		if b.Kind == Background && b.contains(o) && o.histories() {
			var before int64
			for i := range o.sums {
				before += o.sums[i].before
			}
			top = max(top, before, o.HeapAfter.Or(0))
		}
	}
	b.HeapPeak = Some(top)
}

// order returns the time by which collections are ordered: the start, or what
// is known nearest to it.
func (c *Collection) order() time.Duration {
	switch {
	case c.Start.Known():
		return c.Start.Or(0)
	case len(c.Pauses) > 0 && !c.PauseStart.Known(): // a background collection that began before the trace
		return c.Pauses[0].Start
	case c.End.Known():
		return c.End.Or(0)
	default:
		return math.MinInt64
	}
}

// firstCountingLarge is the major version of the first runtime whose background
// collections count what is allocated in LOH and POH meanwhile in the sizes before
// (dotnet/runtime's pull request 100716).
const firstCountingLarge = 9

// account resolves whether lost events touch the collection, as those of a missing stream may, and
// takes back the figures that then cannot be known.
func (c *Collection) account(touched bool, losses ...*trace.Loss) {
	if c.bySizes && c.Process.major < firstCountingLarge {
		c.lowerQuality(LowerBound)
	}
	c.AffectedByLoss = touched || c.doubted || slices.ContainsFunc(losses, func(l *trace.Loss) bool {
		// A damaged event can pass for one of another thread or time: what it
		// leaves out is nowhere near the loss.
		return l.Touches(c.needs.From, c.needs.To) || c.lacking && (l.Damaged > 0 || len(l.Ranges()) > 0)
	})
	if !c.AffectedByLoss {
		return
	}
	c.AllocatedTicks = Opt[int64]{}
	if !c.follows {
		c.forgetAllocated()
		c.SinceLast = Opt[time.Duration]{}
	}
	if c.Kind == Background {
		c.forgetYoung()
		c.lowerQuality(LowerBound)
	}
}

// boundFreed bounds the bytes that the collection freed. The sizes before count nothing
// twice in runtimes older than firstCountingLarge.
func (c *Collection) boundFreed() {
	freed, known := c.Freed.Get()
	if !known || c.FreedQuality == Exact {
		return
	}
	excess := c.excess
	if older := 0 < c.Process.major && c.Process.major < firstCountingLarge; !older {
		excess += c.twice
	}
	c.FreedLow = Some(max(0, freed-excess))
}

// lowerQuality makes the collection's bytes freed and allocated less certain. Allocated
// loses its upper bound, because lost events may have counted more.
func (c *Collection) lowerQuality(to Certainty) {
	if c.Freed.Known() {
		c.FreedQuality = max(c.FreedQuality, to)
	}
	if c.Allocated.Known() {
		c.AllocatedQuality, c.AllocatedHigh = max(c.AllocatedQuality, to), Opt[int64]{}
	}
}

// forgetYoung clears the bytes freed by a background collection in gen0 and gen1, because
// a lost collection may have freed them.
func (c *Collection) forgetYoung() {
	for i := range c.Generations {
		if g := &c.Generations[i]; i < gen2 && g.Freed.Known() {
			c.Freed = Some(c.Freed.Or(0) - g.Freed.Or(0))
			g.Freed = Opt[int64]{}
		}
	}
}
