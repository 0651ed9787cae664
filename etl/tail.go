package etl

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Tail reports the growth of files that a session is still writing.
type Tail struct {
	// Wait waits until the files have grown, or will not grow any more. It is called when
	// every event that can be is emitted. The reader reads no byte of a file beyond the
	// size that Wait has returned for it.
	Wait func() Growth
	// Lag is how long an event waits in memory before the session writes it: somewhat
	// more than the session's flush timer. Events are emitted once a buffer was
	// written that much later, so that they are in order.
	Lag time.Duration
}

// Growth is how far the files of a session were written.
type Growth struct {
	Sizes []int64 // in the order of the files
	// Idle reports that nothing has been written for some time, so that no event is to
	// come that is older than what was read.
	Idle bool
	// Done reports that the session has ended, and the files are complete.
	Done bool
}

// keptEntries is the least number of buffers of a growing trace that are remembered.
const keptEntries = 1 << 14

// A tail is how far a growing trace has been read.
type tail struct {
	done    bool
	settled int64 // up to when no more events are to come, in ticks
}

// awaitHeaders waits until all file headers were written.
func (r *Reader) awaitHeaders() {
	const header = bufferHeaderSize + headerEventSize + logfileSize64
	r.tail = tail{settled: math.MinInt64}
	for _, f := range r.files {
		f.growing = r.opts.Tail != nil
		for f.growing && f.size < header {
			r.wait()
		}
	}
}

// wait waits until files have grown. It reports whether the session is idle.
func (r *Reader) wait() (idle bool) {
	g := r.opts.Tail.Wait()
	r.tail.done = r.tail.done || g.Done
	for i, f := range r.files {
		if i < len(g.Sizes) {
			f.size = max(f.size, g.Sizes[i])
		}
		f.growing = !r.tail.done
	}
	return g.Idle
}

// settled reports whether the oldest event can be emitted: no older one is to come,
// or too many wait.
func (r *Reader) settled() bool {
	if len(r.heap.Heap) == 0 {
		return false
	}
	return !r.index.tailed || r.heap.Heap[0].Time <= r.tail.settled || r.pending > r.limit
}

// grow waits until the files have grown, and indexes the new buffers. It returns false if
// there will be no more.
func (r *Reader) grow() bool {
	if !r.index.tailed || r.tail.done {
		return false
	}
	idle := r.wait()
	if err := r.follow(); err != nil {
		r.unindexed(r.files[0], 0, err)
		r.tail.done = true
	}
	if idle && !r.tail.done {
		r.tail.settled = max(r.tail.settled, r.index.written)
	}
	return true
}

// follow lists the buffers that were written since it was called last.
func (r *Reader) follow() error {
	old := r.index.entries
	if len(old) > 2*keptEntries { // later losses are known from the last ones
		old = append([]entry(nil), old[len(old)-keptEntries:]...)
	}
	r.index.entries = nil
	err := r.list()
	fresh := r.index.entries
	r.index.entries = append(old, fresh...)
	r.loader.add(fresh)
	if len(fresh) > 0 {
		lag := int64(r.opts.Tail.Lag.Seconds() * float64(r.info.Clock.Frequency))
		r.tail.settled = max(r.tail.settled, since(r.index.written, lag))
	}
	if r.tail.done {
		r.finish()
	}
	return err
}

// finish reads the final file headers, which the session writes at its end, and accounts
// for loss.
func (r *Reader) finish() {
	r.tail.settled = math.MaxInt64
	for _, f := range r.files {
		if h, err := readHeader(f.r, f.size); err == nil {
			h.time, h.start = f.header.time, f.header.start
			f.header = h
		}
	}
	r.index.sort()
	r.account(r.index.entries)
}

// add adds entries to the ones that were not requested yet.
func (l *loader) add(fresh []entry) {
	l.entries = append(slices.Clone(l.entries), fresh...)
	slices.SortStableFunc(l.entries, compareEntries)
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.ticks, b.ticks), cmp.Compare(a.order(), b.order()))
}
