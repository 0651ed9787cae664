package heap_test

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// every changes all events of a kind.
func every[E clr.Event](by func(E)) func([]clr.Event) []clr.Event {
	return func(events []clr.Event) []clr.Event {
		for _, e := range events {
			if e, ok := e.(E); ok {
				by(e)
			}
		}
		return events
	}
}

// TestHostile reads snapshots that no runtime writes: their memory is bounded by the objects
// that they have, not by the numbers in them, and the damage is reported.
func TestHostile(t *testing.T) {
	const n = 100_000
	ranges := func(events []clr.Event, more ...clr.Event) []clr.Event {
		return append(append(events[:len(events)-1:len(events)-1], more...), events[len(events)-1])
	}
	for name, tt := range map[string]struct {
		events  []clr.Event
		objects int64
		lacks   string
	}{
		"a billion references announced": {
			events: every(func(v *clr.GCBulkNode) {
				for i := range v.Values {
					v.Values[i].EdgeCount = 1e9
				}
			})(chain(n, 2)), objects: n, lacks: "99,999,999,900,001 references. What objects retain is unknown.",
		},
		"more than all references announced": {
			events: every(func(v *clr.GCBulkNode) {
				for i := range v.Values {
					v.Values[i].EdgeCount = math.MaxUint64
				}
			})(chain(n, 2)), objects: n, lacks: "9,223,372,036,854,675,808 references. What objects retain is unknown.",
		},
		"descending addresses": {
			events: every(func(v *clr.GCBulkNode) {
				for i := range v.Values {
					v.Values[i].Address = math.MaxUint32 - v.Values[i].Address
				}
			})(every(func(v *clr.GCBulkEdge) {
				for i := range v.Values {
					v.Values[i].Value = math.MaxUint32 - v.Values[i].Value
				}
			})(every(func(v *clr.GCBulkRootStaticVar) {
				v.Values[0].ObjectID = math.MaxUint32 - v.Values[0].ObjectID
			})(chain(n, 2)))), objects: n,
		},
		"one address": {
			events: every(func(v *clr.GCBulkNode) {
				for i := range v.Values {
					v.Values[i].Address = 0x1000
				}
			})(chain(2000, 2)), objects: 2000, lacks: "1,999 objects that are referred to, 1,999 objects with addresses of their own. What objects retain is unknown.",
		},
		"numbers that go back": {
			events:  every(func(v *clr.GCBulkNode) { v.Index = 1 << 31 >> v.Index })(chain(n, 2)),
			objects: n, lacks: "2,147,483,697 events. What objects retain is unknown.",
		},
		"ranges that overlap": {
			events: ranges(chain(n, 2),
				&clr.GCGenerationRange{Generation: 0, RangeStart: 0x1000, RangeUsedLength: 1 << 40},
				&clr.GCGenerationRange{Generation: 1, RangeStart: 0x1008, RangeUsedLength: 1 << 40},
				&clr.GCGenerationRange{Generation: 2, RangeStart: math.MaxUint64 - 8, RangeUsedLength: 1 << 30}),
			objects: n,
		},
		"types that have themselves as arguments": {
			events: ranges(chain(n, 2), &clr.BulkType{Values: []clr.BulkTypeValue{
				{TypeID: order, Name: clr.NewUTF16("A`1[B+A`1[A]]"), TypeParameters: []uint64{order}},
				{TypeID: order + 16, Name: clr.NewUTF16("B`1[A+B]"), TypeParameters: []uint64{order + 16, order}},
			}}),
			objects: n,
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, tt.events...))
		if s.Graph != nil {
			d := s.Graph.Dominators()
			if d.Live() != tt.objects {
				t.Errorf("%s: %d of %d objects are alive", name, d.Live(), tt.objects)
			}
			d.Tree(heap.TreeQuery{Max: 100})
			for _, gap := range s.Graph.Gaps() {
				if gap.Bytes <= 0 {
					t.Errorf("%s: a gap of %d bytes", name, gap.Bytes)
				}
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > n*1000 { // most is the events themselves
			t.Errorf("%s: %d bytes were allocated", name, got)
		}
		if s.Objects != tt.objects || s.Lacks() != tt.lacks {
			t.Errorf("%s: %d objects, lacks %q", name, s.Objects, s.Lacks())
		}
	}
}

// An announcing event has a count of elements that is not theirs.
type announcing struct {
	clr.Event
	at    int // of the count
	count uint32
}

func (e announcing) Append(b []byte, version uint32, pointerSize int) []byte {
	from := len(b)
	b = e.Event.Append(b, version, pointerSize)
	binary.LittleEndian.PutUint32(b[from+e.at:], e.count)
	return b
}

// TestAnnounced: events that announce 2^31 elements or more take memory for their actual
// elements only, and the snapshot says that some are missing.
func TestAnnounced(t *testing.T) {
	whole := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, written()...))
	for _, count := range []uint32{1 << 31, math.MaxUint32} {
		for kind, at := range map[clr.Kind]int{
			clr.KindGCBulkNode: 4, clr.KindGCBulkEdge: 4, clr.KindGCBulkRootEdge: 4,
			clr.KindGCBulkRootConditionalWeakTableElementEdge: 4, clr.KindGCBulkRootStaticVar: 0,
		} {
			events := written()
			for i, e := range events {
				if e.EventKind() == kind {
					events[i] = announcing{e, at, count}
					break // the others are whole
				}
			}
			for _, most := range []int{0, heap.MaxObjects} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				s := one(t, read(t, &heap.Snapshots{MaxObjects: most}, 8, events...))
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
					t.Errorf("%v of %d: %d bytes were allocated", kind, count, got)
				}
				if s.Objects != whole.Objects || s.Edges != whole.Edges || s.Roots != whole.Roots || s.Dependent != whole.Dependent {
					t.Errorf("%v of %d: %d objects, %d references, roots %v", kind, count, s.Objects, s.Edges, s.Roots)
				}
				if s.Missing.Whole() || s.Graph != nil || s.About() != "at least " || !strings.Contains(s.Lacks(), "1 event.") {
					t.Errorf("%v of %d: lacks %q", kind, count, s.Lacks())
				}
			}
		}
	}
}
