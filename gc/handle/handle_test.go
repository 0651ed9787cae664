package handle

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

func TestHandles(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var h Handles
	hPass := pass.New(&h)
	set := func(at time.Duration, id uint64, kind clr.HandleKind) {
		hPass.Feed(m.At(at, &clr.SetGCHandle{HandleID: id, Kind: kind}))
	}
	destroy := func(at time.Duration, id uint64) { hPass.Feed(m.At(at, &clr.DestroyGCHandle{HandleID: id})) }
	hPass.Feed(m.At(0, &clr.GCHeapStats{GCHandleCount: 10}))
	set(1*time.Second, 1, clr.HandleKindStrong)
	set(2*time.Second, 2, clr.HandleKindStrong)
	set(3*time.Second, 3, clr.HandleKindPinned)
	destroy(4*time.Second, 1)
	destroy(4*time.Second, 99) // from before the trace
	set(5*time.Second, 3, clr.HandleKindPinned)
	hPass.Feed(m.At(6*time.Second, &clr.GCHeapStats{GCHandleCount: 11}))

	want := Counts{PID: 7, Created: 4, Destroyed: 2, Unknown: 1, Lost: 1, Runtime: gc.Some(int64(11)), Open: gc.Some(int64(1)), Before: gc.Some(int64(10))}
	if got := h.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("counts %+v, expected %+v", got, want)
	}
	rows := h.Rows(7, false)
	if len(rows) != 2 {
		t.Fatalf("rows %+v", rows)
	}
	for _, r := range rows {
		want := map[clr.HandleKind]Row{
			clr.HandleKindStrong: {Created: 2, Destroyed: 1, Open: 1, Oldest: 2 * time.Second},
			clr.HandleKindPinned: {Created: 2, Open: 1, Oldest: 5 * time.Second},
		}[r.Kind]
		if r.Created != want.Created || r.Destroyed != want.Destroyed || r.Open != want.Open || r.Oldest != want.Oldest {
			t.Errorf("%v: %+v, expected %+v", r.Kind, r, want)
		}
		if last := r.Points[len(r.Points)-1].N; last != r.Open {
			t.Errorf("%v: %d open in the end according to the points, expected %d", r.Kind, last, r.Open)
		}
	}
}

func TestHandlesByStack(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var table symbol.Table
	h := Handles{Stacks: symbol.NewStacks(&table)}
	hPass := pass.New(&h)
	hPass.Feed(m.At(0, &clr.SetGCHandle{HandleID: 1, Kind: clr.HandleKindStrong}, 0x1000))
	hPass.Feed(m.At(0, &clr.SetGCHandle{HandleID: 2, Kind: clr.HandleKindStrong}, 0x2000))
	hPass.Feed(m.At(1, &clr.DestroyGCHandle{HandleID: 2}))
	for id, at := range map[uint64]uint64{1: 0x1000, 2: 0x2000} {
		table.Feed(m.At(2, &clr.MethodDCEndVerbose{MethodID: id, MethodStartAddress: at, MethodSize: 1, MethodName: clr.NewUTF16("m")}))
	}
	if rows := h.Rows(7, true); len(rows) != 1 || rows[0].Created != 2 || rows[0].Open != 1 {
		t.Errorf("two places of one name: %+v", rows)
	}
}

// TestGrowth: handles that only ever grow are found; handles that come and go are not.
func TestGrowth(t *testing.T) {
	var up, wave series
	for i := range 600 {
		at := time.Duration(i) * 100 * time.Millisecond
		up.add(at, 5)
		wave.add(at, []int64{7, -7}[i/50%2])
	}
	if g := growth(up.points()); g < 45 || g > 55 {
		t.Errorf("growth %v a second, expected about 50", g)
	}
	if g := growth(wave.points()); g != 0 {
		t.Errorf("growth %v of what comes and goes", g)
	}
	var ended []Point // it goes up, but for its last quarter
	for i, n := range []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 12} {
		ended = append(ended, Point{At: time.Duration(i) * time.Second, N: n})
	}
	if g := growth(ended); g != 0 {
		t.Errorf("growth %v of what has ended", g)
	}
	if len(up.changes) > maxBuckets {
		t.Errorf("%d buckets", len(up.changes))
	}
}

func TestPins(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var p Pins
	pPass := pass.New(&p)
	pin := func(id uint64, typ string) {
		pPass.Feed(m.At(0, &clr.PinObjectAtGCTime{ObjectID: id, ObjectSize: 10, TypeName: clr.NewUTF16(typ)}))
	}
	collection := func() { pPass.Feed(m.At(0, &clr.GCStart{})) }
	collection()
	pin(1, "A")
	pin(1, "A") // reported twice
	pin(2, "B")
	collection()
	pin(1, "A")
	pPass.Feed(m.At(0, &clr.PinPlugAtGCTime{GapBeforeSize: 100}))
	collection()
	collection()
	pin(1, "A")
	want := PinTotal{PID: 7, Collections: 3, Count: 5, Plugs: gc.Some(int64(1)), Gap: gc.Some(int64(100))}
	if got := p.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("total %+v, expected %+v", got, want)
	}
	rows := p.Rows(7)
	if a := (Pin{PID: 7, Type: "A", Count: 4, Bytes: 40, Objects: 2, Collections: 3, Longest: 2}); len(rows) != 2 || rows[0] != a {
		t.Errorf("rows %+v, expected first %+v", rows, a)
	}
}

// A size that exceeds the heap that the collection left is no size, however often the object
// was reported. Its pins count.
func TestPinsBeyondHeap(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var p Pins
	pPass := pass.New(&p)
	feed := func(e clr.Event) { pPass.Feed(m.At(0, e)) }
	pin := func(id, size uint64) {
		feed(&clr.PinObjectAtGCTime{ObjectID: id, ObjectSize: size, TypeName: clr.NewUTF16("A")})
	}
	left := func(size uint64) { feed(&clr.GCHeapStats{GenerationSize2: size}) }
	const heap = 100 << 20
	feed(&clr.GCStart{})
	pin(1, 1<<40)
	pin(1, 1<<40)
	pin(2, heap)
	left(heap)
	feed(&clr.GCStart{})
	pin(1, 50)
	left(heap)
	feed(&clr.GCStart{})
	pin(1, 1<<40)
	left(1 << 41)
	left(clr.MaxSize) // damaged
	want := Pin{PID: 7, Type: "A", Count: 5, Bytes: heap + 50 + 1<<40, Objects: 2, Collections: 3, Longest: 3}
	if rows := p.Rows(7); len(rows) != 1 || rows[0] != want || p.Rejected() != 1 {
		t.Errorf("rows %+v, %d sizes rejected, expected %+v and 1", rows, p.Rejected(), want)
	}
}

// A pinned object is attributed to the handle that pins it, and the gap before it to its
// type.
func TestPinsByHandle(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var p Pins
	pPass := pass.New(&p)
	feed := func(e clr.Event) { pPass.Feed(m.At(0, e)) }
	set := func(id uint64, kind clr.HandleKind) { feed(&clr.SetGCHandle{HandleID: id, Kind: kind}) }
	pin := func(id, object uint64, typ string) {
		feed(&clr.PinObjectAtGCTime{HandleID: id, ObjectID: object, ObjectSize: 10, TypeName: clr.NewUTF16(typ)})
	}
	set(1, clr.HandleKindPinned)
	set(2, clr.HandleKindAsyncPinned)
	set(3, clr.HandleKindStrong)
	set(4, clr.HandleKindPinned)
	set(5, clr.HandleKindPinned)
	feed(&clr.DestroyGCHandle{HandleID: 4})
	feed(&clr.DestroyGCHandle{HandleID: 99})
	feed(&clr.GCStart{})
	pin(2, 0x200, "A")
	pin(1, 0x100, "A")
	pin(0x7fff, 0x300, "A") // on a stack
	pin(5, 0x400, "B")
	feed(&clr.PinPlugAtGCTime{PlugStart: 0x100, PlugEnd: 0x120, GapBeforeSize: 5})
	feed(&clr.PinPlugAtGCTime{PlugStart: 0x3f8, PlugEnd: 0x420, GapBeforeSize: 7})
	feed(&clr.PinPlugAtGCTime{PlugStart: 0x500, PlugEnd: 0x520, GapBeforeSize: 9}) // of no object
	feed(&clr.DestroyGCHandle{HandleID: 1})
	want := PinTotal{PID: 7, Collections: 1, Count: 4, Plugs: gc.Some(int64(3)), Gap: gc.Some(int64(21)), Created: 4, Open: 2, Unseen: 1}
	if got := p.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("total %+v, expected %+v", got, want)
	}
	rows := p.Rows(7)
	for i, want := range []Pin{
		{PID: 7, Type: "A", Count: 3, Bytes: 30, Objects: 3, Collections: 1, Longest: 1, ByHandle: gc.Some(int64(2)), Open: gc.Some(int64(1)), Plugs: gc.Some(int64(1)), Gap: gc.Some(int64(5))},
		{PID: 7, Type: "B", Count: 1, Bytes: 10, Objects: 1, Collections: 1, Longest: 1, ByHandle: gc.Some(int64(1)), Open: gc.Some(int64(1)), Plugs: gc.Some(int64(1)), Gap: gc.Some(int64(7))},
	} {
		if i >= len(rows) || rows[i] != want {
			t.Errorf("rows %+v, expected %+v at %d", rows, want, i)
		}
	}
}

func TestFinalizers(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var types symbol.Types
	f := Finalizers{Types: &types}
	ms := time.Millisecond
	fPass := pass.New(&f)
	fPass.Feed(m.At(0, &clr.GCFinalizersEnd{Count: 1})) // began before the trace
	fPass.Feed(m.At(10*ms, &clr.GCHeapStats{FinalizationPromotedCount: 3, FinalizationPromotedSize: 300}))
	fPass.Feed(m.At(12*ms, &clr.GCFinalizersBegin{}))
	fPass.Feed(m.At(13*ms, &clr.FinalizeObject{TypeID: 1}))
	fPass.Feed(m.At(14*ms, &clr.FinalizeObject{TypeID: 1}))
	fPass.Feed(m.At(15*ms, &clr.FinalizeObject{TypeID: 2}))
	fPass.Feed(m.At(17*ms, &clr.GCFinalizersEnd{Count: 3}))
	types.Feed(m.At(18*ms, &clr.BulkType{Count: 1, Values: []clr.BulkTypeValue{{TypeID: 1, Name: clr.NewUTF16("N.T")}}}))
	want := Finalization{
		PID: 7, Objects: 3, Runs: 1, Running: 5 * ms, Longest: 5 * ms, Finalized: 4,
		PromotedObjects: 3, PromotedBytes: 300, Waits: 1, Queued: 2 * ms, LongestQueued: 2 * ms,
	}
	if got := f.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	rows := f.Rows(7)
	if len(rows) != 2 || rows[0] != (Finalized{7, "N.T", 2}) || rows[1] != (Finalized{7, "", 1}) {
		t.Errorf("rows %+v", rows)
	}
}

// TestFinalizersOfProcesses: a process counts if objects were finalized, or only kept for that.
func TestFinalizersOfProcesses(t *testing.T) {
	var f Finalizers
	p := pass.New(&f)
	runs, keeps, neither := tracetest.Maker{PID: 7}, tracetest.Maker{PID: 8}, tracetest.Maker{PID: 9}
	p.Feed(runs.At(1, &clr.GCFinalizersBegin{}))
	p.Feed(runs.At(2, &clr.GCFinalizersEnd{Count: 1}))
	p.Feed(keeps.At(3, &clr.GCHeapStats{FinalizationPromotedCount: 1, FinalizationPromotedSize: 24}))
	p.Feed(neither.At(4, &clr.GCHeapStats{}))
	var pids []uint64
	for _, of := range f.Processes() {
		pids = append(pids, of.PID)
	}
	if !slices.Equal(pids, []uint64{7, 8}) {
		t.Errorf("processes %v", pids)
	}
}

// Memory does not grow with the trace, and what is left out is still counted.
func TestBounded(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var h Handles
	e := clr.SetGCHandle{Kind: clr.HandleKindStrong}
	hPass := pass.New(&h)
	for i := range uint64(maxOpen + 10) {
		e.HandleID = i
		hPass.Feed(m.At(0, &e))
	}
	if c := h.Processes()[0]; c.Untracked != 10 || c.Created != maxOpen+10 || h.processes.Get(0).open.count != maxOpen {
		t.Errorf("%+v with %d open", c, h.processes.Get(0).open.count)
	}
}

// Handles that are far from each other take no more memory than others, and room that is
// free again is used.
func TestBoundedPages(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var h Handles
	e := clr.SetGCHandle{Kind: clr.HandleKindStrong}
	hPass := pass.New(&h)
	set := func(i uint64) {
		e.HandleID = i << 20
		hPass.Feed(m.At(0, &e))
	}
	for i := range uint64(maxPages + 10) {
		set(i)
	}
	if c := h.Processes()[0]; c.Untracked != 10 || h.room.pages != maxPages {
		t.Fatalf("%+v with %d pages", c, h.room.pages)
	}
	hPass.Feed(m.At(0, &clr.DestroyGCHandle{HandleID: 0}))
	set(maxPages)
	if c := h.Processes()[0]; c.Untracked != 10 || h.room.open != maxPages {
		t.Errorf("%+v with %d open after one was destroyed", c, h.room.open)
	}
}

func FuzzFeed(f *testing.F) {
	m := tracetest.Maker{PID: 7}
	f.Add(m.At(0, &clr.SetGCHandle{HandleID: 1}).Payload, int64(1<<62))
	f.Fuzz(func(t *testing.T, payload []byte, at int64) {
		m := tracetest.Maker{PID: 7}
		var h Handles
		var p Pins
		var z Finalizers
		hPass := pass.New(&h)
		pPass := pass.New(&p)
		zPass := pass.New(&z)
		for _, like := range []clr.Event{
			&clr.GCStart{}, &clr.SetGCHandle{}, &clr.PinObjectAtGCTime{}, &clr.DestroyGCHandle{}, &clr.FinalizeObject{},
			&clr.GCHeapStats{}, &clr.GCFinalizersBegin{}, &clr.GCFinalizersEnd{}, &clr.PinPlugAtGCTime{},
		} {
			ev := m.At(time.Duration(at), like)
			ev.Payload = payload
			hPass.Feed(ev)
			pPass.Feed(ev)
			zPass.Feed(ev)
		}
		for _, r := range h.Rows(7, false) {
			if r.Open < 0 || r.Open > r.Created {
				t.Fatalf("%+v", r)
			}
		}
		p.Rows(7)
		z.Rows(7)
	})
}

// TestUnfinished checks that a run of the finalizer thread without an end is known, with
// the objects that wait for it.
func TestUnfinished(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var f Finalizers
	ms := time.Millisecond
	fPass := pass.New(&f)
	fPass.Feed(m.At(10*ms, &clr.GCHeapStats{FinalizationPromotedCount: 5}))
	fPass.Feed(m.At(11*ms, &clr.GCFinalizersBegin{}))
	fPass.Feed(m.At(12*ms, &clr.GCFinalizersEnd{Count: 5}))
	if u := f.Processes()[0].Unfinished; u.Known() {
		t.Errorf("%+v after the end", u)
	}
	fPass.Feed(m.At(20*ms, &clr.GCHeapStats{FinalizationPromotedCount: 7}))
	fPass.Feed(m.At(21*ms, &clr.GCFinalizersBegin{}))
	fPass.Feed(m.At(22*ms, &clr.FinalizeObject{}))
	fPass.Feed(m.At(30*ms, &clr.GCHeapStats{FinalizationPromotedCount: 3}))
	want := Unfinished{Since: 21 * ms, Waiting: 9, Last: gc.Some(22 * ms)}
	if u, running := f.Processes()[0].Unfinished.Get(); !running || u != want {
		t.Errorf("%+v, %v, want %+v", u, running, want)
	}
}

// TestPinsOfHandles: Handles give Pins the events in the order of the trace, although they
// apply the ones of handles later.
func TestPinsOfHandles(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var alone, with Pins
	handles := Handles{Pins: &with}
	p := pass.New(&alone, &handles)
	for i := range uint64(3 * maxOps) {
		kind := clr.HandleKindPinned
		if i%3 == 0 {
			kind = clr.HandleKindStrong
		}
		p.Feed(m.At(0, &clr.SetGCHandle{HandleID: 8 * i, Kind: kind}))
		if i%5 == 0 {
			p.Feed(m.At(0, &clr.PinObjectAtGCTime{HandleID: 4 * i, ObjectID: i, ObjectSize: 10, TypeName: clr.NewUTF16("A")}))
		}
		if i%7 == 0 {
			p.Feed(m.At(0, &clr.DestroyGCHandle{HandleID: 4 * i}))
		}
		if i%1000 == 999 {
			p.Feed(m.At(0, &clr.GCStart{}))
			p.Feed(m.At(0, &clr.GCHeapStats{GCHandleCount: uint32(i)}))
		}
	}
	p.End(new(trace.Loss))
	want := PinTotal{PID: 7, Collections: 13, Count: 2458, Created: 8192, Open: 7607, Unseen: 468}
	if got := with.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("total %+v, expected %+v", got, want)
	}
	if got, want := with.Rows(7), alone.Rows(7); !slices.Equal(got, want) || got[0].ByHandle.Or(0) == 0 {
		t.Errorf("rows %+v, expected %+v", got, want)
	}
	if got, want := with.Processes(), alone.Processes(); !slices.Equal(got, want) {
		t.Errorf("totals %+v, expected %+v", got, want)
	}
	if c := handles.Processes()[0]; c.Created != 3*maxOps || c.Runtime != gc.Some[int64](11_999) {
		t.Errorf("counts %+v", c)
	}
}
