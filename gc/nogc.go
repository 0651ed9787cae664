package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// NoGC sums up the no-GC regions that began without a collection. A region that needed one
// shows as a collection whose PauseMode is NoGC.
type NoGC struct {
	Regions   int
	Suspended time.Duration // while they began
	// Perhaps counts suspensions that may have begun further regions, because no later event names
	// the number of a collection. Under server GC, only the next collection does.
	Perhaps int
}

// regions finds the no-GC regions of a runtime that began without a collection.
// GC.TryStartNoGCRegion suspends the threads and takes a collection's number; it raises
// GCStart only if it has to collect to find the memory (gc.cpp, garbage_collect).
type regions struct {
	latest    Opt[uint32] // number known to be taken
	begun     bool        // a collection began; until then, a background one from before the trace may hide numbers
	abandoned int         // suspensions for collections that did not begin, since then
	suspended time.Duration
	since     int           // regions since the latest collection began
	at        time.Duration // of the latest event that the numbers account for
	named     time.Duration // of the latest event of a collection that has its number
	suspends  bool          // the trace has suspensions: without them, a gap may be a region
}

// abandon notes a suspension for a collection in which none began.
func (r *regions) abandon(p *Process, d time.Duration) {
	r.abandoned++
	p.NoGC.Perhaps++
	r.suspended = units.AddCapped(r.suspended, max(0, d))
}

// any reports whether such regions began, or may have begun, since the latest collection.
func (r *regions) any() bool { return r.abandoned > 0 || r.since > 0 }

// numbered records the latest number. As many of the abandoned suspensions as there are
// new numbers began a region; the others, such as suspensions by GC.RefreshMemoryLimit,
// take no number. If there are fewer suspensions than numbers, numbered returns the
// number of collections whose events were lost.
func (r *regions) numbered(p *Process, number uint32) (lost int) {
	latest, known := r.latest.Get()
	if known && number <= latest {
		return 0
	}
	if r.suspends && (r.begun || p.StartSeen) { // before the first collection, the latest number is 0
		lost = max(0, int(number)-int(latest)-r.abandoned)
	}
	if taken := min(int64(number)-int64(latest), int64(r.abandoned)); known && taken > 0 {
		r.since += int(taken)
		p.NoGC.Regions += int(taken)
		p.NoGC.Suspended = units.AddCapped(p.NoGC.Suspended, r.suspended)
	}
	r.decide(p)
	r.latest, r.suspended = Some(number), 0
	return lost
}

// decide notes that the abandoned suspensions are known to have begun regions, or not to.
func (r *regions) decide(p *Process) {
	p.NoGC.Perhaps -= r.abandoned
	r.abandoned = 0
}

// reachable reports whether so many collections can have run since the latest number. A
// number beyond is damaged.
func (rt *runtime) reachable(number uint32) bool {
	r, now := &rt.regions, rt.model.now
	since := now - max(r.at, rt.process.Started)
	if int64(number)-int64(r.latest.Or(number))-int64(r.abandoned) <= 1+int64(clr.MaxCollections*max(0, since.Seconds())) {
		return true
	}
	rt.model.missing(now, now)
	return false
}

// numberTaken notes the latest number taken. If collections are missing before it, they lie
// between the last event that the numbers account for and before.
func (rt *runtime) numberTaken(number uint32, before time.Duration) {
	r := &rt.regions
	if lost := r.numbered(rt.process, number); lost > 0 {
		rt.process.Missing += lost
		after, named := max(r.at+1, rt.process.Started), max(r.named+1, rt.process.Started)
		rt.model.unnamed.Add(0, named, max(named, before-1))
		rt.model.missing(after, max(after, before-1))
		rt.model.gaps.Add(0, after, max(after, before-1))
	}
	r.at = rt.model.now
}

// suspendingFor notes a suspension. One for a collection carries the latest number taken,
// outside background collections.
func (rt *runtime) suspendingFor(v *clr.GCSuspendEEBegin) {
	if v.Reason == clr.SuspendReasonSuspendForGC && v.Count != math.MaxUint32 && rt.reachable(v.Count) {
		rt.regions.suspends = true
		rt.numberTaken(v.Count, rt.model.now)
	}
}

// collecting notes that a collection of this number runs, or has run.
func (rt *runtime) collecting(number uint32) {
	if number == 0 || !rt.reachable(number) {
		return
	}
	now := rt.model.now
	before := now
	if s := rt.active(); s != nil {
		before = s.begin
	}
	rt.numberTaken(number-1, before)
	r := &rt.regions
	r.latest, r.at, r.named = Some(max(number, r.latest.Or(0))), now, now
}

// regionsBefore notes that a collection begins, and returns the regions since the one
// before.
func (rt *runtime) regionsBefore(number uint32) int {
	rt.collecting(number)
	r := &rt.regions
	r.begun = true
	r.decide(rt.process)
	since := r.since
	r.since, r.suspended = 0, 0
	return since
}
