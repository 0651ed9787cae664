package stats

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// StallWindows are the lengths of time for which the worst share of pauses is
// found.
var StallWindows = [...]time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second}

// A Stall is the stretch of time, of one of the StallWindows, in which threads
// stood still for longest.
type Stall struct {
	Window time.Duration
	Pause  time.Duration
	From   time.Duration // when it begins
}

// Share is the part of the window, in percent.
func (s *Stall) Share() float64 { return 100 * float64(s.Pause) / float64(s.Window) }

// stalls finds the worst stretches of time. It needs the pauses in order of
// time, while collections come in order of start: those that may still be
// preceded wait.
type stalls struct {
	waiting []span
	windows [len(StallWindows)]window
}

// A window moves along over the pauses.
type window struct {
	pauses []span // those from first on reach into it
	first  int
	sum    time.Duration
	worst  Stall
}

// A span is a pause.
type span struct{ from, to time.Duration }

func (s *stalls) add(c *gc.Collection) {
	if !c.PauseStart.Known {
		return
	}
	n := 0
	for n < len(s.waiting) && s.waiting[n].from < c.PauseStart.V {
		s.pass(s.waiting[n])
		n++
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	for i := range c.Pauses {
		p := span{c.Pauses[i].Start, c.Pauses[i].Start + c.Pauses[i].Duration}
		at := len(s.waiting)
		for at > 0 && s.waiting[at-1].from > p.from {
			at--
		}
		s.waiting = slices.Insert(s.waiting, at, p)
	}
}

// worst are the worst stretches of those windows that fit into the time watched.
func (s *stalls) worst(watched time.Duration) []Stall {
	for _, p := range s.waiting {
		s.pass(p)
	}
	s.waiting = nil
	var worst []Stall
	for i, length := range StallWindows {
		if length <= watched && s.windows[i].worst.Pause > 0 {
			worst = append(worst, s.windows[i].worst)
		}
	}
	return worst
}

func (s *stalls) pass(p span) {
	for i, length := range StallWindows {
		s.windows[i].pass(p, length)
	}
}

// pass moves the window up to the end of p. The worst one ends with a pause: one
// that ends elsewhere loses nothing when it is moved to the end of a pause.
func (w *window) pass(p span, length time.Duration) {
	from := p.to - length
	w.pauses = append(w.pauses, p)
	w.sum += p.to - p.from
	for w.pauses[w.first].to <= from {
		w.sum -= w.pauses[w.first].to - w.pauses[w.first].from
		w.first++
	}
	if w.first > len(w.pauses)/2 {
		w.pauses = slices.Delete(w.pauses, 0, w.first)
		w.first = 0
	}
	in := w.sum - max(0, from-w.pauses[w.first].from)
	if in = min(in, length); in > w.worst.Pause {
		w.worst = Stall{length, in, max(0, from)}
	}
}
