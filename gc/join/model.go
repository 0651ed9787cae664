package join

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
)

// The bounds of one pause. A pause that exceeds them is left out.
const (
	maxHeaps  = 1024
	maxEvents = 1 << 16
	// maxThreads bounds the threads whose last event is known, and the ones retained for
	// their memory.
	maxThreads = 4 * maxHeaps
)

// A Model rebuilds joins. The zero Model is ready for use, for one trace, by one
// goroutine.
type Model struct {
	// Done is called with each collection whose pauses are over. The collection is valid
	// during the call.
	Done func(*Collection)

	runtimes pass.Table[runtime]
	replay   replay
	spare    *window // that is over
}

// A runtime is the state of one.
type runtime struct {
	pid        uint64
	instance   uint16
	background optNumber      // the background collection under way
	final      bool           // its final pause has begun
	held       *Collection    // the known part of it
	windows    []*window      // suspensions that have not restarted, in order of their begin
	threads    map[uint64]*at // the latest action of each thread of a heap
}

// An optNumber is the number of a collection, if there is one.
type optNumber struct {
	Number uint32
	Known  bool
}

// at is where a thread is.
type at struct {
	heap uint32
	open bool // between the start and the end of a join
	last bool // it came last, and has not woken the others yet
	join clr.JoinStage
}

// A window is a suspension with its events.
type window struct {
	tid     uint64 // of the thread that suspends
	from    time.Duration
	all     time.Duration // SuspendEEEnd
	events  []event
	spans   []span // collections that are not the background one
	before  map[uint64]at
	owner   optNumber
	tooMany bool
}

// A span is a blocking collection's part of a window.
type span struct {
	number   uint32
	from, to time.Duration // to is 0 while it is open
}

// An event is a join event.
type event struct {
	at    time.Duration
	tid   uint64
	heap  uint32
	begin bool // JoinTime
	typ   clr.JoinType
	stage clr.JoinStage
}

// Kinds returns the kinds of events that a Model reads.
func (*Model) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindGCJoin, clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCStart, clr.KindGCEnd}
}

// Event processes one event.
func (m *Model) Event(e *pass.Event) {
	if e.Kind == clr.KindGCSuspendEEEnd {
		m.suspended(e)
		return
	}
	decoded, whole := e.Decoded()
	if !whole {
		return
	}
	switch v := decoded.(type) {
	case *clr.GCJoin:
		m.of(e, v.ClrInstanceID, func(rt *runtime) { rt.join(e, v) })
	case *clr.GCSuspendEEBegin:
		m.of(e, v.ClrInstanceID, func(rt *runtime) { m.suspend(rt, e, v) })
	case *clr.GCRestartEEBegin:
		m.of(e, v.ClrInstanceID, func(rt *runtime) { m.restart(rt, e) })
	case *clr.GCStart:
		m.of(e, v.ClrInstanceID, func(rt *runtime) { rt.started(e.Time, v) })
	case *clr.GCEnd:
		m.of(e, v.ClrInstanceID, func(rt *runtime) { rt.ended(e.Time, v.Count) })
	}
}

// of passes an event's runtime to a function, unless there is no room for one more.
func (m *Model) of(e *pass.Event, instance uint16, do func(*runtime)) {
	of := e.Runtime(instance)
	if of == nil {
		return
	}
	rt, isNew := m.runtimes.At(of.Index)
	if isNew {
		*rt = runtime{pid: e.PID, instance: instance, threads: make(map[uint64]*at)}
	}
	do(rt)
}

// active returns the most recently begun suspension that has not restarted.
func (rt *runtime) active() *window {
	if n := len(rt.windows); n > 0 {
		return rt.windows[n-1]
	}
	return nil
}

const maxWindows = 64

func (m *Model) suspend(rt *runtime, e *pass.Event, v *clr.GCSuspendEEBegin) {
	if v.Reason != clr.SuspendReasonSuspendForGC && v.Reason != clr.SuspendReasonSuspendForGCPrep || len(rt.windows) == maxWindows {
		return
	}
	w := m.newWindow()
	w.tid, w.from, w.all = e.TID, e.Time, e.Time
	for tid, a := range rt.threads {
		w.before[tid] = *a
	}
	if v.Reason == clr.SuspendReasonSuspendForGCPrep && rt.background.Known && !rt.final {
		w.owner, rt.final = rt.background, true
	}
	rt.windows = append(rt.windows, w)
}

// newWindow returns a window without events.
func (m *Model) newWindow() *window {
	w := m.spare
	if w == nil {
		return &window{before: make(map[uint64]at)}
	}
	m.spare = nil
	clear(w.before)
	*w = window{events: w.events[:0], spans: w.spans[:0], before: w.before}
	return w
}

// suspended notes that all threads of the program are suspended. If the event has no
// instance, the thread identifies it.
func (m *Model) suspended(e *pass.Event) {
	for _, of := range e.Process.Runtimes {
		rt := m.runtimes.Get(of.Index)
		if rt == nil {
			continue
		}
		if w := rt.active(); w != nil && w.tid == e.TID {
			w.all = e.Time
		}
	}
}

func (rt *runtime) started(now time.Duration, v *clr.GCStart) {
	number := optNumber{v.Count, true}
	w := rt.active()
	if v.Type == clr.GCTypeBackgroundGC {
		rt.background, rt.final = number, false
		if w != nil && !w.owner.Known {
			w.owner = number
		}
		return
	}
	if w == nil || len(w.spans) > 0 && w.spans[len(w.spans)-1].number == v.Count {
		return
	}
	if len(w.spans) < maxWindows {
		w.spans = append(w.spans, span{number: v.Count, from: now})
	}
}

func (rt *runtime) ended(now time.Duration, number uint32) {
	if rt.background == (optNumber{number, true}) {
		rt.background = optNumber{}
	}
	if w := rt.active(); w != nil {
		for i := range w.spans {
			if w.spans[i].number == number {
				w.spans[i].to = now
			}
		}
	}
}

func (rt *runtime) join(of *pass.Event, v *clr.GCJoin) {
	e := event{
		at: of.Time, tid: of.TID, heap: uint32(v.Heap), begin: v.JoinTime == clr.JoinTimeStart,
		typ: v.JoinType, stage: v.JoinID,
	}
	if e.typ != clr.JoinTypeRestart && e.heap >= maxHeaps {
		return
	}
	for _, w := range rt.windows {
		if len(w.events) < maxEvents {
			w.events = append(w.events, e)
		} else {
			w.tooMany = true
		}
	}
	a := rt.threads[e.tid]
	if a == nil {
		if len(rt.threads) == maxThreads {
			return
		}
		a = new(at)
		rt.threads[e.tid] = a
	}
	*a = a.after(&e)
}

// after returns where a thread is after an event.
func (a at) after(e *event) at {
	if e.typ == clr.JoinTypeRestart {
		a.last = a.last && e.begin
		return a
	}
	arrives := e.typ == clr.JoinTypeLastJoin || e.typ == clr.JoinTypeFirstReverseJoin
	return at{heap: e.heap, open: e.begin && !arrives, last: e.begin && arrives, join: e.stage}
}

// restart ends the suspension of the thread that restarts, or the latest one.
func (m *Model) restart(rt *runtime, e *pass.Event) {
	if len(rt.windows) == 0 {
		return
	}
	i := len(rt.windows) - 1
	for j, w := range rt.windows {
		if w.tid == e.TID {
			i = j
		}
	}
	w := rt.windows[i]
	rt.windows = slices.Delete(rt.windows, i, i+1)
	for _, c := range w.collections(&m.replay, rt, e) {
		m.finish(rt, c)
	}
	m.spare = w
	if rt.held != nil && !rt.background.Known {
		m.done(rt.held)
		rt.held = nil
	}
}

// finish processes the part of a collection that a window holds. A background
// collection has another one to come.
func (m *Model) finish(rt *runtime, c *Collection) {
	if rt.held != nil && rt.held.Number == c.Number {
		rt.held.merge(c)
		m.replay.over = c
		return
	}
	if rt.background != (optNumber{c.Number, true}) {
		m.done(c)
		return
	}
	if rt.held != nil {
		m.done(rt.held)
	}
	rt.held = c
}

func (m *Model) done(c *Collection) {
	if m.Done != nil {
		m.Done(c)
	}
	m.replay.over = c
}

// End emits the remaining collections at the end of the trace.
func (m *Model) End() {
	for rt := range m.runtimes.All() {
		if rt.held != nil {
			m.done(rt.held)
			rt.held = nil
		}
	}
}
