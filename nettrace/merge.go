package nettrace

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/trace"
)

// An item is an event that waits for its turn. Its Desc is a kind's index, its Stack an id, or
// in V3 the offset of the stack's bytes, and its Context an index in the batch's contexts, and
// lateItem. It has no pointers, so that the garbage collector does not look into the many
// that there are.
type item = trace.Record

// lateItem is set in an item's Context if the event is older than an earlier one that was
// marked as sorted, because of damage.
const lateItem = 1 << 31

// A context holds the values that seldom change from event to event.
type context struct {
	pid, tid uint64
	cpu      uint32
	labels   *labels
}

// A batch holds the wanted events of one block, and the bytes that they refer to. Its
// items form runs of ascending time.
type batch struct {
	block    []byte // while it is being read
	data     []byte // a copy of the wanted bytes
	base     int64
	items    []item
	turns    []int // indexes of items that are earlier than the one before
	contexts []context
	left     int // items not emitted
	faults   faults

	// The values that the last of contexts was made of.
	thread            uint64
	cpu               uint32
	activity, related [16]byte
	label             uint32
}

// same reports whether an event has the context of the one before it.
func (b *batch) same(h *eventpipe.Header) bool {
	return len(b.contexts) > 0 && b.thread == h.Thread && b.cpu == h.CPU && b.label == h.Labels &&
		b.activity == h.Activity && b.related == h.Related
}

// context returns the index of the context of an event of V3 or V4, a new one if it
// differs from the event before it.
func (b *batch) context(h *eventpipe.Header, pid uint64) uint32 {
	if b.same(h) {
		return uint32(len(b.contexts) - 1)
	}
	ctx := context{pid: pid, tid: h.Thread, cpu: h.CPU}
	if h.Activity != [16]byte{} || h.Related != [16]byte{} {
		ctx.labels = &labels{Labels: trace.Labels{ActivityID: h.Activity, RelatedActivityID: h.Related}}
	}
	return b.add(h, ctx)
}

// add adds the context of an event, and returns its index.
func (b *batch) add(h *eventpipe.Header, ctx context) uint32 {
	b.thread, b.cpu, b.activity, b.related, b.label = h.Thread, h.CPU, h.Activity, h.Related, h.Labels
	b.contexts = append(b.contexts, ctx)
	return uint32(len(b.contexts) - 1)
}

// keep copies the bytes that the items refer to, because the block is valid only until
// the next one is read: the payloads, or the whole block if they are most of it. The
// stacks of V3 are in the block as well. It also finds the turns, because each reading of the
// items costs time.
func (b *batch) keep(version int) {
	n, latest := 0, int64(math.MinInt64)
	for i := range b.items {
		it := &b.items[i]
		n += int(it.Len)
		if it.Ticks < latest {
			b.turns = append(b.turns, i)
		}
		latest = it.Ticks
	}
	if version == 3 || n > len(b.block)/2 {
		b.data = eventpipe.Grow(b.data[:0], len(b.block))
		copy(b.data, b.block)
	} else {
		b.data = eventpipe.Grow(b.data[:0], n)
		n = 0
		for i := range b.items {
			it := &b.items[i]
			off := n
			n += copy(b.data[n:], it.Payload(b.block))
			it.Off = uint32(off)
		}
	}
	b.block = nil
}

// cost returns the memory that the batch holds.
func (b *batch) cost() int {
	return cap(b.data) + cap(b.items)*int(unsafe.Sizeof(item{})) + cap(b.turns)*int(unsafe.Sizeof(0)) + cap(b.contexts)*int(unsafe.Sizeof(context{}))
}

// A stretch is the rest of an ascending part of a batch's items.
type stretch struct {
	batch    *batch
	pos, end int
}

// maxPending bounds the memory of the events that wait. Beyond it the oldest
// are emitted, although older ones may still come.
const maxPending = 16 << 20

// A mergeQueue merges runs by time; of equal times the one earlier in the file is
// first. Within a run, and so within a thread, the order of the file is kept.
type mergeQueue struct {
	heap    timeline.Heap[stretch] // in the order of the file
	pending int                    // bytes, as batch.cost counts them
	seq     uint64
	free    batches
}

// add puts the runs of a batch, which has items, in the queue.
func (q *mergeQueue) add(b *batch) {
	b.left = len(b.items)
	q.pending += b.cost()
	start := 0
	for i := range len(b.turns) + 1 {
		end := len(b.items)
		if i < len(b.turns) {
			end = b.turns[i]
		}
		q.heap.Push(timeline.Run[stretch]{Time: b.items[start].Ticks, Order: q.seq, Of: stretch{b, start, end}})
		q.seq++
		start = end
	}
}

// first returns the oldest item.
func (q *mergeQueue) first() *item {
	s := &q.heap[0].Of
	return &s.batch.items[s.pos]
}

// run returns how many items are a run from the oldest one on: the oldest of all, no later
// than upTo, of kinds that may be in runs, with the same context, and the same stack if
// stacks are read.
func (q *mergeQueue) run(upTo int64, runs []bool, stacks bool) (n int) {
	s := &q.heap[0].Of
	items, second := s.batch.items[s.pos:s.end], q.heap.Second()
	first := items[0]
	if !runs[first.Desc] {
		return 1
	}
	for n = range items {
		it := &items[n]
		if it.Desc != first.Desc && !runs[it.Desc] || it.Context != first.Context || stacks && it.Stack != first.Stack || it.Ticks > upTo || it.Ticks >= second {
			return max(n, 1)
		}
	}
	return len(items)
}

// pop takes the n oldest items off the queue, which a run has. If they were the batch's last
// ones, the caller releases the batch after using them.
func (q *mergeQueue) pop(n int) (*batch, []item) {
	s := &q.heap[0].Of
	b, items := s.batch, s.batch.items[s.pos:s.pos+n]
	b.left -= n
	s.pos += n
	if s.pos < s.end {
		q.heap.Next(b.items[s.pos].Ticks)
	} else {
		q.heap.Drop()
	}
	return b, items
}

// dropAfter drops the items later than limit.
func (q *mergeQueue) dropAfter(limit int64, kinds []*kind) {
	runs := q.heap
	q.heap = nil
	for _, run := range runs {
		s := &run.Of
		end := s.end
		for end > s.pos && s.batch.items[end-1].Ticks > limit {
			end--
			kinds[s.batch.items[end].Desc].count--
		}
		s.batch.left -= s.end - end
		s.end = end
		switch {
		case s.pos < s.end:
			q.heap.Push(run)
		case s.batch.left == 0:
			q.release(s.batch)
		}
	}
}

// dropAfter drops the items later than limit of a batch that is being read.
func (b *batch) dropAfter(limit int64, kinds []*kind) {
	b.items = slices.DeleteFunc(b.items, func(it item) bool {
		if it.Ticks > limit {
			kinds[it.Desc].count--
		}
		return it.Ticks > limit
	})
}

// release takes back a batch whose items were all emitted.
func (q *mergeQueue) release(b *batch) {
	q.pending -= b.cost()
	q.free.add(b)
}

// batches are kept for their buffers.
type batches []*batch

// lent holds empty batches between uses by different readers, because of many followed
// processes few raise events at a time.
var lent = sync.Pool{New: func() any { return new(batch) }}

// lend leaves the batches to other readers.
func (l *batches) lend() {
	for i, b := range *l {
		lent.Put(b)
		(*l)[i] = nil
	}
	*l = (*l)[:0]
}

// take returns an empty batch, a new one if there are none.
func (l *batches) take() *batch {
	n := len(*l)
	if n == 0 {
		return lent.Get().(*batch)
	}
	b := (*l)[n-1]
	*l = (*l)[:n-1]
	return b
}

// maxFree and maxReused bound the batches kept for reuse: the runtime passes on
// some thirty blocks of 100 KiB at a time where events are many, and the items of a block
// of small events that are all wanted are thrice its size.
const (
	maxFree   = 32
	maxReused = 512 << 10
)

// add adds a batch, which is emptied.
func (l *batches) add(b *batch) {
	clear(b.contexts)
	b.block, b.items, b.turns, b.contexts, b.faults = nil, b.items[:0], b.turns[:0], b.contexts[:0], faults{}
	if len(*l) < maxFree && b.cost() < maxReused {
		*l = append(*l, b)
	}
}
