package heap

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
)

// A walk is a snapshot while its events come. Roots come after the objects, and a
// reference may lead to an object that comes later.
type walk struct {
	of    *Snapshot
	types *types
	graph bool // is kept
	next  [4]uint32

	uses      []use // by index of the type
	nodes     nodes
	counts    column[uint32] // of the references of each object
	edges     column[uint64] // the addresses that they lead to
	announced int64          // references
	roots     []root
	dependent []dependent
	ranges    []Range
}

// A use counts the objects of a type.
type use struct{ objects, bytes, aligned int64 }

type root struct {
	address, id uint64
	field       string // of a static
	kind        RootKind
	dependent   bool
	pins        bool
}

type dependent struct{ key, value uint64 }

// maxRoots bounds the roots, dependent handles and ranges of a snapshot, each. Programs have
// up to some hundred thousand.
const maxRoots = 1 << 24

// numbered are the events whose numbers show holes.
var numbered = [4]clr.Kind{clr.KindGCBulkRootEdge, clr.KindGCBulkRootConditionalWeakTableElementEdge, clr.KindGCBulkNode, clr.KindGCBulkEdge}

// head is the size of the fields before the elements: Index, Count and ClrInstanceID.
const head = 4 + 4 + 2

// event processes an event of the walk.
func (w *walk) event(e *pass.Event) {
	if i := slices.Index(numbered[:], e.Kind); i >= 0 {
		if len(e.Payload) < head {
			w.of.Missing.Events++
			return
		}
		if number := binary.LittleEndian.Uint32(e.Payload); number != w.next[i] {
			w.of.Missing.Events += max(1, int64(number)-int64(w.next[i]))
			w.next[i] = number
		}
		w.next[i]++
		w.of.walked.note(e.Time)
	}
	switch e.Kind {
	case clr.KindGCBulkNode:
		w.addNodes(e.Payload, e.PointerSize)
	case clr.KindGCBulkEdge:
		w.addEdges(e.Payload, e.PointerSize)
	case clr.KindGCBulkRootEdge:
		v, ok := pass.Decode[clr.GCBulkRootEdge](e)
		w.part(ok)
		for i := range v.Values {
			w.addRoot(&v.Values[i])
		}
	case clr.KindGCBulkRootConditionalWeakTableElementEdge:
		v, ok := pass.Decode[clr.GCBulkRootConditionalWeakTableElementEdge](e)
		w.part(ok)
		for _, d := range v.Values {
			w.of.Dependent++
			if len(w.dependent) < maxRoots {
				w.dependent = append(w.dependent, dependent{d.GCKeyNodeID, d.GCValueNodeID})
			}
		}
	case clr.KindGCBulkRootStaticVar:
		v, ok := pass.Decode[clr.GCBulkRootStaticVar](e)
		w.part(ok)
		for i := range v.Values {
			w.of.Statics++
			w.root(root{address: v.Values[i].ObjectID, id: v.Values[i].GCRootID, field: v.Values[i].FieldName.String(), kind: RootStatic})
		}
	case clr.KindGCGenerationRange:
		if v, ok := pass.Decode[clr.GCGenerationRange](e); ok {
			w.addRange(v)
		}
	}
}

// part notes an event that announces more than it has.
func (w *walk) part(whole bool) {
	if !whole {
		w.of.Missing.Events++
	}
}

// A span is the time of the events of a walk.
type span struct {
	from, to time.Duration
	known    bool
}

func (s *span) note(at time.Duration) {
	if !s.known {
		s.from, s.known = at, true
	}
	s.to = at
}

// addNodes adds objects. They are most of a trace, and decoded here for speed.
func (w *walk) addNodes(payload []byte, pointerSize int) {
	le := binary.LittleEndian
	size := 3*8 + pointerSize
	count, b := int64(le.Uint32(payload[4:])), payload[head:]
	if there := int64(len(b) / size); count > there {
		w.of.Missing.Events++ // a part of one
		count = there
	}
	for ; count > 0; count-- {
		var address uint64
		if pointerSize == 4 {
			address = uint64(le.Uint32(b))
		} else {
			address = le.Uint64(b)
		}
		rest := b[size-3*8 : size]
		w.addNode(address, le.Uint64(rest), le.Uint64(rest[8:]), le.Uint64(rest[16:]))
		b = b[size:]
	}
}

func (w *walk) addNode(address, size, id, edges uint64) {
	if size >= clr.MaxSize {
		w.of.Missing.Impossible++
		size = 0
	}
	t := w.types.index(id)
	for int(t) >= len(w.uses) {
		w.uses = append(w.uses, use{})
	}
	u := &w.uses[t]
	u.objects++
	u.bytes = units.AddCapped(u.bytes, int64(size))
	u.aligned = units.AddCapped(u.aligned, int64(align(size)))
	w.announced = units.AddCapped(w.announced, int64(min(edges, math.MaxInt64)))
	if w.graph {
		w.nodes.add(address, size, t)
		w.counts.add(uint32(min(edges, math.MaxUint32)))
	}
}

func (w *walk) addEdges(payload []byte, pointerSize int) {
	le := binary.LittleEndian
	size := 4 + pointerSize
	count, b := int64(le.Uint32(payload[4:])), payload[head:]
	if there := int64(len(b) / size); count > there {
		w.of.Missing.Events++
		count = there
	}
	w.of.Edges += count
	if !w.graph {
		return
	}
	for ; count > 0; count-- {
		if pointerSize == 4 {
			w.edges.add(uint64(le.Uint32(b)))
		} else {
			w.edges.add(le.Uint64(b))
		}
		b = b[size:]
	}
}

func (w *walk) addRoot(v *clr.GCBulkRootEdgeValue) {
	kind := RootOther
	switch {
	case v.GCRootFlag&clr.BulkRootFlagsWeakRef != 0:
		w.of.WeakRoots++
		return
	case v.GCRootKind == clr.BulkRootKindStack:
		kind = RootStack
	case v.GCRootKind == clr.BulkRootKindFinalizer:
		kind = RootFinalizer
	case v.GCRootKind != clr.BulkRootKindHandle:
	case v.GCRootFlag&clr.BulkRootFlagsRefCounted != 0:
		kind = RootRefCounted
	case v.GCRootFlag&clr.BulkRootFlagsPinning != 0:
		kind = RootPinned
	default:
		kind = RootHandle
	}
	w.root(root{address: v.RootedNodeAddress, id: v.GCRootID, kind: kind, pins: v.GCRootFlag&clr.BulkRootFlagsPinning != 0})
}

func (w *walk) root(r root) {
	if r.address == 0 {
		return
	}
	w.of.Roots[r.kind]++
	if len(w.roots) < maxRoots {
		w.roots = append(w.roots, r)
	}
}

// addRange adds a range of a generation after the collection. The ranges of before come ahead
// of all objects.
func (w *walk) addRange(v *clr.GCGenerationRange) {
	if len(w.uses) == 0 || v.Generation >= frozen || v.RangeUsedLength >= clr.MaxSize || len(w.ranges) == maxRoots {
		return
	}
	w.ranges = append(w.ranges, Range{v.RangeStart, v.RangeStart + v.RangeUsedLength, v.Generation})
}

// end completes the snapshot.
func (w *walk) end() *Snapshot {
	s := w.of
	for i, u := range w.uses {
		if u.objects > 0 {
			s.Objects += u.objects
			s.Bytes, s.Aligned = units.AddCapped(s.Bytes, u.bytes), units.AddCapped(s.Aligned, u.aligned)
			s.Types = append(s.Types, TypeUse{w.types.all[i], u.objects, u.bytes, u.aligned})
		}
	}
	s.Missing.Edges = w.announced - s.Edges
	if w.graph {
		w.build()
	}
	return s
}

// generations counts the objects of each generation, and returns that of each object.
func (w *walk) generations() []uint8 {
	if len(w.ranges) == 0 {
		return nil
	}
	uses := make([]GenerationUse, numGenerations)
	for i, name := range generationNames {
		uses[i].Name = name
	}
	var used [numGenerations]int64
	for _, r := range w.ranges {
		used[r.Generation] = units.AddCapped(used[r.Generation], int64(r.End-r.Start))
	}
	w.ranges = slices.DeleteFunc(w.ranges, func(r Range) bool { return r.End <= r.Start })
	slices.SortStableFunc(w.ranges, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	of := make([]uint8, w.nodes.len())
	in := Range{Generation: frozen} // the range of the last object
	for _, r := range w.nodes.runs {
		for i := r.first; i < r.first+r.n; i++ {
			address := r.start + uint64(w.nodes.offset.at(i))*unit
			if address < in.Start || address >= in.End {
				in = rangeOf(w.ranges, address)
			}
			of[i] = in.Generation
			size := w.nodes.sizeOf(i)
			u := &uses[in.Generation]
			u.Objects++
			u.Bytes = units.AddCapped(u.Bytes, int64(size))
			u.Aligned = units.AddCapped(u.Aligned, int64(align(size)))
		}
	}
	for i := range uses[:frozen] {
		uses[i].Free = gc.Some(used[i] - uses[i].Aligned)
	}
	w.of.Generations = uses
	return of
}

// rangeOf returns the range that has an address. Addresses outside of all are in one that
// is empty.
func rangeOf(ranges []Range, address uint64) Range {
	k := sort.Search(len(ranges), func(k int) bool { return ranges[k].Start > address }) - 1
	if k < 0 || address >= ranges[k].End {
		return Range{Generation: frozen}
	}
	return ranges[k]
}
