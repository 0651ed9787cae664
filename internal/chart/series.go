// Package chart draws the collections of a process over time: as a picture, with pauses, the
// heap by generation and the allocation rate, and as text, with the heap and the pauses. A
// report and top draw the latter with it, so that both show the same.
package chart

import (
	"cmp"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/timeline"
)

// The classes of collections that have a color of their own.
const (
	gen0 = iota
	gen1
	gen2
	background
	numClasses
)

// cells bounds the cells of a Series.
const cells = 2048

// A Series takes in the collections of a process, in bounded memory: what lies within
// a cell of time is added up, and cells get twice as long when they are too many. The
// zero Series is ready for use.
type Series struct {
	width time.Duration // of a cell
	cells []cell

	since   gc.Opt[time.Duration] // when the latest collection began
	carried int64                 // allocated before collections that began no later than others
}

// A cell sums up the collections of some time.
type cell struct {
	pauses    [numClasses]time.Duration // the longest of each class
	heap      [gc.NumGenerations]int64  // after the last collection that measured it
	measured  bool                      // heap is known
	committed gc.Opt[int64]
	allocated float64 // bytes
}

// Add takes in a collection.
func (s *Series) Add(c *gc.Collection) {
	for i := range c.Pauses {
		p := &c.Pauses[i]
		longest := &s.at(p.Start).pauses[classOf(c)]
		*longest = max(*longest, p.Duration)
	}
	if start, known := c.Start.Get(); known {
		s.allocate(c.Allocated, start)
	}
	end, known := c.End.Get()
	if !known {
		return
	}
	of := s.at(end)
	if c.CommittedAfter.Known() {
		of.committed = c.CommittedAfter
	}
	heap, measured := sizes(c)
	if measured {
		of.heap, of.measured = heap, true
	}
}

// allocate spreads the bytes that a collection counts over the time since the one before, as the
// page does: counted when it begins, few collections a second would look like bursts.
func (s *Series) allocate(bytes gc.Opt[int64], start time.Duration) {
	since, known := s.since.Get()
	if known && start <= since {
		s.carried += bytes.Or(0)
		return
	}
	s.since = gc.Some(start)
	n, counted := bytes.Get()
	if known && counted {
		all := float64(n + s.carried)
		s.at(start) // so that cells become no longer below
		for at := since; at < start; {
			end := min(start, at-at%s.width+s.width)
			s.at(at).allocated += all * float64(end-at) / float64(start-since)
			at = end
		}
	}
	s.carried = 0
}

// classOf returns which color a collection has.
func classOf(c *gc.Collection) int {
	if c.Kind == gc.Background {
		return background
	}
	return min(gen2, c.Generation.Or(gen0))
}

// sizes returns the generations after a collection.
func sizes(c *gc.Collection) (heap [gc.NumGenerations]int64, known bool) {
	if len(c.Generations) > gc.NumGenerations {
		return heap, false
	}
	for i := range c.Generations {
		if heap[i], known = c.Generations[i].After.Get(); !known {
			return heap, false
		}
	}
	return heap, known
}

// at returns the cell of a time.
func (s *Series) at(t time.Duration) *cell {
	s.width = cmp.Or(s.width, time.Millisecond)
	i := timeline.Bucket(t, &s.width, &s.cells, cells, (*cell).join)
	return &s.cells[i]
}

// join adds a later cell.
func (c *cell) join(later *cell) {
	for i := range c.pauses {
		c.pauses[i] = max(c.pauses[i], later.pauses[i])
	}
	if later.measured {
		c.heap, c.measured = later.heap, true
	}
	if later.committed.Known() {
		c.committed = later.committed
	}
	c.allocated += later.allocated
}
