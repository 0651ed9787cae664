package alloc

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/symbol"
)

// maxTimed bounds the entries of a timeline, unless more than half as many rows are
// kept apart.
const maxTimed = 1 << 19

// manyTimed entries are likely to become maxTimed.
const manyTimed = maxTimed / 16

// A Timed is an allocation of one type, on one heap, from one stack, at one
// time.
type Timed struct {
	Time    time.Duration // since the start of the trace
	Type    string        // empty if unknown
	Heap    Heap
	Stack   symbol.StackID
	Samples int64
	Bytes   int64
}

// A timeline holds allocations with their times. If there are too many, allocations
// within a slot of time are added up for each key, and slots get longer.
type timeline struct {
	keys    []key
	entries []entry
	slot    time.Duration
	limit   int
}

// An entry has no pointers, and is small, because there are many.
type entry struct {
	at      time.Duration
	bytes   float64
	samples uint32
	key     uint32 // index of keys
}

func (t *timeline) add(at time.Duration, key uint32, s *sum) {
	if t.slot == 0 {
		t.slot, t.limit = time.Millisecond, maxTimed
	}
	if len(t.entries) == cap(t.entries) && len(t.entries) >= manyTimed {
		t.entries = slices.Grow(t.entries, t.limit-len(t.entries)) // at once, without garbage
	}
	t.entries = append(t.entries, entry{at, s.bytes, uint32(s.samples), key})
	if len(t.entries) < t.limit {
		return
	}
	for len(t.entries) > t.limit/2 && t.slot < 1<<62 {
		t.merge()
		t.slot *= 2
	}
	t.limit = max(maxTimed, 2*len(t.entries))
}

// merge adds up the allocations within a slot of time for each key, at the time of the
// first one, as far as their samples can be counted. It needs one pass, because the entries
// of a slot follow one another.
func (t *timeline) merge() {
	first := make([]int, len(t.keys)) // entry of each key
	begin, slot := 0, time.Duration(-1)
	kept := t.entries[:0]
	for _, e := range t.entries {
		if at := e.at / t.slot; at != slot {
			slot, begin = at, len(kept)
		}
		if i := first[e.key]; i >= begin && i < len(kept) && kept[i].key == e.key && kept[i].samples <= math.MaxUint32-e.samples {
			kept[i].samples += e.samples
			kept[i].bytes += e.bytes
			continue
		}
		first[e.key] = len(kept)
		kept = append(kept, e)
	}
	t.entries = kept
}

// Timeline yields the allocations of process pid according to source, in the order of the
// events. It yields nothing unless KeepTimes was set. Except for rounding, the bytes add
// up to the ones of Rows. Names are final once all events have been fed.
func (m *Model) Timeline(pid uint64, source Source) iter.Seq[Timed] {
	return func(yield func(Timed) bool) {
		p := m.find(pid)
		if p == nil {
			return
		}
		var merged []symbol.StackID
		if m.Stacks != nil {
			merged = m.Stacks.Merged()
		}
		all := 0.0 // rounded as a whole, so that errors do not add up
		for i := range m.timeline.entries {
			e := &m.timeline.entries[i]
			k := &m.timeline.keys[e.key]
			if k.process != p.index || k.source != source {
				continue
			}
			before := round(all)
			all += e.bytes
			row := Timed{
				Time: e.at, Type: m.typeName(p, k.typ), Heap: k.heap, Samples: int64(e.samples), Bytes: round(all) - before,
			}
			if merged != nil {
				row.Stack = merged[k.stack]
			}
			if !yield(row) {
				return
			}
		}
	}
}
