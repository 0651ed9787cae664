package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// An attempt is the latest collection before an OutOfMemoryException, with the memory
// that it left.
type attempt struct {
	number uint32
	end    gc.Opt[time.Duration]
	last   bool // no later collection is known
	held   held
}

// A held is a generation with much of the heap as free space. The space is lost to other
// allocations, because only its own kind of object can use it.
type held struct {
	generation int
	free, size int64
}

func (a *attempt) add(c *gc.Collection) {
	a.last = c.LastAttempt()
	if !a.last {
		return
	}
	a.number, a.end = c.Number, c.End
	if h, known := heldBy(c); known {
		a.held = h
	}
}

// heldBy returns the heap of large or pinned objects that holds the most free space
// after a collection, with a size of 0 if neither has much. It returns false if their
// sizes are unknown.
func heldBy(c *gc.Collection) (held, bool) {
	var most held
	if !isFull(c) || !c.HeapAfter.Known() {
		return most, false
	}
	for i := 3; i < gc.NumGenerations; i++ {
		g := generation(c, i)
		if g == nil || !g.After.Known() || !g.Fragmentation.Known() {
			continue
		}
		if free := g.Fragmentation.Or(0); free > most.free && of(free, c.HeapAfter.Or(0)) >= heldShare {
			most = held{i, free, g.After.Or(0)}
		}
	}
	return most, true
}

// heldShare is the least share of the heap, in percent, that counts as much free space.
const heldShare = 10

// heapNames are the names of the heaps of large and pinned objects in sentences.
var heapNames = map[int]string{3: "the LOH", 4: "the pinned object heap"}

// text describes the free space, as a sentence that follows others; empty if none is held.
func (a *attempt) text() string {
	h := &a.held
	if h.size == 0 {
		return ""
	}
	text := fmt.Sprintf(" After GC %d, %s of the %s in %s were free space, which no other part of the heap can use", a.number, units.Bytes(h.free), units.Bytes(h.size), heapNames[h.generation])
	if h.generation == 4 {
		text += "; the GC never compacts this heap"
	}
	return text + "."
}

// holds returns whether the given generation holds the free space.
func holds(generation int) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		return j.attempt.held.size > 0 && j.attempt.held.generation == generation
	}
}

// holdsNone reports whether neither large nor pinned objects hold much free space.
func holdsNone(j *judgement, _ *Finding) bool { return j.attempt.held.size == 0 }

// endsSoon is how soon after the latest collection a trace ends whose process ran out of
// memory. Own: it unwinds or prints a message first.
const endsSoon = time.Second

// endsInAttempt returns how long after its end the trace breaks off, if the latest
// collection is a last attempt and the process did not shut down in order.
func (j *judgement) endsInAttempt() (time.Duration, bool) {
	end, known := j.attempt.end.Get()
	if !j.attempt.last || !known || !j.Trace.Loss.Truncated || j.Trace.Until.Known() {
		return 0, false
	}
	after := max(0, j.Summary.Process.Stopped-end)
	return after, after <= endsSoon
}
