package attack

import (
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A flood raises one event of many.
type flood struct {
	name  string
	raise func(m *tracetest.Maker, n int) clr.Event
}

// same raises one event, by threads in turn.
func same(threads int, e func(n int) clr.Event) func(*tracetest.Maker, int) clr.Event {
	return func(m *tracetest.Maker, n int) clr.Event {
		m.TID = uint64(1 + n%threads)
		return e(n)
	}
}

const many = 1 << 20

var floods = []flood{
	{"starts without end", same(1, func(n int) clr.Event { return &clr.GCStart{Count: uint32(n), Depth: 2} })},
	{"background starts", same(1, func(n int) clr.Event { return &clr.GCStart{Count: uint32(n), Depth: 2, Type: clr.GCTypeBackgroundGC} })},
	{"one start again and again", same(1, func(int) clr.Event { return &clr.GCStart{Count: 1} })},
	{"ends without start", same(many, func(n int) clr.Event { return &clr.GCEnd{Count: uint32(n)} })},
	{"one end again and again", same(many, func(int) clr.Event { return &clr.GCEnd{Count: 1} })},
	{"foreground during background", same(1, func(n int) clr.Event {
		if n == 0 {
			return &clr.GCStart{Count: 1, Depth: 2, Type: clr.GCTypeBackgroundGC}
		}
		return &clr.GCStart{Count: uint32(n + 1), Type: clr.GCTypeForegroundGC}
	})},
	{"starts in one suspension", same(1, func(n int) clr.Event {
		if n == 0 {
			return &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC}
		}
		return &clr.GCStart{Count: uint32(n)}
	})},
	{"runtimes", same(1, func(n int) clr.Event { return &clr.GCStart{Count: uint32(n), ClrInstanceID: uint16(n)} })},
	{"processes", func(m *tracetest.Maker, n int) clr.Event {
		m.PID = uint64(1 + n)
		return &clr.GCStart{Count: 1}
	}},
	{"threads that suspend", same(many, func(n int) clr.Event {
		return &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC, Count: uint32(n)}
	})},
	{"threads that stand", same(many, func(n int) clr.Event {
		if n%2 == 0 {
			return &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC}
		}
		return &clr.GCSuspendEEEnd{}
	})},
	{"restarts without end", same(many, func(n int) clr.Event {
		if n%2 == 0 {
			return &clr.GCSuspendEEBegin{Reason: clr.SuspendReason(n)}
		}
		return &clr.GCRestartEEBegin{}
	})},
	{"reasons", func(_ *tracetest.Maker, n int) clr.Event {
		return []clr.Event{
			&clr.GCSuspendEEBegin{Reason: clr.SuspendReason(n)}, &clr.GCSuspendEEEnd{}, &clr.GCRestartEEBegin{}, &clr.GCRestartEEEnd{},
		}[n%4]
	}},
	{"reasons of collections", same(1, func(n int) clr.Event { return &clr.GCStart{Count: uint32(n), Reason: clr.GCReason(n)} })},
	{"heap statistics", same(many, func(int) clr.Event { return &clr.GCHeapStats{GenerationSize0: 1 << 20} })},
	{"histories", same(many, func(n int) clr.Event {
		if n < 2000 {
			return &clr.GCStart{Count: uint32(n)}
		}
		return &clr.GCGlobalHeapHistory{NumHeaps: 1, GlobalMechanisms: clr.GlobalMechanismsConcurrent}
	})},
	{"heaps", same(1, func(n int) clr.Event {
		switch n {
		case 0:
			return &clr.GCStart{Count: 1}
		case 1:
			return &clr.GCGlobalHeapHistory{NumHeaps: 1000}
		}
		return &clr.GCPerHeapHistory{HeapIndex: uint32(n)}
	})},
	{"marks", same(1, func(n int) clr.Event {
		if n%10_000 == 0 {
			return &clr.GCStart{Count: uint32(n), Depth: 2}
		}
		return &clr.GCMarkWithType{HeapNum: uint32(n), Bytes: 1}
	})},
	{"allocation ticks", same(many, func(int) clr.Event { return &clr.GCAllocationTick{AllocationAmount64: 1 << 49} })},
	{"threads that wait to allocate", same(many, func(int) clr.Event { return &clr.BGCAllocWaitBegin{Reason: clr.BGCAllocWaitReasonGetLOHSeg} })},
	{"memory pressure", same(many, func(int) clr.Event { return &clr.IncreaseMemoryPressure{BytesAllocated: 1 << 49} })},
	{"names", func(m *tracetest.Maker, n int) clr.Event {
		m.PID = uint64(1 + n%1000)
		if n < 1000 {
			return &clr.RuntimeInformationStart{CommandLine: long}
		}
		return &clr.RuntimeInformationStart{CommandLine: short}
	}},
}

// Names: a thousand long ones exceed the memory for names, a thousand short ones fit.
var long, short = clr.NewUTF16(strings.Repeat("x", 10_000)), clr.NewUTF16("x")

// raised returns the first events of a flood, a microsecond apart.
func (f *flood) raised(events int) iter.Seq[*trace.Event] {
	return func(yield func(*trace.Event) bool) {
		m := tracetest.Maker{PID: 42, TID: 1}
		for n := range events {
			e := f.raise(&m, n)
			if !yield(m.At(time.Duration(n)*time.Microsecond, e)) {
				return
			}
		}
	}
}

// TestFloods writes each flood as a trace of each format, in a full run, or else of one of them,
// and reads it in bounded memory.
func TestFloods(t *testing.T) {
	events := extent.Pick(5000, 60_000, 1_000_000)
	for i := range floods {
		for j, r := range recordings {
			if n := len(recordings); !extent.Due(i+j, n) || !extent.Sparse(i+j, n) {
				continue
			}
			t.Run(floods[i].name+" in "+r.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "flood")
				if err := r.record(path, floods[i].raised(events)); err != nil {
					t.Fatal(err)
				}
				runtime.GC()
				before := heap()
				var most uint64
				n := 0
				o := read(path, func() {
					if n++; n%(events/8) == 0 { // while nothing is allocated: all that is left is in use
						runtime.GC()
						most = max(most, heap())
					}
				})
				if o.panicked != "" || o.refused != nil || len(o.impossible) > 0 {
					t.Errorf("%+v", o)
				}
				if n != events {
					t.Errorf("%d of %d events are read", n, events)
				}
				peak := max(most, before) - before
				if peak > maxFlood {
					t.Errorf("%d MB in use", peak>>20)
				}
				t.Logf("%d collections, %d MB at most", o.collections, peak>>20)
			})
		}
	}
}

// maxFlood is how much the memory in use, without garbage, may grow while a flood is
// read.
const maxFlood = 64 << 20
