package trace

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/internal/units"
)

// Loss describes the events missing from a trace.
type Loss struct {
	// Events is the number of events known to be lost.
	Events uint64
	// LeftOut counts the part of Events that is in the trace, but was left out because it
	// has more processes than a model distinguishes.
	LeftOut uint64
	// Exactness qualifies Events.
	Exactness Exactness
	// Truncated is set if the trace ends before its end mark.
	Truncated bool
	// StreamsUnknown is set if whole parts, such as the files of further processors, may
	// be missing without a sign in the other parts.
	StreamsUnknown bool
	// Late counts events that came out of order: see Event.Late.
	Late uint64
	// Damage lists the places that could not be read, at most MaxDamage.
	Damage []Damage
	// Damaged is the number of such places, listed or not.
	Damaged int
	// Settled is the time up to which no further loss can be found.
	Settled time.Duration

	ranges []Range
}

// MaxDamage bounds Loss.Damage.
const MaxDamage = 16

// A Damage is a place in the input that could not be read.
type Damage struct {
	File string // of a trace of several files; empty if there is one
	Off  int64  // in the uncompressed file
	Err  error  // a *FormatError, or the error of reading
}

// Exactness qualifies a number of lost events.
type Exactness uint8

const (
	Unknown    Exactness = iota // the format does not count lost events
	LowerBound                  // more may be lost: the trace is truncated or damaged
	Exact
)

var exactnessNames = [...]string{"unknown", "lower_bound", "exact"}

func (e Exactness) String() string { return units.Name("Exactness", exactnessNames[:], e) }

// A Range is a stretch of time, in which events were lost.
type Range struct{ From, To time.Duration }

// maxRanges bounds the memory of a Loss; beyond it, neighbours are joined.
const maxRanges = 4096

// Add records that n events were lost between from and to.
func (l *Loss) Add(n uint64, from, to time.Duration) {
	l.Events += n
	if from > to {
		from, to = to, from
	}
	i := l.from(from)
	j := i
	for j < len(l.ranges) && l.ranges[j].From <= to {
		from, to = min(from, l.ranges[j].From), max(to, l.ranges[j].To)
		j++
	}
	l.ranges = slices.Replace(l.ranges, i, j, Range{from, to})
	if len(l.ranges) > maxRanges {
		l.ranges = timeline.Halve(l.ranges, func(into, later *Range) { into.To = later.To })
	}
}

// Join adds the lost events of o, unless l already counts them.
func (l *Loss) Join(o *Loss) {
	l.Events += o.Events
	l.LeftOut += o.LeftOut
	for _, r := range o.ranges {
		if l.Exactness == Exact && !l.Touches(r.From, r.To) {
			l.Exactness = LowerBound
		}
		l.Add(0, r.From, r.To)
	}
}

// AddDamage records a place that could not be read.
func (l *Loss) AddDamage(d Damage) {
	l.Damaged++
	if len(l.Damage) < MaxDamage {
		l.Damage = append(l.Damage, d)
	}
}

// AddFormatError records the place of an error.
func (l *Loss) AddFormatError(e *FormatError) {
	l.AddDamage(Damage{File: e.File, Off: e.Off, Err: e})
}

// Ranges returns the ranges of time in which events were lost, in order and
// without overlap.
func (l *Loss) Ranges() []Range { return l.ranges }

// Clone returns a copy that further losses do not change.
func (l *Loss) Clone() Loss {
	c := *l
	c.Damage, c.ranges = slices.Clone(l.Damage), slices.Clone(l.ranges)
	return c
}

// Dropped returns how many events are known not to be in the trace.
func (l *Loss) Dropped() uint64 { return l.Events - l.LeftOut }

// Uncounted reports whether an unknown number of events is, or may be, missing.
func (l *Loss) Uncounted() bool { return l.StreamsUnknown || l.Events == 0 && len(l.ranges) > 0 }

// Incomplete reports whether events are missing, or may be.
func (l *Loss) Incomplete() bool {
	return l.Events > 0 || l.Truncated || l.Damaged > 0 || l.Uncounted()
}

// Holes reports whether an unknown number of events may be missing between from and to.
func (l *Loss) Holes(from, to time.Duration) bool {
	return l.Damaged > 0 || l.LeftOut > 0 || l.Truncated && to >= MaxTime || l.StreamsUnknown || l.Uncounted() && l.Touches(from, to)
}

// Clip limits the ranges to the last time of the trace, once that is known. Losses after it
// are at that time.
func (l *Loss) Clip(last time.Duration) {
	if i := l.from(last); i < len(l.ranges) {
		l.ranges[i] = Range{min(l.ranges[i].From, last), last}
		l.ranges = l.ranges[:i+1]
	}
}

// Touches reports whether events may be missing between from and to.
func (l *Loss) Touches(from, to time.Duration) bool {
	i := l.from(from)
	return i < len(l.ranges) && l.ranges[i].From <= to
}

// from returns the index of the first range that ends at a time or later.
func (l *Loss) from(t time.Duration) int {
	i, _ := slices.BinarySearchFunc(l.ranges, t, func(r Range, t time.Duration) int {
		if r.To < t {
			return -1
		}
		return 1
	})
	return i
}
