package ctf

import (
	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/internal/units"
)

// A clock turns the cycles of a stream into nanoseconds since 1970.
type clock struct {
	freq   uint64
	offset int64 // nanoseconds
}

// newClock returns the clock of a stream: the clock that its time stamps name, else the
// trace's first.
func newClock(t *tsdl.Trace, s *tsdl.Stream) clock {
	c := s.Clock
	if name := clockOf(s.EventHeader, map[*tsdl.Type]bool{}); c == nil && name != "" {
		for _, known := range t.Clocks {
			if known.Name == name {
				c = known
			}
		}
	}
	if c == nil && len(t.Clocks) > 0 {
		c = t.Clocks[0]
	}
	if c == nil {
		return clock{freq: second}
	}
	return clock{freq: c.Frequency, offset: c.Seconds*second + units.Rescale(c.Cycles, second, c.Frequency)}
}

const second = 1e9

// clockOf returns the name of the clock that an integer within t counts, or "".
func clockOf(t *tsdl.Type, seen map[*tsdl.Type]bool) string {
	if t == nil || seen[t] {
		return ""
	}
	if t.Clock != "" {
		return t.Clock
	}
	seen[t] = true
	for i := range t.Fields {
		if c := clockOf(t.Fields[i].Type, seen); c != "" {
			return c
		}
	}
	for i := range t.Options {
		if c := clockOf(t.Options[i].Type, seen); c != "" {
			return c
		}
	}
	return ""
}

// ns returns the time of a number of cycles.
func (c *clock) ns(cycles uint64) int64 {
	if c.freq == second {
		return c.offset + int64(cycles)
	}
	return c.offset + units.MulDiv(cycles, second, c.freq)
}
