package etl

import "github.com/gctrail/gctrail/internal/timeline"

// A mergeHeap orders the batches with pending items by the oldest of these.
type mergeHeap struct{ timeline.Heap[*batch] }

func (h *mergeHeap) push(b *batch) {
	h.Push(timeline.Run[*batch]{Time: b.items[b.next].ticks, Order: b.entry.order(), Of: b})
}

// pop takes the oldest item. It reports whether that was its batch's last.
func (h *mergeHeap) pop() (b *batch, it *item, last bool) {
	b = h.Heap[0].Of
	it = &b.items[b.next]
	b.next++
	if b.next == len(b.items) {
		h.Drop()
		return b, it, true
	}
	h.Next(b.items[b.next].ticks)
	return b, it, false
}
