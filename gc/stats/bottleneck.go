package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Bottleneck is an interval in which the program ran for less than a given share of the
// time and was suspended for the rest, by GC pauses or anything else. It begins and ends
// with a suspension, and is as long as possible.
type Bottleneck struct {
	From, To time.Duration
	Pause    time.Duration // of collections
	Other    time.Duration // for which threads were suspended outside collections
	Pauses   int           // how many; adjoining pauses count as one
}

// Length returns the length of the interval.
func (b *Bottleneck) Length() time.Duration { return b.To - b.From }

// MutatorUtilization returns the share of the interval in which the program
// ran, in percent.
func (b *Bottleneck) MutatorUtilization() float64 {
	if b.To <= b.From {
		return 0
	}
	return 100 - 100*float64(b.Pause+b.Other)/float64(b.To-b.From)
}

// Bottlenecks finds the intervals of at least MinLength in which the program
// ran for less than Below percent of the time. (Without MinLength, each pause
// would be such an interval.) The zero Bottlenecks finds intervals below 90 %
// of at least 100 ms. The fields must be set before the first Add.
//
// Each pause adds its length times Below to a score, each time between pauses
// subtracts its length times the rest, and the intervals are all maximal
// scoring subsequences, which can be found in linear time (Ruzzo and Tompa, A
// linear time algorithm for finding all maximal scoring subsequences, 1999).
// Bottlenecks must not be copied after the first Add.
type Bottlenecks struct {
	Below     float64       // percent; 0 means 90
	MinLength time.Duration // 0 means 100 ms

	// From and To narrow the time in which suspensions outside collections count.
	From, To gc.Opt[time.Duration]

	spans   stalls // puts the pauses in order
	found   maximal
	process *gc.Process
}

const (
	defaultBelow     = 90
	defaultMinLength = 100 * time.Millisecond

	// maxBottlenecks bounds the retained intervals to the ones with most pause.
	maxBottlenecks = 1000
	// maxCandidates bounds the intervals that may still be extended. Beyond it the
	// oldest is taken to be whole.
	maxCandidates = 4096
)

// Add adds a collection. Collections come in order of their start, as a
// gc.Model yields them.
func (b *Bottlenecks) Add(c *gc.Collection) {
	if b.spans.passed == nil {
		b.found.below, b.found.min = cmp.Or(b.Below, defaultBelow)/100, cmp.Or(b.MinLength, defaultMinLength)
		b.spans.passed, b.spans.others = b.found.add, &scope{b.From, b.To}
	}
	b.process = c.Process
	b.spans.add(c)
}

// AddOutside adds the suspensions outside collections of a collection that is not added
// itself.
func (b *Bottlenecks) AddOutside(all []gc.Outside) { b.spans.addOutside(all) }

// All returns the intervals in the collections so far, at most 1,000, beginning with
// the longest total pauses, and the number of all intervals. It takes time that grows
// with the number of intervals.
func (b *Bottlenecks) All() (list []Bottleneck, count int) {
	found := b.found
	found.candidates, found.done = slices.Clone(found.candidates), slices.Clone(found.done)
	spans := b.spans
	spans.passed = found.add
	if b.process != nil {
		spans = *spans.with(b.process.Outside)
	}
	for _, s := range spans.waits() {
		found.add(s)
	}
	found.flush(len(found.candidates))
	found.trim()
	return found.done, found.count
}

// maximal finds the maximal scoring intervals of pauses that come in order.
type maximal struct {
	below      float64
	min        time.Duration
	score      float64 // of everything so far
	end        time.Duration
	begun      bool
	candidates []candidate
	done       []Bottleneck
	count      int
}

// A candidate is an interval that may still be extended.
type candidate struct {
	Bottleneck
	before, after float64 // the score of everything up to its beginning and its end
}

// add adds the next pause.
func (m *maximal) add(s span) {
	if m.begun {
		m.score -= float64(s.from-m.end) * (1 - m.below)
	}
	m.begun, m.end = true, s.to
	next := candidate{Bottleneck{s.from, s.to, s.pause, s.suspended - s.pause, 0}, m.score, 0}
	if s.pause > 0 {
		next.Pauses = 1
	}
	m.score += float64(s.suspended)*m.below - float64(s.to-s.from-s.suspended)*(1-m.below)
	next.after = m.score
	for {
		i := len(m.candidates) - 1
		for i >= 0 && m.candidates[i].before >= next.before {
			i--
		}
		if i < 0 {
			// None of the earlier ones can be extended, whatever follows.
			m.flush(len(m.candidates))
			break
		}
		if m.candidates[i].after >= next.after {
			break
		}
		// Everything from the ith on is one interval, which may extend further.
		whole := candidate{Bottleneck{From: m.candidates[i].From, To: next.To}, m.candidates[i].before, next.after}
		for _, c := range append(m.candidates[i:], next) {
			whole.Pause += c.Pause
			whole.Other += c.Other
			whole.Pauses += c.Pauses
		}
		m.candidates, next = m.candidates[:i], whole
	}
	m.candidates = append(m.candidates, next)
	if len(m.candidates) > maxCandidates {
		m.flush(len(m.candidates) - maxCandidates)
	}
}

// flush ends the first n intervals.
func (m *maximal) flush(n int) {
	for _, c := range m.candidates[:n] {
		if c.Length() < m.min {
			continue
		}
		m.count++
		m.done = append(m.done, c.Bottleneck)
		if len(m.done) >= 2*maxBottlenecks {
			m.trim()
		}
	}
	m.candidates = slices.Delete(m.candidates, 0, n)
}

// trim keeps the intervals with most pause, and sorts them in descending order.
func (m *maximal) trim() {
	slices.SortFunc(m.done, func(a, b Bottleneck) int {
		return cmp.Or(cmp.Compare(b.Pause+b.Other, a.Pause+a.Other), cmp.Compare(a.From, b.From))
	})
	m.done = m.done[:min(len(m.done), maxBottlenecks)]
}
