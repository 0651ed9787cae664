package request

import (
	"encoding/hex"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A TraceID identifies a trace of W3C's Trace Context, of spans in any number of processes.
type TraceID [16]byte

// String returns the id in hexadecimal, and nothing if it is unknown.
func (id TraceID) String() string {
	if id.isZero() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

func (id TraceID) isZero() bool { return id == TraceID{} }

// A SpanID identifies a span within its trace.
type SpanID [8]byte

// String returns the id in hexadecimal, and nothing if it is unknown.
func (id SpanID) String() string {
	if id == (SpanID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// A Span is a piece of a program's work, such as a request.
type Span struct {
	TraceID    TraceID
	ID, Parent SpanID // Parent is zero if there is none, or if the filter did not ask for it
	Source     string // the name of the ActivitySource or DiagnosticListener
	Name       string // of the operation
	Route      string // which the program calls it, or the method and the path that it is for; empty if unknown
	Kind       string // Server, Consumer, Client, Producer or Internal; empty if unknown
	Nested     bool   // in another span of the process, which had started and not ended

	Start    time.Duration         // since the start of the trace
	Duration gc.Opt[time.Duration] // unknown if the span did not end within the trace
	// Paused and Suspended are the time within the span in which the process's threads were
	// suspended, for collections and otherwise, up to its end or that of the trace.
	Paused, Suspended time.Duration
	// Stalled is the time within the span in which the thread pool began no work although some
	// waited. What needed a thread of the pool then waited for one, and may have at other times.
	Stalled  time.Duration
	GCs      []uint32 // numbers of the collections whose pauses Paused is made of
	Complete bool     // it ended, and no events were lost in its time
}

// Label returns the route, or the name if that is unknown, which similar requests share.
func (s *Span) Label() string {
	if s.Route != "" {
		return s.Route
	}
	return s.Name
}
