package gc

import (
	"time"

	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// MaxProcesses is how many processes a Model distinguishes: see there.
const MaxProcesses = pass.MaxProcesses

// The bounds on a Model's memory, whatever a trace holds. Excess counts as lost when the
// trace ends; only a damaged or made-up trace has any.
const (
	maxOpen         = 4096    // collections that are not finished, of all runtimes
	maxSuspensions  = 256     // of a runtime, that have not restarted; and as many that are restarting
	maxSuspended    = 16384   // suspensions of all runtimes
	maxInSuspension = 256     // collections that begin in one suspension
	maxAllocWaits   = 4096    // threads that wait to allocate, of all runtimes
	maxMeasured     = 64      // restarts, and sizes, that later collections may need
	maxMarks        = 10240   // of a collection: ten kinds of roots on each heap
	maxOpenMarks    = 1 << 18 // of all collections that are not finished
	maxSorts        = 64      // sorts of suspensions that belong to no collection, of a process
	maxText         = 8 << 20 // bytes of names and command lines
	lookBack        = 64      // collections that a history without a number may be of
)

// maxHeld bounds the finished collections that a Model holds back, by their weights of about
// 1.3 KB: 21 MB. A collection is two of them, each heap's part one, and so are markWeight marks
// and suspensions.
const (
	maxHeld          = 16384
	collectionWeight = 2
	markWeight       = 16
)

// batch is how many finished collections are gathered before a Model that is not live
// looks for ones that it can emit.
const batch = 64

// room counts the use of the memory that all runtimes share.
type room struct {
	open, suspended, allocWaits, marks, text int
}

// drop notes that information from an event is ignored or forgotten.
func (m *Model) drop(at time.Duration) { m.dropped.Add(1, at, at) }

// missing records that events between two times are not in the trace, according to
// others.
func (m *Model) missing(from, to time.Duration) { m.dropped.Add(0, from, to) }

// An expected event is implied by others. It is missing if it is not in the
// trace, provided that the session raises its kind: LTTng enables events by
// name.
type expected struct {
	raised bool             // one was seen
	early  Opt[trace.Range] // where the first was missing, before one was seen
}

// missing notes that an event that should have come between from and now did not.
func (x *expected) missing(m *Model, from time.Duration) {
	switch now := m.now; {
	case x.raised:
		m.missing(from, now)
	case !x.early.Known():
		x.early = Some(trace.Range{From: from, To: now})
	}
}

// seen notes an event of the kind.
func (x *expected) seen(m *Model) {
	if early, ok := x.early.Get(); ok {
		m.missing(early.From, early.To)
	}
	x.raised, x.early = true, Opt[trace.Range]{}
}

// tracer returns what recorded the trace, TracerUnknown if no trace is read.
func (m *Model) tracer() trace.Tracer {
	if m.info == nil {
		return trace.TracerUnknown
	}
	return trace.TracerOf(m.info.Format)
}

// oneRuntime reports whether a process has one runtime in traces of this format: a
// .NET Framework process, which only ETW traces, may have two.
func (m *Model) oneRuntime() bool {
	return m.tracer() == trace.EventPipe || m.tracer() == trace.LTTng
}

// reserveText reserves room for a text of n bytes about a process, and reports whether
// there is any.
func (m *Model) reserveText(e *event, n int) bool {
	more := max(0, n-e.process.text)
	if m.room.text+more > maxText {
		m.drop(e.Time)
		return false
	}
	m.room.text += more
	e.process.text += more
	return true
}

// runtime finds the state of the runtime that an event is from. It returns nil
// if there is no room for one more.
func (m *Model) runtime(e *event, instance uint16) *runtime {
	another := len(e.process.runtimes)
	rt := m.runtimeOf(e.Runtime(instance), e.process, instance)
	if rt != nil && another > 0 && len(e.process.runtimes) > another && times(e.Kind) && m.oneRuntime() {
		m.missing(e.Time, e.Time)
	}
	return rt
}

// raisedBy returns the runtime that raised an event, and nil if the event does not count.
func (m *Model) raisedBy(e *event, instance uint16, counts bool) *runtime {
	if !counts {
		return nil
	}
	return m.runtime(e, instance)
}

// runtimeOf returns the state of a runtime of a process, and nil if of is.
func (m *Model) runtimeOf(of *pass.Runtime, p *Process, instance uint16) *runtime {
	if of == nil {
		m.drop(m.now)
		return nil
	}
	rt, isNew := m.byRuntime.At(of.Index)
	if !isNew {
		return rt
	}
	rt.init(p, instance, m)
	p.runtimes = append(p.runtimes, rt)
	m.runtimes = append(m.runtimes, rt)
	return rt
}
