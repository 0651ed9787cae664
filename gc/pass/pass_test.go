package pass_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A recorder records its events.
type recorder struct {
	kinds []clr.Kind
	event func(*pass.Event)
	ends  int
}

func (r *recorder) Kinds() []clr.Kind   { return r.kinds }
func (r *recorder) Event(e *pass.Event) { r.event(e) }
func (r *recorder) End()                { r.ends++ }
func (r *recorder) Head(k clr.Kind) int { return 4 + int(k) }
func never(*trace.Descriptor) bool      { return false }
func always(*trace.Descriptor) bool     { return true }
func run(t *testing.T, src trace.Source, models ...pass.Model) {
	t.Helper()
	if err := pass.Run(t.Context(), src, models...); err != nil {
		t.Fatal(err)
	}
}

// TestKinds: each model is given the events of its kinds, in the order of the trace, and the
// first model is given them first.
func TestKinds(t *testing.T) {
	maker := tracetest.Maker{PID: 7, TID: 1}
	src := &tracetest.Source{List: []*trace.Event{
		maker.At(1, &clr.GCStart{Count: 1}), maker.At(2, &clr.GCEnd{Count: 1}), maker.At(3, &clr.GCStart{Count: 2}),
		{Desc: &trace.Descriptor{Provider: "another", ID: 1}, Clock: &trace.Clock{Frequency: 1}},
	}}
	var got []string
	note := func(who string) func(*pass.Event) {
		return func(e *pass.Event) {
			if e.Process.PID != 7 || e.Time != time.Duration(e.Ticks) {
				t.Errorf("process %d at %v", e.Process.PID, e.Time)
			}
			got = append(got, who+e.Kind.String())
		}
	}
	a := &recorder{kinds: []clr.Kind{clr.KindGCStart, clr.KindGCStart}, event: note("a")}
	b := &recorder{kinds: []clr.Kind{clr.KindGCEnd, clr.KindGCStart, clr.KindUnknown}, event: note("b")}
	run(t, src, a, b)
	if want := []string{"aGCStart", "bGCStart", "bGCEnd", "aGCStart", "bGCStart"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if a.ends != 1 || b.ends != 1 {
		t.Errorf("%d and %d ends", a.ends, b.ends)
	}
}

// TestLate: late events go to none but the raw models.
func TestLate(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	late := maker.At(1, &clr.GCStart{Count: 1})
	late.Late = true
	src := &tracetest.Source{List: []*trace.Event{maker.At(2, &clr.GCStart{Count: 2}), late}}
	var seen, raw int
	run(t, src, &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: func(*pass.Event) { seen++ }},
		pass.Raw(always, func(*trace.Event) { raw++ }), pass.Raw(never, func(*trace.Event) { t.Error("an event that is not wanted") }))
	if seen != 1 || raw != 2 {
		t.Errorf("%d events and %d raw ones", seen, raw)
	}
}

// TestWhen: a model is given the events that are kept, and its end.
func TestWhen(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	src := &tracetest.Source{}
	for i := range 5 {
		src.List = append(src.List, maker.At(time.Duration(i), &clr.GCStart{}))
	}
	var at []time.Duration
	m := &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: func(e *pass.Event) { at = append(at, e.Time) }}
	w := pass.When(func(at time.Duration) bool { return at >= 3 }, m)
	run(t, src, w)
	if !slices.Equal(at, []time.Duration{3, 4}) || m.ends != 1 {
		t.Errorf("%v, %d ends", at, m.ends)
	}
	if head := pass.Head(w)(src.List[0].Desc); head != m.Head(clr.KindGCStart) {
		t.Errorf("%d bytes", head)
	}
}

// TestProcesses: events of more processes than are distinguished are counted once, however
// many models read them, and go to the raw models alone.
func TestProcesses(t *testing.T) {
	const more = 3
	src := &tracetest.Source{Lost: trace.Loss{Exactness: trace.Exact}}
	for n := range pass.MaxProcesses + more {
		maker := tracetest.Maker{PID: uint64(1 + n)}
		src.List = append(src.List, maker.At(0, &clr.GCStart{}), maker.At(1, &clr.GCEnd{}))
	}
	src.List = append(src.List, src.List[0]) // of a process that is known
	seen := make([]int, pass.MaxProcesses)
	count := func(e *pass.Event) { seen[e.Process.Index]++ }
	raw := 0
	run(t, src, &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: count}, &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: count},
		pass.Raw(always, func(*trace.Event) { raw++ }))
	for i, n := range seen {
		if want := 2; n != want && (i > 0 || n != 2*want) {
			t.Errorf("process %d: %d events", i, n)
		}
	}
	if src.Lost.LeftOut != more || src.Lost.Events != more || raw != len(src.List) {
		t.Errorf("%d left out, %d lost, %d of %d raw", src.Lost.LeftOut, src.Lost.Events, raw, len(src.List))
	}
}

// TestRuntimes: runtimes are distinguished by process and instance, up to a bound.
func TestRuntimes(t *testing.T) {
	maker, other := tracetest.Maker{PID: 7}, tracetest.Maker{PID: 8}
	src := &tracetest.Source{}
	for i := range 20 {
		src.List = append(src.List, maker.At(0, &clr.GCStart{ClrInstanceID: uint16(i % 18)}))
	}
	src.List = append(src.List, other.At(0, &clr.GCStart{}))
	indexes, refused := make(map[int]int), 0
	run(t, src, &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: func(e *pass.Event) {
		v, _ := pass.Decode[clr.GCStart](e)
		rt := e.Runtime(v.ClrInstanceID)
		if rt == nil {
			refused++
			return
		}
		if rt.Process != e.Process || rt.Instance != v.ClrInstanceID {
			t.Errorf("runtime %d of process %d", rt.Instance, rt.Process.PID)
		}
		indexes[rt.Index]++
	}})
	if refused != 2 || len(indexes) != 17 || indexes[0] != 2 || indexes[1] != 2 || indexes[2] != 1 || indexes[16] != 1 {
		t.Errorf("%d refused, %v", refused, indexes)
	}
}

// TestDecode: a payload is decoded once for all models, also where it is too short, and again
// for one that asks for another struct.
func TestDecode(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	whole := maker.At(1, &clr.GCStart{Count: 5, Depth: 2})
	short := whole.Clone()
	short.Payload = short.Payload[:6]
	var first *clr.GCStart
	var got []bool
	a := &recorder{kinds: []clr.Kind{clr.KindGCStart}, event: func(e *pass.Event) {
		v, ok := pass.Decode[clr.GCStart](e)
		first, got = v, append(got, ok)
		if v.Count != 5 || ok && (v.Depth != 2 || e.Version != e.Desc.Version) {
			t.Errorf("%+v in version %d", v, e.Version)
		}
		v.Count = 77 // shows to the next model, unless that decodes the payload again
	}}
	b := &recorder{kinds: a.kinds, event: func(e *pass.Event) {
		v, ok := e.Decoded()
		if v != clr.Event(first) || first.Count != 77 || ok != got[len(got)-1] {
			t.Errorf("%+v, %v", v, ok)
		}
		if end, _ := pass.Decode[clr.GCEnd](e); end.Count != 5 {
			t.Errorf("%+v", end)
		}
		if v, _ := pass.Decode[clr.GCStart](e); v.Count != 5 {
			t.Errorf("%+v", v)
		}
	}}
	run(t, &tracetest.Source{List: []*trace.Event{whole, short, whole}}, a, b)
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("whole: %v, want %v", got, want)
	}
}

// TestFilter: Wants and Head cover the needs of all models.
func TestFilter(t *testing.T) {
	kindOf := func(k clr.Kind) *trace.Descriptor { return &trace.Descriptor{Provider: k.Provider(), ID: k.ID()} }
	a := &recorder{kinds: []clr.Kind{clr.KindGCStart}}
	all := &counter{}
	other := &trace.Descriptor{Provider: "another", ID: 1}
	raw := pass.Raw(func(d *trace.Descriptor) bool { return d == other }, nil)
	for _, c := range []struct {
		models []pass.Model
		of     *trace.Descriptor
		wants  bool
		head   int
	}{
		{nil, kindOf(clr.KindGCStart), false, 0},
		{[]pass.Model{a}, kindOf(clr.KindGCStart), true, 4 + int(clr.KindGCStart)},
		{[]pass.Model{a}, kindOf(clr.KindGCEnd), false, 0},
		{[]pass.Model{a}, other, false, 0},
		{[]pass.Model{a, all}, kindOf(clr.KindGCStart), true, math.MaxInt},
		{[]pass.Model{a, raw}, other, true, math.MaxInt},
		{[]pass.Model{a, raw}, kindOf(clr.KindGCStart), true, 4 + int(clr.KindGCStart)},
	} {
		if wants, head := pass.Wants(c.models...)(c.of), pass.Head(c.models...)(c.of); wants != c.wants || head != c.head {
			t.Errorf("%d models, event %d of %s: %v, %d bytes", len(c.models), c.of.ID, c.of.Provider, wants, head)
		}
	}
}

// A counter counts collections.
type counter struct{ starts int }

func (*counter) Kinds() []clr.Kind   { return []clr.Kind{clr.KindGCStart} }
func (c *counter) Event(*pass.Event) { c.starts++ }

// TestErrors: an error of the trace, and the end of the context, end a reading, and the
// models with it.
func TestErrors(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	src := &tracetest.Source{Err: errors.New("no more")}
	for range 1000 {
		src.List = append(src.List, maker.At(0, &clr.GCStart{}))
	}
	m := &recorder{kinds: []clr.Kind{clr.KindGCStart}}
	seen := 0
	m.event = func(*pass.Event) { seen++ }
	if err := pass.Run(t.Context(), src, m); !errors.Is(err, src.Err) || seen != 1000 || m.ends != 1 {
		t.Errorf("%v after %d events, %d ends", err, seen, m.ends)
	}
	ctx, cancel := context.WithCancel(t.Context())
	src.Yielded, seen = 0, 0
	m.event = func(*pass.Event) {
		if seen++; seen == 300 {
			cancel()
		}
	}
	if err := pass.Run(ctx, src, m); !errors.Is(err, context.Canceled) || seen != 511 || src.Yielded != 512 || m.ends != 2 {
		t.Errorf("%v after %d events of %d, %d ends", err, seen, src.Yielded, m.ends)
	}
}

// TestLive: a collection is yielded as soon as its last event is read, which the other models
// have been given before.
func TestLive(t *testing.T) {
	maker := tracetest.Maker{PID: 7, TID: 1}
	src := &tracetest.Source{Lost: trace.Loss{Exactness: trace.Exact}}
	of := func(n uint32) []*trace.Event {
		at := time.Duration(n) * time.Second
		return []*trace.Event{
			maker.At(at, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC}), maker.At(at+1, &clr.GCSuspendEEEnd{}),
			maker.At(at+2, &clr.GCStart{Count: n}), maker.At(at+3, &clr.GCEnd{Count: n}), maker.At(at+4, &clr.GCHeapStats{}),
			maker.At(at+5, &clr.GCRestartEEBegin{}), maker.At(at+6, &clr.GCRestartEEEnd{}),
		}
	}
	src.List = append(of(1), of(2)...)
	m, c := gc.Model{Live: true}, counter{}
	n := 0
	for _, err := range m.Collections(informed{src}, &c) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; src.Yielded != n*len(of(1)) || c.starts != n {
			t.Errorf("collection %d after %d events, and %d starts", n, src.Yielded, c.starts)
		}
	}
	if n != 2 {
		t.Errorf("%d collections", n)
	}
}

// An informed source has a description.
type informed struct{ *tracetest.Source }

func (informed) Info() *trace.Info { return &trace.Info{PID: trace.UnknownID} }

// TestManyKinds: a trace with more Descriptors than are remembered loses nothing.
func TestManyKinds(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	src := &tracetest.Source{}
	for range 10000 {
		ev := maker.At(0, &clr.GCStart{})
		d := *ev.Desc
		ev.Desc = &d
		src.List = append(src.List, ev)
	}
	c := &counter{}
	run(t, src, c)
	if c.starts != len(src.List) {
		t.Errorf("%d of %d events", c.starts, len(src.List))
	}
}

// TestTable: the states of a table are in the order in which they were made.
func TestTable(t *testing.T) {
	var table pass.Table[int]
	if table.Get(3) != nil || table.Find(func(*int) bool { return true }) != nil {
		t.Error("an empty table has a state")
	}
	for i, index := range []int{3, 0, 3} {
		s, isNew := table.At(index)
		if isNew != (i < 2) {
			t.Errorf("index %d is new: %v", index, isNew)
		}
		*s += 10 + index
	}
	var all []int
	for s := range table.All() {
		all = append(all, *s)
	}
	if !slices.Equal(all, []int{26, 10}) || *table.Get(3) != 26 || table.Get(1) != nil {
		t.Errorf("%v", all)
	}
	if s := table.Find(func(s *int) bool { return *s < 20 }); s != table.Get(0) {
		t.Errorf("found %v", s)
	}
}

// BenchmarkFeed measures the dispatch of one event to two models.
func BenchmarkFeed(b *testing.B) {
	maker := tracetest.Maker{PID: 7}
	events := []*trace.Event{maker.At(0, &clr.SetGCHandle{}), maker.At(1, &clr.DestroyGCHandle{})}
	decode := func(e *pass.Event) { e.Decoded() }
	kinds := []clr.Kind{clr.KindSetGCHandle, clr.KindDestroyGCHandle}
	p := pass.New(&recorder{kinds: kinds, event: decode}, &recorder{kinds: kinds, event: decode})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Feed(events[i&1])
	}
}
