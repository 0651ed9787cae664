package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// A rawMark is the end of marking from one kind of root on one heap.
type rawMark struct {
	heap  uint32
	root  clr.RootType
	at    time.Duration
	bytes Opt[int64]
}

// A markSource is a set of events about marking. Some runtimes raise more than one
// set: the most detailed counts.
type markSource uint8

const (
	privateMarks markSource = iota + 1 // .NET Framework 4.0 and later, private provider
	runtimeMarks                       // .NET Framework 4.5.2
	typedMarks                         // GCMarkWithType, from .NET Framework 4.6 and CoreCLR on
)

// oldMarks are the events before GCMarkWithType, one for each kind of root.
var oldMarks = map[clr.Kind]struct {
	root   clr.RootType
	source markSource
}{
	clr.KindGCMarkStackRoots:            {clr.RootTypeStack, runtimeMarks},
	clr.KindGCMarkFinalizeQueueRoots:    {clr.RootTypeFinalizeQueue, runtimeMarks},
	clr.KindGCMarkHandles:               {clr.RootTypeHandles, runtimeMarks},
	clr.KindGCMarkOlderGenerationRoots:  {clr.RootTypeOlder, runtimeMarks},
	clr.KindPrvGCMarkStackRoots:         {clr.RootTypeStack, privateMarks},
	clr.KindPrvGCMarkFinalizeQueueRoots: {clr.RootTypeFinalizeQueue, privateMarks},
	clr.KindPrvGCMarkHandles:            {clr.RootTypeHandles, privateMarks},
	clr.KindPrvGCMarkCards:              {clr.RootTypeOlder, privateMarks},
}

// markWithType is raised at the end of marking from one kind of root.
func (m *Model) markWithType(e *event) {
	v, ok := decode[clr.GCMarkWithType](m, e)
	if !ok {
		return
	}
	mark := rawMark{heap: v.HeapNum, root: v.Type, at: e.Time}
	if plausible(v.Bytes) {
		mark.bytes = Some(int64(v.Bytes))
	}
	m.marked(e, v.ClrInstanceID, typedMarks, mark)
}

func (m *Model) oldMark(e *event) {
	if v, ok := decode[clr.GCMarkStackRoots](m, e); ok { // all of them have the same fields
		old := oldMarks[e.Kind]
		m.marked(e, v.ClrInstanceID, old.source, rawMark{heap: v.HeapNum, root: old.root, at: e.Time})
	}
}

func (m *Model) marked(e *event, instance uint16, source markSource, mark rawMark) {
	rt := m.runtime(e, instance)
	if rt == nil {
		return
	}
	m.ran.plays(e, marks)
	b := rt.current()
	if b == nil || source < b.markSource {
		return
	}
	if source > b.markSource {
		m.room.marks -= len(b.marks)
		b.markSource, b.marks = source, b.marks[:0]
	}
	if len(b.marks) == maxMarks || m.room.marks == maxOpenMarks {
		m.drop(e.Time)
		return
	}
	m.room.marks++
	b.marks = append(b.marks, mark)
}

// computeMarks turns the ends of marking steps into durations: per heap, each lasts
// from the end of the step before, the first from GCStart.
func (b *building) computeMarks() {
	if !b.Start.Known() {
		b.rt.model.room.marks -= len(b.marks)
		b.marks = b.marks[:0]
		return
	}
	slices.SortStableFunc(b.marks, func(a, c rawMark) int { return int(a.heap) - int(c.heap) })
	b.Marks = slices.Grow(b.Marks, len(b.marks))
	at := b.Start.Or(0)
	for i, m := range b.marks {
		if i == 0 || m.heap != b.marks[i-1].heap {
			at = b.Start.Or(0)
		}
		b.addMark(m, max(0, m.at-at))
		at = m.at
	}
	b.rt.model.room.marks -= len(b.marks)
	b.marks = b.marks[:0]
	for rest := b.Marks; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Heap == rest[0].Heap {
			n++
		}
		divideOverflow(rest[:n])
		rest = rest[n:]
	}
}

// divideOverflow divides the figures of one heap's marks for mark overflow. The runtime
// raises the event of mark overflow inside the scan of dependent handles, even if that
// scan only drained the mark queue. The time since the previous event therefore belongs
// to both, and is divided by the bytes that each marked. See gc.cpp,
// scan_dependent_handles and process_mark_overflow.
func divideOverflow(marks []Mark) {
	var overflow, dependent *Mark
	for i := range marks {
		switch m := &marks[i]; m.Root {
		case clr.RootTypeOverflow:
			overflow = m
		case clr.RootTypeDependentHandles:
			dependent = m
		}
	}
	if overflow == nil || dependent == nil || !overflow.Bytes.Known() || !dependent.Bytes.Known() {
		return
	}
	inside := max(0, overflow.Bytes.Or(0))
	all := max(inside, dependent.Bytes.Or(0)) // the scan's bytes contain the overflow's
	both := units.AddCapped(overflow.Duration, dependent.Duration)
	overflow.Duration = 0
	if all > 0 {
		overflow.Duration = time.Duration(float64(both) * float64(inside) / float64(all))
	}
	dependent.Duration, dependent.Bytes = both-overflow.Duration, Some(all-inside)
}

// addMark adds a step. The same root can be marked from twice.
func (b *building) addMark(m rawMark, d time.Duration) {
	for i := len(b.Marks) - 1; i >= 0 && b.Marks[i].Heap == m.heap; i-- {
		if b.Marks[i].Root == m.root {
			b.Marks[i].Duration = units.AddCapped(b.Marks[i].Duration, d)
			b.Marks[i].Bytes = Opt[int64]{v: b.Marks[i].Bytes.Or(0) + m.bytes.Or(0), known: b.Marks[i].Bytes.Known() && m.bytes.Known()}
			return
		}
	}
	b.Marks = append(b.Marks, Mark{m.heap, m.root, d, m.bytes})
}
