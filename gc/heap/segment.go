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
func (s *Segments) Event(e *pass.Event) {
	decoded, whole := e.Decoded()
	if !whole {
		return
	}
	switch v := decoded.(type) {
	case *clr.GCCreateSegment:
		if s.takes(v.Size < clr.MaxSize) {
			s.of(e, v.ClrInstanceID, func(r *segments) { s.created(r, v) })
		}
	case *clr.GCFreeSegment:
		s.of(e, v.ClrInstanceID, func(r *segments) { s.freed(r, v.Address) })
	case *clr.GCDynamicEvent:
		if clr.DynamicKindOf(v.Name) == clr.DynamicCommittedUsage {
			s.of(e, v.ClrInstanceID, func(r *segments) { s.commits(r, v.Data) })
		}
	case *clr.GCEnd:
		s.of(e, v.ClrInstanceID, func(r *segments) { s.ended(r, v.Count) })
	}
}

// of passes the segments of an event's runtime to a function, unless there is no room for
// one more runtime.
func (s *Segments) of(e *pass.Event, instance uint16, do func(*segments)) {
	rt := e.Runtime(instance)
	if rt == nil {
		return
	}
	r, isNew := s.runtimes.At(rt.Index)
	if isNew {
		*r = segments{Runtime: rt, sizes: make(map[uint64]int64), ends: make(map[uint32]SegmentCounts)}
	}
	do(r)
}

// created counts a segment. One at the address of a live one replaces it: its
// freeing was lost.
func (s *Segments) created(r *segments, v *clr.GCCreateSegment) {
	size := int64(v.Size)
	r.now.Created++
	r.now.CreatedBytes += size
	old, replaces := r.sizes[v.Address]
	if !replaces {
		if s.live == maxSegments {
			return
		}
		s.live++
		r.now.Live++
	}
	r.now.LiveBytes += size - old
	r.sizes[v.Address] = size
}

func (s *Segments) freed(r *segments, address uint64) {
	r.now.Freed++
	size, ok := r.sizes[address]
	if !ok {
		return // created before the trace
	}
	delete(r.sizes, address)
	s.live--
	r.now.FreedBytes += size
	r.now.Live--
	r.now.LiveBytes -= size
}

// takes counts an event that is not possible, and returns whether it is.
func (s *Segments) takes(possible bool) bool {
	if !possible {
		s.rejected++
	}
	return possible
}

// Rejected returns the number of events that are left out, because their sizes are
// impossible.
func (s *Segments) Rejected() int { return s.rejected }

// commits records the committed memory, which the runtime reports at the start of every
// collection, and again at the end of a blocking one.
func (s *Segments) commits(r *segments, data []byte) {
	var v clr.CommittedUsage
	if v.Decode(data) != nil {
		return
	}
	if !s.takes(v.Possible()) {
		r.now.Committed = gc.Opt[Committed]{}
		return
	}
	r.now.Committed = gc.Some(Committed{
		InUse: int64(v.TotalCommittedInUse), Free: int64(v.TotalCommittedInFree), GlobalFree: int64(v.TotalCommittedInGlobalFree),
		Decommit: int64(v.TotalCommittedInGlobalDecommit), Bookkeeping: int64(v.TotalBookkeepingCommitted),
	})
}

// ended records the segments at the end of a collection.
func (s *Segments) ended(r *segments, number uint32) {
	if _, again := r.ends[number]; again || s.ends < maxSnapshots {
		r.ends[number] = r.now
		if !again {
			s.ends++
		}
	}
	r.now = SegmentCounts{Live: r.now.Live, LiveBytes: r.now.LiveBytes, Committed: r.now.Committed}
}

// Remove removes the counts at the end of a collection and returns them, if there are
// any.
func (s *Segments) Remove(pid uint64, instance uint16, number uint32) (SegmentCounts, bool) {
	r := s.runtimes.Find(func(r *segments) bool { return r.Process.PID == pid && r.Instance == instance })
	if r == nil {
		return SegmentCounts{}, false
	}
	snapshot, ok := r.ends[number]
	if ok {
		delete(r.ends, number)
		s.ends--
	}
	return snapshot, ok
}
