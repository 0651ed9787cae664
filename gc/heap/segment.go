package heap

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
)

// The bounds of Segments, over all processes: segments that are followed, and collections
// whose counts were not removed, of which gc.Model holds back half as many.
const (
	maxSegments  = 1 << 20
	maxSnapshots = 1 << 15
)

// SegmentCounts counts the segments created and freed between the ends of two collections.
type SegmentCounts struct {
	Created, Freed           int64
	CreatedBytes, FreedBytes int64
	// Live counts the segments that were created in the trace and not freed; segments
	// created before the trace are unknown.
	Live, LiveBytes int64
	// Committed is the runtime's latest report on committed memory, from .NET 8 on.
	Committed gc.Opt[Committed]
}

// Committed is the memory that the collector committed, in bytes.
type Committed struct {
	InUse      int64 // in segments or regions in use
	Free       int64 // in free regions of the heaps
	GlobalFree int64 // in free regions that the heaps share
	// Decommit is about to be decommitted, and Bookkeeping is used by the
	// collector itself. Neither is in the runtime's own total.
	Decommit, Bookkeeping int64
}

// Total returns the memory that the runtime counts as committed (TotalCommittedBytes of
// GC.GetGCMemoryInfo), 0 if unknown.
func (c *Committed) Total() int64 { return c.InUse + c.Free + c.GlobalFree }

// Segments is a model for gc/pass that tracks the segments that the collector allocates and
// frees, and the memory that it has committed, from collection to collection. From .NET 7 on,
// each segment event is about a region. The zero Segments is ready for use, by one goroutine.
type Segments struct {
	runtimes pass.Table[segments]
	live     int // segments of all runtimes
	ends     int // snapshots of all runtimes
	rejected int
}

type segments struct {
	*pass.Runtime
	sizes map[uint64]int64 // by address
	now   SegmentCounts
	ends  map[uint32]SegmentCounts
}

// Kinds returns the kinds of events that Segments reads.
func (*Segments) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindGCCreateSegment, clr.KindGCFreeSegment, clr.KindGCEnd, clr.KindGCDynamicEvent}
}

// Event processes one event.
func (m *Segments) Event(e *pass.Event) {
	decoded, whole := e.Decoded()
	if !whole {
		return
	}
	switch v := decoded.(type) {
	case *clr.GCCreateSegment:
		if m.takes(v.Size < clr.MaxSize) {
			m.of(e, v.ClrInstanceID, func(s *segments) { m.created(s, v) })
		}
	case *clr.GCFreeSegment:
		m.of(e, v.ClrInstanceID, func(s *segments) { m.freed(s, v.Address) })
	case *clr.GCDynamicEvent:
		if clr.DynamicKindOf(v.Name) == clr.DynamicCommittedUsage {
			m.of(e, v.ClrInstanceID, func(s *segments) { m.commits(s, v.Data) })
		}
	case *clr.GCEnd:
		m.of(e, v.ClrInstanceID, func(s *segments) { m.ended(s, v.Count) })
	}
}

// of passes the segments of an event's runtime to a function, unless there is no room for
// one more runtime.
func (m *Segments) of(e *pass.Event, instance uint16, do func(*segments)) {
	rt := e.Runtime(instance)
	if rt == nil {
		return
	}
	s, isNew := m.runtimes.At(rt.Index)
	if isNew {
		*s = segments{Runtime: rt, sizes: make(map[uint64]int64), ends: make(map[uint32]SegmentCounts)}
	}
	do(s)
}

// created counts a segment. One at the address of a live one replaces it: its
// freeing was lost.
func (m *Segments) created(s *segments, v *clr.GCCreateSegment) {
	size := int64(v.Size)
	s.now.Created++
	s.now.CreatedBytes += size
	old, replaces := s.sizes[v.Address]
	if !replaces {
		if m.live == maxSegments {
			return
		}
		m.live++
		s.now.Live++
	}
	s.now.LiveBytes += size - old
	s.sizes[v.Address] = size
}

func (m *Segments) freed(s *segments, address uint64) {
	s.now.Freed++
	size, ok := s.sizes[address]
	if !ok {
		return // created before the trace
	}
	delete(s.sizes, address)
	m.live--
	s.now.FreedBytes += size
	s.now.Live--
	s.now.LiveBytes -= size
}

// takes counts an event that is not possible, and returns whether it is.
func (m *Segments) takes(possible bool) bool {
	if !possible {
		m.rejected++
	}
	return possible
}

// Rejected returns the number of events that are left out, because their sizes are
// impossible.
func (m *Segments) Rejected() int { return m.rejected }

// commits records the committed memory, which the runtime reports at the start of every
// collection, and again at the end of a blocking one.
func (m *Segments) commits(s *segments, data []byte) {
	var v clr.CommittedUsage
	if v.Decode(data) != nil {
		return
	}
	if !m.takes(v.Possible()) {
		s.now.Committed = gc.Opt[Committed]{}
		return
	}
	s.now.Committed = gc.Some(Committed{
		InUse: int64(v.TotalCommittedInUse), Free: int64(v.TotalCommittedInFree), GlobalFree: int64(v.TotalCommittedInGlobalFree),
		Decommit: int64(v.TotalCommittedInGlobalDecommit), Bookkeeping: int64(v.TotalBookkeepingCommitted),
	})
}

// ended records the segments at the end of a collection.
func (m *Segments) ended(s *segments, number uint32) {
	if _, again := s.ends[number]; again || m.ends < maxSnapshots {
		s.ends[number] = s.now
		if !again {
			m.ends++
		}
	}
	s.now = SegmentCounts{Live: s.now.Live, LiveBytes: s.now.LiveBytes, Committed: s.now.Committed}
}

// Remove removes the counts at the end of a collection and returns them, if there are
// any.
func (m *Segments) Remove(pid uint64, instance uint16, number uint32) (SegmentCounts, bool) {
	s := m.runtimes.Find(func(s *segments) bool { return s.Process.PID == pid && s.Instance == instance })
	if s == nil {
		return SegmentCounts{}, false
	}
	snapshot, ok := s.ends[number]
	if ok {
		delete(s.ends, number)
		m.ends--
	}
	return snapshot, ok
}
