package gc_test

import (
	"encoding/binary"
	"iter"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// A script is a trace made up in a test: it is a trace.Source.
type script struct {
	events []trace.Event
	info   trace.Info
	loss   trace.Loss
	kinds  map[kind]*trace.Descriptor
	pid    uint64
	clr    uint16
}

type kind struct {
	provider    string
	id, version uint32
}

func newScript() *script {
	s := &script{kinds: make(map[kind]*trace.Descriptor), pid: 7}
	s.info.Clock = &trace.Clock{Frequency: int64(time.Second)}
	s.loss.Exactness, s.loss.Settled = trace.Exact, 1<<62
	return s
}

func (s *script) Info() *trace.Info { return &s.info }
func (s *script) Loss() *trace.Loss { return &s.loss }

func (s *script) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(func(*trace.Descriptor, uint64) bool) {}
}

func (s *script) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for i := range s.events {
			s.info.Last = s.events[i].Time()
			if !yield(&s.events[i], nil) {
				return
			}
		}
	}
}

// raise adds an event whose payload is the given numbers, packed.
func (s *script) raise(ms float64, tid uint64, provider string, id, version uint32, fields ...any) {
	k := kind{provider, id, version}
	if s.kinds[k] == nil {
		s.kinds[k] = &trace.Descriptor{Provider: provider, ID: id, Version: version}
	}
	var payload []byte
	for _, f := range fields {
		payload, _ = binary.Append(payload, binary.LittleEndian, f)
	}
	s.events = append(s.events, trace.Event{
		Desc: s.kinds[k], Ticks: int64(ms * 1e6), Clock: s.info.Clock,
		PID: s.pid, TID: tid, PointerSize: 8, Payload: payload,
	})
}

func (s *script) suspendBegin(ms float64, tid uint64, reason clr.SuspendReason) {
	s.raise(ms, tid, clr.RuntimeProvider, 9, 1, uint32(reason), uint32(0), s.clr)
}

func (s *script) suspendEnd(ms float64, tid uint64) {
	s.raise(ms, tid, clr.RuntimeProvider, 8, 1, s.clr)
}

func (s *script) restartBegin(ms float64, tid uint64) {
	s.raise(ms, tid, clr.RuntimeProvider, 7, 1, s.clr)
}

func (s *script) restartEnd(ms float64, tid uint64) {
	s.raise(ms, tid, clr.RuntimeProvider, 3, 1, s.clr)
}

func (s *script) start(ms float64, tid uint64, number, depth uint32, kind clr.GCType) {
	s.raise(ms, tid, clr.RuntimeProvider, 1, 2, number, depth, uint32(clr.GCReasonAllocSmall), uint32(kind), s.clr, uint64(0))
}

func (s *script) end(ms float64, tid uint64, number, depth uint32) {
	s.raise(ms, tid, clr.RuntimeProvider, 2, 1, number, depth, s.clr)
}

// stats raises GCHeapStats with size bytes in gen2.
func (s *script) stats(ms float64, tid uint64, size uint64) {
	s.raise(ms, tid, clr.RuntimeProvider, 4, 2, [4]uint64{}, size, [5]uint64{}, [3]uint32{}, s.clr, [2]uint64{})
}

// A size is a test's description of a generation in a history.
type size struct{ before, freeBefore, after, freeAfter, in, out, budget uint64 }

// history raises the global history, and one history for each heap.
func (s *script) history(ms float64, tid uint64, depth uint32, mechanisms clr.GlobalMechanisms, heaps ...[5]size) {
	s.globalHistory(ms, tid, depth, mechanisms, uint32(len(heaps)))
	for i, heap := range heaps {
		s.heap(ms, tid, uint32(i), heap)
	}
}

func (s *script) globalHistory(ms float64, tid uint64, depth uint32, mechanisms clr.GlobalMechanisms, heaps uint32) {
	s.raise(ms, tid, clr.RuntimeProvider, 205, 2, uint64(0), heaps, depth, uint32(0),
		uint32(clr.GCReasonAllocSmall), uint32(mechanisms), s.clr, uint32(0), uint32(40))
}

func (s *script) heap(ms float64, tid uint64, index uint32, generations [5]size) {
	fields := []any{s.clr, [6]uint64{}, [5]uint32{}, index, uint64(0), uint32(len(generations))}
	for _, g := range generations {
		fields = append(fields, g.before, g.freeBefore, uint64(0), g.after, g.freeAfter, uint64(0), g.in, uint64(0), g.out, g.budget)
	}
	s.raise(ms, tid, clr.RuntimeProvider, 204, 3, fields...)
}

func (s *script) tick(ms float64, tid uint64, kind clr.AllocationKind, amount uint64) {
	s.raise(ms, tid, clr.RuntimeProvider, 10, 4, uint32(amount), uint32(kind), s.clr, amount, uint64(0), uint16(0), uint32(0), uint64(0), uint64(0))
}

// blocking raises a whole blocking collection of gen0 from ms to ms+1, in a
// pause that begins 0.1 ms earlier and ends 0.1 ms later.
func (s *script) blocking(ms float64, tid uint64, number uint32) {
	s.suspendBegin(ms-0.1, tid, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(ms-0.05, tid)
	s.start(ms, tid, number, 0, clr.GCTypeNonConcurrentGC)
	s.history(ms+0.5, tid, 0, clr.GlobalMechanismsCompaction, [5]size{{before: 1000, out: 100}})
	s.end(ms+1, tid, number, 0)
	s.stats(ms+1, tid, 100)
	s.restartBegin(ms+1.1, tid)
	s.restartEnd(ms+1.2, tid)
}

// run returns the collections that a model makes of the script, by number, and
// their order.
func (s *script) run(t *testing.T) (byNumber map[uint32]*gc.Collection, order []uint32, m *gc.Model) {
	t.Helper()
	m = new(gc.Model)
	byNumber = make(map[uint32]*gc.Collection)
	for c, err := range m.Collections(s) {
		if err != nil {
			t.Fatal(err)
		}
		if byNumber[c.Number] != nil {
			t.Errorf("collection %d twice", c.Number)
		}
		byNumber[c.Number] = c
		order = append(order, c.Number)
	}
	return byNumber, order, m
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
