package etl

// A run is a batch with items that were not merged yet.
type run struct {
	ticks int64 // of the next item
	order uint64
	batch *batch
}

func (r *run) before(o *run) bool {
	return r.ticks < o.ticks || r.ticks == o.ticks && r.order < o.order
}

// A mergeHeap has the run with the oldest item first.
type mergeHeap []run

func (h *mergeHeap) push(b *batch) {
	q := append(*h, run{b.items[b.next].ticks, b.entry.order(), b})
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

// pop takes the oldest item. It reports whether that was its batch's last.
func (h *mergeHeap) pop() (b *batch, it *item, last bool) {
	q := *h
	b = q[0].batch
	it = &b.items[b.next]
	b.next++
	if last = b.next == len(b.items); last {
		n := len(q) - 1
		q[0], q[n] = q[n], run{}
		q = q[:n]
		*h = q
	} else {
		q[0].ticks = b.items[b.next].ticks
	}
	q.down()
	return b, it, last
}

// down restores the heap after its first run changed.
func (h mergeHeap) down() {
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
