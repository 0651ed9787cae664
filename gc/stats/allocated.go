package stats

import (
	"github.com/gctrail/gctrail/gc"
)

// A Rate is a number of bytes per second, as certain as the bytes. It is Uncertain if it
// is unknown.
type Rate struct {
	PerSecond float64
	Certainty gc.Certainty
}

// Known reports whether the rate is known.
func (r Rate) Known() bool { return r.Certainty != gc.Uncertain }

// Allocated returns what the process allocated: what its collections count and what is
// known of the time after the latest of them. A lower bound leaves out by how much estimates
// in it may be too large. Of a part of the trace it is what the
// collections in it count, an estimate, because the first of them also counts what was
// allocated before From.
func (p *Summary) Allocated() Bytes {
	sum := p.all.Allocated
	switch {
	case p.Process == nil || sum.Known == 0:
	case p.narrowed():
		sum.Estimated, sum.unbounded = true, true
	default:
		sum.addTail(p.Process.Tail())
	}
	if sum.Certainty() == gc.LowerBound {
		return sum.atLeast()
	}
	return sum
}

// follow notes the times between which allocation is known.
func (p *Summary) follow(c *gc.Collection) {
	start := c.Start.Or(c.End.Or(p.lastStart))
	if p.all.Count == 1 {
		p.firstStart, p.firstCounted = start, c.Allocated.Known() || c.AllocatedTicks.Known()
	} else {
		p.sinceFirst.addAllocated(c)
	}
	p.lastStart = max(p.lastStart, start)
}

// narrowed reports whether the summary is of a part of the time that the process was
// watched.
func (p *Summary) narrowed() bool {
	from, to := p.From.Or(p.Process.Started), p.To.Or(p.Process.Stopped)
	return from > p.Process.Started || to < p.Process.Stopped
}

// AllocationRate returns the bytes allocated per second of the time for which they are
// known. It begins with the process, or with the first collection if part of what that one
// counts was allocated before the trace or before From. It ends with the latest collection,
// or with the process if what follows was recorded.
func (p *Summary) AllocationRate() Rate {
	if p.Process == nil {
		return Rate{}
	}
	sum, from, until := p.all.Allocated, p.Process.Started, p.lastStart
	if !p.Process.StartSeen || !p.firstCounted || p.narrowed() {
		sum, from = p.sinceFirst, p.firstStart
	}
	is := sum.Certainty()
	if !p.narrowed() {
		tail := p.Process.Tail()
		sum.addTail(tail)
		until = max(until, tail.Until)
		if is != gc.LowerBound {
			// Of the time after the latest collection the rate may be lower or higher.
			is = min(sum.Certainty(), gc.Estimate)
		}
	}
	span := until - from
	if span <= 0 || is == gc.Uncertain {
		return Rate{}
	}
	return Rate{float64(sum.Sum) / span.Seconds(), is}
}
