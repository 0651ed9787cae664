package stats

import (
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// numStallWindows is the number of StallWindows.
const numStallWindows = 4

var stallWindows = [numStallWindows]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second}

// StallWindows returns the lengths of time for which the worst share of pauses
// is found, the shortest first.
func StallWindows() []time.Duration { return slices.Clone(stallWindows[:]) }

// A Stall is the worst interval of the length of one of the StallWindows: the interval in
// which threads were suspended the longest, by GC pauses or anything else.
type Stall struct {
	Window time.Duration
	Pause  time.Duration // of collections
	Other  time.Duration // for which threads were suspended outside collections
	From   time.Duration // when it begins
}

// Share returns the share of the window that was paused by collections, in percent.
func (s *Stall) Share() float64 { return 100 * float64(s.Pause) / float64(s.Window) }

// MutatorUtilization returns the share of the window in which the program ran,
// in percent.
func (s *Stall) MutatorUtilization() float64 {
	return 100 - 100*float64(s.Pause+s.Other)/float64(s.Window)
}

// stalls finds the worst windows. It needs the pauses in time order, while
// collections come in order of start: a pause waits as long as an earlier one may
// still come.
type stalls struct {
	others  *scope // in which suspensions outside collections count too; nil for none
	spans   []span // in order, none meets another; the last of them wait
	waiting int    // how many wait
	windows [numStallWindows]window
	passed  func(span) // is given each span in time order; nil for none
}

// maxSpans bounds the spans that are kept; beyond it, neighbours are joined.
const maxSpans = 8192

// maxWaiting bounds the waiting spans. Spans beyond it are assumed to be preceded by
// none.
const maxWaiting = 1024

// A span is a pause, or several that were joined.
type span struct {
	from, to  time.Duration
	suspended time.Duration // how much of the time threads were
	pause     time.Duration // how much of that for collections
}

// before returns how long threads were suspended in the part of s before a time, and how
// much of that for collections. It assumes that suspensions are spread evenly over joined
// spans.
func (s *span) before(at time.Duration) (suspended, pause time.Duration) {
	length := s.to - s.from
	part := min(length, max(0, at-s.from))
	if part == 0 {
		return 0, 0
	}
	share := func(d time.Duration) time.Duration {
		if d == length {
			return part
		}
		return time.Duration(float64(d) * float64(part) / float64(length))
	}
	return share(s.suspended), share(s.pause)
}

// A window moves along over the spans.
type window struct {
	first            int           // the first span that reaches into it
	suspended, pause time.Duration // sums from there on
	worst            Stall
}

func (s *stalls) add(c *gc.Collection) {
	s.addOutside(c.Outside)
	at, known := c.PauseStart.Get()
	if !known && len(c.Pauses) == 0 {
		return
	}
	if !known { // its first pause was before the trace
		at = c.Pauses[0].Start
	}
	s.pass(at)
	for i := range c.Pauses {
		p := &c.Pauses[i]
		s.wait(span{p.Start, p.End(), p.Duration, p.Duration})
	}
	s.bound()
}

// addOutside adds suspensions outside collections, if they count.
func (s *stalls) addOutside(all []gc.Outside) {
	if s.others == nil {
		return
	}
	for _, o := range all {
		if o.To > s.others.From.Or(0) && (!s.others.To.Known() || o.From < s.others.To.Or(0)) {
			s.wait(span{o.From, o.To, o.Suspended, 0})
		}
	}
	s.bound()
}

// bound passes the oldest of too many that wait.
func (s *stalls) bound() {
	if s.waiting > maxWaiting {
		s.pass(s.spans[len(s.spans)-maxWaiting].from)
	}
}

// wait adds a span to the waiting ones, merged with the ones that it meets: pauses that
// share a suspension lie in it one after the other, in any order.
func (s *stalls) wait(p span) {
	passed := len(s.spans) - s.waiting
	if passed > 0 {
		p.from = max(p.from, s.spans[passed-1].to)
		p.suspended = min(p.suspended, p.to-p.from)
		p.pause = min(p.pause, p.suspended)
	}
	if p.suspended <= 0 {
		return
	}
	first := len(s.spans)
	for first > passed && s.spans[first-1].to >= p.from {
		first--
	}
	behind := first
	for behind < len(s.spans) && s.spans[behind].from <= p.to {
		p.join(s.spans[behind])
		behind++
	}
	s.spans = slices.Replace(s.spans, first, behind, p)
	s.waiting += 1 - (behind - first)
}

// join extends s by o, to at least the length of both suspensions.
func (s *span) join(o span) {
	s.from = min(s.from, o.from)
	s.suspended = units.AddCapped(s.suspended, o.suspended)
	s.to = max(s.to, o.to, s.from+min(s.suspended, math.MaxInt64-max(0, s.from)))
	s.suspended = min(s.suspended, s.to-s.from)
	s.pause = min(units.AddCapped(s.pause, o.pause), s.suspended)
}

// pass moves the windows over the spans before a time.
func (s *stalls) pass(before time.Duration) {
	for s.waiting > 0 {
		next := len(s.spans) - s.waiting
		if s.spans[next].from >= before {
			break
		}
		for i, length := range stallWindows {
			s.windows[i].pass(s.spans, next, length)
		}
		if s.passed != nil {
			s.passed(s.spans[next])
		}
		s.waiting--
	}
	s.forget()
}

// forget drops the spans that no window reaches, once they are most of them,
// and joins the others if they are too many.
func (s *stalls) forget() {
	passed := len(s.spans) - s.waiting
	first := passed
	for i := range s.windows {
		first = min(first, s.windows[i].first)
	}
	if first > len(s.spans)/2 {
		s.spans = slices.Delete(s.spans, 0, first)
		for i := range s.windows {
			s.windows[i].first -= first
		}
		return
	}
	if passed > maxSpans {
		s.join(passed)
	}
}

// join halves the number of the first passed spans by joining neighbours. The windows start
// again at the first span.
func (s *stalls) join(passed int) {
	var suspended, pause time.Duration
	half := passed / 2
	for i := range half {
		a, b := s.spans[2*i], s.spans[2*i+1]
		s.spans[i] = span{a.from, max(a.to, b.to), a.suspended + b.suspended, a.pause + b.pause}
		suspended += s.spans[i].suspended
		pause += s.spans[i].pause
	}
	s.spans = slices.Delete(s.spans, half, 2*half)
	for i := range s.windows {
		w := &s.windows[i]
		w.first, w.suspended, w.pause = 0, suspended, pause
	}
}

// with returns s, or a copy with further suspensions outside collections.
func (s *stalls) with(outside []gc.Outside) *stalls {
	if s.others == nil || len(outside) == 0 {
		return s
	}
	all := *s
	all.spans = slices.Clone(s.spans)
	all.addOutside(outside)
	return &all
}

// A scope is the time within which suspensions count.
type scope struct{ From, To gc.Opt[time.Duration] }

// waits returns the spans that wait, in order.
func (s *stalls) waits() []span { return s.spans[len(s.spans)-s.waiting:] }

// worst returns the worst stretches of the windows that fit into the time watched.
// outside are the suspensions since the last collection began.
func (s *stalls) worst(watched time.Duration, outside []gc.Outside) []Stall {
	s = s.with(outside)
	var worst []Stall
	for i, length := range stallWindows {
		w := s.windows[i]
		for next := len(s.spans) - s.waiting; next < len(s.spans); next++ {
			w.pass(s.spans, next, length)
		}
		if length <= watched && w.worst.Window > 0 {
			worst = append(worst, w.worst)
		}
	}
	return worst
}

// pass moves the window to the end of the next span. The worst window ends with a
// pause: moving any other window to the end of a pause loses nothing.
func (w *window) pass(spans []span, next int, length time.Duration) {
	from := spans[next].to - length
	w.suspended += spans[next].suspended
	w.pause += spans[next].pause
	for w.first < next && spans[w.first].to <= from {
		w.suspended -= spans[w.first].suspended
		w.pause -= spans[w.first].pause
		w.first++
	}
	suspended, pause := spans[w.first].before(from)
	suspended = min(length, w.suspended-suspended)
	pause = min(suspended, w.pause-pause)
	was := w.worst.Pause + w.worst.Other
	if suspended > was || suspended == was && pause > w.worst.Pause {
		w.worst = Stall{length, pause, suspended - pause, max(0, from)}
	}
}
