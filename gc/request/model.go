package request

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// DefaultMaxSpans is how many spans a Model keeps.
const DefaultMaxSpans = 1 << 22

// The bounds of a Model, for a whole trace.
const (
	maxOpen      = 1 << 20
	maxIntervals = 1 << 20 // suspensions, and pauses of collections
	maxNames     = 1 << 16
	maxNameBytes = 16 << 20
	maxPending   = 1 << 10 // threads of a process that are about to suspend others
	maxProcesses = pass.MaxProcesses
)

// A Model collects the spans of a trace, and the times in which threads were suspended. The
// zero Model is ready for use, for one trace, by one goroutine.
type Model struct {
	// MaxSpans bounds the spans that are kept, of 80 bytes each; 0 for DefaultMaxSpans.
	MaxSpans int

	processes map[uint64]*process // with spans or suspensions
	order     []*process
	open      map[spanKey]spanAt
	spans     int // of all processes
	intervals int
	names     names
	decoded   activity
	text      clr.UTF16
	leftOut   int
	last      time.Duration // of an event
}

// A process is the state of one.
type process struct {
	pid         uint64
	spans       []span // by start
	suspensions []interval
	pauses      []interval // of collections
	pending     []suspending
	stalls      []interval // in which the thread pool's queue did not move
	startless   int
}

// A spanKey identifies a span that has not ended.
type spanKey struct {
	pid   uint64
	trace TraceID
	span  SpanID
}

// A spanAt is where a span is kept.
type spanAt struct {
	of    *process
	index int
}

// A span is the kept form of a Span, which takes 80 bytes.
type span struct {
	trace         TraceID
	id, parent    SpanID
	start, end    time.Duration
	source, name  uint32 // of names
	route, kind   uint32
	nested, ended bool
}

// An interval is a time in which threads were suspended, or the thread pool's queue did not move.
type interval struct {
	begin, end time.Duration
	forGC      bool
	number     uint32 // of the collection, of a pause
}

// A suspending thread has begun to suspend the others.
type suspending struct {
	tid   uint64
	begin time.Duration
	forGC bool
}

// Models returns the models that read the trace for m.
func (m *Model) Models() []pass.Model {
	return []pass.Model{pass.Raw(Wants, m.feed), pass.Raw(WantsPool, m.pool), (*suspensions)(m)}
}

// Collected takes in a collection, for the numbers of the collections that paused a span.
func (m *Model) Collected(c *gc.Collection) {
	p := m.process(c.Process.PID)
	for i := range c.Pauses {
		if p == nil || m.intervals == maxIntervals {
			m.leftOut++
			return
		}
		m.intervals++
		p.pauses = append(p.pauses, interval{begin: c.Pauses[i].Start, end: c.Pauses[i].End(), number: c.Number})
	}
}

// process returns the state of a process, nil if there is no room for one more.
func (m *Model) process(pid uint64) *process {
	p := m.processes[pid]
	if p == nil && len(m.processes) < maxProcesses {
		if m.processes == nil {
			m.processes = make(map[uint64]*process)
		}
		p = &process{pid: pid}
		m.processes[pid] = p
		m.order = append(m.order, p)
	}
	return p
}

// feed processes an event of an activity.
func (m *Model) feed(ev *trace.Event) {
	a := &m.decoded
	if !a.decode(ev) {
		return
	}
	p := m.process(ev.PID)
	if p == nil {
		m.leftOut++
		return
	}
	key := a.key(ev.PID)
	at, open := m.open[key]
	m.last = max(m.last, ev.Time())
	switch {
	case open:
		s := &at.of.spans[at.index]
		m.call(s)
		if a.step == stop {
			s.end, s.ended = max(s.start, ev.Time()), true
			delete(m.open, key)
		} // a second start is another listener's
	case a.step == start:
		m.started(p, key, ev.Time())
	default:
		p.startless++
	}
}

// call sets the route of a span if the event that was decoded has it.
func (m *Model) call(s *span) {
	m.text = m.decoded.route(m.text[:0])
	if route := m.names.of(m.text); route != 0 {
		s.route = route
	}
}

// started adds a span.
func (m *Model) started(p *process, key spanKey, at time.Duration) {
	if m.spans == cmp.Or(m.MaxSpans, DefaultMaxSpans) || len(m.open) == maxOpen {
		m.leftOut++
		return
	}
	m.spans++
	a := &m.decoded
	_, nested := m.open[spanKey{key.pid, key.trace, a.parent}]
	if m.open == nil {
		m.open = make(map[spanKey]spanAt)
	}
	m.open[key] = spanAt{p, len(p.spans)}
	s := span{
		trace: a.trace, id: a.span, parent: a.parent, start: at,
		source: m.names.of(a.source), name: m.names.of(a.name), kind: m.names.of(a.kind), nested: nested,
	}
	m.call(&s)
	p.spans = append(p.spans, s)
}

// suspensions are the model of the times in which threads are suspended.
type suspensions Model

func (*suspensions) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindGCSuspendEEBegin, clr.KindGCRestartEEBegin}
}

func (m *suspensions) Event(e *pass.Event) {
	p := (*Model)(m).process(e.PID)
	if p == nil {
		return
	}
	m.last = max(m.last, e.Time)
	if e.Kind == clr.KindGCRestartEEBegin {
		(*Model)(m).restarted(p, e)
		return
	}
	p.pending = suspends(p.pending, e)
}

// suspends adds the thread of an event, which has begun to suspend the others.
func suspends(pending []suspending, e *pass.Event) []suspending {
	v, _ := pass.Decode[clr.GCSuspendEEBegin](e)
	forGC := v.Reason == clr.SuspendReasonSuspendForGC || v.Reason == clr.SuspendReasonSuspendForGCPrep
	begun := suspending{e.TID, e.Time, forGC}
	if i := pendingOf(pending, e.TID); i >= 0 {
		pending[i] = begun // the end of the earlier one was lost
	} else if len(pending) < maxPending {
		pending = append(pending, begun)
	}
	return pending
}

// restarts removes the thread of an event, which has let the others continue. It is not known if
// it began to suspend them before the trace.
func restarts(pending *[]suspending, e *pass.Event) (s suspending, known bool) {
	i := pendingOf(*pending, e.TID)
	if i < 0 {
		return s, false
	}
	s = (*pending)[i]
	*pending = slices.Delete(*pending, i, i+1)
	return s, true
}

// pendingOf returns the index of a thread, negative if it is not there.
func pendingOf(pending []suspending, tid uint64) int {
	return slices.IndexFunc(pending, func(s suspending) bool { return s.tid == tid })
}

// restarted ends a suspension. Another thread may have begun one meanwhile, for which it had to
// wait (ThreadSuspend::SuspendEE in the runtime's threadsuspend.cpp).
func (m *Model) restarted(p *process, e *pass.Event) {
	s, known := restarts(&p.pending, e)
	if !known {
		return
	}
	if n := len(p.suspensions); n > 0 {
		s.begin = max(s.begin, p.suspensions[n-1].end)
	}
	m.keep(&p.suspensions, interval{begin: s.begin, end: max(s.begin, e.Time), forGC: s.forGC})
}

// keep adds an interval, if there is room.
func (m *Model) keep(to *[]interval, i interval) {
	if m.intervals == maxIntervals {
		m.leftOut++
		return
	}
	m.intervals++
	*to = append(*to, i)
}

// names numbers texts, from 1 on; 0 is none.
type names struct {
	byText map[string]uint32
	texts  []string
	bytes  int
}

func (n *names) of(text clr.UTF16) uint32 {
	if len(text) == 0 {
		return 0
	}
	if number, known := n.byText[string(text)]; known {
		return number
	}
	if len(n.texts) == maxNames || n.bytes+len(text) > maxNameBytes {
		return 0
	}
	if n.byText == nil {
		n.byText = make(map[string]uint32)
	}
	n.bytes += len(text)
	n.texts = append(n.texts, text.String())
	n.byText[string(text)] = uint32(len(n.texts))
	return uint32(len(n.texts))
}

func (n *names) text(number uint32) string {
	if number == 0 {
		return ""
	}
	return n.texts[number-1]
}
