// Package background tracks the phases of background collections, which the
// runtime's private provider reports: marking with the program's threads
// suspended, marking while they run, marking what has changed with the threads
// suspended again, and sweeping while they run.
//
// A Model is handed a trace's events by gc/pass, and emits each background collection when
// it has ended. With server GC, each heap's thread raises the events; a phase ends
// when the last thread ends it.
//
// See background_mark_phase and background_sweep in the runtime's gc.cpp.
package background

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
)

// Phase is a part of a background collection.
type Phase uint8

const (
	InitialMark    Phase = iota // roots; the program's threads are suspended
	ConcurrentMark              // objects reachable from them, while the program runs
	FinalWait                   // until the threads are suspended again
	FinalMark                   // the changes since; the threads are suspended
	SweepWait                   // until the program runs again
	Sweep                       // while the program runs
	NumPhases
)

var phaseNames = [NumPhases]string{"initial_mark", "concurrent_mark", "final_wait", "final_mark", "sweep_wait", "sweep"}

func (p Phase) String() string { return units.Name("Phase", phaseNames[:], p) }

// ends are the events that end each phase, in their order.
var ends = [NumPhases]clr.Kind{
	clr.KindBGC1stNonConEnd, clr.KindBGC1stConEnd, clr.KindBGC2ndNonConBegin, clr.KindBGC2ndNonConEnd,
	clr.KindBGC2ndConBegin, clr.KindBGC2ndConEnd,
}

// An Interval is a part of the time of a trace.
type Interval struct{ Begin, Duration time.Duration }

// A Collection is a background collection.
type Collection struct {
	PID        uint64 // trace.UnknownID if unknown
	Instance   uint16
	Number     uint32
	Start, End time.Duration
	// Phases holds the phases that have their begin and end in the trace.
	Phases [NumPhases]gc.Opt[Interval]
	// Foreground counts the collections that ran while this one did.
	Foreground int
	// Drained counts the objects drained from the mark stack before the final
	// pause. Pages and Objects count what was written to during marking and had
	// to be revisited; Final is the part of Objects in the final pause.
	Drained, Pages, Objects, Final int64
	// Overflows counts how often the mark stack was full, and Overflown the
	// objects that were revisited because of it.
	Overflows int
	Overflown int64
	// Waits counts how often threads waited to allocate large objects, and
	// Waiting is the total time.
	Waits   int
	Waiting time.Duration
}

// A Model tracks background collections. The zero Model is ready for use, for
// one trace, by one goroutine.
type Model struct {
	// Done is called with each background collection that ended. It may retain
	// the collection.
	Done func(*Collection)

	runtimes pass.Table[runtime]
}

// maxWaits bounds the threads that wait or look again in a collection.
const maxWaits = 4096

// A runtime is the state of one.
type runtime struct {
	now   *Collection              // under way, nil for none
	begin time.Duration            // of its initial mark
	last  [NumPhases]time.Duration // when a thread last ended the phase
	seen  [NumPhases]bool
	// By thread: the beginning of a wait, and the latest revisit.
	waits    map[uint64]time.Duration
	revisits map[uint64]revisit
}

// Kinds returns the kinds of events that a Model reads.
func (*Model) Kinds() []clr.Kind {
	return append([]clr.Kind{
		clr.KindGCStart, clr.KindGCEnd, clr.KindBGCDrainMark, clr.KindBGCRevisit, clr.KindBGCOverflow, clr.KindBGCAllocWaitBegin, clr.KindBGCAllocWaitEnd,
	}, ends[:]...)
}

// Event processes one event.
func (m *Model) Event(e *pass.Event) {
	if slices.Contains(ends[:], e.Kind) {
		m.phaseEnded(e)
		return
	}
	decoded, whole := e.Decoded()
	if !whole {
		return
	}
	switch v := decoded.(type) {
	case *clr.GCStart:
		m.started(e, v)
	case *clr.GCEnd:
		m.ended(e, v)
	case *clr.BGCDrainMark:
		if rt := m.current(e, v.ClrInstanceID); rt != nil {
			rt.now.Drained += count(v.Objects)
		}
	case *clr.BGCRevisit:
		if rt := m.current(e, v.ClrInstanceID); rt != nil {
			rt.revisited(e.TID, v)
		}
	case *clr.BGCOverflow:
		if rt := m.current(e, v.ClrInstanceID); rt != nil && count(v.Objects) > 0 {
			rt.now.Overflows++
			rt.now.Overflown += count(v.Objects)
		}
	case *clr.BGCAllocWaitBegin:
		if rt := m.current(e, v.ClrInstanceID); rt != nil && len(rt.waits) < maxWaits {
			rt.waits[e.TID] = e.Time
		}
	case *clr.BGCAllocWaitEnd:
		if rt := m.current(e, v.ClrInstanceID); rt != nil {
			rt.waited(e)
		}
	}
}

// phaseEnded processes an event that ends a phase: all of them are laid out alike.
func (m *Model) phaseEnded(e *pass.Event) {
	v, whole := pass.Decode[clr.BGCBegin](e)
	if !whole {
		return
	}
	if rt := m.current(e, v.ClrInstanceID); rt != nil {
		rt.phase(e.Kind, e.Time)
	}
}

// count returns a number of an event, unknown if it must be damaged.
func count(n uint64) int64 {
	if n >= 1<<50 {
		return 0
	}
	return int64(n)
}

// current returns the runtime of an event, if a background collection is under
// way in it.
func (m *Model) current(e *pass.Event, instance uint16) *runtime {
	if of := e.Runtime(instance); of != nil {
		if rt := m.runtimes.Get(of.Index); rt != nil && rt.now != nil {
			return rt
		}
	}
	return nil
}

// waited notes that a thread waits no more to allocate.
func (rt *runtime) waited(e *pass.Event) {
	if at, ok := rt.waits[e.TID]; ok {
		delete(rt.waits, e.TID)
		rt.now.Waits++
		rt.now.Waiting += e.Time - at
	}
}

func (m *Model) started(e *pass.Event, v *clr.GCStart) {
	of := e.Runtime(v.ClrInstanceID)
	if of == nil {
		return
	}
	rt, _ := m.runtimes.At(of.Index)
	if v.Type != clr.GCTypeBackgroundGC {
		if rt.now != nil && v.Type == clr.GCTypeForegroundGC {
			rt.now.Foreground++
		}
		return
	}
	if rt.now != nil && rt.now.Number == v.Count {
		return // .NET Framework 4.5.2 raises two
	}
	*rt = runtime{
		begin: e.Time,
		now:   &Collection{PID: e.PID, Instance: v.ClrInstanceID, Number: v.Count, Start: e.Time},
		waits: make(map[uint64]time.Duration), revisits: make(map[uint64]revisit),
	}
}

// A revisit counts the pages and objects that one thread visited again, generation by
// generation.
type revisit struct{ pages, objects int64 }

// revisited takes in one generation's part. The numbers add up from the youngest
// generation to gen 2, which alone is not called large, and then anew from the
// large object heap on (revisit_written_pages). Younger generations than gen 2
// come in the final pause only, and only with regions.
func (rt *runtime) revisited(tid uint64, v *clr.BGCRevisit) {
	n := revisit{count(v.Pages), count(v.Objects)}
	if v.IsLarge != 0 {
		if len(rt.revisits) < maxWaits {
			rt.revisits[tid] = n
		}
		return
	}
	if !rt.finalPause() {
		rt.add(rt.revisits[tid])
	}
	delete(rt.revisits, tid)
	rt.add(n)
}

// finalPause reports whether the collection marks with the threads suspended for
// the second time.
func (rt *runtime) finalPause() bool { return rt.seen[FinalWait] && !rt.seen[FinalMark] }

func (rt *runtime) add(n revisit) {
	rt.now.Pages += n.pages
	rt.now.Objects += n.objects
	if rt.finalPause() {
		rt.now.Final += n.objects
	}
}

// phase notes that a thread ended a phase. With it a round of looking again ends.
func (rt *runtime) phase(kind clr.Kind, at time.Duration) {
	for tid, n := range rt.revisits {
		rt.add(n)
		delete(rt.revisits, tid)
	}
	for p, end := range ends {
		if end == kind {
			rt.last[p], rt.seen[p] = at, true
		}
	}
}

// ended emits the background collection, if it is the one that ended. A
// background collection that had to run blocking has no phases.
func (m *Model) ended(e *pass.Event, v *clr.GCEnd) {
	rt := m.current(e, v.ClrInstanceID)
	if rt == nil {
		return
	}
	if rt.now.Number != v.Count {
		if !rt.seen[InitialMark] {
			rt.begin = e.Time // one of gen 0 or gen 1 went before it in the same pause
		}
		return
	}
	c := rt.now
	c.End = e.Time
	begin, known := rt.begin, true
	for p := range rt.last {
		end, seen := rt.last[p], rt.seen[p]
		if known && seen && end >= begin {
			c.Phases[p] = gc.Some(Interval{begin, end - begin})
		}
		begin, known = end, seen
	}
	rt.now = nil
	if m.Done != nil && c.Phases != [NumPhases]gc.Opt[Interval]{} {
		m.Done(c)
	}
}
