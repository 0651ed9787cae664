package ctf

import "math"

// A streamHeap has the stream with the earliest event first; of equal times,
// the one that was found first.
type streamHeap []*stream

func (h streamHeap) less(i, j int) bool {
	a, b := h[i], h[j]
	return a.time < b.time || a.time == b.time && a.order < b.order
}

func (h *streamHeap) push(s *stream) {
	*h = append(*h, s)
	q := *h
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.less(i, up) {
			return
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// pop takes the first stream off.
func (h *streamHeap) pop() {
	q := *h
	last := len(q) - 1
	q[0], q[last] = q[last], nil
	*h = q[:last]
	h.down()
}

// second is the time of the earliest event of all streams but the first.
func (h streamHeap) second() int64 {
	t := int64(math.MaxInt64)
	for _, s := range h[1:min(len(h), 3)] {
		t = min(t, s.time)
	}
	return t
}

// down restores the order after the first stream went on.
func (h streamHeap) down() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && h.less(r, least) {
			least = r
		}
		if !h.less(least, i) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
