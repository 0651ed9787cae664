package etl

import (
	"math"

	"github.com/gctrail/gctrail/internal/binread"
)

// mendStart checks the start of a session against its buffers: none may be written after
// the header's end, and most begin after the start. Otherwise the header is damaged, and
// the start becomes as late as the buffers allow, so that the trace is no longer than it
// was.
func (f *file) mendStart(own []entry, second int64) error {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	early, begun := 0, 0
	for i := range own {
		e := &own[i]
		if e.off == 0 { // begins with the header, and so with the start
			continue
		}
		begun++
		first = min(first, e.ticks)
		if e.ticks < -second {
			early++
		}
		if e.to != math.MaxInt64 {
			last = max(last, e.to)
		}
	}
	h := f.header
	late := int64(math.MinInt64)
	if h.end > 0 && h.mode&modeRelog == 0 { // a tool that rewrites files writes them later
		late = since(last, rescaled(distance(h.end, h.start), fileTimeTicks, f.frequency))
	}
	var shift int64
	switch {
	case begun == 0 || f.scaled:
		return nil
	case early > 1 && early > begun/2: // one time may be damaged itself
		shift = first
	case last != math.MinInt64 && late > second:
		shift = max(0, min(late, first))
	default:
		return nil
	}
	err := binread.Malformed("a session that starts at %d ticks, with events from %d on and buffers written up to %d ticks after its end", h.time, first, late)
	f.base += shift
	h.time += shift
	for i := range own {
		e := &own[i]
		if e.off > 0 {
			e.ticks -= shift
		}
		if e.to != math.MaxInt64 {
			e.to -= shift
		}
	}
	if s := &f.survey; s.flushed != math.MinInt64 && s.flushed != math.MaxInt64 {
		s.flushed -= shift
	}
	return err
}
