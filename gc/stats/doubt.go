package stats

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/saturate"
)

// doubt bounds the pauses that are not in the trace: of collections whose pauses are not
// all known, and of those that events were lost near.
type doubt struct {
	total   time.Duration // that may have been paused, and is not known to have been
	longest time.Duration // that a single pause may have taken
	passed  time.Duration // up to which the collections so far account for the time
}

// add adds the next collection in order of their start. What is not known of its pauses
// lies between the end of the collection before it and its own.
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
	d.total = saturate.Add(d.total, unknown)
	d.longest = max(d.longest, saturate.Add(unknown, c.Pause().Or(0)))
}

// PauseBounds returns the share of the watched time that pauses took at least and at most,
// in percent, and how long the longest can have been. They are those of PauseShare and of
// Totals if all pauses are known. Otherwise the time after the last collection is in doubt
// too in a trace with holes, because another one may be missing there. They are unknown if
// no time was watched.
func (p *Summary) PauseBounds(holes bool) (least, most gc.Opt[float64], longest time.Duration) {
	all, d := p.All(), p.doubt
	if holes && all.PauseAtLeast() {
		rest := p.Process.Stopped
		if to, known := p.To.Get(); known {
			rest = min(rest, to)
		}
		rest = max(0, rest-max(d.passed, p.Process.Started))
		d.total, d.longest = saturate.Add(d.total, rest), max(d.longest, rest)
	}
	return p.share(all.Pause.Sum()), p.share(saturate.Add(all.Pause.Sum(), d.total)), max(all.Pause.Max(), d.longest)
}
