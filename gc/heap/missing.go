package heap

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// A Missing lists the gaps of a snapshot.
type Missing struct {
	Events  int64 // holes in the numbers of the events with roots, objects and references
	Unended bool  // there is no GCEnd: the rest of the snapshot is missing
	// Edges is the number of references that the objects announce, less the number that came.
	// It may be negative.
	Edges int64
	// Unknown counts references and roots that lead to no object of the snapshot.
	Unknown int64
	// Lost is set if the trace lost events while the snapshot was written.
	Lost bool
	// Bytes is the size of the generations, less their free space and the objects that came.
	// GCHeapStats and GCPerHeapHistory of the same collection have the sizes and the free
	// space; it is unknown without these events.
	Bytes gc.Opt[int64]

	// Duplicates counts objects at the address of an earlier one. They are counted, and
	// their references are known, but nothing refers to them.
	Duplicates int64
	// Impossible counts objects with sizes that no process has room for.
	Impossible int64
}

// Whole reports whether nothing is known to be missing, so that what the snapshot says of
// its objects is true of the heap.
func (m *Missing) Whole() bool {
	return m.Events == 0 && !m.Unended && m.Edges == 0 && m.Unknown == 0 && !m.Lost && m.Duplicates == 0 && m.Impossible == 0
}

// Lost takes the loss of the trace that a snapshot is from, once that is known: of a
// snapshot whose events were lost, even if their numbers have no hole, nothing is known but
// what arrived. Threads of the program do not run while the runtime writes a snapshot, so
// that a loss which begins or ends meanwhile is one of its events.
func (s *Snapshot) Lost(loss *trace.Loss) {
	start, end := s.walked.from, s.walked.to
	within := func(t time.Duration) bool { return t > start && t < end }
	for _, r := range loss.Ranges() {
		if within(r.From) || within(r.To) {
			s.Missing.Lost = true
			s.Graph = nil
			return
		}
	}
}

// Collected sets Missing.Bytes from the sizes that the same collection reports.
func (s *Snapshot) Collected(c *gc.Collection) {
	size, known := c.HeapAfter.Get()
	if !known || s.Generations == nil || len(c.Generations) == 0 {
		return
	}
	for i := range c.Generations {
		free, known := c.Generations[i].Fragmentation.Get()
		if !known {
			return
		}
		size -= free
	}
	for i := range s.Generations {
		if i != frozen {
			size -= s.Generations[i].Aligned
		}
	}
	s.Missing.Bytes = gc.Some(size)
}
