package handle

import (
	"math"
	"sync"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// An op is what an event does to the handles of a process. It is small, because two
// processors pass on millions.
type op struct {
	id    uint64 // of the handle; of opCount, the number of handles
	after uint32 // nanoseconds after the batch's from
	does  opKind
}

// An opKind is opCreate and the index of a site in the process's list, or less than opCreate.
type opKind uint32

const (
	opDestroy opKind = iota
	opCount          // by the runtime
	opCreate
)

const (
	// maxOps is how many operations are applied at a time, so that passing them on costs
	// little.
	maxOps = 4096
	// maxBatches is how many batches there are, so that a batch that takes longer to apply
	// does not stop the reading.
	maxBatches = 8
)

// An opBatch is operations on the handles of a process.
type opBatch struct {
	of    *handles
	sites []*siteSum // of the process's list, as many as the operations use
	from  time.Duration
	ops   []op
}

// An opQueue applies batches of operations in their order, in a goroutine that runs while
// there are any: a trace can have millions a second, so that they are applied while the next
// are read.
type opQueue struct {
	free     chan *opBatch // nil at first
	applying sync.WaitGroup

	mu      sync.Mutex
	waiting []*opBatch
	busy    bool // the goroutine runs
}

// take returns an empty batch. It waits for one if all wait to be applied.
func (q *opQueue) take() *opBatch {
	if q.free == nil {
		q.free = make(chan *opBatch, maxBatches)
		for range maxBatches {
			q.free <- &opBatch{}
		}
	}
	b := <-q.free
	if b.ops == nil {
		b.ops = make([]op, 0, maxOps)
	}
	return b
}

// put has apply applied to a batch.
func (q *opQueue) put(b *opBatch, apply func(*opBatch)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, b)
	if !q.busy {
		q.busy = true
		q.applying.Go(func() {
			for b := q.next(); b != nil; b = q.next() {
				apply(b)
				q.release(b)
			}
		})
	}
}

// next returns the batch to apply next, nil if there is none.
func (q *opQueue) next() *opBatch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return nil
	}
	b := q.waiting[0]
	q.waiting = append(q.waiting[:0], q.waiting[1:]...)
	return b
}

// release takes back a batch.
func (q *opQueue) release(b *opBatch) {
	*b = opBatch{ops: b.ops[:0]}
	q.free <- b
}

// add notes an operation on the handles of p, which is applied later, so that reading goes on.
func (h *Handles) add(p *handles, id uint64, at time.Duration, does opKind) {
	b := h.batch
	if b == nil || b.of != p || len(b.ops) == cap(b.ops) || uint64(at-b.from) > math.MaxUint32 {
		b = h.turn(p, at)
	}
	b.ops = append(b.ops, op{id, uint32(at - b.from), does})
}

// turn begins a batch of operations on the handles of p. The one before it is passed on, or
// applied at once if it is not full, because the handles of several processes come in turn then.
func (h *Handles) turn(p *handles, at time.Duration) *opBatch {
	if b := h.batch; b != nil && len(b.ops) == cap(b.ops) {
		b.sites = b.of.list // which may grow meanwhile
		h.queue.put(b, h.apply)
		h.batch = nil
	}
	if h.batch != nil {
		h.settle()
	}
	h.batch = h.queue.take()
	h.batch.of, h.batch.from = p, at
	return h.batch
}

// settle applies all operations.
func (h *Handles) settle() {
	h.queue.applying.Wait()
	if b := h.batch; b != nil {
		b.sites = b.of.list
		h.apply(b)
		h.queue.release(b)
		h.batch = nil
	}
}

func (h *Handles) apply(b *opBatch) {
	p, r := b.of.followed, &h.room
	for i := range b.ops {
		o := &b.ops[i]
		switch at := b.from + time.Duration(o.after); o.does {
		case opDestroy:
			p.destroyed(r, b.sites, o.id, at)
		case opCount:
			p.counted(int64(o.id))
		default:
			p.created(r, b.sites, o.id, at, uint32(o.does-opCreate))
		}
	}
}

func (p *followed) created(r *room, sites []*siteSum, id uint64, at time.Duration, index uint32) {
	s := sites[index]
	s.created++
	p.counts.Created++
	p.net++
	if p.pins != nil && pinning(s.kind) {
		p.pins.created(id, s.kind)
	}
	if !p.hasRoom(r, id) {
		p.counts.Untracked++
		p.strays = p.strays || pinning(s.kind)
		return
	}
	pages := p.open.pages
	before := p.open.set(id, opened(index+1, at))
	r.pages += p.open.pages - pages
	if before.site != 0 {
		p.counts.Lost++
		p.net--
		was := sites[before.site-1]
		was.series.add(at, -1)
		p.strays = p.strays || pinning(was.kind)
	} else {
		r.open++
	}
	s.series.add(at, 1)
}

// hasRoom reports whether one more handle can be followed.
func (p *followed) hasRoom(r *room, id uint64) bool {
	return r.open < maxOpen && (r.pages < maxPages || p.open.has(id)) || p.open.get(id).site != 0
}

func (p *followed) destroyed(r *room, sites []*siteSum, id uint64, at time.Duration) {
	p.counts.Destroyed++
	p.net--
	pages := p.open.pages
	was := p.open.remove(id)
	r.pages += p.open.pages - pages
	var s *siteSum
	if was.site != 0 {
		s = sites[was.site-1]
	}
	if p.pins != nil && (p.strays || s != nil && pinning(s.kind)) {
		p.pins.destroyed(id)
	}
	if s == nil {
		p.counts.Unknown++
		return
	}
	r.open--
	s.destroyed++
	s.series.add(at, -1)
}

// counted processes the runtime's count.
func (p *followed) counted(n int64) {
	c := &p.counts
	if !c.Before.Known() {
		c.Before = gc.Some(n - p.net)
	}
	c.Runtime, c.Open = gc.Some(n), gc.Some(p.net)
}
