// Package jsonl writes collections and events as JSON lines: the output of
// gctrail gcs and gctrail events for other programs. All keys are always
// present, with null for unknown values. Times are milliseconds from the
// trace's start and sizes are bytes; the keys name the unit.
package jsonl

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// rfc3339Nano is RFC 3339 with all nine digits, so that times sort as text.
const rfc3339Nano = "2006-01-02T15:04:05.000000000Z07:00"

// AppendCollection appends c as one line. It does not allocate if dst has room.
// start is the trace's start.
func AppendCollection(dst []byte, start time.Time, c *gc.Collection) []byte {
	w := writer{append(dst, '{')}
	w.identity(c)
	w.times(start, c)
	w.bytes(c)
	w.heaps(c)
	w.bool("complete", c.Complete)
	w.bool("affected_by_loss", c.AffectedByLoss)
	return append(w.dst, "}\n"...)
}

func (w *writer) identity(c *gc.Collection) {
	w.key("pid")
	w.dst = appendID(w.dst, c.Process.PID)
	w.text("process", c.Process.Name)
	w.text("runtime", c.Process.Runtime)
	w.uint("clr_instance", uint64(c.ClrInstance))
	w.uint("number", uint64(c.Number))
	w.optInt("generation", c.Generation)
	w.kind("kind", c.Kind)
	w.kind("requested_kind", c.Requested)
	if r, ok := c.Reason.Get(); ok {
		w.text("reason", r.String())
		w.uint("reason_code", uint64(r))
	} else {
		w.text("reason", "")
		w.text("reason_code", "")
	}
	if reasons, ok := c.Condemned.Get(); ok {
		w.words("condemned", condemnedWords(), uint32(reasons))
	} else {
		w.text("condemned", "")
	}
}

func (w *writer) times(start time.Time, c *gc.Collection) {
	w.key("start_time")
	if at, ok := c.Start.Get(); ok {
		w.dst = start.Add(at).UTC().AppendFormat(append(w.dst, '"'), rfc3339Nano)
		w.dst = append(w.dst, '"')
	} else {
		w.null()
	}
	w.optMS("start_ms", c.Start)
	w.optMS("duration_ms", c.Duration())
	w.optMS("pause_start_ms", c.PauseStart)
	w.optMS("pause_ms", c.Pause())
	w.optMS("suspend_ms", c.Suspend())
	w.key("pauses")
	w.dst = append(w.dst, '[')
	for i := range c.Pauses {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.pause(&c.Pauses[i])
	}
	w.dst = append(w.dst, ']')
	w.optMS("since_last_ms", c.SinceLast)
}

func (w *writer) pause(p *gc.Pause) {
	w.dst = append(w.dst, '{')
	w.text("kind", p.Kind.String())
	w.ms("start_ms", p.Start)
	w.ms("duration_ms", p.Duration)
	w.optMS("suspend_ms", p.Suspend)
	w.optMS("restart_ms", p.Restart)
	w.dst = append(w.dst, '}')
}

func (w *writer) bytes(c *gc.Collection) {
	w.optInt64("heap_before_bytes", c.HeapBefore)
	w.optInt64("heap_after_bytes", c.HeapAfter)
	w.optInt64("heap_peak_bytes", c.HeapPeak)
	w.optInt64("promoted_bytes", c.Promoted)
	w.optInt64("freed_bytes", c.Freed)
	w.text("freed_is", c.FreedQuality.String())
	w.optInt64("allocated_bytes", c.Allocated)
	w.text("allocated_is", c.AllocatedQuality.String())
	w.optInt64("allocated_by_ticks_bytes", c.AllocatedTicks)
	w.optInt64("committed_before_bytes", c.CommittedBefore)
	w.optInt64("committed_after_bytes", c.CommittedAfter)
	w.optInt("memory_load_pct", c.MemoryLoad)
}

func (w *writer) heaps(c *gc.Collection) {
	w.optInt("heaps", c.Heaps)
	w.generations(c.Generations)
	w.optInt64("pinned_objects", c.PinnedObjects)
	w.optInt64("finalization_promoted_bytes", c.FinalizationPromoted)
	w.optInt64("finalization_promoted_count", c.FinalizationPromotedObjs)
	w.optInt64("gc_handles", c.Handles)
	w.optInt64("sync_blocks", c.SyncBlocks)
	if m, ok := c.Mechanisms.Get(); ok {
		w.words("mechanisms", mechanismWords(), uint32(m))
	} else {
		w.text("mechanisms", "")
	}
	w.optBool("compacted", c.Compacted)
	if mode, ok := c.PauseMode.Get(); ok {
		w.text("pause_mode", mode.String())
	} else {
		w.text("pause_mode", "")
	}
	w.key("mark")
	w.dst = append(w.dst, '[')
	for i := range c.Marks {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.mark(&c.Marks[i])
	}
	w.dst = append(w.dst, ']')
	w.key("phase_times")
	w.dst = append(w.dst, '[')
	for i, t := range c.PhaseTimes {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, '{')
		w.text("phase", t.Phase)
		w.optMS("ms", t.Duration)
		w.dst = append(w.dst, '}')
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) generations(gens []gc.Generation) {
	w.key("generations")
	if gens == nil {
		w.null()
		return
	}
	w.dst = append(w.dst, '[')
	for i := range gens {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		g := &gens[i]
		w.dst = append(w.dst, '{')
		w.text("name", g.Name)
		w.int("before_bytes", g.Before)
		w.optInt64("after_bytes", g.After)
		w.int("in_bytes", g.In)
		w.int("out_bytes", g.Out)
		w.optInt64("freed_bytes", g.Freed)
		w.optInt64("fragmentation_bytes", g.Fragmentation)
		w.optFloat("survival_pct", g.Survival)
		w.int("budget_bytes", g.Budget)
		w.optInt64("pinned_bytes", g.Pinned)
		w.dst = append(w.dst, '}')
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) mark(m *gc.Mark) {
	w.dst = append(w.dst, '{')
	w.uint("heap", uint64(m.Heap))
	w.text("root", m.Root.String())
	w.ms("ms", m.Duration)
	w.optInt64("bytes", m.Bytes)
	w.dst = append(w.dst, '}')
}

func (w *writer) kind(key string, k gc.Kind) {
	if k == gc.KindUnknown {
		w.text(key, "")
		return
	}
	w.text(key, k.String())
}
