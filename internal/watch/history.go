package watch

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

const (
	// Seconds is how far back a process's history goes.
	Seconds = 600
	// Window is the time that rates are taken over.
	Window = 10 * time.Second
	// Recent is how many collections of a process are kept.
	Recent = 240
)

// A Second sums up the collections of one second of the clock.
type Second struct {
	Collections int           // that ended in it
	Pause       time.Duration // of pauses that began in it
	Longest     time.Duration // of these
	Before      gc.Opt[int64] // the largest heap before one of the collections
	After       gc.Opt[int64] // the heap after the latest
}

// A history holds the latest seconds, Unix time t at index t % Seconds. The zero history
// is empty.
type history struct {
	seconds []Second
	newest  int64 // Unix time
}

// add adds a collection of a trace that began at start. A pause counts where
// it begins.
func (h *history) add(c *Collection, start time.Time) {
	for i := range c.Pauses {
		p := &c.Pauses[i]
		if s := h.at(start.Add(p.Start)); s != nil {
			s.Pause = units.AddCapped(s.Pause, max(0, p.Duration))
			s.Longest = max(s.Longest, p.Duration)
		}
	}
	s := h.at(c.Ended)
	if s == nil {
		return
	}
	s.Collections++
	if c.HeapBefore.Known() && c.HeapBefore.Or(0) >= s.Before.Or(0) {
		s.Before = c.HeapBefore
	}
	if c.HeapAfter.Known() {
		s.After = c.HeapAfter
	}
}

// at returns the second of a time, nil if it is too long ago.
func (h *history) at(t time.Time) *Second {
	unix := t.Unix()
	if h.seconds == nil {
		h.seconds = make([]Second, Seconds)
		h.newest = unix
	}
	if unix <= h.newest-Seconds || unix < 0 {
		return nil
	}
	for first := max(h.newest+1, unix-Seconds+1); first <= unix; first++ {
		h.seconds[first%Seconds] = Second{}
	}
	h.newest = max(h.newest, unix)
	return &h.seconds[unix%Seconds]
}

// until returns the latest seconds up to and including a time's, oldest first.
func (h *history) until(t time.Time) []Second {
	all := make([]Second, Seconds)
	last := t.Unix()
	for i := range all {
		unix := last - Seconds + 1 + int64(i)
		if h.seconds != nil && unix <= h.newest && unix > h.newest-Seconds {
			all[i] = h.seconds[unix%Seconds]
		}
	}
	return all
}

// A ring holds the latest of many values.
type ring[T any] struct {
	all  []T
	next int // the oldest, once the ring is full
}

// add adds a value, in place of the oldest if the ring has as many as it may have.
func (r *ring[T]) add(v T, most int) {
	if len(r.all) < most {
		r.all = append(r.all, v)
		return
	}
	r.all[r.next] = v
	r.next = (r.next + 1) % most
}

// list returns the values, oldest first.
func (r *ring[T]) list() []T {
	list := make([]T, 0, len(r.all))
	return append(append(list, r.all[r.next:]...), r.all[:r.next]...)
}

// An allocation computes the allocation rate, from the bytes allocated since a
// collection more than Window ago, or since the one before the latest.
type allocation struct {
	points []point // by time; the first is the base
}

// A point is the end of a collection, with what was allocated since the one before.
type point struct {
	at        time.Time
	allocated stats.Bytes
}

// maxPoints bounds the collections of a rate; if there are more, the window is shorter.
const maxPoints = 1000

func (a *allocation) add(c *Collection) {
	a.points = append(a.points, point{c.Ended, stats.AllocatedBefore(c.Collection)})
	drop := max(0, len(a.points)-maxPoints)
	for drop+2 < len(a.points) && c.Ended.Sub(a.points[drop+1].at) >= Window {
		drop++
	}
	a.points = append(a.points[:0], a.points[drop:]...)
}

// at returns the rate at a time: unknown before the second collection. While there is
// none, less than one budget is allocated, so that the rate falls; because less than that
// may be allocated, too, it is then an estimate.
func (a *allocation) at(now time.Time) stats.Rate {
	if len(a.points) < 2 {
		return stats.Rate{}
	}
	var sum stats.Bytes
	for i := range a.points[1:] {
		sum.Merge(a.points[1+i].allocated)
	}
	last := a.points[len(a.points)-1].at
	span, since := last.Sub(a.points[0].at), now.Sub(last)
	rate := sum.Per(max(span, since))
	if since > span && rate.Known() {
		rate.Certainty = gc.Estimate
	}
	return rate
}
