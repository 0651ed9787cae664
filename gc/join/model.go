package join

import (
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of one pause. A pause that exceeds them is left out.
const (
	maxHeaps  = 1024
	maxEvents = 1 << 16
	// maxThreads bounds the threads whose last event is known, and the ones retained for
	// their memory.
	maxThreads = 4 * maxHeaps
)

// maxRuntimes bounds the runtimes of all processes. Of others, nothing is known.
const maxRuntimes = 2048

// A Model rebuilds joins. The zero Model is ready for use, for one trace, by one
// goroutine.
type Model struct {
	// Done is called with each collection whose pauses are over. It may retain
	// the collection.
	Done func(*Collection)

	kinds   map[*trace.Descriptor]clr.Kind
	desc    *trace.Descriptor // of the last event
	kind    clr.Kind          // and its kind
	byID    map[runtimeID]*runtime
	replay  replay
	spare   *window // that is over
	decoded struct {
		join    clr.GCJoin
		suspend clr.GCSuspendEEBegin
		restart clr.GCRestartEEBegin
		start   clr.GCStart
		end     clr.GCEnd
	}
}

// A runtimeID is a runtime of a process.
type runtimeID struct {
	pid      uint64
	instance uint16
}

// A runtime is the state of one.
type runtime struct {
	pid        uint64
	instance   uint16
	background optNumber     // the background collection under way
	final      bool          // its final pause has begun
	held       *Collection   // the known part of it
	windows    []*window     // suspensions that have not restarted, in order of their begin
	threads    map[uint64]at // the latest action of each thread of a heap
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

// Wants reports whether a Model reads events of a kind.
func Wants(d *trace.Descriptor) bool {
	switch clr.KindOf(d.Provider, d.ID) {
	case clr.KindGCJoin, clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCStart, clr.KindGCEnd:
		return true
	}
	return false
}

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
	case clr.KindGCJoin:
		if d.join.Decode(v, b, size) == nil {
			m.runtime(ev.PID, d.join.ClrInstanceID).join(ev, &d.join)
		}
	case clr.KindGCSuspendEEBegin:
		if d.suspend.Decode(v, b, size) == nil {
			m.suspend(m.runtime(ev.PID, d.suspend.ClrInstanceID), ev, &d.suspend)
		}
	case clr.KindGCSuspendEEEnd:
		m.suspended(ev)
	case clr.KindGCRestartEEBegin:
		if d.restart.Decode(v, b, size) == nil {
			m.restart(m.runtime(ev.PID, d.restart.ClrInstanceID), ev)
		}
	case clr.KindGCStart:
		if d.start.Decode(v, b, size) == nil {
			m.runtime(ev.PID, d.start.ClrInstanceID).started(ev.Time(), &d.start)
		}
	case clr.KindGCEnd:
		if d.end.Decode(v, b, size) == nil {
			m.runtime(ev.PID, d.end.ClrInstanceID).ended(ev.Time(), d.end.Count)
		}
	}
}

func (m *Model) kindOf(d *trace.Descriptor) clr.Kind {
	k, known := m.kinds[d]
	if !known {
		k = clr.KindOf(d.Provider, d.ID)
		if m.kinds == nil {
			m.kinds = make(map[*trace.Descriptor]clr.Kind)
			m.byID = make(map[runtimeID]*runtime)
		}
		m.kinds[d] = k
	}
	return k
}

func (m *Model) runtime(pid uint64, instance uint16) *runtime {
	id := runtimeID{pid, instance}
	rt := m.byID[id]
	if rt == nil {
		rt = &runtime{pid: pid, instance: instance, threads: make(map[uint64]at)}
		if len(m.byID) < maxRuntimes {
			m.byID[id] = rt
		}
	}
	return rt
}

// active returns the most recently begun suspension that has not restarted.
func (rt *runtime) active() *window {
	if n := len(rt.windows); n > 0 {
		return rt.windows[n-1]
	}
	return nil
}

const maxWindows = 64

func (m *Model) suspend(rt *runtime, ev *trace.Event, v *clr.GCSuspendEEBegin) {
	if v.Reason != clr.SuspendReasonSuspendForGC && v.Reason != clr.SuspendReasonSuspendForGCPrep || len(rt.windows) == maxWindows {
		return
	}
	w := m.newWindow()
	w.tid, w.from, w.all = ev.TID, ev.Time(), ev.Time()
	maps.Copy(w.before, rt.threads)
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
func (m *Model) suspended(ev *trace.Event) {
	for id, rt := range m.byID {
		if w := rt.active(); id.pid == ev.PID && w != nil && w.tid == ev.TID {
			w.all = ev.Time()
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

func (rt *runtime) join(ev *trace.Event, v *clr.GCJoin) {
	e := event{
		at: ev.Time(), tid: ev.TID, heap: uint32(v.Heap), begin: v.JoinTime == clr.JoinTimeStart,
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
	if len(rt.threads) < maxThreads || rt.threads[e.tid] != (at{}) {
		rt.threads[e.tid] = rt.threads[e.tid].after(&e)
	}
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
func (m *Model) restart(rt *runtime, ev *trace.Event) {
	if len(rt.windows) == 0 {
		return
	}
	i := len(rt.windows) - 1
	for j, w := range rt.windows {
		if w.tid == ev.TID {
			i = j
		}
	}
	w := rt.windows[i]
	rt.windows = slices.Delete(rt.windows, i, i+1)
	for _, c := range w.collections(&m.replay, rt, ev) {
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
}

// Close emits the remaining collections at the end of the trace.
func (m *Model) Close() {
	for _, rt := range m.byID {
		if rt.held != nil {
			m.done(rt.held)
			rt.held = nil
		}
	}
}
