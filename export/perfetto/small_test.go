package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// smallHeap returns a snapshot of three objects of two modules, with a root of each kind.
func smallHeap(t *testing.T) *heap.Snapshot {
	t.Helper()
	m := heap.Snapshots{MaxObjects: 100}
	p := pass.New(&m)
	maker := tracetest.Maker{PID: 7}
	root := func(kind clr.BulkRootKind, flags clr.BulkRootFlags, objects ...uint64) clr.Event {
		e := new(clr.GCBulkRootEdge)
		for _, object := range objects {
			e.Values = append(e.Values, clr.GCBulkRootEdgeValue{RootedNodeAddress: object, GCRootKind: kind, GCRootFlag: flags})
		}
		return e
	}
	roots := []clr.Event{
		root(clr.BulkRootKindStack, 0, 0x100),
		root(clr.BulkRootKindHandle, 0, 0x200, 0x100),
		root(clr.BulkRootKindHandle, clr.BulkRootFlagsPinning, 0x200),
		root(clr.BulkRootKindHandle, clr.BulkRootFlagsRefCounted, 0x300),
		root(clr.BulkRootKindFinalizer, 0, 0x300),
		root(clr.BulkRootKindOther, 0, 0x300),
	}
	for i, e := range roots {
		e.(*clr.GCBulkRootEdge).Index = uint32(i)
	}
	events := slices.Concat([]clr.Event{
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.BulkType{Values: []clr.BulkTypeValue{
			{TypeID: 0x10, ModuleID: 1, Name: clr.NewUTF16("Shop.Order")}, {TypeID: 0x20, ModuleID: 2, Name: clr.NewUTF16("Shop.\x01Item")},
		}},
		&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{GCRootID: 0x1000, ObjectID: 0x100, FieldName: clr.NewUTF16("all")}}},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{
			{Address: 0x100, Size: 40, TypeID: 0x10, EdgeCount: 2}, {Address: 0x200, Size: 1000, TypeID: 0x20}, {Address: 0x300, Size: 24, TypeID: 0x20, EdgeCount: 1},
		}},
		&clr.GCBulkEdge{Values: []clr.GCBulkEdgeValue{{Value: 0x200}, {Value: 0x300}, {Value: 0x100}}},
	}, roots, []clr.Event{
		&clr.GCEnd{Count: 7, Depth: 2},
		&clr.ModuleDCEnd{ModuleID: 1, ModuleILPath: clr.NewUTF16("/app/shop.dll")},
		&clr.ModuleDCEnd{ModuleID: 2, ModuleILPath: clr.NewUTF16("/app/item.dll")},
	})
	for i, e := range events {
		p.Feed(maker.At(time.Duration(1+i)*time.Millisecond, e))
	}
	p.End(new(trace.Loss))
	all := m.All()
	if len(all) != 1 || all[0].Graph == nil {
		t.Fatalf("snapshots %+v", all)
	}
	return all[0]
}

// TestHeapGraph holds the packets of a small heap graph, with the numbers of Perfetto's
// heap_graph.proto, in one packet and in several.
func TestHeapGraph(t *testing.T) {
	s := smallHeap(t)
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := w.Snapshot(&gc.Process{PID: s.PID, Name: "shop"}, s); err != nil {
		t.Fatal(err)
	}
	g := &heapGraph{w: w, s: s, types: make(map[*heap.Type]uint64), files: map[string]uint64{"": 1}}
	for i := range uint32(s.Graph.Len()) {
		g.object(i)
		g.flush(len(g.body) + int(i) - 1) // after the first two
	}
	g.packet(false)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	dump(t, out.Bytes(), "", &got)
	extent.Golden(t, "testdata/heapgraph.txt", got.String())
}

// TestFails: whatever cannot be written is an error.
func TestFails(t *testing.T) {
	process := &gc.Process{PID: 7}
	pause := request.Pause{Number: 1, Duration: 1}
	phases := new(background.Collection)
	phases.Phases[background.ConcurrentMark] = gc.Some(background.Interval{Duration: 1})
	for name, write := range map[string]func(*Writer) error{
		"collection": func(w *Writer) error { return w.Add(&gc.Collection{Process: process, Pauses: []gc.Pause{{}}}) },
		"findings":   func(w *Writer) error { return w.Findings(process, []findings.Finding{{ID: "R1"}}) },
		"phases":     func(w *Writer) error { return w.Phases(process, phases) },
		"request": func(w *Writer) error {
			return w.NewRequests(process, 0).Add(new(request.Span), slices.Values([]request.Pause(nil)))
		},
		"left out": func(w *Writer) error {
			r := w.NewRequests(process, time.Hour)
			r.lanes[0] = make([]time.Duration, maxLanes)
			for i := range r.lanes[0] {
				r.lanes[0][i] = time.Hour
			}
			return r.Add(new(request.Span), slices.Values([]request.Pause(nil)))
		},
		"pauses": func(w *Writer) error {
			r := w.NewRequests(process, 0)
			r.stops[pause] = []uint64{1}
			return r.Close()
		},
		"close": (*Writer).Close,
	} {
		w := NewWriter(full{})
		_, _ = w.out.Write(make([]byte, w.out.Size())) // so that it is full
		w.err = errors.Join(write(w), w.Close())
		if !errors.Is(write(w), errFull) {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestPausesInOrder: the pauses of requests come in order of their start, then of their number
// and length, with the number of spans that each stopped.
func TestPausesInOrder(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	to := w.NewRequests(&gc.Process{PID: 7}, 0)
	pauses := []request.Pause{{Start: 30, Number: 1, Duration: 9}, {Start: 20, Number: 4, Duration: 3}, {Start: 20, Number: 3, Duration: 4}, {Start: 20, Number: 3, Duration: 2}, {Start: 10, Number: 5, Duration: 1}}
	for i := range pauses {
		span := &request.Span{Start: time.Duration(i), Duration: gc.Some(time.Second)}
		if err := to.Add(span, slices.Values(pauses[i:])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	dump(t, out.Bytes(), "", &text)
	var got []string
	for line := range strings.Lines(text.String()) {
		if _, name, is := strings.Cut(line, `23: "GC `); is {
			got = append(got, strings.TrimSuffix(name, "\"\n"))
		}
	}
	want := []string{"5 paused 5 spans", "3 paused 4 spans", "3 paused 3 spans", "4 paused 2 spans", "1 paused 1 span"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestBoundedArrows: requests beyond the bound of arrows have none, and collections beyond
// theirs are not quoted.
func TestBoundedArrows(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	process := &gc.Process{PID: 7}
	to := w.NewRequests(process, 0)
	to.flows = maxFlows - 2
	pauses := []request.Pause{{Number: 1}, {Number: 2}, {Number: 3}}
	if err := to.Add(&request.Span{Duration: gc.Some(time.Second)}, slices.Values(pauses)); err != nil {
		t.Fatal(err)
	}
	if len(to.stops) != 2 || to.flows != maxFlows || w.flows != 2 {
		t.Errorf("arrows to %d pauses, %d and %d arrows", len(to.stops), to.flows, w.flows)
	}
	p := w.process(process)
	for i := range uint32(maxStarts - 1) {
		p.starts[100+i] = 0
	}
	for number := range uint32(2) {
		w.pauses(p, &gc.Collection{Process: process, Number: number, Pauses: []gc.Pause{{Start: 5}, {Start: 6}}})
	}
	if at, first := p.starts[0]; !first || at != 5 || len(p.starts) != maxStarts {
		t.Errorf("%d starts, the first at %v", len(p.starts), at)
	}
}

// TestRanks: the tracks of pauses come first, then the ones of requests and findings, and a
// generation's counter is below the heap's. Only counters have a unit.
func TestRanks(t *testing.T) {
	var ranks []string
	for _, name := range append([]string{trackPauses + laneSeparator + "1", "Marking, heap 0"}, order...) {
		ranks = append(ranks, fmt.Sprintf("%d %s %x", rank(name), name, unitOf(name)))
	}
	extent.Golden(t, "testdata/ranks.txt", strings.Join(ranks, "\n")+"\n")
}
