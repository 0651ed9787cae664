package etl

import (
	"runtime"
	"sync"
)

const (
	// maxWorkers bounds the goroutines that decompress. There are several, because
	// decompression takes most of the time: one goroutine that reads the events keeps up
	// with them.
	maxWorkers = 4
	// maxFree bounds the batches kept for reuse.
	maxFree = 256
)

// A loader loads the first stretch of each entry of an index, in its order and
// ahead of its use, and the stretches that follow.
type loader struct {
	files   []*file
	second  int64   // in ticks
	entries []entry // not asked for yet
	ahead   []*batch
	free    []*batch
	scratch []byte

	jobs    chan *batch // nil if the reader does it all itself
	workers sync.WaitGroup
}

// start starts the workers, if there is something to decompress and more than one
// processor to do it.
func (l *loader) start(entries []entry) {
	l.entries = entries
	l.scratch = make([]byte, chunk)
	n := min(runtime.GOMAXPROCS(0), maxWorkers)
	if n == 1 || !anyCompressed(entries) {
		return
	}
	l.jobs = make(chan *batch, 4*n)
	for range n {
		l.workers.Go(func() {
			scratch := make([]byte, chunk)
			for b := range l.jobs {
				b.load(scratch)
				b.ready <- struct{}{}
			}
		})
	}
	for range cap(l.jobs) {
		l.dispatch()
	}
}

func anyCompressed(entries []entry) bool {
	for i := range entries {
		if entries[i].flags&flagCompressed != 0 {
			return true
		}
	}
	return false
}

// stop ends the workers after their current stretches.
func (l *loader) stop() {
	if l.jobs == nil {
		return
	}
	close(l.jobs)
	l.workers.Wait()
	l.jobs = nil
}

// dispatch begins to load the next entry.
func (l *loader) dispatch() {
	if len(l.entries) == 0 {
		return
	}
	b := l.batch()
	b.begin(l.files[l.entries[0].file], &l.entries[0], l.second)
	l.entries = l.entries[1:]
	l.ahead = append(l.ahead, b)
	l.jobs <- b
}

// next returns the first stretch of the next entry.
func (l *loader) next() *batch {
	if l.jobs == nil {
		b := l.batch()
		b.begin(l.files[l.entries[0].file], &l.entries[0], l.second)
		l.entries = l.entries[1:]
		b.load(l.scratch)
		return b
	}
	b := l.ahead[0]
	l.ahead = append(l.ahead[:0], l.ahead[1:]...)
	<-b.ready
	l.dispatch()
	return b
}

// prefetch starts loading the stretch after b, because b's events were walked.
func (l *loader) prefetch(b *batch) {
	if l.jobs == nil {
		return
	}
	b.follower = l.batch()
	b.follower.follow(b)
	l.jobs <- b.follower
}

// after returns the stretch that follows b.
func (l *loader) after(b *batch) *batch {
	if n := b.follower; n != nil {
		b.follower = nil
		<-n.ready
		return n
	}
	n := l.batch()
	n.follow(b)
	n.load(l.scratch)
	return n
}

// peek returns the entry that next gives, nil at the end.
func (l *loader) peek() *entry {
	switch {
	case len(l.ahead) > 0:
		return &l.ahead[0].entry
	case len(l.entries) > 0:
		return &l.entries[0]
	}
	return nil
}

// following returns the time of the next buffer of a processor, or of one after
// it.
func (l *loader) following(cpu uint16) (ticks int64) {
	const far = 1 << 12
	for _, b := range l.ahead {
		if ticks = b.entry.ticks; b.entry.cpu == cpu {
			return ticks
		}
	}
	for i := range l.entries[:min(far, len(l.entries))] {
		if ticks = l.entries[i].ticks; l.entries[i].cpu == cpu {
			return ticks
		}
	}
	return ticks
}

// batch returns an empty batch, new or recycled.
func (l *loader) batch() *batch {
	if n := len(l.free); n > 0 {
		b := l.free[n-1]
		l.free = l.free[:n-1]
		return b
	}
	return &batch{ready: make(chan struct{}, 1)}
}

// recycle takes back a batch that is of no more use.
func (l *loader) recycle(b *batch) {
	if len(l.free) < maxFree {
		l.free = append(l.free, b)
	}
}
