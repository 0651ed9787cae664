package heap

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

func TestSegments(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var m Segments
	mPass := pass.New(&m)
	feed := func(e clr.Event) { mPass.Feed(maker.At(0, e)) }
	feed(&clr.GCCreateSegment{Address: 1, Size: 100})
	feed(&clr.GCCreateSegment{Address: 2, Size: 50})
	feed(&clr.GCCreateSegment{Address: 3, Size: clr.MaxSize}) // damage
	commit := func(used, free, global, decommit uint64) {
		e := clr.CommittedUsage{
			TotalCommittedInUse: used, TotalCommittedInFree: free, TotalCommittedInGlobalFree: global,
			TotalCommittedInGlobalDecommit: decommit, TotalBookkeepingCommitted: 1,
		}
		data := e.Append(nil)
		feed(&clr.GCDynamicEvent{Name: clr.NewUTF16("CommittedUsage"), DataSize: uint32(len(data)), Data: data})
	}
	feed(&clr.GCEnd{Count: 1})
	feed(&clr.GCFreeSegment{Address: 1})
	commit(1, 1, 1, 1)
	commit(100, 20, 3, 7)
	commit(1<<60, 20, 3, 7)              // damage
	feed(&clr.GCFreeSegment{Address: 9}) // from before the trace
	feed(&clr.GCCreateSegment{Address: 2, Size: 70})
	feed(&clr.GCEnd{Count: 2})
	commit(100, 20, 3, 7)
	feed(&clr.GCEnd{Count: 3})
	if m.Rejected() != 2 || m.live != 1 {
		t.Errorf("%d events rejected, %d segments live", m.Rejected(), m.live)
	}
	for number, want := range map[uint32]SegmentCounts{
		1: {Created: 2, CreatedBytes: 150, Live: 2, LiveBytes: 150},
		2: {Created: 1, CreatedBytes: 70, Freed: 2, FreedBytes: 100, Live: 1, LiveBytes: 70},
		3: {Live: 1, LiveBytes: 70, Committed: gc.Some(Committed{100, 20, 3, 7, 1})},
	} {
		if got, ok := m.Remove(7, 0, number); !ok || got != want {
			t.Errorf("GC %d: %+v, expected %+v", number, got, want)
		}
		if _, again := m.Remove(7, 0, number); again {
			t.Errorf("GC %d was taken twice", number)
		}
	}
}

// TestManyProcesses: of more processes than are distinguished, nothing is known, and the
// others' snapshots share a bound.
func TestSegmentsOfManyProcesses(t *testing.T) {
	const more = 500
	var m Segments
	mPass := pass.New(&m)
	for n := range pass.MaxProcesses + more {
		maker := tracetest.Maker{PID: uint64(1 + n)}
		mPass.Feed(maker.At(0, &clr.GCCreateSegment{Address: 1, Size: 100}))
		mPass.Feed(maker.At(0, &clr.GCEnd{Count: 1}))
	}
	if m.live != pass.MaxProcesses || m.ends != pass.MaxProcesses {
		t.Errorf("%d segments, %d snapshots", m.live, m.ends)
	}
	if _, ok := m.Remove(pass.MaxProcesses+more, 0, 1); ok {
		t.Error("a snapshot of a runtime that there is no room for")
	}
	for n := range pass.MaxProcesses {
		if got, ok := m.Remove(uint64(1+n), 0, 1); !ok || got.Created != 1 {
			t.Fatalf("process %d: %+v, %t", 1+n, got, ok)
		}
	}
	maker := tracetest.Maker{PID: 1}
	for n := range maxSnapshots + more {
		mPass.Feed(maker.At(0, &clr.GCEnd{Count: uint32(n / 2)})) // each twice
		mPass.Feed(maker.At(0, &clr.GCEnd{Count: uint32(n)}))
	}
	if m.ends != maxSnapshots || len(m.runtimes.Get(0).ends) != maxSnapshots {
		t.Errorf("%d snapshots, counted as %d", len(m.runtimes.Get(0).ends), m.ends)
	}
}

func TestCommittedTotal(t *testing.T) {
	c := Committed{InUse: 100, Free: 20, GlobalFree: 3, Decommit: 7, Bookkeeping: 1}
	if got := c.Total(); got != 123 {
		t.Errorf("%d bytes committed, expected 123", got)
	}
}

func FuzzSegments(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22})
	f.Fuzz(func(t *testing.T, payload []byte) {
		maker := tracetest.Maker{PID: 7}
		var m Segments
		mPass := pass.New(&m)
		for _, like := range []clr.Event{&clr.GCCreateSegment{}, &clr.GCCreateSegment{}, &clr.GCFreeSegment{}, &clr.GCDynamicEvent{}, &clr.GCEnd{}} {
			ev := maker.At(0, like)
			ev.Payload = payload
			mPass.Feed(ev)
		}
		for s := range m.runtimes.All() {
			if s.now.Live < 0 || s.now.LiveBytes < 0 {
				t.Fatalf("%+v", s.now)
			}
		}
	})
}
