package stats

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/internal/units"
)

// MaxBuckets is the largest number of buckets of a Timeline.
const MaxBuckets = 64

// finest is the width of a bucket at first.
const finest = time.Millisecond

// A Timeline records the heap and the pauses over time, in buckets of equal width
// starting at Origin. Their width doubles whenever the time needs more than
// MaxBuckets of them. The zero Timeline is empty.
type Timeline struct {
	Origin  time.Duration // when the first bucket begins; the caller sets it before the first collection
	Buckets []Bucket
	width   time.Duration
}

// A Bucket is an interval of a Timeline. HeapAfter and Committed are the sizes after
// the last collection that ended in it.
type Bucket struct {
	Collections int           // that began in it
	Pause       time.Duration // of all pauses that began in it
	Longest     time.Duration // of them
	HeapBefore  gc.Opt[int64] // the largest before a collection that ended in it
	HeapAfter   gc.Opt[int64]
	Committed   gc.Opt[int64]

	heapAt, committedAt time.Duration // when the sizes were measured
}

// Width returns the length of a bucket.
func (t *Timeline) Width() time.Duration { return max(t.width, finest) }

// Add adds a collection. A pause counts where it begins.
func (t *Timeline) Add(c *gc.Collection) {
	if c.Start.Known() {
		t.ensureBucket(c.Start.Or(0)).Collections++
	}
	for i := range c.Pauses {
		b := t.ensureBucket(c.Pauses[i].Start)
		b.Pause = units.AddCapped(b.Pause, c.Pauses[i].Duration)
		b.Longest = max(b.Longest, c.Pauses[i].Duration)
	}
	if c.End.Known() {
		t.ensureBucket(c.End.Or(0)).measure(c)
	}
}

// measure keeps the largest size before a collection, and the latest sizes after one.
func (b *Bucket) measure(c *gc.Collection) {
	b.raise(c.HeapBefore)
	if c.HeapAfter.Known() && (!b.HeapAfter.Known() || c.End.Or(0) >= b.heapAt) {
		b.HeapAfter, b.heapAt = c.HeapAfter, c.End.Or(0)
	}
	committed := c.CommittedAfter
	if !committed.Known() {
		committed = c.CommittedBefore // all there is of a background collection
	}
	if committed.Known() && (!b.Committed.Known() || c.End.Or(0) >= b.committedAt) {
		b.Committed, b.committedAt = committed, c.End.Or(0)
	}
}

// raise keeps the larger size before a collection.
func (b *Bucket) raise(before gc.Opt[int64]) {
	if before.Known() && before.Or(0) >= b.HeapBefore.Or(0) {
		b.HeapBefore = before
	}
}

// Until returns a Timeline of the same collections, extended to a time.
func (t *Timeline) Until(end time.Duration) Timeline {
	c := *t
	c.Buckets = slices.Clone(t.Buckets)
	if end > c.Origin {
		c.ensureBucket(end - 1)
	}
	return c
}

// ensureBucket extends the timeline to a time and returns its bucket; what came before
// the origin is in the first.
func (t *Timeline) ensureBucket(at time.Duration) *Bucket {
	t.width = t.Width()
	i := timeline.Bucket(at-t.Origin, &t.width, &t.Buckets, MaxBuckets, (*Bucket).follow)
	return &t.Buckets[i]
}

// follow makes b one bucket with the next.
func (b *Bucket) follow(next *Bucket) {
	b.Collections += next.Collections
	b.Pause = units.AddCapped(b.Pause, next.Pause)
	b.Longest = max(b.Longest, next.Longest)
	b.raise(next.HeapBefore)
	if next.HeapAfter.Known() {
		b.HeapAfter, b.heapAt = next.HeapAfter, next.heapAt
	}
	if next.Committed.Known() {
		b.Committed, b.committedAt = next.Committed, next.committedAt
	}
}
