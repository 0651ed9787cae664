// Package background tracks the phases of background collections, which the
// runtime's private provider reports: marking with the program's threads
// suspended, marking while they run, marking what has changed with the threads
// suspended again, and sweeping while they run.
//
// A Model takes a trace's events, and emits each background collection when it
// has ended. With server GC, each heap's thread raises the events; a phase ends
// when the last thread ends it.
//
// See background_mark_phase and background_sweep in the runtime's gc.cpp.
package background

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/enum"
	"github.com/gctrail/gctrail/trace"
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

func (p Phase) String() string { return enum.Name("Phase", phaseNames[:], p) }

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

	kinds   map[*trace.Descriptor]clr.Kind
	desc    *trace.Descriptor // of the last event
	kind    clr.Kind          // and its kind
	byID    map[runtimeID]*runtime
	decoded struct {
		start    clr.GCStart
		end      clr.GCEnd
		phase    clr.BGCBegin
		drain    clr.BGCDrainMark
		revisit  clr.BGCRevisit
		overflow clr.BGCOverflow
		wait     clr.BGCAllocWaitBegin
	}
}

// A runtimeID is a runtime of a process.
type runtimeID struct {
	pid      uint64
	instance uint16
}

// The bounds of a Model: threads that wait or look again in a collection, and
// runtimes.
const (
	maxWaits    = 4096
	maxRuntimes = 2048
)

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

// wanted are the kinds that a Model reads.
var wanted = map[clr.Kind]bool{
	clr.KindGCStart: true, clr.KindGCEnd: true,
	clr.KindBGC1stNonConEnd: true, clr.KindBGC1stConEnd: true, clr.KindBGC2ndNonConBegin: true, clr.KindBGC2ndNonConEnd: true,
	clr.KindBGC2ndConBegin: true, clr.KindBGC2ndConEnd: true,
	clr.KindBGCDrainMark: true, clr.KindBGCRevisit: true, clr.KindBGCOverflow: true,
	clr.KindBGCAllocWaitBegin: true, clr.KindBGCAllocWaitEnd: true,
}

// Wants reports whether a Model reads events of a kind.
func Wants(d *trace.Descriptor) bool { return wanted[clr.KindOf(d.Provider, d.ID)] }

// Feed processes one event. Events must come in time order.
func (m *Model) Feed(ev *trace.Event) {
	if ev.Desc != m.desc {
		m.desc, m.kind = ev.Desc, m.kindOf(ev.Desc)
	}
	if ev.Late {
		return
	}
	d, v, b, size := &m.decoded, ev.Desc.Version, ev.Payload, ev.PointerSize
	switch m.kind {
	case clr.KindUnknown:
	case clr.KindGCStart:
		if d.start.Decode(v, b, size) == nil {
			m.started(ev, &d.start)
		}
	case clr.KindGCEnd:
		if d.end.Decode(v, b, size) == nil {
			m.ended(ev, &d.end)
		}
	case clr.KindBGCDrainMark:
		if c := m.current(ev, d.drain.Decode(v, b, size), d.drain.ClrInstanceID); c != nil {
			c.now.Drained += count(d.drain.Objects)
		}
	case clr.KindBGCRevisit:
		if c := m.current(ev, d.revisit.Decode(v, b, size), d.revisit.ClrInstanceID); c != nil {
			c.revisited(ev.TID, &d.revisit)
		}
	case clr.KindBGCOverflow:
		if c := m.current(ev, d.overflow.Decode(v, b, size), d.overflow.ClrInstanceID); c != nil {
			if n := count(d.overflow.Objects); n > 0 {
				c.now.Overflows++
				c.now.Overflown += n
			}
		}
	case clr.KindBGCAllocWaitBegin:
		if c := m.current(ev, d.wait.Decode(v, b, size), d.wait.ClrInstanceID); c != nil && len(c.waits) < maxWaits {
			c.waits[ev.TID] = ev.Time()
		}
	case clr.KindBGCAllocWaitEnd:
		if c := m.current(ev, d.wait.Decode(v, b, size), d.wait.ClrInstanceID); c != nil {
			if at, ok := c.waits[ev.TID]; ok {
				delete(c.waits, ev.TID)
				c.now.Waits++
				c.now.Waiting += ev.Time() - at
			}
		}
	default:
		if c := m.current(ev, d.phase.Decode(v, b, size), d.phase.ClrInstanceID); c != nil {
			c.phase(m.kind, ev.Time())
		}
	}
}

func (m *Model) kindOf(d *trace.Descriptor) clr.Kind {
	k, known := m.kinds[d]
	if !known {
		if k = clr.KindOf(d.Provider, d.ID); !wanted[k] {
			k = clr.KindUnknown
		}
		if m.kinds == nil {
			m.kinds = make(map[*trace.Descriptor]clr.Kind)
			m.byID = make(map[runtimeID]*runtime)
		}
		m.kinds[d] = k
	}
	return k
}

// count returns a number of an event, unknown if it must be damaged.
func count(n uint64) int64 {
	if n >= 1<<50 {
		return 0
	}
	return int64(n)
}

// current returns the runtime of an event, if a background collection is under
// way in it and the event could be decoded.
func (m *Model) current(ev *trace.Event, err error, instance uint16) *runtime {
	rt := m.byID[runtimeID{ev.PID, instance}]
	if err != nil || rt == nil || rt.now == nil {
		return nil
	}
	return rt
}

func (m *Model) started(ev *trace.Event, v *clr.GCStart) {
	id := runtimeID{ev.PID, v.ClrInstanceID}
	rt := m.byID[id]
	if v.Type != clr.GCTypeBackgroundGC {
		if rt != nil && rt.now != nil && v.Type == clr.GCTypeForegroundGC {
			rt.now.Foreground++
		}
		return
	}
	if rt == nil {
		if len(m.byID) == maxRuntimes {
			return
		}
		rt = new(runtime)
		m.byID[id] = rt
	}
	if rt.now != nil && rt.now.Number == v.Count {
		return // .NET Framework 4.5.2 raises two
	}
	*rt = runtime{
		begin: ev.Time(),
		now:   &Collection{PID: ev.PID, Instance: v.ClrInstanceID, Number: v.Count, Start: ev.Time()},
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
func (m *Model) ended(ev *trace.Event, v *clr.GCEnd) {
	rt := m.current(ev, nil, v.ClrInstanceID)
	if rt == nil {
		return
	}
	if rt.now.Number != v.Count {
		if !rt.seen[InitialMark] {
			rt.begin = ev.Time() // one of gen 0 or gen 1 went before it in the same pause
		}
		return
	}
	c := rt.now
	c.End = ev.Time()
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
