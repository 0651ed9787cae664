package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// An early follows a background collection whose start is not in the trace, because it was
// before the trace or is lost. A suspension that prepares a collection may be its final pause,
// or be for another reason, such as another number of heaps. The next collection that begins
// decides it, because foreground collections begin only while a background one runs.
type early struct {
	runs      Opt[bool]     // unknown until a collection begins or ends, and after a lost start
	unclaimed []*suspension // that prepare a collection, while it is unknown
	seen      uint32        // number of the latest collection that began or ended
	decided   time.Duration // when runs was known last
}

// prepared decides the purpose of a suspension that prepares a collection while no
// background collection of the trace runs. If the trace ends before it is decided, the
// suspension counts nowhere.
func (rt *runtime) prepared(s *suspension) {
	runs, known := rt.early.runs.Get()
	if known && !runs && s.number != rt.early.seen { // its start is lost, or it began a no-GC region
		rt.early.runs, known = Opt[bool]{}, false
	}
	switch {
	case !s.numbered() || known && !runs:
		rt.suspended(s, PauseOther)
	case known:
		rt.beginEarly(s)
	case len(rt.early.unclaimed) == maxMeasured:
		rt.model.drop(s.begin)
	default:
		rt.early.unclaimed = append(rt.early.unclaimed, s)
	}
}

// numbered reports whether the suspension carries the number of a collection.
func (s *suspension) numbered() bool { return s.number != 0 && s.number != math.MaxUint32 }

// decideEarly notes whether a background collection whose start is not in the trace ran
// until now.
func (rt *runtime) decideEarly(runs bool) {
	if b := rt.background; b != nil {
		if b.initial && !runs && rt.ends.raised { // its end is missing, or this is no such collection
			rt.model.missing(b.order(), rt.model.now)
		}
		return
	}
	if ran, known := rt.early.runs.Get(); known && runs != ran { // its start or end is missing, or one of the two is another collection
		rt.model.missing(rt.early.decided, rt.model.now)
	}
	rt.early.runs, rt.early.decided = Some(runs), rt.model.now
	for _, s := range rt.early.unclaimed {
		switch {
		case !runs:
			rt.suspended(s, PauseOther)
		case rt.background != nil: // an earlier one of these began it
			rt.backgroundWindow(s, rt.background)
		default:
			rt.beginEarly(s)
		}
	}
	rt.early.unclaimed = nil
}

// endEarly notes the end of a collection whose start is not in the trace. While a
// background collection runs, no other one collects gen2.
func (rt *runtime) endEarly(v *clr.GCEnd) {
	if v.Depth != gen2 {
		return
	}
	for _, s := range rt.early.unclaimed {
		if s.number == v.Count {
			rt.decideEarly(true)
			return
		}
	}
	if rt.early.runs.Or(false) && rt.background == nil { // its final pause was before the trace
		rt.early.runs = Some(false)
	}
}

// beginEarly makes a suspension the final pause of a background collection whose start is
// not in the trace.
func (rt *runtime) beginEarly(s *suspension) {
	b := rt.begin(s.number)
	if b == nil {
		return
	}
	b.early, b.Requested, b.Generation = true, Background, Some(gen2)
	rt.background, rt.lastBackground = b, b
	rt.backgroundWindow(s, b)
}
