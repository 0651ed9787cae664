package emit

import (
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// A sink is the trace that a session writes, in one of the formats. Only the session's
// goroutine uses it, except for carries.
type sink interface {
	// carries reports whether the format has such events.
	carries(d *trace.Descriptor) bool
	// Write writes an event that a shard captured. It returns trace.ErrLate for an event
	// that is older than the format allows, which readers will find lost.
	Write(capture uint64, ev *trace.Event) error
	// Lost reports that n events of a shard are missing from here on.
	Lost(capture uint64, n uint32)
	Flush() error
	Close() error
}

// A nettraceSink is a .nettrace.
type nettraceSink struct{ *nettrace.Writer }

func (nettraceSink) carries(*trace.Descriptor) bool { return true }

func (s nettraceSink) Lost(capture uint64, n uint32) { s.Writer.Lost(0, capture, n) }
