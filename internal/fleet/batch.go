package fleet

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxBatch is the size at which a batch is stored without waiting for its time.
	maxBatch = 16 << 20
	// maxWaiting bounds the rows that wait for a store, in bytes.
	maxWaiting = 64 << 20
	// insertTimeout ends an attempt to store a batch.
	insertTimeout = 20 * time.Second
)

var errBusy = errors.New("too many records wait for the store")

// A batcher joins the rows of requests that arrive together into one insert, because
// stores are slow with many small inserts. Each request waits for the batch with its
// rows.
type batcher struct {
	store Store
	delay time.Duration // how long a batch waits for more

	mu      sync.Mutex
	open    map[*Table]*batch
	waiting int // bytes, of all batches
}

// A batch is rows of one table that are stored together.
type batch struct {
	rows
	timer *time.Timer
	done  chan struct{}
	err   error // once done
}

// add stores rows, and returns when that is done.
func (b *batcher) add(ctx context.Context, t *Table, r *rows) error {
	joined, err := b.join(t, r)
	if err != nil {
		return err
	}
	select {
	case <-joined.done:
		return joined.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join adds rows to the open batch of their table.
func (b *batcher) join(t *Table, r *rows) (*batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting+len(r.bytes) > maxWaiting {
		return nil, errBusy
	}
	b.waiting += len(r.bytes)
	into := b.open[t]
	if into == nil {
		into = &batch{done: make(chan struct{})}
		b.open[t] = into
		into.timer = time.AfterFunc(b.delay, func() { b.flush(t, into) })
	}
	into.bytes = append(into.bytes, r.bytes...)
	into.count += r.count
	r.bytes = nil // the batch has them
	if len(into.bytes) >= maxBatch && into.timer.Stop() {
		delete(b.open, t)
		go b.flush(t, into)
	}
	return into, nil
}

// flush stores a batch.
func (b *batcher) flush(t *Table, full *batch) {
	b.mu.Lock()
	if b.open[t] == full {
		delete(b.open, t)
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), insertTimeout)
	defer cancel()
	full.err = b.store.insert(ctx, t, full.bytes, full.count)
	b.mu.Lock()
	b.waiting -= len(full.bytes)
	b.mu.Unlock()
	close(full.done)
}
