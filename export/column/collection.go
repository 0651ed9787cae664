package column

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// All returns the columns of a collection, in the order of the JSON lines
// format.
func All() []Column { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Column {
	columns := append([]Column(nil), plain...)
	for i, name := range gc.GenerationNames() {
		for _, f := range ofGeneration {
			columns = append(columns, Column{name + "_" + f.Name, func(c *gc.Collection) Value {
				if i >= len(c.Generations) {
					return Value{}
				}
				return f.Value(&c.Generations[i])
			}})
		}
	}
	return columns
})

var plain = []Column{
	{"pid", func(c *gc.Collection) Value {
		if c.Process.PID == trace.UnknownID {
			return Value{}
		}
		return integer(c.Process.PID)
	}},
	{"process", func(c *gc.Collection) Value { return text(c.Process.Name) }},
	{"runtime", func(c *gc.Collection) Value { return text(c.Process.Runtime) }},
	{"clr_instance", func(c *gc.Collection) Value { return integer(c.ClrInstance) }},
	{"number", func(c *gc.Collection) Value { return integer(c.Number) }},
	{"generation", func(c *gc.Collection) Value { return opt(c.Generation, integer[int]) }},
	{"kind", func(c *gc.Collection) Value { return kind(c.Kind) }},
	{"requested_kind", func(c *gc.Collection) Value { return kind(c.Requested) }},
	{"reason", func(c *gc.Collection) Value {
		if !c.Reason.Known() {
			return Value{}
		}
		return text(c.Reason.Or(0).String())
	}},
	{"condemned", func(c *gc.Collection) Value {
		if !c.Condemned.Known() {
			return Value{}
		}
		return text(strings.Join(c.Condemned.Or(0).Names(), " "))
	}},
	{"start_ms", func(c *gc.Collection) Value { return opt(c.Start, millis) }},
	{"duration_ms", func(c *gc.Collection) Value { return opt(c.Duration(), millis) }},
	{"pause_start_ms", func(c *gc.Collection) Value { return opt(c.PauseStart, millis) }},
	{"pause_ms", func(c *gc.Collection) Value { return opt(c.Pause(), millis) }},
	{"suspend_ms", func(c *gc.Collection) Value { return opt(c.Suspend(), millis) }},
	{"pauses", func(c *gc.Collection) Value { return integer(len(c.Pauses)) }},
	{"longest_pause_ms", longestPause},
	{"since_last_ms", func(c *gc.Collection) Value { return opt(c.SinceLast, millis) }},
	{"heap_before_bytes", func(c *gc.Collection) Value { return opt(c.HeapBefore, bytes) }},
	{"heap_after_bytes", func(c *gc.Collection) Value { return opt(c.HeapAfter, bytes) }},
	{"heap_peak_bytes", func(c *gc.Collection) Value { return opt(c.HeapPeak, bytes) }},
	{"promoted_bytes", func(c *gc.Collection) Value { return opt(c.Promoted, bytes) }},
	{"freed_bytes", func(c *gc.Collection) Value { return opt(c.Freed, bytes) }},
	{"freed_is", func(c *gc.Collection) Value { return text(c.FreedQuality.String()) }},
	{"allocated_bytes", func(c *gc.Collection) Value { return opt(c.Allocated, bytes) }},
	{"allocated_is", func(c *gc.Collection) Value { return text(c.AllocatedQuality.String()) }},
	{"allocated_by_ticks_bytes", func(c *gc.Collection) Value { return opt(c.AllocatedTicks, bytes) }},
	{"committed_before_bytes", func(c *gc.Collection) Value { return opt(c.CommittedBefore, bytes) }},
	{"committed_after_bytes", func(c *gc.Collection) Value { return opt(c.CommittedAfter, bytes) }},
	{"memory_load_pct", func(c *gc.Collection) Value {
		return opt(c.MemoryLoad, func(v int) Value { return percent(float64(v)) })
	}},
	{"heaps", func(c *gc.Collection) Value { return opt(c.Heaps, integer[int]) }},
	{"pinned_objects", func(c *gc.Collection) Value { return opt(c.PinnedObjects, integer[int64]) }},
	{"finalization_promoted_bytes", func(c *gc.Collection) Value { return opt(c.FinalizationPromoted, bytes) }},
	{"finalization_promoted_count", func(c *gc.Collection) Value {
		return opt(c.FinalizationPromotedObjs, integer[int64])
	}},
	{"gc_handles", func(c *gc.Collection) Value { return opt(c.Handles, integer[int64]) }},
	{"sync_blocks", func(c *gc.Collection) Value { return opt(c.SyncBlocks, integer[int64]) }},
	{"mechanisms", func(c *gc.Collection) Value { return text(strings.Join(c.Mechanisms.Or(0).Names(), " ")) }},
	{"compacted", func(c *gc.Collection) Value { return opt(c.Compacted, boolean) }},
	{"pause_mode", func(c *gc.Collection) Value {
		return opt(c.PauseMode, func(m clr.PauseMode) Value { return text(m.String()) })
	}},
	{"complete", func(c *gc.Collection) Value { return boolean(c.Complete) }},
	{"affected_by_loss", func(c *gc.Collection) Value { return boolean(c.AffectedByLoss) }},
}

// A GenerationColumn is one figure of every generation.
type GenerationColumn struct {
	Name  string
	Value func(*gc.Generation) Value
}

// OfGeneration returns the columns of a generation.
func OfGeneration() []GenerationColumn { return slices.Clone(ofGeneration) }

var ofGeneration = []GenerationColumn{
	{"before_bytes", func(g *gc.Generation) Value { return bytes(g.Before) }},
	{"after_bytes", func(g *gc.Generation) Value { return opt(g.After, bytes) }},
	{"in_bytes", func(g *gc.Generation) Value { return bytes(g.In) }},
	{"out_bytes", func(g *gc.Generation) Value { return bytes(g.Out) }},
	{"freed_bytes", func(g *gc.Generation) Value { return opt(g.Freed, bytes) }},
	{"fragmentation_bytes", func(g *gc.Generation) Value { return opt(g.Fragmentation, bytes) }},
	{"survival_pct", func(g *gc.Generation) Value { return opt(g.Survival, percent) }},
	{"budget_bytes", func(g *gc.Generation) Value { return bytes(g.Budget) }},
	{"pinned_bytes", func(g *gc.Generation) Value { return opt(g.Pinned, bytes) }},
}

func kind(k gc.Kind) Value {
	if k == gc.KindUnknown {
		return Value{}
	}
	return text(k.String())
}

func longestPause(c *gc.Collection) Value {
	if len(c.Pauses) == 0 {
		return Value{}
	}
	var longest time.Duration
	for i := range c.Pauses {
		longest = max(longest, c.Pauses[i].Duration)
	}
	return millis(longest)
}
