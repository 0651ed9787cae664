package live

import (
	"slices"
	"sync"
)

// A queue holds updates until the caller takes them. When it is full, the oldest
// collection makes room.
type queue struct {
	limit int
	ready chan struct{} // holds a token if there may be something to take

	mu      sync.Mutex
	updates []*Update
	dropped int // collections, since the last update was taken
	closed  bool
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, ready: make(chan struct{}, 1)}
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
	q.wake()
}

// close reports that nothing more will be pushed.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// next waits for an update and takes it; nil when there will be none.
func (q *queue) next() *Update {
	for {
		if u, closed := q.take(); u != nil || closed {
			return u
		}
		<-q.ready
	}
}

func (q *queue) take() (u *Update, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.updates) == 0 {
		return nil, q.closed
	}
	u = q.updates[0]
	q.updates = slices.Delete(q.updates, 0, 1)
	u.Dropped, q.dropped = q.dropped, 0
	return u, false
}
