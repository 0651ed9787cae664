package pass

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// An Event is an event on its way to models.
type Event struct {
	*trace.Event
	Kind    clr.Kind
	Time    time.Duration // since the start of the trace
	Process *Process
	Version uint32 // of the payload; known once it is decoded

	pass    *Pass
	decoded clr.Kind // struct for the payload; KindUnknown for none
	whole   bool     // it has all fields of its version
}

// Decoded returns the payload, decoded into the struct of the event's kind, and whether
// it has all fields of its version; otherwise only the payload's fields are set.
func (e *Event) Decoded() (clr.Event, bool) { return e.into(e.Kind) }

// Decode returns the payload decoded into a T, and whether it has all fields of its version.
// T is the struct of the event's kind, or that of one which is laid out alike.
func Decode[T any, P interface {
	*T
	clr.Event
}](e *Event,
) (*T, bool) {
	v, whole := e.into(P(nil).EventKind())
	return (*T)(v.(P)), whole
}

// into decodes the payload into the struct of kind k, unless it is there already.
func (e *Event) into(k clr.Kind) (clr.Event, bool) {
	v := e.pass.bufs[k]
	if e.decoded == k {
		return v, e.whole
	}
	if v == nil {
		v = k.New()
		e.pass.bufs[k] = v
	}
	e.Version = clr.VersionOf(e.Kind, e.Desc.Version, e.Payload, e.PointerSize)
	e.decoded, e.whole = k, v.Decode(e.Version, e.Payload, e.PointerSize) == nil
	return v, e.whole
}

// The bounds of a Pass.
const (
	// MaxProcesses bounds the processes with events for a model that a Pass
	// distinguishes. Events of further ones are left out: see trace.Loss.
	MaxProcesses = 1024

	maxInstances = 16   // runtimes of a process
	maxRuntimes  = 2048 // of all processes
)

// A Process is a process of a trace.
type Process struct {
	PID      uint64 // trace.UnknownID if unknown
	Index    int    // less than MaxProcesses; for a Table
	Runtimes []*Runtime
}

// A Runtime is one of the .NET runtimes of a process. Only a .NET Framework process may have
// two.
type Runtime struct {
	Process  *Process
	Instance uint16 // the ClrInstanceID of its events
	Index    int    // among all processes, for a Table
}

// Process returns the process with a PID, and nil if there is no room for one more.
func (p *Pass) Process(pid uint64) *Process {
	of := p.byPID[pid]
	if of == nil && len(p.processes) < MaxProcesses {
		of = &Process{PID: pid, Index: len(p.processes)}
		p.processes = append(p.processes, of)
		p.byPID[pid] = of
	}
	return of
}

// Runtime returns the runtime that the event is of, by the ClrInstanceID in its payload, and
// nil if there is no room for one more.
func (e *Event) Runtime(instance uint16) *Runtime { return e.pass.runtime(e.Process, instance) }

func (p *Pass) runtime(of *Process, instance uint16) *Runtime {
	for _, rt := range of.Runtimes {
		if rt.Instance == instance {
			return rt
		}
	}
	if len(of.Runtimes) == maxInstances || p.runtimes == maxRuntimes {
		return nil
	}
	rt := &Runtime{of, instance, p.runtimes}
	of.Runtimes = append(of.Runtimes, rt)
	p.runtimes++
	return rt
}
