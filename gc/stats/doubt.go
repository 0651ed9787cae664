package stats

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// doubt bounds the pauses that the trace does not show: of collections with unknown pauses,
// and of collections near lost events.
type doubt struct {
	total   time.Duration // that threads may have been paused beyond the known pauses
	longest time.Duration // that a single pause may have taken
	passed  time.Duration // end of the time that the collections so far account for
}

// add adds the next collection in order of their start. Its unknown pauses lie between the
// end of the previous collection and its own end.
func (d *doubt) add(c *gc.Collection, began time.Duration) {
	from := max(d.passed, began)
	end := c.End.Or(0)
	for i := range c.Pauses {
		end = max(end, c.Pauses[i].End())
	}
	switch {
	case c.Kind != gc.Background:
		d.passed = max(d.passed, end)
	case len(c.Pauses) > 0: // others run while it runs in the background
		d.passed = max(d.passed, c.Pauses[0].End())
	}
	if c.Pause().Known() && !c.AffectedByLoss {
		return
	}
	if end == 0 { // not even its end is known
		end = max(from, c.Start.Or(0))
	}
	unknown := max(0, end-from-c.Pause().Or(0))
	d.total = units.AddCapped(d.total, unknown)
	d.longest = max(d.longest, units.AddCapped(unknown, c.Pause().Or(0)))
}

// PauseBounds returns the least and the most percent of the watched time that pauses can
// have taken, and the longest that a pause can have been. If all pauses are known, the
// bounds are the figures of PauseShare and Totals. Otherwise, in a trace with holes, the
// time after the last collection counts as possible pause too, because a collection may be
// missing there. The shares are unknown if no time was watched.
func (p *Summary) PauseBounds(holes bool) (least, most gc.Opt[float64], longest time.Duration) {
	all, d := p.All(), p.doubt
	if holes && all.PauseAtLeast() {
		rest := p.Process.Stopped
		if to, known := p.To.Get(); known {
			rest = min(rest, to)
		}
		rest = max(0, rest-max(d.passed, p.Process.Started))
		d.total, d.longest = units.AddCapped(d.total, rest), max(d.longest, rest)
	}
	return p.share(all.Pause.Sum()), p.share(units.AddCapped(all.Pause.Sum(), d.total)), max(all.Pause.Max(), d.longest)
}
