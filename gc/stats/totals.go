package stats

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// Totals sums up the figures of collections. The zero Totals is empty.
type Totals struct {
	Count      int
	Incomplete int // whose start, end, statistics or pauses are missing
	Affected   int // whose figures may be affected by lost events
	Doubtful   int // incomplete, or affected by lost events
	Induced    int // requested by the program
	HeapDumps  int // requested by trace sessions, to write the heap

	Pause   Distribution          // of the collections whose pause is known
	Suspend gc.Sum[time.Duration] // of Pause, until all threads were suspended

	Allocated Bytes
	Freed     Bytes
	Promoted  Bytes

	atLeast bool // collections may be missing
}

// Add adds a collection.
func (t *Totals) Add(c *gc.Collection) {
	t.Count++
	if !c.Complete {
		t.Incomplete++
	}
	if c.AffectedByLoss {
		t.Affected++
	}
	if !c.Complete || c.AffectedByLoss {
		t.Doubtful++
	}
	if Induced(c) {
		t.Induced++
	}
	if c.HeapDump {
		t.HeapDumps++
	}
	if p := c.Pause(); p.Known() {
		t.Pause.Add(p.Or(0))
	}
	t.Suspend.Add(c.Suspend())
	t.Allocated.addAllocated(c)
	t.Freed.addFreed(c)
	t.Promoted.add(c.Promoted, gc.Exact, c.AffectedByLoss)
}

// Merge adds all of o.
func (t *Totals) Merge(o *Totals) {
	t.Count += o.Count
	t.Incomplete += o.Incomplete
	t.Affected += o.Affected
	t.Doubtful += o.Doubtful
	t.Induced += o.Induced
	t.HeapDumps += o.HeapDumps
	t.Pause.Merge(&o.Pause)
	t.Suspend.Merge(o.Suspend)
	t.Allocated.Merge(o.Allocated)
	t.Freed.Merge(o.Freed)
	t.Promoted.Merge(o.Promoted)
}

// PausesUnknown returns the number of collections whose pauses were not all
// seen.
func (t *Totals) PausesUnknown() int { return t.Count - t.Pause.Count() }

// PauseAtLeast reports whether Pause is a lower bound: pauses are unknown, or lost events
// may have been of more.
func (t *Totals) PauseAtLeast() bool { return t.atLeast || t.PausesUnknown() > 0 || t.Affected > 0 }

// TotalPause returns the sum of the pauses.
func (t *Totals) TotalPause() gc.Sum[time.Duration] {
	return gc.SumOf(t.Pause.Sum(), t.Pause.Count(), t.PauseAtLeast())
}

// TotalSuspend returns the sum of Suspend, a lower bound where the pauses are.
func (t *Totals) TotalSuspend() gc.Sum[time.Duration] {
	if t.PauseAtLeast() {
		return t.Suspend.AtLeast()
	}
	return t.Suspend
}

// lowerBounds makes the sums lower bounds.
func (t *Totals) lowerBounds() {
	t.atLeast = true
	for _, b := range [...]*Bytes{&t.Allocated, &t.Freed, &t.Promoted} {
		b.AtLeast, b.unbounded = true, true
	}
}

// Induced reports whether the program requested the collection with a form of GC.Collect.
// Collections for GC.TryStartNoGCRegion and for heap dumps have the same reason, but are
// not induced.
func Induced(c *gc.Collection) bool {
	if ForNoGC(c) || c.HeapDump {
		return false
	}
	switch c.Reason.Or(0) {
	case clr.GCReasonInduced, clr.GCReasonInducedNotForced, clr.GCReasonInducedCompacting, clr.GCReasonInducedAggressive:
		return true
	}
	return false
}

// ForNoGC reports whether GC.TryStartNoGCRegion ran the collection, to find the memory
// that its region may allocate.
func ForNoGC(c *gc.Collection) bool { return c.PauseMode == gc.Some(clr.PauseModeNoGC) }
