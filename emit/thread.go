package emit

import (
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A Thread is a logical thread: events that belong together have its id, and
// keep their order. It is not a system thread. Its methods may be called by
// several goroutines, but not after Close.
type Thread struct {
	p     *Provider
	id    uint64
	shard *shard
}

// NewThread returns a thread with a unique id.
func (p *Provider) NewThread() *Thread { return p.thread(p.nextShard()) }

// thread returns a thread whose events the shard captures.
func (p *Provider) thread(s *shard) *Thread { return &Thread{p: p, id: p.threads.take(), shard: s} }

// Sibling returns another thread whose events are ordered with the events of t.
func (t *Thread) Sibling() *Thread { return t.p.thread(t.shard) }

// ID returns the id in the thread's events.
func (t *Thread) ID() uint64 { return t.id }

// Close releases the id for a later thread.
func (t *Thread) Close() { t.p.threads.put(t.id) }

// Raise raises an event on the thread, if a session wants it. It does not keep e.
func (t *Thread) Raise(e clr.Event) { t.raise(e) }

// RaiseAt raises an event that happened at a time in the past. It returns ErrLate, and
// raises nothing, if that is longer ago than ProviderOptions.Late, or before the latest
// event of the thread or of another thread that shares its shard. One thread should
// therefore raise all events of such a provider. Sessions that began later do not get the
// event.
func (t *Thread) RaiseAt(at time.Time, e clr.Event) error {
	if !t.p.Enabled(e.EventKind()) {
		return nil
	}
	ticks := t.p.clock.at(at)
	r := t.record(e)
	r.at = &ticks
	t.shard.mu.Lock()
	if ticks < max(t.shard.newest, t.p.clock.now()-t.p.late) {
		t.shard.mu.Unlock()
		return ErrLate
	}
	t.shard.writeLocked(t.p, &r)
	return nil
}

// raise returns the event's time in ticks.
func (t *Thread) raise(e clr.Event) int64 {
	if !t.p.Enabled(e.EventKind()) {
		return t.p.clock.now()
	}
	r := t.record(e)
	t.shard.mu.Lock()
	return t.shard.writeLocked(t.p, &r)
}

func (t *Thread) record(e clr.Event) record {
	k := e.EventKind()
	return record{payload: e, kind: uint32(k), desc: &t.p.kinds[k], mask: &t.p.masks[k], thread: t.id}
}

// threadIDs are the ids of threads. They are used again, so that a trace knows
// no more threads than there were at once.
type threadIDs struct {
	mu   sync.Mutex
	free []uint64
	last uint64
}

func (t *threadIDs) take() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		return id
	}
	t.last++
	return t.last
}

func (t *threadIDs) put(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, id)
}
