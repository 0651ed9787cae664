package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/gc/figure"
)

// maxCompared bounds the collections to compare, of both sides together.
const maxCompared = 4 << 20

// Runs returns the selected processes as runs to compare, at most limit of them.
// Processes with most collections come first.
func Runs(ctx context.Context, s Store, f *Filter, limit int) ([]*compare.Run, error) {
	t := Collections().only(f, slices.Concat(compared, []string{"process", "k8s_pod", "host_name", "pid"})...)
	processes := make(map[string]*process)
	total := 0
	for row, err := range s.rows(ctx, t, f) {
		if err != nil {
			return nil, err
		}
		if total++; total > maxCompared {
			return nil, fmt.Errorf("more than %d collections to compare: select a shorter time or fewer processes", maxCompared)
		}
		uid := t.Value(row, columnUID).Text
		p := processes[uid]
		if p == nil {
			p = &process{name: nameOf(t, row)}
			processes[uid] = p
		}
		p.collections = append(p.collections, figuresOf(t, row))
	}
	all := slices.SortedFunc(maps.Values(processes), func(a, b *process) int {
		return cmp.Or(cmp.Compare(len(b.collections), len(a.collections)), cmp.Compare(a.name, b.name))
	})
	runs := make([]*compare.Run, 0, min(limit, len(all)))
	for _, p := range all[:min(limit, len(all))] {
		if run := p.run(); run != nil {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// nameOf returns the name of a row's process.
func nameOf(t *Table, r Row) string {
	where := cmp.Or(t.Value(r, "k8s_pod").Text, t.Value(r, "host_name").Text)
	name := fmt.Sprintf("%s (%s)", t.Value(r, "process").Text, Text(t.Value(r, "pid")))
	if where == "" {
		return name
	}
	return where + " " + name
}

// compared are the columns that comparisons read.
var compared = []string{
	"generation", "kind", "pause_ms", "suspend_ms", "allocated_bytes", "allocated_is", "allocated_by_ticks_bytes", "promoted_bytes",
	"heap_before_bytes", "heap_after_bytes", "heap_peak_bytes", "committed_before_bytes", "committed_after_bytes", "heaps", "duration_ms", "since_last_ms", "affected_by_loss",
}

// A process is the collections of one.
type process struct {
	name        string
	collections []figures
}

// figures are the compared figures of a collection.
type figures struct {
	at                                                          int64 // Unix nanoseconds
	number                                                      uint32
	kind                                                        gc.Kind
	lossy                                                       bool
	allocatedIs                                                 gc.Certainty
	generation, heaps                                           gc.Opt[int]
	pause, suspend, duration, sinceLast                         gc.Opt[time.Duration]
	allocated, ticks, promoted, committedBefore, committedAfter gc.Opt[int64]
	heapBefore, heapAfter, heapPeak                             gc.Opt[int64]
}

func figuresOf(t *Table, r Row) figures {
	size := func(name string) gc.Opt[int64] {
		v := t.Value(r, name)
		return gc.SomeIf(v.Int, v.Type != figure.Unknown)
	}
	count := func(name string) gc.Opt[int] {
		n, known := size(name).Get()
		return gc.SomeIf(int(n), known)
	}
	length := func(name string) gc.Opt[time.Duration] {
		n, known := size(name).Get()
		return gc.SomeIf(time.Duration(n), known)
	}
	f := figures{
		at: t.Value(r, columnTime).Int, number: uint32(t.Value(r, "number").Int), lossy: t.Value(r, "affected_by_loss").Int != 0,
		generation: count("generation"), heaps: count("heaps"),
		pause: length("pause_ms"), suspend: length("suspend_ms"), duration: length("duration_ms"), sinceLast: length("since_last_ms"),
		allocated: size("allocated_bytes"), ticks: size("allocated_by_ticks_bytes"), promoted: size("promoted_bytes"),
		heapBefore: size("heap_before_bytes"), heapAfter: size("heap_after_bytes"), heapPeak: size("heap_peak_bytes"),
		committedBefore: size("committed_before_bytes"), committedAfter: size("committed_after_bytes"),
	}
	for _, kind := range []gc.Kind{gc.Blocking, gc.Background, gc.Foreground} {
		if kind.String() == t.Value(r, "kind").Text {
			f.kind = kind
		}
	}
	for _, is := range []gc.Certainty{gc.Exact, gc.Estimate, gc.LowerBound} {
		if is.String() == t.Value(r, "allocated_is").Text {
			f.allocatedIs = is
		}
	}
	return f
}

// run returns the process as a run, or nil if no time between collections is known.
//
// It is watched from the end of the collection before its first one to the end of its last
// one, so that each collection comes with the time in which its bytes were allocated. If
// the store does not know the end of the collection before, the first collection only
// starts the clock.
func (p *process) run() *compare.Run {
	slices.SortFunc(p.collections, func(a, b figures) int { return cmp.Compare(a.at, b.at) })
	first, counted := &p.collections[0], p.collections
	began := first.at - int64(first.sinceLast.Or(0))
	if !first.sinceLast.Known() {
		began, counted = first.end(), counted[1:]
	}
	if len(counted) == 0 {
		return nil
	}
	run := &compare.Run{Name: p.name}
	of := &gc.Process{Name: p.name}
	allocated, known := 0.0, true
	for i := range counted {
		f := &counted[i]
		of.Stopped = max(of.Stopped, time.Duration(f.end()-began))
		allocated += float64(f.allocated.Or(0))
		known = known && f.allocated.Known() && !f.lossy && f.allocatedIs != gc.LowerBound
		run.Add(f.collection(of, began))
	}
	if known {
		run.Allocated = gc.Some(compare.Exactly(allocated))
	}
	return run
}

// end returns when the collection and its pause have ended.
func (f *figures) end() int64 { return f.at + int64(max(f.duration.Or(0), f.pause.Or(0))) }

func (f *figures) collection(of *gc.Process, began int64) *gc.Collection {
	start := max(0, time.Duration(f.at-began))
	c := &gc.Collection{
		Process: of, Number: f.number, Generation: f.generation, Kind: f.kind, Heaps: f.heaps, Start: gc.Some(start),
		Allocated: f.allocated, AllocatedQuality: f.allocatedIs, AllocatedTicks: f.ticks, Promoted: f.promoted, HeapBefore: f.heapBefore, HeapAfter: f.heapAfter, HeapPeak: f.heapPeak,
		CommittedBefore: f.committedBefore, CommittedAfter: f.committedAfter, AffectedByLoss: f.lossy,
	}
	if pause, known := f.pause.Get(); known {
		c.Pauses = []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: pause, Suspend: f.suspend}}
		c.AllPauses = true
	}
	return c
}
