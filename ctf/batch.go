package ctf

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// A batch is a number of events with what became known while they were read.
type batch struct {
	number   uint64 // 1 for the first
	items    []item
	contexts []context
	data     []byte // payloads
	read     int    // events, wanted or not

	loss      *trace.Loss // nil if nothing changed
	skipped   []skippedKind
	processes []namedProcess
	start     *int64 // nanoseconds since 1970, of Info.Start; in one batch only
	last      time.Duration
	ask       *kind // that the reader is to define, after the events
}

// An item is one event. Its Desc is an index in the Reader's kinds, its Context an index in
// the batch's contexts, and lateItem. It has no pointers, so that it costs the garbage
// collector nothing.
type item = trace.Record

// lateItem is set in the Context of an item that is late.
const lateItem = 1 << 31

// A context holds values that seldom change from one event of a stream to the next, so that
// items need not have them.
type context struct {
	pid, tid    uint64
	cpu         uint32
	pointerSize int
}

// A skippedKind counts events that are not wanted.
type skippedKind struct {
	kind  *kind
	count uint64
}

type namedProcess struct {
	pid     uint64
	process trace.Process
}

const (
	batchItems = 1 << 12
	batchRead  = 1 << 15
	batchData  = 128 << 10
	maxKept    = 1 << 20 // of a batch's data, for the next
	batches    = 4       // one being filled, one in use, two between them
)

// skip counts an event that is not wanted.
func (b *batch) skip(k *kind) {
	if k.skipped == 0 {
		b.skipped = append(b.skipped, skippedKind{kind: k})
	}
	k.skipped++
}

// add returns a new item, whose fields but Stack are to be set.
func (b *batch) add() *item {
	n := len(b.items)
	if n == cap(b.items) {
		b.grow()
	}
	b.items = b.items[:n+1]
	return &b.items[n]
}

// grow makes room for all items at once, because doubling the room again and again would touch
// twice the memory, and copy it.
func (b *batch) grow() { b.items = slices.Grow(b.items, batchItems) }

// context returns the index of the context of a stream's next event, a new one if that would
// differ from the last.
func (b *batch) context(s *stream) uint32 {
	c := &s.context
	if c.batch != b.number || c.pid != s.head.pid || c.tid != s.head.tid {
		*c = lastContext{b.number, uint32(len(b.contexts)), s.head.pid, s.head.tid}
		b.contexts = append(b.contexts, context{c.pid, c.tid, s.packet.cpu, s.member.pointerSize})
	}
	return c.index
}

// A queue passes batches from the goroutine that fills them to the goroutine that uses
// them, and back.
type queue struct {
	full     chan *batch
	used     chan *batch
	answered chan struct{} // the batch's questions are answered
	done     chan struct{} // nobody uses any more
}

func newQueue() *queue {
	q := &queue{
		full: make(chan *batch, batches), used: make(chan *batch, batches),
		answered: make(chan struct{}), done: make(chan struct{}),
	}
	for range batches {
		q.used <- new(batch)
	}
	return q
}

// empty waits for a batch that may be filled.
func (q *queue) empty() *batch {
	select {
	case b := <-q.used:
		return b
	case <-q.done:
		return new(batch)
	}
}

// put hands a batch to the reader, and returns false if that has stopped.
func (q *queue) put(b *batch) bool {
	select {
	case q.full <- b:
		return true
	case <-q.done:
		return false
	}
}

// wait waits for an answer.
func (q *queue) wait() {
	select {
	case <-q.answered:
	case <-q.done:
	}
}

// recycle returns a batch to the goroutine that fills them. It frees the memory of a
// large payload, which would otherwise stay for good.
func (q *queue) recycle(b *batch) {
	data := b.data[:0]
	if cap(data) > maxKept {
		data = nil
	}
	*b = batch{items: b.items[:0], contexts: b.contexts[:0], data: data, skipped: b.skipped[:0], processes: b.processes[:0]}
	q.used <- b
}

// close ends the goroutine that fills batches, and waits for its end.
func (q *queue) close() {
	close(q.done)
	for range q.full {
		continue
	}
}
