package emit

import (
	"fmt"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// Generations in a HeapResult.
const (
	Gen0 = iota
	Gen1
	Gen2
	LOH
	POH
	numGenerations
)

var generationNames = [numGenerations]string{"gen0", "gen1", "gen2", "loh", "poh"}

// A HeapResult is the result of a collection for one heap, by generation, in bytes.
// SizeBefore and SizeAfter include free space. PinnedSurv and NonePinnedSurv are the
// bytes that survived, only for generations that were collected. Use possible sizes,
// because package gc treats others as damage: a generation that was not collected does
// not shrink, and gen1 and gen2 grow in collections only.
type HeapResult [numGenerations]clr.GCPerHeapHistoryValue

// A Result is the outcome of a collection.
type Result struct {
	Heaps []HeapResult // one for each heap of the collector

	Mechanisms clr.GlobalMechanisms // that it ran in the background is added
	Condemned  clr.CondemnReasons1  // why this generation
	// PauseMode is the latency mode in force. Its zero value is the mode that a runtime
	// starts in: Interactive with background GC (Process.Flags, or a background
	// collection), otherwise Batch.
	PauseMode  clr.PauseMode
	MemoryLoad int // percent of the machine's memory in use

	PinnedObjects       int
	Handles             int
	SyncBlocks          int
	FinalizationBytes   uint64 // kept alive for finalizers
	FinalizationObjects uint64

	// Times are the durations of the phases of clr.TimeNames: 5 for a
	// background collection, 8 for a collection that compacted, otherwise 7. If
	// Times is nil, readers find zeros, because the event always has these
	// fields.
	Times []time.Duration
}

// End records the results of the collection. For a blocking collection, Resume
// comes next; for others, End is the last step.
//
// An impossible result, such as survivors in a generation that was not collected,
// returns an error and leaves the collection unchanged.
func (gc *Collection) End(r *Result) error {
	return gc.act(actEnd, func(to step) error {
		if gc.step == stepSweeping && gc.c.stopper != nil {
			return fmt.Errorf("%w: End of collection %d while another one has stopped the threads", ErrOrder, gc.number)
		}
		if err := gc.check(r); err != nil {
			return fmt.Errorf("emit: collection %d: %w", gc.number, err)
		}
		gc.step = to
		if !gc.plan.Background {
			gc.histories(gc.thread, r)
			at := gc.end(gc.thread, r)
			if b := gc.c.background; b != nil {
				gc.c.settings = b.number
			}
			if out := gc.outer; out != nil {
				gc.pause = time.Duration(at - gc.started)
				out.pause -= gc.pause
				out.inner = nil
			}
			return nil
		}
		helper := gc.c.backgroundThread()
		helper.Raise(&clr.BGC2ndConEnd{ClrInstanceID: gc.c.opt.ClrInstance})
		if gc.c.opt.Heaps > 1 {
			gc.end(helper, r)
			gc.histories(helper, r)
		} else {
			gc.histories(helper, r)
			gc.end(helper, r)
		}
		gc.c.background = nil
		return nil
	})
}

func (gc *Collection) check(r *Result) error {
	if len(r.Heaps) != gc.c.opt.Heaps {
		return fmt.Errorf("%d results for %d heaps", len(r.Heaps), gc.c.opt.Heaps)
	}
	if want := gc.phases(r); r.Times != nil && len(r.Times) != want {
		return fmt.Errorf("%d times, not %d", len(r.Times), want)
	}
	for h := range r.Heaps {
		for g := range r.Heaps[h] {
			if err := gc.checkGeneration(g, &r.Heaps[h][g]); err != nil {
				return fmt.Errorf("heap %d: %s: %w", h, generationNames[g], err)
			}
		}
	}
	return nil
}

func (gc *Collection) checkGeneration(g int, v *clr.GCPerHeapHistoryValue) error {
	free, survived := v.FreeListBefore+v.FreeObjBefore, v.PinnedSurv+v.NonePinnedSurv
	switch {
	case free > v.SizeBefore:
		return fmt.Errorf("%d bytes free of %d before", free, v.SizeBefore)
	case v.FreeListAfter+v.FreeObjAfter > v.SizeAfter:
		return fmt.Errorf("%d bytes free of %d after", v.FreeListAfter+v.FreeObjAfter, v.SizeAfter)
	case survived > 0 && !gc.collects(g):
		return fmt.Errorf("%d bytes survived, but it was not collected", survived)
	case survived > v.SizeBefore-free && !gc.plan.Background:
		return fmt.Errorf("%d bytes survived of %d", survived, v.SizeBefore-free)
	}
	return nil
}

// collects reports whether the collection is one of generation g.
func (gc *Collection) collects(g int) bool {
	switch {
	case g >= LOH:
		return gc.plan.Generation == 2
	case gc.plan.Background:
		return g == Gen2
	default:
		return g <= gc.plan.Generation
	}
}

// phases returns the number of times that a GCGlobalHeapHistory has.
func (gc *Collection) phases(r *Result) int {
	switch {
	case gc.plan.Background:
		return 5
	case r.Mechanisms&clr.GlobalMechanismsCompaction != 0:
		return 8
	default:
		return 7
	}
}

// pauseMode returns the latency mode of a result, or else of the process.
func (gc *Collection) pauseMode(r *Result) clr.PauseMode {
	concurrent := gc.c.p.process.Flags&clr.StartupFlagsConcurrentGC != 0 || gc.plan.Background || gc.c.background != nil
	if r.PauseMode == clr.PauseModeBatch && concurrent {
		return clr.PauseModeInteractive
	}
	return r.PauseMode
}

// histories raises the histories of the collection as a whole and of each heap.
func (gc *Collection) histories(on *Thread, r *Result) {
	mechanisms := r.Mechanisms &^ clr.GlobalMechanismsConcurrent
	if gc.plan.Background {
		mechanisms |= clr.GlobalMechanismsConcurrent
	}
	global := clr.GCGlobalHeapHistory{
		NumHeaps: int32(len(r.Heaps)), CondemnedGeneration: uint32(gc.plan.Generation), Reason: gc.plan.Reason,
		GlobalMechanisms: mechanisms, ClrInstanceID: gc.c.opt.ClrInstance, PauseMode: gc.pauseMode(r),
		MemoryPressure: uint32(r.MemoryLoad), CondemnReasons1: r.Condemned,
		Values: make([]clr.GCGlobalHeapHistoryValue, gc.phases(r)),
	}
	for h := range r.Heaps {
		global.FinalYoungestDesired = max(global.FinalYoungestDesired, r.Heaps[h][Gen0].NewAllocation)
	}
	for i, d := range r.Times {
		global.Values[i].Time = uint32(d / time.Microsecond)
	}
	on.Raise(&global)
	for h := range r.Heaps {
		on.Raise(&clr.GCPerHeapHistory{
			ClrInstanceID: gc.c.opt.ClrInstance, CondemnReasons1: r.Condemned, HeapIndex: uint32(h), Values: slices.Clone(r.Heaps[h][:]),
		})
	}
}

// end raises GCEnd and GCHeapStats on one thread, because TraceEvent expects that.
func (gc *Collection) end(on *Thread, r *Result) (at int64) {
	at = on.raise(&clr.GCEnd{Count: gc.number, Depth: uint32(gc.plan.Generation), ClrInstanceID: gc.c.opt.ClrInstance})
	var size, promoted [numGenerations]uint64
	for h := range r.Heaps {
		for g := range r.Heaps[h] {
			v := &r.Heaps[h][g]
			size[g] += v.SizeAfter
			promoted[g] += v.PinnedSurv + v.NonePinnedSurv
		}
	}
	on.Raise(&clr.GCHeapStats{
		GenerationSize0: size[Gen0], TotalPromotedSize0: promoted[Gen0],
		GenerationSize1: size[Gen1], TotalPromotedSize1: promoted[Gen1],
		GenerationSize2: size[Gen2], TotalPromotedSize2: promoted[Gen2],
		GenerationSize3: size[LOH], TotalPromotedSize3: promoted[LOH],
		GenerationSize4:          size[POH], // the runtime leaves out its promoted bytes
		FinalizationPromotedSize: r.FinalizationBytes, FinalizationPromotedCount: r.FinalizationObjects,
		PinnedObjectCount: uint32(r.PinnedObjects), SinkBlockCount: uint32(r.SyncBlocks), GCHandleCount: uint32(r.Handles),
		ClrInstanceID: gc.c.opt.ClrInstance,
	})
	return at
}
