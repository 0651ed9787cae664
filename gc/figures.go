package gc

import (
	"maps"
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

// previous is what the figures of a collection need of those before it.
type previous struct {
	number uint32
	known  bool
	end    time.Duration // of all that is known of it

	restarts []time.Duration // RestartEEBegin of the pauses that may still matter

	gen0    Opt[int64]   // objects in gen0 after it
	objects []uohObjects // objects in LOH and POH, as collections measured them
	adrift  bool         // a background collection of which too little is known may still sweep those
}

// uohObjects are the bytes in objects of LOH and POH at some time.
type uohObjects struct {
	at       time.Duration
	loh, poh int64
}

// release finishes the collections of which nothing more is expected, in order
// of their start: the figures of one need those before it, a background one's
// also those inside it.
func (rt *runtime) release() {
	n := 0
	for n < len(rt.pending) && rt.pending[n].done() && rt.insideDone(n) {
		rt.finish(n)
		n++
	}
	rt.pending = slices.Delete(rt.pending, 0, n)
}

// insideDone says whether all collections that began before the end of the
// nth pending one are done.
func (rt *runtime) insideDone(n int) bool {
	b := rt.pending[n]
	for _, o := range rt.pending[n+1:] {
		if b.contains(o) && !o.done() {
			return false
		}
	}
	return true
}

// contains says whether o began while b, a background collection, ran.
func (b *building) contains(o *building) bool {
	return o != b && b.Requested == Background && o.Start.Known && b.Start.Known && o.Start.V >= b.Start.V &&
		(!b.End.Known || o.Start.V <= b.End.V)
}

// finishAll finishes what is left at the end of the trace.
func (rt *runtime) finishAll() {
	for n := range rt.pending {
		rt.finish(n)
	}
	rt.pending = nil
}

// finish computes the figures of the nth pending collection.
func (rt *runtime) finish(n int) {
	b := rt.pending[n]
	inside := rt.pending[n+1:]
	b.kind()
	b.span(&rt.last)
	b.marking()
	if b.histories() {
		b.sizes()
		b.free(inside, rt.ticked)
		b.allocated(&rt.last)
	} else if b.stats && !rt.historied {
		b.promotedByStats()
	}
	b.peak(inside)
	if !rt.ticked {
		b.AllocatedTicks = Opt[int64]{}
	}
	b.Complete = b.Start.Known && b.ended() && b.stats && b.Pause().Known
	rt.last.follow(b)
	b.finished = true
	rt.forget(b)
	c := b.Collection
	rt.model.hold(&c)
}

// forget drops what threads may still have to say of a finished collection: in
// a long run, many threads come and go.
func (rt *runtime) forget(b *building) {
	is := func(_ uint64, o *building) bool { return o == b }
	maps.DeleteFunc(rt.ended, is)
	maps.DeleteFunc(rt.history, is)
}

func (b *building) kind() {
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

// span finds the times between this collection and the one before it.
func (b *building) span(last *previous) {
	b.needs = trace.Range{From: min(last.end, b.order()), To: max(b.order(), b.told)}
	if b.rt.historied && !b.histories() { // they were awaited until now
		b.needs.To = max(b.needs.To, b.rt.model.event.time)
	}
	if b.PauseStart.Known {
		b.needs.From = min(b.needs.From, b.PauseStart.V)
	}
	b.follows = last.known && last.number+1 == b.Number || b.Number == 1
	for i := range b.Pauses {
		p := &b.Pauses[i]
		b.needs.To = max(b.needs.To, p.End())
	}
	for _, r := range b.restarts { // a suspension with a loss in it can be two, of which this has the first
		b.needs.To = max(b.needs.To, r)
	}
	if b.End.Known {
		b.needs.To = max(b.needs.To, b.End.V)
	}
	if r, ok := last.restarted(b.PauseStart.V); ok && b.PauseStart.Known {
		b.SinceLast = Some(b.PauseStart.V - r)
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

// sizes takes the generations from the histories.
func (b *building) sizes() {
	var before, promoted int64
	b.Generations = make([]Generation, b.records)
	for i := range b.Generations {
		s := &b.sums[i]
		g := &b.Generations[i]
		*g = Generation{
			Name: GenerationNames[i], Before: s.before, FreeBefore: s.freeBefore, In: s.in, Out: s.survived, Budget: s.budget,
			Pinned: Opt[int64]{s.pinned, b.pinned},
		}
		before += s.before
		promoted += s.survived
		if b.recordedAfter(i) {
			g.After, g.Fragmentation = Some(s.after), Some(s.freeAfter)
		}
		if objects := s.objectsBefore(); b.Kind != Background && b.condemns(i) && objects > 0 {
			g.Survival = Some(100 * float64(s.survived) / float64(objects))
		}
	}
	b.HeapBefore, b.Promoted = Some(before), Some(promoted)
}

// recordedAfter says whether the sizes after the collection are those of
// generation i. CoreCLR up to 3.1 writes only the condemned generations' and
// the next older one's.
func (b *building) recordedAfter(i int) bool {
	if b.allAfter || b.sums[i].after != 0 {
		return true
	}
	if i >= loh {
		return b.Generation.V == 2
	}
	return i <= b.Generation.V+1
}

// condemns says whether generation i was collected. What a background collection
// sweeps of gen0 and gen1 in its final pause is not told by its histories.
func (b *building) condemns(i int) bool {
	switch {
	case i >= loh:
		return b.Generation.V == 2
	case b.Kind == Background:
		return i == gen2
	default:
		return i <= b.Generation.V
	}
}

// free counts the bytes of objects found dead (docs/figures.md, "freed").
func (b *building) free(inside []*building, ticked bool) {
	var in int64 // promoted into gen2 meanwhile
	for _, o := range inside {
		if b.contains(o) {
			in += o.sums[gen2].in
		}
	}
	var total int64
	for i := range b.Generations {
		if !b.condemns(i) {
			continue
		}
		s := &b.sums[i]
		dead := s.objectsBefore() - s.survived
		switch {
		case b.Kind == Background && i == gen2:
			dead = s.objectsBefore() + in - s.objectsAfter()
		case b.Kind == Background:
			dead = s.objectsBefore() + b.uohTicks[i] - s.objectsAfter()
		}
		dead = max(0, dead)
		b.Generations[i].Freed = Some(dead)
		total += dead
	}
	b.Freed = Some(total)
	switch {
	case b.Kind != Background:
		b.FreedIs = FreedExact
	case ticked:
		b.FreedIs = FreedEstimate
	default:
		b.FreedIs = FreedLowerBound
	}
}

// allocated compares the objects there were at the start with those that the
// collections before left.
func (b *building) allocated(last *previous) {
	base, ok := last.uoh(b.Start.V)
	g0 := last.gen0
	if b.Number == 1 {
		base, ok, g0 = uohObjects{}, true, Some(int64(0))
	}
	if !b.Start.Known || !ok || !g0.Known {
		return
	}
	b.Allocated = Some(max(0, b.sums[gen0].objectsBefore()-g0.V) +
		max(0, b.sums[loh].objectsBefore()-base.loh) + max(0, b.sums[poh].objectsBefore()-base.poh))
}

// uoh returns the latest measurement at a time.
func (p *previous) uoh(at time.Duration) (m uohObjects, ok bool) {
	for _, o := range p.objects {
		if o.at <= at && (!ok || o.at >= m.at) {
			m, ok = o, true
		}
	}
	return m, ok
}

// follow makes b the previous collection.
func (p *previous) follow(b *building) {
	p.number, p.known = b.Number, true
	p.end = max(p.end, b.needs.To)
	if latest, ok := p.restarted(b.PauseStart.V); ok && b.PauseStart.Known {
		p.restarts = slices.DeleteFunc(p.restarts, func(r time.Duration) bool { return r < latest })
	}
	p.restarts = append(p.restarts, b.restarts...)
	if !b.histories() || !b.Start.Known || !b.End.Known {
		p.gen0, p.objects = Opt[int64]{}, nil
		p.adrift = p.adrift || b.Requested == Background
		return
	}
	p.adrift = p.adrift && b.Generation.V < 2
	s := &b.sums
	after := uohObjects{b.End.V, s[loh].objectsAfter(), s[poh].objectsAfter()}
	if b.Kind == Background {
		// It leaves gen0 as it is; what it finds in LOH and POH counts from its
		// start, what it leaves there from its end.
		p.gen0 = Some(s[gen0].objectsBefore())
		p.keep(uohObjects{b.Start.V, s[loh].objectsBefore(), s[poh].objectsBefore()}, after)
		return
	}
	p.gen0 = Some(s[gen0].objectsAfter())
	if p.adrift {
		return
	}
	if !b.recordedAfter(loh) {
		after.loh = s[loh].objectsBefore()
	}
	p.keep(after)
}

// keep adds measurements, and forgets those that no collection will need.
func (p *previous) keep(m ...uohObjects) {
	start := m[0].at
	latest, ok := p.uoh(start)
	p.objects = slices.DeleteFunc(p.objects, func(o uohObjects) bool { return ok && o.at < latest.at })
	p.objects = append(p.objects, m...)
}

// promotedByStats is all that is known of runtimes that raise no histories;
// those that do may promote in POH too, which the statistics leave out. In a
// background collection's, gen0 and gen1 are left over from an earlier one.
func (b *building) promotedByStats() {
	var sum int64
	for i, n := range b.promoted {
		if b.Kind != Background || i >= gen2 {
			sum += n
		}
	}
	b.Promoted = Some(sum)
}

// peak is the larger of before and after; while a background collection runs,
// others tell of more.
func (b *building) peak(inside []*building) {
	if !b.HeapBefore.Known || !b.HeapAfter.Known {
		return
	}
	top := max(b.HeapBefore.V, b.HeapAfter.V)
	for _, o := range inside {
		if b.Kind == Background && b.contains(o) && o.histories() {
			var before int64
			for i := range o.sums {
				before += o.sums[i].before
			}
			top = max(top, before, o.HeapAfter.V)
		}
	}
	b.HeapPeak = Some(top)
}

// order is the time by which collections are ordered: the start, or what is
// known nearest to it.
func (c *Collection) order() time.Duration {
	switch {
	case c.Start.Known:
		return c.Start.V
	case c.End.Known:
		return c.End.V
	default:
		return math.MinInt64
	}
}

// account says whether lost events touch the collection, and takes back the
// figures that then cannot be known.
func (c *Collection) account(loss *trace.Loss) {
	c.AffectedByLoss = loss.Touches(c.needs.From, c.needs.To)
	if !c.AffectedByLoss {
		return
	}
	c.AllocatedTicks = Opt[int64]{}
	if !c.follows {
		c.Allocated, c.SinceLast = Opt[int64]{}, Opt[time.Duration]{}
	}
	if c.Kind == Background && c.Freed.Known {
		c.FreedIs = FreedLowerBound
	}
}
