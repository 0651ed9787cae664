package figure

import "github.com/gctrail/gctrail/gc"

var ofPause = []Part[gc.Pause]{
	{Field{Key: "kind", Type: Text, Always: true, Term: "kind"}, func(p *gc.Pause) Value { return word(p.Kind) }},
	{Field{Key: "start_ms", Type: Millis, Always: true, Term: "start"}, func(p *gc.Pause) Value { return millis(p.Start) }},
	{Field{Key: "duration_ms", Type: Millis, Always: true, Term: "duration"}, func(p *gc.Pause) Value { return millis(p.Duration) }},
	{Field{Key: "suspend_ms", Type: Millis, Term: "suspension"}, func(p *gc.Pause) Value { return span(p.Suspend) }},
	{Field{Key: "restart_ms", Type: Millis, Means: &Definition{
		Name: "restart", Unit: "ms",
		Text: "From RestartEEBegin to RestartEEEnd: not part of the pause (see pause).", Source: "GCRestartEEBegin, GCRestartEEEnd",
	}}, func(p *gc.Pause) Value { return span(p.Restart) }},
}

var ofGeneration = []Part[gc.Generation]{
	{Field{Key: "name", Type: Text, Always: true}, func(g *gc.Generation) Value { return text(g.Name) }},
	{Field{Key: "before_bytes", Type: Bytes, Always: true, Term: "heap before"}, func(g *gc.Generation) Value { return bytes(g.Before) }},
	{Field{Key: "after_bytes", Type: Bytes, Term: "heap after"}, func(g *gc.Generation) Value { return size(g.After) }},
	{Field{Key: "in_bytes", Type: Bytes, Always: true, Means: &Definition{
		Name: "in", Unit: "bytes",
		Text: "Bytes promoted into the generation from the younger one.", Source: "In of GCPerHeapHistory",
	}}, func(g *gc.Generation) Value { return bytes(g.In) }},
	{Field{Key: "out_bytes", Type: Bytes, Always: true, Means: &Definition{
		Name: "survived", Unit: "bytes",
		Text: "Bytes of one generation that survived, whether they moved to an older one or not.", Source: "PinnedSurv and NonePinnedSurv of GCPerHeapHistory (gcrecord.h)",
	}}, func(g *gc.Generation) Value { return bytes(g.Out) }},
	{Field{Key: "freed_bytes", Type: Bytes, Term: "freed"}, func(g *gc.Generation) Value { return size(g.Freed) }},
	{Field{Key: "fragmentation_bytes", Type: Bytes, Means: &Definition{
		Name: "free space", Unit: "bytes",
		Text: "Free space between the objects of a generation after the collection (fragmentation): on the free list, too small for it, or in gen 2 given up by gen 1 GCs until the next gen 2 GC.", Source: "FreeListAfter and FreeObjAfter of GCPerHeapHistory",
		Differs: "the GC's authors judge fragmentation at the start of the next full GC; PerfView shows it at the end of a GC, as gctrail does.",
		Keys:    []string{"free"},
	}}, func(g *gc.Generation) Value { return size(g.Fragmentation) }},
	{Field{Key: "survival_pct", Type: Percent, Means: &Definition{
		Name: "survival", Unit: "%",
		Text:    "Survived divided by the bytes of objects before (the size before without free space). In a report it covers all collections except background GCs. It is unknown for a single background GC, because other GCs promote objects into gen 2 meanwhile.",
		Source:  "GCPerHeapHistory",
		Differs: "PerfView takes the mean of the heaps' percentages, regardless of their sizes.",
	}}, func(g *gc.Generation) Value { return known(g.Survival, percent) }},
	{Field{Key: "budget_bytes", Type: Bytes, Always: true, Means: &Definition{
		Name: "budget", Unit: "bytes",
		Text:   "How much may be allocated in the generation before its next collection, over all heaps. For gen 0 on several heaps it is the GC's final decision times the number of heaps.",
		Source: "NewAllocation of GCPerHeapHistory; for gen0 FinalYoungestDesired and NumHeaps of GCGlobalHeapHistory (gc.cpp, fire_pevents)",
		Keys:   []string{"budget"},
	}}, func(g *gc.Generation) Value { return bytes(g.Budget) }},
	{Field{Key: "pinned_bytes", Type: Bytes, Term: "pinned"}, func(g *gc.Generation) Value { return size(g.Pinned) }},
}

var ofMark = []Part[gc.Mark]{
	{Field{Key: "heap", Type: Int, Always: true}, func(m *gc.Mark) Value { return integer(m.Heap) }},
	{Field{Key: "root", Type: Text, Always: true}, func(m *gc.Mark) Value { return word(m.Root) }},
	{Field{Key: "ms", Type: Millis, Always: true, Term: "marking"}, func(m *gc.Mark) Value { return millis(m.Duration) }},
	{Field{Key: "bytes", Type: Bytes}, func(m *gc.Mark) Value { return size(m.Bytes) }},
}

var ofPhaseTime = []Part[gc.PhaseTime]{
	{Field{Key: "phase", Type: Text, Always: true}, func(t *gc.PhaseTime) Value { return text(t.Phase) }},
	{Field{Key: "ms", Type: Millis, Term: "marking"}, func(t *gc.PhaseTime) Value { return span(t.Duration) }},
}
