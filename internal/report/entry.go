package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/units"
)

// An Entry describes a trace in a list.
type Entry struct {
	Process  string     `json:"process,omitempty"`
	Start    *time.Time `json:"start,omitempty"`
	Duration Millis     `json:"duration_ms,omitempty"`
	Verdict  string     `json:"verdict,omitempty"`
}

// Entry describes the trace for a list.
func (r *Report) Entry() Entry {
	d := r.Document()
	e := Entry{Duration: d.Duration, Verdict: d.Verdict}
	if start := r.info.Start; !start.IsZero() {
		e.Start = &start
	}
	if len(d.Processes) > 0 {
		e.Process = export.Clean(cmp.Or(d.Processes[0].Name.Or(""), "process"))
		if more := len(d.Processes) - 1; more > 0 {
			e.Process += fmt.Sprintf(" and %d more", more)
		}
	}
	return e
}

// SnapshotEntry describes a .gcdump file for a list.
func SnapshotEntry(s *heap.Snapshot) Entry {
	return Entry{Verdict: fmt.Sprintf("Heap snapshot: %s%s objects, %s.", s.About(), units.Count(s.Objects), units.Bytes(s.Bytes))}
}
