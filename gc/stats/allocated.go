package stats

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Rate is a number of bytes per second, as certain as the bytes. It is Uncertain if it
// is unknown.
type Rate struct {
	PerSecond float64
	Certainty gc.Certainty
	Over      time.Duration // the time in which AllocationRate knows the bytes; 0 for the time of a caller
}

// Known reports whether the rate is known.
func (r Rate) Known() bool { return r.Certainty != gc.Uncertain }

// Allocated returns the bytes that the process allocated: the ones counted by collections,
// and the ones known from after the latest collection. A lower bound is reduced by the
// error of the estimates in it. For a part of the trace, it returns an estimate from the
// collections alone, because the first of them also counts bytes allocated before From.
func (p *Summary) Allocated() Bytes {
	sum := p.all.Allocated
	switch {
	case p.Process == nil || sum.Known == 0:
	case p.narrowed():
		sum.Estimated, sum.unbounded = true, true
	default:
		sum.addTail(p.Process.Tail())
	}
	return sum.Holding()
}

// AllocatedWithoutGC returns the bytes allocated by a process without collections while
// it was watched. They are unknown without allocation ticks, because nothing else counts
// them.
func AllocatedWithoutGC(p *gc.Process) Bytes {
	var sum Bytes
	if t := p.Tail(); t.Quality == gc.Exact || t.Quality == gc.Estimate {
		sum.addTail(t)
	}
	return sum
}

// follow notes the time span in which allocation is known.
func (p *Summary) follow(c *gc.Collection) {
	start := c.Start.Or(c.End.Or(p.lastStart))
	if p.all.Count == 1 {
		p.firstStart, p.firstCounted = start, c.Allocated.Known() || c.AllocatedTicks.Known()
	} else {
		p.sinceFirst.addAllocated(c)
	}
	p.lastStart = max(p.lastStart, start)
}

// narrowed reports whether From and To leave out a part of the time that the process was
// watched.
func (p *Summary) narrowed() bool {
	from, to := p.From.Or(p.Process.Started), p.To.Or(p.Process.Stopped)
	return from > p.Process.Started || to < p.Process.Stopped
}

// AllocationRate returns the bytes allocated per second of the time in which they are
// known. That time begins with the process, or with the first collection if that one also
// counts bytes allocated before the trace or before From. It ends with the latest
// collection, or with the process if allocation after that collection was recorded.
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
			// After the latest collection the rate may be lower or higher.
			is = min(sum.Certainty(), gc.Estimate)
		}
	}
	span := until - from
	if span <= 0 || is == gc.Uncertain {
		return Rate{}
	}
	if is == gc.LowerBound {
		sum = sum.atLeast()
	}
	return Rate{float64(sum.Sum) / span.Seconds(), is, span}
}
