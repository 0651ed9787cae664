package handle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// TestPinsBounded: objects, types and handles beyond the bounds of Pins are not distinguished,
// but counted, and the ones within the bounds are followed on.
func TestPinsBounded(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var p Pins
	pPass := pass.New(&p)
	feed := func(e clr.Event) { pPass.Feed(m.At(0, e)) }
	pin := func(object uint64, name string) {
		feed(&clr.PinObjectAtGCTime{ObjectID: object, ObjectSize: 1, TypeName: clr.NewUTF16(name)})
	}
	feed(&clr.GCStart{})
	for i := range uint64(maxPinned + 2) {
		pin(8*i, "A")
	}
	pin(0, "A")
	feed(&clr.GCStart{})
	pin(0, "A")
	for i := range maxTypes + 1 {
		pin(1, fmt.Sprint(i)) // A, maxTypes-1 others, and two for which there is no room
	}
	rows := p.Rows(7)
	if len(rows) != maxTypes+1 || rows[0] != (Pin{PID: 7, Type: "A", Count: maxPinned + 4, Bytes: maxPinned + 4, Objects: maxPinned, Collections: 2, Longest: 2}) {
		t.Errorf("%d rows, the first is %+v", len(rows), rows[0])
	}
	if rows[1].Type != "" || rows[1].Count != 2 {
		t.Errorf("types without room: %+v", rows[1])
	}

	set := func(id uint64) { feed(&clr.SetGCHandle{HandleID: id, Kind: clr.HandleKindPinned}) }
	for i := range uint64(maxPinning + 3) {
		set(8 * i)
	}
	set(0) // it was destroyed
	feed(&clr.DestroyGCHandle{HandleID: 8 * maxPinning})
	if of := p.Processes()[0]; of.Created != maxPinning+4 || of.Open != maxPinning || of.Unseen != 1 {
		t.Errorf("%+v", of)
	}
}

// TestFinalizersBounded: types beyond the bound are counted as unknown.
func TestFinalizersBounded(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var f Finalizers
	p := pass.New(&f)
	for range 2 {
		for i := range uint64(maxTypes + 3) {
			p.Feed(m.At(0, &clr.FinalizeObject{TypeID: 1 + i}))
		}
	}
	of := f.processes.Get(0)
	if len(of.types) != maxTypes+1 || of.types[0] != 6 || of.types[maxTypes] != 2 {
		t.Errorf("%d types, of others %d", len(of.types), of.types[0])
	}
}

// TestSitesBounded: sites beyond the bound are one for each kind.
func TestSitesBounded(t *testing.T) {
	p := handles{sites: make(map[site]uint32)}
	for i := range uint32(maxSites) {
		if got := p.site(site{clr.HandleKindStrong, 10 + symbol.StackID(i)}); got != i {
			t.Fatalf("site %d is %d", i, got)
		}
	}
	for i, c := range []struct {
		site
		want uint32
	}{
		{site{clr.HandleKindStrong, 5}, maxSites},
		{site{clr.HandleKindPinned, 5}, maxSites + 1},
		{site{clr.HandleKindStrong, 6}, maxSites},
		{site{clr.HandleKindStrong, 10}, 0},
		{site{clr.HandleKindPinned, 7}, maxSites + 1},
	} {
		if got := p.site(c.site); got != c.want {
			t.Errorf("site %d beyond the bound is %d, expected %d", i, got, c.want)
		}
	}
	if other := p.list[maxSites].site; other != (site{clr.HandleKindStrong, symbol.OtherStacks}) {
		t.Errorf("others are %+v", other)
	}
}

// TestPinsWithHandles: whatever is lost, and whether or not Handles have room, Pins that
// Handles feed find what Pins alone find.
func TestPinsWithHandles(t *testing.T) {
	for _, open := range []int{0, maxOpen - 5} {
		m := tracetest.Maker{PID: 7}
		r := rand.New(rand.NewPCG(1, 2))
		var alone, with Pins
		handles := Handles{Pins: &with}
		handles.room.open = open
		p := pass.New(&alone, &handles)
		kinds := []clr.HandleKind{clr.HandleKindPinned, clr.HandleKindAsyncPinned, clr.HandleKindStrong, clr.HandleKindWeakLong}
		for range 3000 {
			id := 8 * r.Uint64N(20)
			switch r.IntN(5) {
			case 0, 1:
				p.Feed(m.At(0, &clr.SetGCHandle{HandleID: id, Kind: kinds[r.IntN(len(kinds))]}))
			case 2, 3:
				p.Feed(m.At(0, &clr.DestroyGCHandle{HandleID: id}))
			default:
				p.Feed(m.At(0, &clr.PinObjectAtGCTime{HandleID: id, ObjectID: id, TypeName: clr.NewUTF16(fmt.Sprint(r.IntN(3)))}))
			}
		}
		p.End(new(trace.Loss))
		if got, want := with.Processes(), alone.Processes(); !slices.Equal(got, want) {
			t.Errorf("with %d open: %+v, expected %+v", open, got, want)
		}
		if got, want := with.Rows(7), alone.Rows(7); !slices.Equal(got, want) {
			t.Errorf("with %d open: %+v, expected %+v", open, got, want)
		}
		c := handles.Processes()[0]
		if sum := c.Created - c.Destroyed + c.Unknown - c.Lost - c.Untracked; sum != int64(handles.room.open-open) || sum != int64(handles.processes.Get(0).open.count) {
			t.Errorf("%d of %+v are open, counted as %d", sum, c, handles.room.open-open)
		}
	}
}

// TestSeries: intervals become twice as long when they are too many, and nothing is lost.
func TestSeries(t *testing.T) {
	const first = 100 * time.Millisecond
	var s series
	for _, at := range []time.Duration{-time.Second, first - 1, first, 63 * first, 64*first - 1} {
		s.add(at, 1)
	}
	want := map[int]int64{0: 2, 1: 3, 62: 3, 63: 5}
	points := s.points()
	for i, n := range want {
		if points[i] != (Point{time.Duration(i+1) * first, n}) {
			t.Errorf("point %d is %+v, expected %d", i, points[i], n)
		}
	}
	s.add(64*first, -7)
	if p := s.points(); len(p) != 33 || p[0] != (Point{2 * first, 3}) || p[31] != (Point{64 * first, 5}) || p[32] != (Point{66 * first, -2}) {
		t.Errorf("wider: %v", p)
	}
	var sum series
	sum.merge(&s)
	sum.merge(&s)
	if p := sum.points(); p[len(p)-1].N != -4 {
		t.Errorf("twice the series: %v", p)
	}
}

// TestGrowthOfFew: growth is the slope of the second half, which must have more handles at the
// end of each quarter than before.
func TestGrowthOfFew(t *testing.T) {
	for _, c := range []struct {
		second string // the numbers after eight zeros
		want   float64
	}{
		{"01234567", 1},
		{"01030508", 8. / 7},
		{"00234567", 0},
		{"01214567", 0},
		{"01234367", 0},
		{"01234565", 0},
	} {
		points := make([]Point, 8)
		for _, digit := range c.second {
			points = append(points, Point{time.Duration(len(points)) * time.Second, int64(digit - '0')})
		}
		if got := growth(points); got != c.want {
			t.Errorf("growth of %s is %v, expected %v", c.second, got, c.want)
		}
	}
	for n := range 8 {
		if got := growth(make([]Point, n)); got != 0 {
			t.Errorf("growth of %d points is %v", n, got)
		}
	}
}

// TestWaits: the thread waits from the first collection that found objects until it begins;
// what collections find while it runs, it needs not wait for.
func TestWaits(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var f Finalizers
	p := pass.New(&f)
	const ms = time.Millisecond
	found := func(at time.Duration, n uint64) {
		p.Feed(m.At(at, &clr.GCHeapStats{FinalizationPromotedCount: n, FinalizationPromotedSize: 10 * n}))
	}
	begin := func(at time.Duration) { p.Feed(m.At(at, &clr.GCFinalizersBegin{})) }
	end := func(at time.Duration, n uint32) { p.Feed(m.At(at, &clr.GCFinalizersEnd{Count: n})) }
	found(1*ms, 0)
	begin(2 * ms) // without a wait
	end(3*ms, 1)
	found(10*ms, 2)
	found(14*ms, 2) // waits already
	begin(20 * ms)
	found(21*ms, 5) // runs
	end(25*ms, 9)
	begin(26 * ms) // without a wait
	end(27*ms, 0)
	found(30*ms, 1)
	begin(33 * ms)
	end(34*ms, 1)
	end(50*ms, 1) // of a run that is not in the trace
	want := Finalization{
		PID: 7, Runs: 4, Running: 8 * ms, Longest: 5 * ms, Finalized: 12, PromotedObjects: 10, PromotedBytes: 100,
		Waits: 2, Queued: 13 * ms, LongestQueued: 10 * ms,
	}
	if got := f.Processes(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

// TestPlugs: a plug belongs to the first pinned object in it, of the same collection.
func TestPlugs(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var p Pins
	pPass := pass.New(&p)
	feed := func(e clr.Event) { pPass.Feed(m.At(0, e)) }
	pin := func(at uint64, name string) {
		feed(&clr.PinObjectAtGCTime{ObjectID: at, ObjectSize: 8, TypeName: clr.NewUTF16(name)})
	}
	plug := func(from, to, gap uint64) {
		feed(&clr.PinPlugAtGCTime{PlugStart: from, PlugEnd: to, GapBeforeSize: gap})
	}
	feed(&clr.GCStart{})
	pin(0x200, "B")
	pin(0x100, "A")
	plug(0x80, 0x100, 1<<0) // of none
	plug(0x80, 0x101, 1<<1)
	plug(0x100, 0x108, 1<<2)
	plug(0x101, 0x200, 1<<3) // of none
	plug(0x101, 0x201, 1<<4)
	plug(0x201, 0x300, 1<<5) // of none
	pin(0x180, "C")
	plug(0x101, 0x201, 1<<6)
	plug(0x100, 0x108, clr.MaxSize) // damaged
	plug(0x180, 0x188, clr.MaxSize-1)
	feed(&clr.GCStart{})
	plug(0x80, 0x300, 1<<7) // of none
	pin(0x200, "B")
	plug(0x80, 0x300, 1<<8)
	for _, row := range p.Rows(7) {
		want := map[string]plugs{"A": {2, 1<<1 + 1<<2}, "B": {2, 1<<4 + 1<<8}, "C": {2, 1<<6 + clr.MaxSize - 1}}[row.Type]
		if row.Plugs.Or(0) != want.count || row.Gap.Or(0) != want.gap {
			t.Errorf("%+v, expected %+v", row, want)
		}
	}
	if p.Rejected() != 1 {
		t.Errorf("%d sizes rejected", p.Rejected())
	}
}

// TestOrder: rows have an order, even where their first figures are the same.
func TestOrder(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var (
		handles    Handles
		pins       Pins
		types      symbol.Types
		finalizers = Finalizers{Types: &types}
	)
	p := pass.New(&handles, &pins, &finalizers, pass.Raw(symbol.WantsTypes, types.Feed))
	id := uint64(0)
	for i, c := range []struct {
		name  string
		bytes uint64
		count int
		kind  clr.HandleKind
	}{
		{"D", 10, 1, clr.HandleKindPinned},
		{"E", 10, 1, clr.HandleKindWeakLong},
		{"C", 5, 2, clr.HandleKindStrong},
		{"A", 20, 1, clr.HandleKindWeakShort},
		{"B", 10, 3, clr.HandleKindDependent},
	} {
		p.Feed(m.At(0, &clr.BulkType{Count: 1, Values: []clr.BulkTypeValue{{TypeID: 1 + uint64(i), Name: clr.NewUTF16(c.name)}}}))
		for n := range c.count {
			id++
			p.Feed(m.At(0, &clr.PinObjectAtGCTime{ObjectID: id, ObjectSize: c.bytes, TypeName: clr.NewUTF16(c.name)}))
			p.Feed(m.At(0, &clr.FinalizeObject{TypeID: 1 + uint64(i)}))
			p.Feed(m.At(0, &clr.SetGCHandle{HandleID: id, Kind: c.kind}))
			if n > 0 {
				p.Feed(m.At(0, &clr.DestroyGCHandle{HandleID: id})) // one stays open
			}
		}
	}
	var order []string
	for _, row := range pins.Rows(7) {
		order = append(order, row.Type)
	}
	for _, row := range finalizers.Rows(7) {
		order = append(order, row.Type)
	}
	for _, row := range handles.Rows(7, false) {
		order = append(order, row.Kind.String())
	}
	want := []string{
		"B", "A", "C", "D", "E", "B", "C", "A", "D", "E", "Dependent", "Strong", "WeakShort", "WeakLong", "Pinned",
	}
	if !slices.Equal(order, want) {
		t.Errorf("%q, expected %q", order, want)
	}
}
