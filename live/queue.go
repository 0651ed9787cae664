package live

import (
	"slices"
	"sync"
)

// A queue holds updates until the caller takes them. When it is full, the oldest
// collection makes room.
type queue struct {
	limit int

	mu      sync.Mutex
	ready   *sync.Cond // there is an update, or there will be none
	updates []*Update
	dropped int // collections, since the last update was taken
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.ready = sync.NewCond(&q.mu)
	return q
}

func (q *queue) push(u *Update) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.updates) >= q.limit {
		oldest := max(0, slices.IndexFunc(q.updates, func(u *Update) bool { return u.Kind == Collected }))
		if q.updates[oldest].Kind == Collected {
			q.dropped++
		}
		q.updates = slices.Delete(q.updates, oldest, oldest+1)
	}
	q.updates = append(q.updates, u)
	q.ready.Signal()
}

// close reports that nothing more will be pushed.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Signal()
}

// next waits for an update and takes it; nil when there will be none.
func (q *queue) next() *Update {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.updates) == 0 {
		if q.closed {
			return nil
		}
		q.ready.Wait()
	}
	u := q.updates[0]
	q.updates = slices.Delete(q.updates, 0, 1)
	u.Dropped, q.dropped = q.dropped, 0
	return u
}
