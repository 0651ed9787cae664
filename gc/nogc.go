package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/saturate"
)

// NoGC sums up the no-GC regions that began without a collection. A region that needed one
// shows as a collection whose PauseMode is NoGC.
type NoGC struct {
	Regions   int
	Suspended time.Duration // while they began
	// Perhaps counts suspensions that may have begun further regions: no later event names
	// the number of a collection. Under server GC, only the next collection does.
	Perhaps int
}

// regions finds the no-GC regions of a runtime that began without a collection.
// GC.TryStartNoGCRegion suspends the threads and takes a collection's number; it raises
// GCStart only if it has to collect to find the memory (gc.cpp, garbage_collect).
type regions struct {
	latest    Opt[uint32] // number known to be taken
	abandoned int         // suspensions for collections that did not begin, since then
	suspended time.Duration
	since     int // regions since the latest collection began
}

// abandon notes a suspension for a collection in which none began.
func (r *regions) abandon(p *Process, d time.Duration) {
	r.abandoned++
	p.NoGC.Perhaps++
	r.suspended = saturate.Add(r.suspended, max(0, d))
}

// any reports whether such regions began, or may have begun, since the latest collection.
func (r *regions) any() bool { return r.abandoned > 0 || r.since > 0 }

// numbered notes that a number is the latest taken. As many of the abandoned suspensions as
// there are new numbers began a region; the others, such as those of GC.RefreshMemoryLimit,
// take no number. If there are fewer suspensions than numbers, events were lost.
func (r *regions) numbered(p *Process, number uint32) {
	latest, known := r.latest.Get()
	if known && number <= latest {
		return
	}
	if taken := min(int64(number)-int64(latest), int64(r.abandoned)); known && taken > 0 {
		r.since += int(taken)
		p.NoGC.Regions += int(taken)
		p.NoGC.Suspended = saturate.Add(p.NoGC.Suspended, r.suspended)
	}
	r.decide(p)
	r.latest, r.suspended = Some(number), 0
}

// decide notes that the abandoned suspensions are known to have begun regions, or not to.
func (r *regions) decide(p *Process) {
	p.NoGC.Perhaps -= r.abandoned
	r.abandoned = 0
}

// suspending notes a suspension for a collection. Outside background collections, it
// carries the latest number taken.
func (r *regions) suspending(p *Process, v *clr.GCSuspendEEBegin) {
	if v.Reason == clr.SuspendReasonSuspendForGC && v.Count != math.MaxUint32 {
		r.numbered(p, v.Count)
	}
}

// started notes that a collection begins, and returns the regions since the one before.
func (r *regions) started(p *Process, number uint32) int {
	if number > 0 {
		r.numbered(p, number-1)
	}
	r.decide(p)
	since := r.since
	*r = regions{latest: Some(max(number, r.latest.Or(0)))}
	return since
}
