// Package timeline merges sequences of events in the order of time, and divides time into
// intervals.
package timeline

import "math"

// A Run is the unmerged rest of a sequence in time order.
type Run[T any] struct {
	Time  int64  // of its next item
	Order uint64 // of the run: of equal times, the lower one is first
	Of    T
}

func (r *Run[T]) before(o *Run[T]) bool {
	return r.Time < o.Time || r.Time == o.Time && r.Order < o.Order
}

// A Heap has the run with the earliest item first. It also serves as a queue for what else has
// a number to go by. (Its keys are fields, not a method of T, so that the compiler puts
// comparisons in line.)
type Heap[T any] []Run[T]

// Push adds a run.
func (h *Heap[T]) Push(r Run[T]) {
	q := append(*h, r)
	*h = q
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q[i].before(&q[up]) {
			return
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// Next restores the order after the first run has advanced to an item at this time.
func (h Heap[T]) Next(time int64) {
	h[0].Time = time
	h.down()
}

// Drop removes the first run.
func (h *Heap[T]) Drop() {
	q := *h
	last := len(q) - 1
	q[0], q[last] = q[last], Run[T]{}
	*h = q[:last]
	h.down()
}

// Second returns the time of the earliest item of all runs but the first, or math.MaxInt64 if
// there are no others.
func (h Heap[T]) Second() int64 {
	t := int64(math.MaxInt64)
	for i := 1; i < min(len(h), 3); i++ {
		t = min(t, h[i].Time)
	}
	return t
}

func (h Heap[T]) down() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && h[r].before(&h[least]) {
			least = r
		}
		if !h[least].before(&h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
