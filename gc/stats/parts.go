package stats

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Part is a step of a collection's pause.
type Part uint8

// The parts of pauses, in the order in which collections come to them.
const (
	Suspending     Part = iota
	MarkStacks          // from the stacks of threads
	MarkHandles         // from GC handles
	MarkOlder           // from older generations
	MarkDependent       // from dependent handles
	MarkFinalizers      // objects that wait for their finalizers, or are found dead with one
	MarkOther           // the rest of marking
	ScanWeak            // clears weak handles
	Planning            // finds survivors and their new places
	Relocating          // updates references to objects that move
	Compacting          // moves them
	Sweeping            // builds lists of free space instead
	Outside             // outside all phases that the runtime times: frees memory, waits, restarts
	InBackground        // initial and final pauses of background collections
	Untimed             // the runtime times no phases, or one of them is unknown
	NumParts
)

var partNames = [NumParts]string{
	"suspending", "marking from stacks", "marking from handles", "marking from older objects", "marking from dependent handles",
	"marking for finalizers", "other marking", "clearing weak handles", "planning", "relocating", "compacting", "sweeping",
	"work outside the timed phases", "background GC", "not timed",
}

func (p Part) String() string {
	if p < NumParts {
		return partNames[p]
	}
	return fmt.Sprintf("Part(%d)", uint8(p))
}

// partOfPhase maps the phases that the runtime times to parts. Marking from roots is
// missing because the events of marking divide it further.
var partOfPhase = map[string]Part{
	"MarkShortWeak": ScanWeak, "MarkLongWeak": ScanWeak, "MarkScanFinalization": MarkFinalizers,
	"Plan": Planning, "Relocate": Relocating, "Compact": Compacting, "Sweep": Sweeping,
}

// partOfRoot maps kinds of roots to the part of marking from them; others are MarkOther.
var partOfRoot = map[clr.RootType]Part{
	clr.RootTypeStack: MarkStacks, clr.RootTypeHandles: MarkHandles, clr.RootTypeSizedRef: MarkHandles, clr.RootTypeOlder: MarkOlder,
	clr.RootTypeDependentHandles: MarkDependent, clr.RootTypeFinalizeQueue: MarkFinalizers, clr.RootTypeNewFQ: MarkFinalizers,
}

// A Division divides a pause into its parts.
type Division [NumParts]time.Duration

// Divide divides the pause of a collection. It reports whether the pause is known.
func Divide(c *gc.Collection) (d Division, known bool) {
	pause, known := c.Pause().Get()
	if !known {
		return d, false
	}
	d[Suspending] = min(pause, c.Suspend().Or(0))
	rest := pause - d[Suspending]
	switch {
	case c.Kind == gc.Background:
		d[InBackground] = rest
	case len(c.PhaseTimes) > 0:
		d.addPhases(c, rest)
	default:
		d.addRoots(c, rest, true)
		d[Untimed] = max(0, pause-d.sum())
	}
	return d, true
}

func (d *Division) sum() time.Duration {
	var sum time.Duration
	for _, t := range d {
		sum = units.AddCapped(sum, t)
	}
	return sum
}

// addPhases adds the phases that the runtime timed; rest is the pause without suspending.
func (d *Division) addPhases(c *gc.Collection, rest time.Duration) {
	remainder := Outside
	marking := time.Duration(0)
	for _, t := range c.PhaseTimes {
		took, known := t.Duration.Get()
		if !known {
			remainder = Untimed
			continue
		}
		took = min(took, rest)
		rest -= took
		if part, named := partOfPhase[t.Phase]; named {
			d[part] += took
		} else {
			marking += took
		}
	}
	d.addRoots(c, marking, false)
	d[remainder] += rest
}

// addRoots divides the time of marking, at most most, among the kinds of roots. If the
// events of marking stand alone, it adds all of their times. Otherwise the runtime also
// timed the phases: marking of dead objects with finalizers is a phase of its own, and time
// beyond the events is other marking.
func (d *Division) addRoots(c *gc.Collection, most time.Duration, alone bool) {
	var of Division
	var few [16]Root // as collections have
	for _, r := range appendRoots(few[:0], c) {
		if r.Root == clr.RootTypeNewFQ && !alone {
			continue
		}
		part, named := partOfRoot[r.Root]
		if !named {
			part = MarkOther
		}
		of[part] = units.AddCapped(of[part], r.Duration)
	}
	sum := of.sum()
	scale := 1.0
	if sum > most {
		scale = float64(most) / float64(sum)
	}
	for part, t := range of {
		t = time.Duration(scale * float64(t))
		d[part] += t
		most -= t
	}
	if !alone {
		d[MarkOther] += max(0, most)
	}
}

// A Root is the marking from one kind of root in a collection.
type Root struct {
	Root     clr.RootType
	Duration time.Duration // of the heap that took longest
	Bytes    int64         // of all heaps, as far as they are known
}

// Roots returns the marking of a collection by kind of root.
func Roots(c *gc.Collection) []Root { return appendRoots(nil, c) }

func appendRoots(roots []Root, c *gc.Collection) []Root {
	for i := range c.Marks {
		m := &c.Marks[i]
		roots = addRoot(roots, Root{m.Root, m.Duration, m.Bytes.Or(0)})
	}
	return roots
}

func addRoot(roots []Root, r Root) []Root {
	for i := range roots {
		if roots[i].Root == r.Root {
			roots[i].Duration = max(roots[i].Duration, r.Duration)
			roots[i].Bytes = units.AddCapped(roots[i].Bytes, r.Bytes)
			return roots
		}
	}
	return append(roots, r)
}

// Longest returns the part of a pause that took longest.
func (d *Division) Longest() Part {
	longest := Suspending
	for part, t := range d {
		if t > d[longest] {
			longest = Part(part)
		}
	}
	return longest
}

// Mostly returns the part of a collection's pause that took longest, and its share of the
// pause in percent. It reports whether the runtime times the parts.
func Mostly(c *gc.Collection) (part Part, pct float64, timed bool) {
	d, known := Divide(c)
	part = d.Longest()
	if !known || part >= InBackground {
		return 0, 0, false
	}
	return part, share(d[part], c.Pause().Or(0)), true
}

// A Spent sums up a part of pauses. The zero Spent is empty.
type Spent struct {
	Sum   time.Duration
	Pause time.Duration // all of the pauses
	Count int           // pauses with any of it

	longest [outliers]spell
}

// outliers is the number of pauses that Usual may leave out.
const outliers = 2

// A spell is a part of one pause.
type spell struct{ took, pause time.Duration }

// Add adds a pause and the part of it.
func (s *Spent) Add(took, pause time.Duration) {
	s.Sum, s.Pause = units.AddCapped(s.Sum, took), units.AddCapped(s.Pause, pause)
	if took > 0 {
		s.Count++
	}
	for i := range s.longest {
		if took > s.longest[i].took {
			s.longest[i], took, pause = spell{took, pause}, s.longest[i].took, s.longest[i].pause
		}
	}
}

// Share returns the part's share of all pauses, in percent.
func (s *Spent) Share() float64 { return share(s.Sum, s.Pause) }

// Usual returns the smaller of two shares, in percent: of all pauses, and of all but the
// two with the most of the part. A thread that waits for a processor can make one step of
// one collection longer than all others together.
func (s *Spent) Usual() float64 {
	sum, pause := s.Sum, s.Pause
	for _, l := range s.longest {
		sum, pause = sum-l.took, pause-l.pause
	}
	return min(s.Share(), share(sum, pause))
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return min(100, 100*float64(part)/float64(whole))
}
