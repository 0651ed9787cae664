package request

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// A Follower reports requests as they end, for traces that are read while they are recorded: it
// keeps only the spans that are open, 65,536 at most. The zero Follower is ready for use, for
// one trace, by one goroutine.
type Follower struct {
	// Ended is called with each request that ends, and that began in the trace. The span is valid
	// during the call; it has no GCs, and Complete is false, because events that were lost may be
	// noticed later.
	Ended func(pid uint64, s *Span)
	// Paused, if set, is called at the end of a suspension for a collection, with the longest of
	// the open spans that it paused, of 64 at most. The span is valid during the call.
	Paused func(pid uint64, from, to time.Duration, s *Span)

	processes map[uint64]*clock
	open      map[spanKey]*followed
	names     names
	decoded   activity
	text      clr.UTF16
}

// The bounds of a Follower.
const (
	maxFollowed = 1 << 16
	maxCompared = 64 // of the open spans
)

// A clock adds up how long the threads of a process have been suspended.
type clock struct {
	paused, suspended time.Duration // for collections, and otherwise
	last              time.Duration // when the latest suspension ended
	pending           []suspending
	serves            bool
	traced            bool // it has spans of requests from others that are not HostingProvider's
}

// A followed span is open.
type followed struct {
	Span
	paused, suspended time.Duration // of the clock at its start
}

// Models returns the models that read the trace for f.
func (f *Follower) Models() []pass.Model {
	return []pass.Model{pass.Raw(Wants, f.feed), (*followedSuspensions)(f)}
}

func (f *Follower) process(pid uint64) *clock {
	p := f.processes[pid]
	if p == nil && len(f.processes) < maxProcesses {
		if f.processes == nil {
			f.processes, f.open = make(map[uint64]*clock), make(map[spanKey]*followed)
		}
		p = new(clock)
		f.processes[pid] = p
	}
	return p
}

// feed processes an event of an activity.
func (f *Follower) feed(ev *trace.Event) {
	a := &f.decoded
	if !a.decode(ev) {
		return
	}
	p := f.process(ev.PID)
	if p == nil {
		return
	}
	key := a.key(ev.PID)
	s := f.open[key]
	switch {
	case s != nil && a.step == stop:
		f.call(s)
		delete(f.open, key)
		f.ended(p, ev, s)
	case s != nil:
		f.call(s) // a second start is another listener's
	case a.step == start && len(f.open) < maxFollowed:
		f.started(p, key, ev.Time())
	}
}

// call sets the route of a span if the event that was decoded has it.
func (f *Follower) call(s *followed) {
	f.text = f.decoded.route(f.text[:0])
	if route := f.names.of(f.text); route != 0 {
		s.Route = f.names.text(route)
	}
}

func (f *Follower) started(p *clock, key spanKey, at time.Duration) {
	a := &f.decoded
	_, nested := f.open[spanKey{key.pid, key.trace, a.parent}]
	name := func(text clr.UTF16) string { return f.names.text(f.names.of(text)) }
	s := &followed{Span: Span{
		TraceID: a.trace, ID: a.span, Parent: a.parent, Start: at, Nested: nested,
		Source: name(a.source), Name: name(a.name), Kind: name(a.kind),
	}}
	p.serves = p.serves || serves(s.Kind)
	p.traced = p.traced || serves(s.Kind) && s.Source != HostingProvider
	s.paused, s.suspended = p.at(at)
	f.call(s)
	f.open[key] = s
}

func (f *Follower) ended(p *clock, ev *trace.Event, s *followed) {
	if s.Nested || p.serves && !serves(s.Kind) || p.traced && s.Source == HostingProvider || f.Ended == nil {
		return
	}
	took := max(0, ev.Time()-s.Start)
	s.Duration = gc.Some(took)
	paused, suspended := p.at(ev.Time())
	s.Paused, s.Suspended = min(took, max(0, paused-s.paused)), min(took, max(0, suspended-s.suspended))
	f.Ended(ev.PID, &s.Span)
}

// at returns how long threads had been suspended at a time that is not before that of the
// latest event, for collections and otherwise.
func (p *clock) at(t time.Duration) (paused, suspended time.Duration) {
	paused, suspended = p.paused, p.suspended
	if len(p.pending) > 0 {
		first := p.pending[0] // the others wait for its end
		under := max(0, t-max(first.begin, p.last))
		if first.forGC {
			paused += under
		} else {
			suspended += under
		}
	}
	return paused, suspended
}

// followedSuspensions are the model of the times in which threads are suspended.
type followedSuspensions Follower

func (*followedSuspensions) Kinds() []clr.Kind { return (*suspensions)(nil).Kinds() }

func (f *followedSuspensions) Event(e *pass.Event) {
	p := (*Follower)(f).process(e.PID)
	if p == nil {
		return
	}
	if e.Kind == clr.KindGCSuspendEEBegin {
		p.pending = suspends(p.pending, e)
		return
	}
	s, known := restarts(&p.pending, e)
	if !known {
		return
	}
	from := max(s.begin, p.last)
	p.last = max(from, e.Time)
	if !s.forGC {
		p.suspended += p.last - from
		return
	}
	p.paused += p.last - from
	if f.Paused != nil {
		(*Follower)(f).longest(e.PID, from, p.last)
	}
}

// longest reports the longest of the open spans that a suspension paused.
func (f *Follower) longest(pid uint64, from, to time.Duration) {
	var longest *followed
	compared := 0
	for key, s := range f.open {
		if compared == maxCompared {
			break
		}
		compared++
		if key.pid == pid && s.Start < to && (longest == nil || s.Start < longest.Start) {
			longest = s
		}
	}
	if longest != nil {
		f.Paused(pid, from, to, &longest.Span)
	}
}
