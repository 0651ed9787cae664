package column

import (
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// Type returns the type of the column's values if they are known.
func (c *Column) Type() Type { return c.Value(whole()).Type }

// Type returns the type of the column's values if they are known.
func (c *GenerationColumn) Type() Type { return c.Value(&whole().Generations[0]).Type }

// whole returns a collection whose figures are all known.
var whole = sync.OnceValue(func() *gc.Collection {
	instant, size, count := gc.Some(time.Duration(0)), gc.Some(int64(0)), gc.Some(0)
	c := &gc.Collection{
		Process:    &gc.Process{Name: "name", Runtime: "runtime"},
		Kind:       gc.Blocking,
		Requested:  gc.Blocking,
		Generation: count, Heaps: count, MemoryLoad: count,
		Reason: gc.Some(clr.GCReasonAllocSmall), Condemned: gc.Some(^clr.CondemnReasons1(0)), Mechanisms: gc.Some(^clr.GlobalMechanisms(0)),
		Compacted: gc.Some(true), PauseMode: gc.Some(clr.PauseModeInteractive),
		Start: instant, End: instant, SinceLast: instant, PauseStart: instant,
		Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Suspend: instant}}, AllPauses: true,
		HeapBefore: size, HeapAfter: size, HeapPeak: size, Promoted: size,
		Freed: size, FreedQuality: gc.Exact, Allocated: size, AllocatedQuality: gc.Exact, AllocatedTicks: size,
		CommittedBefore: size, CommittedAfter: size,
		PinnedObjects: size, FinalizationPromoted: size, FinalizationPromotedObjs: size, Handles: size, SyncBlocks: size,
	}
	for _, name := range gc.GenerationNames() {
		c.Generations = append(c.Generations, gc.Generation{
			Name: name, After: size, Freed: size, Fragmentation: size, Survival: gc.Some(0.0), Pinned: size,
		})
	}
	return c
})
