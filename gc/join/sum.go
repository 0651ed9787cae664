package join

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Sum adds up the activities of one process's heaps in its collections. The zero Sum is
// ready for use.
type Sum struct {
	Collections int

	total  Collection
	rows   map[phaseOf]int                   // of total
	marked map[uint32]map[clr.RootType]int64 // bytes, by heap
}

// A phaseOf is a phase of a heap.
type phaseOf struct {
	heap  uint32
	phase string
}

// Add adds a collection.
func (s *Sum) Add(c *Collection) {
	s.Collections++
	s.total.Pause += c.Pause
	if s.rows == nil {
		s.rows = make(map[phaseOf]int)
	}
	next := 0
	for i := range c.Rows {
		r := &c.Rows[i]
		at := s.row(next, phaseOf{r.Heap, r.Phase})
		s.total.Rows[at].Add(r)
		next = at + 1
	}
}

// row returns the index of a row of the total. Most collections have the same rows in the
// same order: the row is likely to be at likely.
func (s *Sum) row(likely int, k phaseOf) int {
	if likely < len(s.total.Rows) {
		if r := &s.total.Rows[likely]; r.Heap == k.heap && r.Phase == k.phase {
			return likely
		}
	}
	at, known := s.rows[k]
	if !known {
		at = len(s.total.Rows)
		s.rows[k] = at
		s.total.Rows = append(s.total.Rows, Row{Heap: k.heap, Phase: k.phase})
	}
	return at
}

// Mark adds the bytes that a heap's thread marked from one kind of root.
func (s *Sum) Mark(heap uint32, root clr.RootType, bytes int64) {
	if s.marked == nil {
		s.marked = make(map[uint32]map[clr.RootType]int64)
	}
	if s.marked[heap] == nil {
		s.marked[heap] = make(map[clr.RootType]int64)
	}
	s.marked[heap][root] += bytes
}

// Pause returns the length of all pauses.
func (s *Sum) Pause() time.Duration { return s.total.Pause }

// Rows returns the phases of the heaps, in descending order of the time that other heaps
// waited for them.
func (s *Sum) Rows() []Row {
	rows := slices.Clone(s.total.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.WaitedFor, a.WaitedFor) })
	return rows
}

// Heaps returns the activities of each heap's thread in all phases together, in
// descending order of the time that others waited for it.
func (s *Sum) Heaps() []Row {
	byHeap := make(map[uint32]*Row)
	for i := range s.total.Rows {
		r := &s.total.Rows[i]
		if byHeap[r.Heap] == nil {
			byHeap[r.Heap] = &Row{Heap: r.Heap}
		}
		byHeap[r.Heap].Add(r)
	}
	heaps := make([]Row, 0, len(byHeap))
	for _, r := range byHeap {
		heaps = append(heaps, *r)
	}
	slices.SortFunc(heaps, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.WaitedFor, a.WaitedFor), cmp.Compare(a.Heap, b.Heap))
	})
	return heaps
}

// A Cause is why other heaps wait for a heap.
type Cause uint8

const (
	// CauseUnknown means that no heap stands out: phases of unequal length make
	// the heaps wait for each other in turn.
	CauseUnknown Cause = iota
	// UnevenRoots means that the heap's thread marks more than the others.
	UnevenRoots
	// SlowWake means that its thread takes long to run after a restart: the
	// processors are busy with other threads.
	SlowWake
	// SlowWork means that its thread works longer without marking more: it is
	// preempted, or its memory is slower.
	SlowWork
	// AllSlowWake means that the threads of all heaps take long to run after a restart:
	// the processors are busy with other threads, or the process is not allowed to use
	// them (a CPU limit). Only events of the processors show whether they idle meanwhile.
	AllSlowWake
)

var causeNames = [...]string{"", "uneven_roots", "slow_wake", "slow_work", "all_slow_wake"}

func (c Cause) String() string { return units.Name("Cause", causeNames[:], c) }

// The thresholds of the causes.
const (
	muchMore   = 1.3 // times the mean of the heaps
	slowToWake = 0.1 // of the pauses
)

// A Straggler is the heap that others waited for longest.
type Straggler struct {
	Heap  uint32
	Held  time.Duration // how long others waited, in total
	Cause Cause
	// Marked is the number of bytes that the heap's thread marked, and
	// MarkedRatio their ratio to the mean of the heaps.
	Marked      gc.Opt[int64]
	MarkedRatio gc.Opt[float64]
	// Root is the kind of root that contributes most to the excess over the
	// mean, if Cause is UnevenRoots.
	Root   clr.RootType
	Waking time.Duration // in all pauses; if Cause is AllSlowWake, the mean of the heaps
}

// Straggler returns the heap that others waited for longest, with the likely
// cause; false if there was no waiting.
func (s *Sum) Straggler() (Straggler, bool) {
	heap, held, ok := s.total.Straggler()
	if !ok {
		return Straggler{}, false
	}
	var own, all Row
	waking := make(map[uint32]time.Duration)
	for i := range s.total.Rows {
		r := &s.total.Rows[i]
		waking[r.Heap] += r.Waking
		all.Add(r)
		if r.Heap == heap {
			own.Add(r)
		}
	}
	of := Straggler{Heap: heap, Held: held, Waking: own.Waking}
	n := float64(len(waking))
	slow := time.Duration(slowToWake * float64(s.total.Pause))
	allSlow := true
	for _, d := range waking {
		allSlow = allSlow && d > slow
	}
	var marked, ownMarked int64
	for h, byRoot := range s.marked {
		for _, bytes := range byRoot {
			marked += bytes
			if h == heap {
				ownMarked += bytes
			}
		}
	}
	if marked > 0 {
		of.Marked = gc.Some(ownMarked)
		of.MarkedRatio = gc.Some(float64(ownMarked) * n / float64(marked))
	}
	switch {
	case of.MarkedRatio.Or(0) > muchMore:
		of.Cause, of.Root = UnevenRoots, s.unevenRoot(heap, n)
	case allSlow:
		of.Cause = AllSlowWake
		of.Waking = all.Waking / time.Duration(len(waking))
	case own.Waking > slow:
		of.Cause = SlowWake
	case float64(own.Working)*n > muchMore*float64(all.Working):
		of.Cause = SlowWork
	}
	return of, true
}

// unevenRoot returns the kind of root from which a heap marked most above the
// mean of n heaps.
func (s *Sum) unevenRoot(heap uint32, n float64) clr.RootType {
	excess := make(map[clr.RootType]float64)
	for h, byRoot := range s.marked {
		for root, bytes := range byRoot {
			excess[root] -= float64(bytes) / n
			if h == heap {
				excess[root] += float64(bytes)
			}
		}
	}
	var most clr.RootType
	found := false
	for root, bytes := range excess {
		if !found || bytes > excess[most] || bytes == excess[most] && root < most {
			most, found = root, true
		}
	}
	return most
}
