// Package trace defines the common model of all trace formats: an Event with its time,
// process, thread and payload, a Source of events in time order, the account of what was
// lost, and the errors of readers.
//
// It knows nothing of files or of what payloads mean.
package trace

import (
	"iter"
	"time"
)

// A Source yields the events of one trace.
type Source interface {
	// Events yields the events in time order; equal times of one thread keep their order.
	// The yielded event and everything it points to is valid until the next step. An
	// error is yielded once, last, with a nil event; everything yielded before it is
	// valid. Damage inside a trace is not an error, because reading goes on: see Loss.
	// Events can be ranged over once.
	Events() iter.Seq2[*Event, error]
	// Info returns the trace's description of itself. It is complete once the first
	// event has been yielded, or the sequence has ended.
	Info() *Info
	// Loss returns the events missing from the ones yielded so far.
	Loss() *Loss
	// Counts yields the kinds of events read so far with their numbers of events,
	// including the ones that the source does not emit.
	Counts() iter.Seq2[*Descriptor, uint64]
}

// Info describes a trace as a whole.
type Info struct {
	Format      string    // "nettrace V4"
	Start       time.Time // UTC; origin of Event.Ticks
	Clock       *Clock
	PointerSize int    // 4 or 8
	PID         uint64 // of the traced process, in its own namespace; UnknownID if there are several or it is not known
	CPUs        int    // 0 if unknown

	// First is about the time of the earliest event: exact unless the first block lacks
	// it. It is 0 if the format counts time from the first event, or may do so.
	First time.Duration
	// Last is the time of the latest event. It is known once all events have
	// been yielded.
	Last time.Duration
	// Processes are the processes that the trace names, by PID. The map grows
	// while events are read. If a PID was reused, it has the latest process, or
	// in an ETW trace the latest process in which the runtime raised events.
	Processes map[uint64]Process
	// Declared holds the kinds of events that the trace declares it may contain, without
	// their fields. It is nil for all but LTTng's traces, because only in these events
	// are enabled by name.
	Declared []Descriptor
	// ProcessesUnknown is set once an event has been yielded that may come from
	// any of several processes. Its PID is UnknownID.
	ProcessesUnknown bool
}

// minSilence is the least time without an event that Silence returns.
const minSilence = 10 * time.Second

// Silence returns how long a trace has no event at its beginning, if that is most of the
// trace, and otherwise 0. Either nothing happened, or the start of the trace is damaged: one
// bit in the reading of the clock moves all events by hours.
func (i *Info) Silence() time.Duration {
	if i.First < minSilence || i.First < i.Last-i.First {
		return 0
	}
	return i.First
}

// A Process describes a process of a trace, apart from its events.
type Process struct {
	Name        string // file name; empty if unknown
	CommandLine string // empty if unknown
}

// A Clock turns ticks into time.
type Clock struct {
	Frequency int64 // ticks per second, at least 1
}

// An Event is one record of a trace.
type Event struct {
	Desc        *Descriptor
	Ticks       int64 // since Info.Start, in units of Clock; negative for earlier events
	Clock       *Clock
	PID         uint64 // UnknownID if the trace does not have it
	TID         uint64 // UnknownID if the trace does not have it
	CPU         uint32 // UnknownCPU if the trace does not have it
	PointerSize int    // of the process: 4 or 8
	Payload     []byte
	Labels      *Labels // nil for most events
	Late        bool    // emitted, or in the file, after later events: out of order or damaged
	Run         *Run    // of which the event is the first; nil unless the reader was asked for runs

	stack     []byte
	stackSize int // of one address in stack
}

// UnknownCPU is the processor of an event whose trace does not record it.
const UnknownCPU = ^uint32(0)

// UnknownID is the process or thread of an event whose trace does not record it.
const UnknownID = ^uint64(0)

// Labels identify the request that an event belongs to.
type Labels struct {
	ActivityID        [16]byte
	RelatedActivityID [16]byte
	TraceID           [16]byte
	SpanID            uint64
	Text              []Label // in the order of the trace
}

// A Label is a name with a value.
type Label struct{ Name, Value string }

// A Descriptor identifies a kind of event. Events of one kind share
// one Descriptor of their source; it must not be changed.
type Descriptor struct {
	Provider string
	ID       uint32
	Version  uint32
	Name     string // as the trace has it; empty for native runtime events
	Opcode   uint8
	Level    uint8 // 0 always, 1 critical … 5 verbose
	Keywords uint64
	Fields   []Field // the trace's own description of the payload, nil if it has none

	// RawStructs is set if arrays of structures are C structures copied from the writer's
	// memory. They contain padding, and no manifest names their members.
	RawStructs bool
}

// Time returns the event's time since Info.Start, to the nearest nanosecond.
func (e *Event) Time() time.Duration { return e.Clock.Duration(e.Ticks) }

// Millis returns the event's time since Info.Start in milliseconds, with all the
// precision that the clock has.
func (e *Event) Millis() float64 { return e.Clock.Millis(e.Ticks) }

// SetStack makes the event's stack the addresses of size bytes (4 or 8) in b,
// leaf first. The event refers to b.
func (e *Event) SetStack(b []byte, size int) { e.stack, e.stackSize = b, size }

// StackLen returns the number of frames of the event's stack.
func (e *Event) StackLen() int {
	if e.stackSize == 0 {
		return 0
	}
	return len(e.stack) / e.stackSize
}

// AppendStack appends the code addresses of the event's stack, leaf first.
func (e *Event) AppendStack(dst []uint64) []uint64 {
	for i := range e.StackLen() {
		var v uint64
		for j := e.stackSize - 1; j >= 0; j-- {
			v = v<<8 | uint64(e.stack[i*e.stackSize+j])
		}
		dst = append(dst, v)
	}
	return dst
}

// Clone returns a copy that stays valid after the next step of the source.
func (e *Event) Clone() *Event {
	var b Batch
	b.Add(e)
	return &b.Events[0]
}
