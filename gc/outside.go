package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/internal/units"
)

// An Outside is a time in which the program's threads were suspended for something other
// than a collection: a CPU sampler, a debugger, a profiler.
type Outside struct {
	From, To  time.Duration
	Suspended time.Duration // less than To - From if several suspensions were joined
}

// maxOutside bounds the suspensions outside collections that are remembered between two
// collections of a process. Beyond it neighbours are joined, because a sampler suspends
// the threads a thousand times a second.
const maxOutside = 512

// suspended notes a suspension that belongs to no collection. The time that it waited for
// another one to end does not count. Nor does the time that a collection waited for it,
// because the collection's pause includes that.
func (rt *runtime) suspended(s *suspension, kind PauseKind) {
	from, to := max(0, s.begin+s.waited), s.restartBegin.Or(0)
	for _, o := range rt.windows {
		if o.forGC() && o.begin > s.begin {
			to = min(to, o.begin)
		}
	}
	p := rt.process
	p.addSuspension(s.reason, kind, max(0, to-from))
	if from >= to {
		return
	}
	i := len(p.Outside)
	for i > 0 && p.Outside[i-1].From > from {
		i--
	}
	p.Outside = slices.Insert(p.Outside, i, Outside{from, to, to - from})
	if len(p.Outside) > maxOutside {
		p.Outside = timeline.Halve(p.Outside, func(into, later *Outside) {
			into.To, into.Suspended = max(into.To, later.To), units.AddCapped(into.Suspended, later.Suspended)
		})
	}
}

// takeOutside returns the suspensions outside collections since the last collection
// began.
func (p *Process) takeOutside() []Outside {
	all := slices.Clone(p.Outside)
	p.Outside = p.Outside[:0]
	return all
}
