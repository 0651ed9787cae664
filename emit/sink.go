package emit

import (
	"errors"

	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// A sink is the trace that a session writes, in one of the formats. Only the session's
// goroutine uses it, except for carries.
type sink interface {
	// carries reports whether the format has such events.
	carries(d *trace.Descriptor) bool
	// write writes an event that a shard captured. It returns ErrLate for an event that
	// is older than the format allows, which readers will find lost.
	write(capture uint64, ev *trace.Event) error
	// lost reports that n events of a shard are missing from here on.
	lost(capture uint64, n uint32)
	flush() error
	close() error
}

// A nettraceSink is a .nettrace.
type nettraceSink struct{ w *nettrace.Writer }

func (s nettraceSink) carries(*trace.Descriptor) bool { return true }

func (s nettraceSink) write(capture uint64, ev *trace.Event) error {
	err := s.w.Write(capture, ev)
	if errors.Is(err, trace.ErrLate) {
		return ErrLate
	}
	return err
}

func (s nettraceSink) lost(capture uint64, n uint32) { s.w.Lost(0, capture, n) }
func (s nettraceSink) flush() error                  { return s.w.Flush() }
func (s nettraceSink) close() error                  { return s.w.Close() }
