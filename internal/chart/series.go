// Package chart draws the collections of a process over time: as a picture, with pauses, the
// heap by generation and the allocation rate, and as text, with the heap and the pauses. A
// report and top draw the latter with it, so that both show the same.
package chart

import (
	"time"

	"github.com/gctrail/gctrail/gc"
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

	// Collections and Pauses count the added ones.
	Collections, Pauses int
	longest             time.Duration
}

// A cell sums up the collections of some time.
type cell struct {
	pauses    [numClasses]time.Duration // the longest of each class
	heap      [gc.NumGenerations]int64  // after the last collection that measured it
	measured  bool                      // heap is known
	committed gc.Opt[int64]
	allocated int64
}

// Add takes in a collection.
func (s *Series) Add(c *gc.Collection) {
	s.Collections++
	for i := range c.Pauses {
		p := &c.Pauses[i]
		s.Pauses++
		s.longest = max(s.longest, p.Duration)
		longest := &s.at(p.Start).pauses[classOf(c)]
		*longest = max(*longest, p.Duration)
	}
	if start, known := c.Start.Get(); known {
		s.at(start).allocated += c.Allocated.Or(0)
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
	if s.width == 0 {
		s.width = time.Millisecond
	}
	t = max(0, t)
	for t/s.width >= cells {
		s.halve()
	}
	i := int(t / s.width)
	for len(s.cells) <= i {
		s.cells = append(s.cells, cell{})
	}
	return &s.cells[i]
}

// halve joins pairs of cells.
func (s *Series) halve() {
	half := (len(s.cells) + 1) / 2
	for i := range half {
		of := s.cells[2*i]
		if 2*i+1 < len(s.cells) {
			of.join(&s.cells[2*i+1])
		}
		s.cells[i] = of
	}
	s.cells = s.cells[:half]
	s.width *= 2
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
