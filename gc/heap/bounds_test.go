package heap

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestMoments: a snapshot that begins within a tenth of the longest time between two, after the
// one before it, is of the same moment, unless it is of another trace.
func TestMoments(t *testing.T) {
	of := func(typ *Type, start, end time.Duration) *Snapshot {
		return &Snapshot{Graph: &Graph{types: []*Type{typ}}, Start: gc.Some(start), End: gc.Some(end)}
	}
	own, other := new(Type), new(Type)
	unended := of(own, 150, 0)
	unended.End = gc.Opt[time.Duration]{}
	for _, c := range []struct {
		name string
		all  []*Snapshot
		want int
	}{
		{"a tenth later", []*Snapshot{of(own, 0, 50), of(own, 150, 200), of(own, 210, 300)}, 3},
		{"less", []*Snapshot{of(own, 0, 50), of(own, 150, 200), of(own, 209, 300)}, 2},
		{"of another trace", []*Snapshot{of(own, 0, 50), of(own, 150, 200), of(other, 209, 300)}, 3},
		{"earlier", []*Snapshot{of(own, 0, 50), of(own, 150, 200), of(own, 199, 300)}, 3},
		{"after one without an end", []*Snapshot{of(own, 0, 50), unended, of(own, 151, 300)}, 3},
	} {
		if n := len(moments(c.all)); n != c.want {
			t.Errorf("%s: %d moments, expected %d", c.name, n, c.want)
		}
	}
}

// TestSegmentsBounded: segments beyond the bound are counted, but not followed, until others
// are freed.
func TestSegmentsBounded(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var m Segments
	p := pass.New(&m)
	feed := func(e clr.Event) { p.Feed(maker.At(0, e)) }
	feed(&clr.GCCreateSegment{Address: 1, Size: 10})
	m.live = maxSegments
	feed(&clr.GCCreateSegment{Address: 2, Size: 20}) // no room
	feed(&clr.GCFreeSegment{Address: 2})
	feed(&clr.GCCreateSegment{Address: 1, Size: 30}) // in place of the first
	feed(&clr.GCFreeSegment{Address: 1})
	feed(&clr.GCCreateSegment{Address: 3, Size: 40})
	feed(&clr.GCEnd{Count: 1})
	want := SegmentCounts{Created: 4, CreatedBytes: 100, Freed: 2, FreedBytes: 30, Live: 1, LiveBytes: 40}
	if got, _ := m.Remove(7, 0, 1); got != want || m.live != maxSegments {
		t.Errorf("%+v, expected %+v; %d live", got, want, m.live)
	}
}

// TestMethodNames: a method has its last name, with its type, as far as there is room.
func TestMethodNames(t *testing.T) {
	var m methods
	named := func(id uint64, namespace, name string) {
		v := &clr.MethodLoadVerbose{MethodID: id, MethodName: clr.NewUTF16(name)}
		if namespace != "" {
			v.MethodNamespace = clr.NewUTF16(namespace)
		}
		m.named(v)
	}
	named(1, "N.T", "Main")
	named(2, "", "Main")
	named(3, "", "")
	named(2, "N.U", "Go")
	named(2, "N.U", "Go") // again
	m.bytes = maxMethodBytes - 4
	named(4, "", "Large")
	named(5, "", "Fits")
	g := &Graph{roots: []Root{{Kind: RootStack, ID: 1}, {Kind: RootHandle, ID: 1}, {Kind: RootStack, ID: 2}, {Kind: RootStack, ID: 3}, {Kind: RootStack, ID: 4}, {Kind: RootStack, ID: 5}}}
	m.resolve(g)
	for i, want := range []string{"N.T.Main", "", "N.U.Go", "", "", "Fits"} {
		if got := g.roots[i].Method; got != want {
			t.Errorf("root %d: %q, expected %q", i, got, want)
		}
	}
	if m.bytes != maxMethodBytes {
		t.Errorf("%d bytes", m.bytes)
	}
}
