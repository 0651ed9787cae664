package stats

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// Bytes is a sum of sizes, of which some may be unknown.
type Bytes struct {
	Sum     int64
	Known   int  // summands
	AtLeast bool // the true sum may be larger: a part of it is unknown
	// Estimated reports that some summands are estimates: the true sum may be
	// smaller, too.
	Estimated bool

	below, above int64   // by how much the true sum may be smaller or larger
	filler       int64   // at most so many bytes of gen0 are filler, which the runtime's own count leaves out
	squares      float64 // the squares of further deviations, which are independent of each other
	unbounded    bool    // nothing limits by how much it may be larger
}

// near is the divisor of a sum that yields the largest error of an exact sum: a quarter of
// a percent. The runtime's own count exceeds the sizes in its events by up to another 0.3
// %, the filler at the ends of allocation contexts.
const near = 400

// fillerShare is the part of the bytes allocated in gen0 that may be filler: a context that
// grows in place leaves 24 of 8,192 bytes, and threads that allocate now and then leave a
// little more (gc.cpp, adjust_limit_clr and limit_from_size).
const fillerShare = 256

// Certainty returns how reliable the sum is: exact if it is known within half a percent,
// and a lower bound if any part of it is unknown, even if another part is an estimate.
func (b *Bytes) Certainty() gc.Certainty {
	switch {
	case b.Known == 0:
		return gc.Uncertain
	case !b.AtLeast && !b.Estimated, !b.unbounded && max(b.below, b.above)+b.spread() <= b.Sum/near:
		return gc.Exact
	case b.AtLeast:
		return gc.LowerBound
	default:
		return gc.Estimate
	}
}

// spread returns how far independent deviations may move the sum.
func (b *Bytes) spread() int64 { return int64(min(2*math.Sqrt(b.squares), math.MaxInt64/2)) }

// Min returns a lower bound of the true sum, 0 where nothing is known.
func (b *Bytes) Min() int64 { return max(0, b.Sum-units.AddCapped(b.below, b.spread())) }

// Holding returns the sum, and if it is a lower bound, less filler and the error of the
// estimates in it, because the true sum must not be smaller.
func (b *Bytes) Holding() Bytes {
	if b.Certainty() == gc.LowerBound {
		return b.atLeast()
	}
	return *b
}

// atLeast returns the sum as a lower bound, less filler and the error of the estimates in it.
func (b *Bytes) atLeast() Bytes {
	least := max(0, b.Min()-b.filler)
	return Bytes{
		Sum: least, Known: b.Known, AtLeast: true, Estimated: b.Estimated,
		above: units.AddCapped(b.Sum-least, units.AddCapped(b.above, b.spread())), unbounded: b.unbounded,
	}
}

// Max returns an upper bound of the true sum, unknown where nothing limits it.
func (b *Bytes) Max() gc.Opt[int64] {
	return gc.SomeIf(units.AddCapped(b.Sum, units.AddCapped(b.above, b.spread())), b.Known > 0 && !b.unbounded)
}

// AllocatedBefore returns the bytes allocated between the previous collection and c.
func AllocatedBefore(c *gc.Collection) Bytes {
	var b Bytes
	b.addAllocated(c)
	return b
}

// Per returns the sum over a length of time as a rate. If the rate is a lower bound, it is that
// of Min, because estimates in the sum may be too large.
func (b *Bytes) Per(d time.Duration) Rate {
	is, sum := b.Certainty(), b.Sum
	if d <= 0 || is == gc.Uncertain {
		return Rate{}
	}
	if is == gc.LowerBound {
		sum = b.Min()
	}
	return Rate{PerSecond: float64(sum) / d.Seconds(), Certainty: is}
}

func (b *Bytes) add(v gc.Opt[int64], is gc.Certainty, affected bool) {
	if !v.Known() {
		b.AtLeast, b.unbounded = true, true
		return
	}
	b.count(v.Or(0), is, affected)
	b.unbounded = b.unbounded || is != gc.Exact
}

// tickShare is the divisor of the allocation ticks of a collection that yields their error:
// many threads leave allocation contexts half empty.
const tickShare = 16

// addAllocated adds the bytes allocated before a collection, from the histories, or else
// from allocation ticks.
func (b *Bytes) addAllocated(c *gc.Collection) {
	v, known := c.Allocated.Get()
	if known && len(c.Generations) > 0 {
		b.filler = units.AddCapped(b.filler, min(v, c.Generations[0].Before)/fillerShare)
	}
	ticks, ticked := c.AllocatedTicks.Get()
	switch {
	case !known && ticked:
		b.count(ticks, gc.Estimate, c.AffectedByLoss)
		b.squares += square(ticks / tickShare)
	case !known || c.AffectedByLoss || !c.AllocatedHigh.Known():
		b.add(c.Allocated, c.AllocatedQuality, c.AffectedByLoss)
		if c.AllocatedQuality == gc.Estimate && !c.AllocatedLow.Known() {
			b.below = units.AddCapped(b.below, v) // nothing says by how much it is too large
		}
	default:
		b.count(v, c.AllocatedQuality, false)
		b.bound(v, c.AllocatedLow.Or(0), c.AllocatedHigh.Or(v), ticked)
	}
}

// addFreed adds the bytes that a collection freed.
func (b *Bytes) addFreed(c *gc.Collection) {
	b.add(c.Freed, c.FreedQuality, c.AffectedByLoss)
	if v, low := c.Freed.Or(0), c.FreedLow; low.Known() {
		b.bound(v, low.Or(0), v, c.AllocatedTicks.Known())
	}
}

// count adds a known size.
func (b *Bytes) count(v int64, is gc.Certainty, affected bool) {
	b.Known++
	b.Sum = units.AddCapped(b.Sum, max(0, v))
	b.AtLeast = b.AtLeast || affected || is == gc.LowerBound
	b.Estimated = b.Estimated || is == gc.Estimate
	b.unbounded = b.unbounded || affected
}

// bound adds the bounds of a size. Bounds from allocation ticks are independent of each
// other.
func (b *Bytes) bound(v, low, high int64, ticked bool) {
	if ticked {
		b.squares += square(max(v-low, high-v))
		return
	}
	b.below = units.AddCapped(b.below, max(0, v-low))
	b.above = units.AddCapped(b.above, max(0, high-v))
}

func square(v int64) float64 { return float64(v) * float64(v) }

// addTail adds the allocation after the latest collection.
func (b *Bytes) addTail(t gc.Tail) {
	most, bounded := t.Max.Get()
	switch {
	case t.Quality == gc.Exact || t.Quality == gc.Estimate:
		b.count(t.Bytes, t.Quality, false)
		b.bound(t.Bytes, t.Min, most, bounded)
	default:
		b.AtLeast = true
		b.above = units.AddCapped(b.above, max(0, most))
	}
	b.unbounded = b.unbounded || !bounded
}

// Merge adds another sum.
func (b *Bytes) Merge(o Bytes) {
	b.Sum = units.AddCapped(b.Sum, o.Sum)
	b.Known += o.Known
	b.AtLeast = b.AtLeast || o.AtLeast
	b.Estimated = b.Estimated || o.Estimated
	b.below = units.AddCapped(b.below, o.below)
	b.above = units.AddCapped(b.above, o.above)
	b.filler = units.AddCapped(b.filler, o.filler)
	b.squares += o.squares
	b.unbounded = b.unbounded || o.unbounded
}
