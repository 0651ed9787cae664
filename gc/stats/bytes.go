package stats

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/saturate"
)

// Bytes is a sum of sizes, of which some may be unknown.
type Bytes struct {
	Sum     int64
	Known   int  // summands
	AtLeast bool // the true sum may be larger: a part of it is unknown
	// Estimated reports that some summands are estimates: the true sum may be
	// smaller, too.
	Estimated bool

	below, above int64 // by how much the true sum may be smaller or larger
	unbounded    bool  // nothing limits by how much
}

// near is the share of a sum within which its bounds must lie for it to count as exact:
// half a percent. What the runtime itself counts differs from the sizes in its events by
// up to 0.3 %, because of the filler at the end of each allocation context.
const near = 200

// Certainty returns how reliable the sum is: exact if it is known within half a percent, a
// lower bound if a part of it is unknown, even where another part is estimated.
func (b *Bytes) Certainty() gc.Certainty {
	switch {
	case b.Known == 0:
		return gc.Uncertain
	case !b.AtLeast && !b.Estimated, !b.unbounded && max(b.below, b.above) <= b.Sum/near:
		return gc.Exact
	case b.AtLeast:
		return gc.LowerBound
	default:
		return gc.Estimate
	}
}

// Max returns an upper bound of the true sum, unknown where nothing limits it.
func (b *Bytes) Max() gc.Opt[int64] {
	if b.Known == 0 || b.unbounded {
		return gc.Opt[int64]{}
	}
	return gc.Some(saturate.Add(b.Sum, b.above))
}

func (b *Bytes) add(v gc.Opt[int64], is gc.Certainty, affected bool) {
	if !v.Known() {
		b.AtLeast, b.unbounded = true, true
		return
	}
	b.Known++
	b.Sum = saturate.Add(b.Sum, max(0, v.Or(0)))
	b.AtLeast = b.AtLeast || affected || is == gc.LowerBound
	b.Estimated = b.Estimated || is == gc.Estimate
	b.unbounded = b.unbounded || affected || is != gc.Exact
}

// addTail adds what was allocated after the latest collection.
func (b *Bytes) addTail(t gc.Tail) {
	if t.Quality == gc.Exact || t.Quality == gc.Estimate {
		b.Known++
	}
	b.Sum = saturate.Add(b.Sum, t.Bytes)
	b.below = saturate.Add(b.below, t.Bytes-t.Min)
	most, bounded := t.Max.Get()
	b.above = saturate.Add(b.above, max(0, most-t.Bytes))
	b.unbounded = b.unbounded || !bounded
	b.AtLeast = b.AtLeast || t.Quality == gc.LowerBound || t.Quality == gc.Uncertain
	b.Estimated = b.Estimated || t.Quality == gc.Estimate
}

func (b *Bytes) merge(o Bytes) {
	b.Sum = saturate.Add(b.Sum, o.Sum)
	b.Known += o.Known
	b.AtLeast = b.AtLeast || o.AtLeast
	b.Estimated = b.Estimated || o.Estimated
	b.below = saturate.Add(b.below, o.below)
	b.above = saturate.Add(b.above, o.above)
	b.unbounded = b.unbounded || o.unbounded
}
