package handle

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/symbol"
)

// Finalizers sums up the work of the finalizer thread. The zero value is ready
// for use, by one goroutine.
type Finalizers struct {
	// Types, if not nil, names the types, which events identify by number. It must be fed
	// with the trace's events.
	Types *symbol.Types

	processes pass.Table[finalizers]
}

// A finalizers holds the state of one process.
type finalizers struct {
	pid     uint64
	types   map[uint64]int64
	total   Finalization
	running bool
	began   time.Duration
	ready   time.Duration // when objects were last found to need finalization
	waiting bool          // the finalizer thread has not begun since
	found   int64         // objects, since a run ended
	last    gc.Opt[time.Duration]
}

// A Finalization is the work of a process's finalizer thread.
type Finalization struct {
	PID     uint64 // trace.UnknownID if unknown
	Objects int64  // FinalizeObject events
	// Runs counts how often the thread ran finalizers. Running is the total
	// time, Longest the longest run, and Finalized the number of objects, as
	// the runtime counts them.
	Runs      int64
	Running   time.Duration
	Longest   time.Duration
	Finalized int64
	// PromotedObjects and PromotedBytes count the objects that collections kept alive for
	// finalizers.
	PromotedObjects, PromotedBytes int64
	// Queued is how long the thread took to begin after the end of a collection
	// that found such objects: the sum over Waits. LongestQueued is the longest
	// of them.
	Waits         int64
	Queued        time.Duration
	LongestQueued time.Duration
	// Unfinished describes the run that has not ended; unknown if the thread is idle.
	Unfinished gc.Opt[Unfinished]
}

// Unfinished is a run of the finalizer thread without an end.
type Unfinished struct {
	Since time.Duration
	// Waiting counts the objects that collections found since the previous run ended, less
	// the ones that the thread is known to have finalized.
	Waiting int64
	// Last is the time of the latest FinalizeObject; unknown if the trace has none.
	Last gc.Opt[time.Duration]
}

// A Finalized counts the finalized objects of a type.
type Finalized struct {
	PID   uint64 // trace.UnknownID if unknown
	Type  string // empty if unknown
	Count int64
}

// Kinds returns the kinds of events that Finalizers read.
func (*Finalizers) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindFinalizeObject, clr.KindGCFinalizersBegin, clr.KindGCFinalizersEnd, clr.KindGCHeapStats}
}

// Event processes one event.
func (f *Finalizers) Event(e *pass.Event) {
	p, isNew := f.processes.At(e.Process.Index)
	if isNew {
		*p = finalizers{pid: e.Process.PID, types: make(map[uint64]int64), total: Finalization{PID: e.Process.PID}}
	}
	switch e.Kind {
	case clr.KindFinalizeObject:
		if v, ok := pass.Decode[clr.FinalizeObject](e); ok {
			p.finalized(e.Time, v.TypeID)
		}
	case clr.KindGCFinalizersBegin:
		p.begin(e.Time)
	case clr.KindGCFinalizersEnd:
		if v, ok := pass.Decode[clr.GCFinalizersEnd](e); ok {
			p.ended(e.Time, int64(v.Count))
		}
	case clr.KindGCHeapStats:
		if v, ok := pass.Decode[clr.GCHeapStats](e); ok && v.PossibleFinalization() {
			p.promoted(e.Time, int64(v.FinalizationPromotedCount), int64(v.FinalizationPromotedSize))
		}
	}
}

func (p *finalizers) finalized(at time.Duration, id uint64) {
	p.total.Objects++
	p.found, p.last = max(0, p.found-1), gc.Some(at)
	if _, known := p.types[id]; !known && len(p.types) >= maxTypes {
		id = 0
	}
	p.types[id]++
}

func (p *finalizers) begin(at time.Duration) {
	p.running, p.began = true, at
	if p.waiting {
		p.waiting = false
		p.total.Waits++
		p.total.Queued += at - p.ready
		p.total.LongestQueued = max(p.total.LongestQueued, at-p.ready)
	}
}

// ended notes the end of a run. One that began before the trace has no
// duration.
func (p *finalizers) ended(at time.Duration, n int64) {
	p.total.Finalized += n
	p.found = 0
	if !p.running {
		return
	}
	p.running = false
	p.total.Runs++
	p.total.Running += at - p.began
	p.total.Longest = max(p.total.Longest, at-p.began)
}

// promoted records objects that a collection kept alive. While the thread runs, it
// continues with the new ones.
func (p *finalizers) promoted(at time.Duration, objects, bytes int64) {
	p.found += objects
	p.total.PromotedObjects += objects
	p.total.PromotedBytes += bytes
	if objects > 0 && !p.running && !p.waiting {
		p.waiting, p.ready = true, at
	}
}

// Processes returns the work of each process's finalizer thread.
func (f *Finalizers) Processes() []Finalization {
	var all []Finalization
	for p := range f.processes.All() {
		if p.total.Objects+p.total.Runs+p.total.PromotedObjects > 0 {
			total := p.total
			if p.running {
				total.Unfinished = gc.Some(Unfinished{p.began, p.found, p.last})
			}
			all = append(all, total)
		}
	}
	return all
}

// Rows returns the finalized objects of a process by type, in descending order.
func (f *Finalizers) Rows(pid uint64) []Finalized {
	p := f.processes.Find(func(p *finalizers) bool { return p.pid == pid })
	if p == nil {
		return nil
	}
	byName := make(map[string]int64)
	for id, n := range p.types {
		name := ""
		if f.Types != nil {
			name = f.Types.Name(pid, id)
		}
		byName[name] += n
	}
	rows := make([]Finalized, 0, len(byName))
	for name, n := range byName {
		rows = append(rows, Finalized{pid, name, n})
	}
	slices.SortFunc(rows, func(a, b Finalized) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	return rows
}
