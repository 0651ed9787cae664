package figure

import (
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// table has all figures of a collection, in the order of JSON lines.
var table = []Figure{
	{
		Key: "pid", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return id(c.Process.PID) },
		Listed: &Listed{Place: 1, Varies: true},
	},
	{
		Key: "process", Type: Text, Value: func(c *gc.Collection) Value { return text(c.Process.Name) },
		Listed: &Listed{Place: 2, Rank: 4, Varies: true},
	},
	{Key: "runtime", Type: Text, Value: func(c *gc.Collection) Value { return text(c.Process.Runtime) }},
	{
		Key: "clr_instance", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return integer(c.ClrInstance) },
		Term: "collection", Always: true,
	},
	{
		Key: "number", Type: Int, Form: FormPlain, Value: func(c *gc.Collection) Value { return integer(c.Number) },
		Term: "collection", Always: true, Heading: "GC",
		Listed: &Listed{Place: 3},
		Until:  &Condition{Place: 7, Word: "number", Meaning: "the runtime's number of the collection", Example: "1000"},
		Page:   &PageColumn{Place: 1, ID: "number", Label: "GC", Width: 6, Start: true},
	},
	{
		Key: "generation", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Generation) },
		Term: "generation", Heading: "gen",
		Listed: &Listed{Place: 5},
		Until:  &Condition{Place: 4, Word: "gen", Meaning: "the collected generation", Example: "0, 1, 2", Below: 3},
		Page:   &PageColumn{Place: 3, ID: "gen", Label: "gen", Width: 4, Start: true},
	},
	{
		Key: "kind", Type: Text, Form: FormWord, Value: func(c *gc.Collection) Value { return kind(c.Kind) },
		Term:   "kind",
		Listed: &Listed{Place: 6, Rank: 2},
		Until:  &Condition{Place: 5, Word: "kind", Meaning: "blocking, background or foreground", Example: "background", Words: kinds},
		Page:   &PageColumn{Place: 4, ID: "kind", Label: "kind", Width: 10, Start: true},
	},
	{Key: "requested_kind", Type: Text, Value: func(c *gc.Collection) Value { return kind(c.Requested) }, Term: "kind"},
	{
		Key: "reason", Type: Text, Form: FormWord, Value: func(c *gc.Collection) Value {
			r, known := c.Reason.Get()
			if !known {
				return Value{}
			}
			return word(r, r.String())
		},
		Term:   "reason",
		Listed: &Listed{Place: 7, Rank: 1},
		Until:  &Condition{Place: 6, Word: "reason", Meaning: "why it started", Example: "Induced, AllocSmall, ...", Words: reasons},
		Page:   &PageColumn{Place: 5, ID: "reason", Label: "reason", Width: 13, Start: true},
	},
	{
		Key: "reason_code", Type: Int, Value: func(c *gc.Collection) Value {
			if r, known := c.Reason.Get(); known {
				return integer(uint32(r))
			}
			return Value{}
		},
		Term: "reason", Only: InJSON,
	},
	{
		Key: "condemned", Type: Words, Value: func(c *gc.Collection) Value { return bits(c.Condemned) },
		Term: "condemned", Names: condemnedNames,
	},
	{Key: "start_time", Type: Time, Value: func(c *gc.Collection) Value { return span(c.Start) }, Term: "start", Only: InJSON},
	{
		Key: "start_ms", Type: Millis, Form: FormMoment, Value: func(c *gc.Collection) Value { return span(c.Start) },
		Term:   "start",
		Listed: &Listed{Place: 4},
		Page:   &PageColumn{Place: 2, ID: "start", Label: "start", Width: 9, Start: true},
	},
	{
		Key: "duration_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Duration()) },
		Term:  "duration",
		Until: &Condition{Place: 3, Word: "duration", Meaning: "time from start to end", Example: "1.5s"},
		Page:  &PageColumn{Place: 8, ID: "duration", Label: "duration"},
	},
	{Key: "pause_start_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.PauseStart) }, Term: "pause"},
	{
		Key: "pause_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Pause()) },
		Term:   "pause",
		Listed: &Listed{Place: 8},
		Until:  &Condition{Place: 1, Word: "pause", Meaning: "how long threads were paused", Example: "200ms"},
		Page:   &PageColumn{Place: 6, ID: "pause", Label: "pause", Start: true},
	},
	{
		Key: "suspend_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.Suspend()) },
		Term:   "suspension",
		Listed: &Listed{Place: 9, Rank: 8},
		Until:  &Condition{Place: 2, Word: "suspend", Meaning: "time until all threads were suspended", Example: "50ms"},
		Page:   &PageColumn{Place: 7, ID: "suspend", Label: "suspend", Start: true},
	},
	{Key: "pauses", Type: Int, Value: func(c *gc.Collection) Value { return integer(len(c.Pauses)) }, Term: "pause", Always: true, Only: InColumns},
	{
		Key: "pauses", Type: List, Term: "pause", Always: true, Only: InJSON,
		Items: &items[gc.Pause]{func(c *gc.Collection) []gc.Pause { return c.Pauses }, ofPause, true},
	},
	{Key: "longest_pause_ms", Type: Millis, Value: longestPause, Term: "pause", Only: InColumns},
	{
		Key: "since_last_ms", Type: Millis, Value: func(c *gc.Collection) Value { return span(c.SinceLast) },
		Term: "since last",
		Page: &PageColumn{Place: 9, ID: "since", Label: "since last"},
	},
	{
		Key: HeapBefore, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapBefore) },
		Term: "heap before", Heading: "before MB", Label: "Heap before",
		Listed: &Listed{Place: 11, Rank: 5},
		Until:  &Condition{Place: 9, Word: "before", Meaning: "heap size before", Example: "2GB"},
		Page:   &PageColumn{Place: 10, ID: "before", Label: "before", Start: true},
	},
	{
		Key: HeapAfter, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapAfter) },
		Term: "heap after", Heading: "after MB", Label: "Heap after",
		Listed: &Listed{Place: 12, Rank: 3},
		Until:  &Condition{Place: 8, Word: "heap", Meaning: "heap size after", Example: "1.5GB"},
		Page:   &PageColumn{Place: 11, ID: "after", Label: "after", Start: true},
	},
	{Key: HeapPeak, Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.HeapPeak) }, Term: "heap peak"},
	{
		Key: "promoted_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Promoted) },
		Term: "promoted", Label: "Promoted",
		Listed: &Listed{Place: 14, Rank: 7},
		Until:  &Condition{Place: 11, Word: "promoted", Meaning: "bytes that survived", Example: "100MB"},
		Page:   &PageColumn{Place: 13, ID: "promoted", Label: "promoted", Start: true},
	},
	{
		Key: "freed_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Freed) },
		Term: "freed", Label: "Freed",
		Is:     func(c *gc.Collection) gc.Certainty { return c.FreedQuality },
		Listed: &Listed{Place: 13, Rank: 4},
		Until:  &Condition{Place: 10, Word: "freed", Meaning: "bytes freed", Example: "10MB"},
		Page:   &PageColumn{Place: 12, ID: "freed", Label: "freed", Start: true},
	},
	{Key: "freed_is", Type: Text, Value: func(c *gc.Collection) Value { return word(c.FreedQuality, c.FreedQuality.String()) }, Term: "freed"},
	{
		Key: "allocated_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.Allocated) },
		Term: "allocated", Heading: "alloc MB", Label: "Allocated since the previous GC",
		Is:     func(c *gc.Collection) gc.Certainty { return c.AllocatedQuality },
		Listed: &Listed{Place: 10, Rank: 6},
		Until:  &Condition{Place: 13, Word: "allocated", Meaning: "allocated since the previous collection", Example: "500MB"},
		Page:   &PageColumn{Place: 14, ID: "allocated", Label: "allocated", Start: true},
	},
	{Key: "allocated_is", Type: Text, Value: func(c *gc.Collection) Value { return word(c.AllocatedQuality, c.AllocatedQuality.String()) }, Term: "allocated"},
	{Key: "allocated_by_ticks_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.AllocatedTicks) }, Term: "allocated"},
	{
		Key: "allocated_bytes_per_s", Type: Rate, Value: rate,
		Term: "allocation rate", Only: InConditions,
		Until: &Condition{Place: 14, Word: "rate", Meaning: "allocation rate since then", Example: "100MB/s"},
		Page:  &PageColumn{Place: 15, ID: "rate", Label: "alloc. rate", Width: 10},
	},
	{Key: "committed_before_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.CommittedBefore) }, Term: "committed"},
	{
		Key: "committed_after_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.CommittedAfter) },
		Term:  "committed",
		Until: &Condition{Place: 12, Word: "committed", Meaning: "committed memory after", Example: "3GB"},
		Page:  &PageColumn{Place: 16, ID: "committed", Label: "committed", Start: true},
	},
	{
		Key: "memory_load_pct", Type: Percent, Value: func(c *gc.Collection) Value {
			if load, known := c.MemoryLoad.Get(); known {
				return percent(float64(load))
			}
			return Value{}
		},
		Term: "memory load", Form: FormPlain, Heading: "load %",
		Listed: &Listed{Place: 16, Rank: 10},
		Until:  &Condition{Place: 15, Word: "load", Meaning: "memory load of the machine or container", Example: "90%"},
		Page:   &PageColumn{Place: 17, ID: "load", Label: "load", Width: 7},
	},
	{
		Key: "heaps", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Heaps) },
		Term: "heaps",
		Page: &PageColumn{Place: 18, ID: "heaps", Label: "heaps"},
	},
	{
		Key: "generations", Type: List, Term: "generation", Only: InJSON,
		Items: &items[gc.Generation]{func(c *gc.Collection) []gc.Generation { return c.Generations }, ofGeneration, false},
	},
	{
		Key: "pinned_objects", Type: Int, Value: func(c *gc.Collection) Value { return count(c.PinnedObjects) },
		Term: "pinned", Heading: "pinned", Label: "Pinned objects",
		Listed: &Listed{Place: 15, Rank: 9},
		Until:  &Condition{Place: 16, Word: "pinned", Meaning: "pinned objects found", Example: "1000"},
		Page:   &PageColumn{Place: 19, ID: "pinned", Label: "pinned"},
	},
	{Key: "finalization_promoted_bytes", Type: Bytes, Value: func(c *gc.Collection) Value { return size(c.FinalizationPromoted) }, Term: "finalization"},
	{Key: "finalization_promoted_count", Type: Int, Value: func(c *gc.Collection) Value { return count(c.FinalizationPromotedObjs) }, Term: "finalization"},
	{Key: "gc_handles", Type: Int, Value: func(c *gc.Collection) Value { return count(c.Handles) }, Term: "handles"},
	{Key: "sync_blocks", Type: Int, Value: func(c *gc.Collection) Value { return count(c.SyncBlocks) }, Term: "handles"},
	{
		Key: "mechanisms", Type: Words, Value: func(c *gc.Collection) Value { return bits(c.Mechanisms) },
		Term: "mechanisms", Names: mechanismNames,
	},
	{
		Key: "compacted", Type: Bool, Value: func(c *gc.Collection) Value {
			if v, known := c.Compacted.Get(); known {
				return boolean(v)
			}
			return Value{}
		},
		Term: "mechanisms",
	},
	{
		Key: "pause_mode", Type: Text, Value: func(c *gc.Collection) Value {
			if m, known := c.PauseMode.Get(); known {
				return word(m, m.String())
			}
			return Value{}
		},
		Term: "pause mode",
	},
	{
		Key: "mark", Type: List, Term: "marking", Always: true, Only: InJSON,
		Items: &items[gc.Mark]{func(c *gc.Collection) []gc.Mark { return c.Marks }, ofMark, true},
	},
	{
		Key: "phase_times", Type: List, Term: "phase times", Always: true, Only: InJSON,
		Items: &items[gc.PhaseTime]{func(c *gc.Collection) []gc.PhaseTime { return c.PhaseTimes }, ofPhaseTime, true},
	},
	{Key: "complete", Type: Bool, Value: func(c *gc.Collection) Value { return boolean(c.Complete) }, Term: "complete", Always: true},
	{Key: "affected_by_loss", Type: Bool, Value: func(c *gc.Collection) Value { return boolean(c.AffectedByLoss) }, Term: "affected by loss", Always: true},
}

var ofPause = []Part[gc.Pause]{
	{Field{"kind", Text, true, "kind"}, func(p *gc.Pause) Value { return word(p.Kind, p.Kind.String()) }},
	{Field{"start_ms", Millis, true, "start"}, func(p *gc.Pause) Value { return millis(p.Start) }},
	{Field{"duration_ms", Millis, true, "duration"}, func(p *gc.Pause) Value { return millis(p.Duration) }},
	{Field{"suspend_ms", Millis, false, "suspension"}, func(p *gc.Pause) Value { return span(p.Suspend) }},
	{Field{"restart_ms", Millis, false, "restart"}, func(p *gc.Pause) Value { return span(p.Restart) }},
}

var ofGeneration = []Part[gc.Generation]{
	{Field{"name", Text, true, ""}, func(g *gc.Generation) Value { return text(g.Name) }},
	{Field{"before_bytes", Bytes, true, "heap before"}, func(g *gc.Generation) Value { return bytes(g.Before) }},
	{Field{"after_bytes", Bytes, false, "heap after"}, func(g *gc.Generation) Value { return size(g.After) }},
	{Field{"in_bytes", Bytes, true, "in"}, func(g *gc.Generation) Value { return bytes(g.In) }},
	{Field{"out_bytes", Bytes, true, "survived"}, func(g *gc.Generation) Value { return bytes(g.Out) }},
	{Field{"freed_bytes", Bytes, false, "freed"}, func(g *gc.Generation) Value { return size(g.Freed) }},
	{Field{"fragmentation_bytes", Bytes, false, "free space"}, func(g *gc.Generation) Value { return size(g.Fragmentation) }},
	{Field{"survival_pct", Percent, false, "survival"}, func(g *gc.Generation) Value {
		if v, known := g.Survival.Get(); known {
			return percent(v)
		}
		return Value{}
	}},
	{Field{"budget_bytes", Bytes, true, "budget"}, func(g *gc.Generation) Value { return bytes(g.Budget) }},
	{Field{"pinned_bytes", Bytes, false, "pinned"}, func(g *gc.Generation) Value { return size(g.Pinned) }},
}

var ofMark = []Part[gc.Mark]{
	{Field{"heap", Int, true, ""}, func(m *gc.Mark) Value { return integer(m.Heap) }},
	{Field{"root", Text, true, ""}, func(m *gc.Mark) Value { return word(m.Root, m.Root.String()) }},
	{Field{"ms", Millis, true, "marking"}, func(m *gc.Mark) Value { return millis(m.Duration) }},
	{Field{"bytes", Bytes, false, ""}, func(m *gc.Mark) Value { return size(m.Bytes) }},
}

var ofPhaseTime = []Part[gc.PhaseTime]{
	{Field{"phase", Text, true, ""}, func(t *gc.PhaseTime) Value { return text(t.Phase) }},
	{Field{"ms", Millis, false, "marking"}, func(t *gc.PhaseTime) Value { return span(t.Duration) }},
}

func kind(k gc.Kind) Value {
	if k == gc.KindUnknown {
		return Value{}
	}
	return word(k, k.String())
}

func kinds() []string {
	return []string{gc.Blocking.String(), gc.Background.String(), gc.Foreground.String()}
}

func reasons() []string {
	var words []string
	for r := range clr.GCReasonInducedAggressive + 1 {
		words = append(words, r.String())
	}
	return words
}

var (
	mechanismNames = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.GlobalMechanisms(bit).Names() })
	})
	condemnedNames = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.CondemnReasons1(bit).Names() })
	})
)

// bitNames returns the names of single bits. Made once, they spare every collection
// the slices of names.
func bitNames(names func(bit uint32) []string) *[32]string {
	var all [32]string
	for i := range all {
		if n := names(1 << i); len(n) == 1 {
			all[i] = n[0]
		}
	}
	return &all
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

// rate returns bytes a second of the time that threads could run.
func rate(c *gc.Collection) Value {
	since := c.SinceLast.Or(0)
	allocated, known := c.Allocated.Get()
	if !known || since <= 0 {
		return Value{}
	}
	return Value{Type: Rate, Float: float64(allocated) / since.Seconds()}
}
