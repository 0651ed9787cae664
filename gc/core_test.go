package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestSizesOfCore31: the histories of CoreCLR up to 3.1, which have four generations, have
// the sizes after a collection of the collected generations and the next older one. The
// other sizes are 0 there, and not known.
func TestSizesOfCore31(t *testing.T) {
	const size = 1 << 20
	for depth, want := range [][4]bool{
		0: {true, true, false, false},
		1: {true, true, true, false},
		2: {true, true, true, true},
	} {
		s := newScript()
		s.suspendBegin(0, 1, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(0.1, 1)
		s.start(0.2, 1, 1, uint32(depth), clr.GCTypeNonConcurrentGC)
		s.globalHistory(0.3, 1, uint32(depth), 0, 1)
		h := clr.GCPerHeapHistory{ClrInstanceID: s.clr, Values: make([]clr.GCPerHeapHistoryValue, 4), Count: 4}
		for i := range h.Values {
			h.Values[i].SizeBefore = size // everything that was collected died
		}
		s.raise(0.3, 1, clr.RuntimeProvider, 204, 3, h.Append(nil, 3, 8))
		s.end(0.4, 1, 1, uint32(depth))
		s.restartBegin(0.5, 1)
		s.restartEnd(0.6, 1)
		collections := 0
		for c, err := range new(gc.Model).Collections(s) {
			if err != nil {
				t.Fatal(err)
			}
			collections++
			if len(c.Generations) != len(want) {
				t.Fatalf("gen %d: %d generations", depth, len(c.Generations))
			}
			for i, g := range c.Generations {
				if known := g.After == gc.Some(int64(0)); known != want[i] || g.Before != size {
					t.Errorf("a collection of gen %d: %s had %d bytes, and has %v", depth, g.Name, g.Before, g.After)
				}
			}
		}
		if collections != 1 {
			t.Errorf("gen %d: %d collections", depth, collections)
		}
	}
}

// TestFrameworkGenerations: the generations of .NET Framework sum the histories of its
// heaps, in which free space is on the free list or among unused objects.
func TestFrameworkGenerations(t *testing.T) {
	s := newScript()
	s.suspendBegin(0.9, 1, clr.SuspendReasonSuspendForGC)
	s.start(1, 1, 1, 2, clr.GCTypeNonConcurrentGC)
	global := clr.PrivateGCGlobalHeapHistory{NumHeaps: 2, CondemnedGeneration: 2, ClrInstanceID: s.clr}
	s.raise(1.5, 1, clr.PrivateProvider, 5, 1, global.Append(nil, 1, 8))
	for heap := range uint32(2) {
		h := clr.PrivateGCPerHeapHistory{GenData: make([]clr.PrivateGCPerHeapHistoryGenData, 5), HeapIndex: heap, ClrInstanceID: uint8(s.clr)}
		h.GenData[2] = clr.PrivateGCPerHeapHistoryGenData{
			SizeBefore: 1000, FreeListBefore: 1, FreeObjBefore: 2, SizeAfter: 500, FreeListAfter: 30, FreeObjAfter: 40, In: 5, Out: 600, NewAllocation: 7000,
		}
		s.raise(1.6, 1, clr.PrivateProvider, 4, 2, h.Append(nil, 2, 8))
	}
	s.end(2, 1, 1, 2)
	s.restartBegin(2.1, 1)
	gcs, _, _ := s.run(t)
	c := gcs[1]
	if c == nil || len(c.Generations) != 4 {
		t.Fatalf("%#v", c)
	}
	g := c.Generations[2]
	if g.Before != 2000 || g.FreeBefore != 6 || g.After != gc.Some[int64](1000) || g.Fragmentation != gc.Some[int64](140) || g.FreeList != gc.Some[int64](60) ||
		g.In != 10 || g.Out != 1200 || g.Budget != 14_000 {
		t.Errorf("%+v", g)
	}
}

// TestFreeListOfGen1: the histories of a collection of gen1 have what fitted into the free
// list of gen2, and what did not, on each heap.
func TestFreeListOfGen1(t *testing.T) {
	for depth, want := range map[uint32]gc.Opt[gc.FreeList]{0: {}, 1: gc.Some(gc.FreeList{Allocated: 30, Rejected: 12})} {
		s := newScript()
		s.suspendBegin(0.9, 1, clr.SuspendReasonSuspendForGC)
		s.start(1, 1, 1, depth, clr.GCTypeNonConcurrentGC)
		s.globalHistory(1.5, 1, depth, 0, 2)
		for heap := range uint32(2) {
			h := clr.GCPerHeapHistory{
				ClrInstanceID: s.clr, HeapIndex: heap, FreeListAllocated: 10 + 10*uint64(heap), FreeListRejected: 5 + 2*uint64(heap),
				Values: make([]clr.GCPerHeapHistoryValue, 5), Count: 5,
			}
			s.raise(1.6, 1, clr.RuntimeProvider, 204, 3, h.Append(nil, 3, 8))
		}
		s.end(2, 1, 1, depth)
		s.restartBegin(2.1, 1)
		gcs, _, _ := s.run(t)
		if c := gcs[1]; c == nil || c.FreeList != want {
			t.Errorf("gen %d: %#v, want %+v", depth, c, want)
		}
	}
}
