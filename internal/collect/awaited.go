package collect

import (
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/trace"
)

// An awaited watches for the end of a trace: a collection or a request that meets the
// condition of the plan, or the stopping event.
type awaited struct {
	plan   *Plan
	notify func(Notice)
	cancel func()         // ends the trace
	met    func(*Trigger) // is called when it has come

	requests    request.Follower
	stopping    map[*trace.Descriptor]bool // kinds of the stopping event
	trigger     *Trigger                   // nil until it came
	unreachable bool                       // the stopping event cannot come
	ends        atomic.Int64               // when the trace does, after the trigger; 0 before, as Unix time in nanoseconds

	collections atomic.Int64
	longest     atomic.Int64 // pause, in nanoseconds
}

// wants reports whether events of a kind are needed.
func (a *awaited) wants(d *trace.Descriptor) bool {
	if a.plan.Event != nil && a.plan.Event.wants(d) {
		if a.stopping == nil {
			a.stopping = make(map[*trace.Descriptor]bool)
		}
		a.stopping[d] = true
		return true
	}
	return gc.Wants(d) || a.plan.awaitsRequests() && request.Wants(d)
}

// models returns the models that read the trace for it.
func (a *awaited) models() []pass.Model {
	models := []pass.Model{pass.Raw(nil, a.see)}
	if !a.plan.awaitsRequests() {
		return models
	}
	a.requests.Ended = a.served
	return append(models, a.requests.Models()...)
}

// served checks whether a request that has ended is the awaited one.
func (a *awaited) served(pid uint64, s *request.Span) {
	if a.trigger == nil && a.plan.Until.HoldsFor(s) {
		of := *s
		a.triggered(&Trigger{From: s.Start, To: s.Start + s.Duration.Or(0), Request: &of, PID: pid})
	}
}

// finished counts a collection, and checks whether it is the awaited one.
func (a *awaited) finished(c *gc.Collection) {
	a.collections.Add(1)
	a.longest.Store(max(a.longest.Load(), int64(c.Pause().Or(0))))
	if a.trigger == nil && a.plan.Until != nil && a.plan.Until.Holds(c) {
		a.triggered(met(c))
	}
}

// see checks whether an event is the awaited one, or so much later that the trace can
// end.
func (a *awaited) see(ev *trace.Event) {
	if a.trigger != nil {
		if ev.Time() >= a.trigger.To+a.plan.After {
			a.cancel()
		}
		return
	}
	if a.unreachable || !a.stopping[ev.Desc] {
		return
	}
	is, err := a.plan.Event.Filter.matches(ev)
	switch {
	case err != nil:
		a.unreachable = true
		a.notify(Unmatchable{a.plan.Event, err})
	case is:
		a.triggered(&Trigger{From: ev.Time(), To: ev.Time(), Event: a.plan.Event, PID: ev.PID})
	}
}

// triggered ends the trace some time after its trigger: when an event is that much
// later or, if the process raises no more events, by the clock.
func (a *awaited) triggered(t *Trigger) {
	a.trigger = t
	a.met(t)
	a.ends.Store(time.Now().Add(a.plan.After).UnixNano())
	if a.plan.After == 0 {
		a.cancel()
		return
	}
	time.AfterFunc(a.plan.After, a.cancel)
}

// status returns the progress of the trace of a process, of so many bytes.
func (a *awaited) status(of *diag.Process, bytes int64) CaptureStatus {
	s := CaptureStatus{
		Process: of, Plan: a.plan, Bytes: bytes, Collections: a.collections.Load(), Longest: time.Duration(a.longest.Load()),
	}
	if ends := a.ends.Load(); ends > 0 {
		s.Ends = time.Unix(0, ends)
	}
	return s
}
