package alloc

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

func tick(name string, kind clr.AllocationKind, amount, size uint64) *clr.GCAllocationTick {
	return &clr.GCAllocationTick{
		AllocationAmount: uint32(amount), AllocationAmount64: amount, AllocationKind: kind, ObjectSize: size,
		TypeID: 5, TypeName: clr.NewUTF16(name),
	}
}

func TestTicks(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var m Model
	mPass := pass.New(&m)
	for range 60 {
		mPass.Feed(maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24)))
	}
	for range 40 {
		mPass.Feed(maker.At(0, tick("B", clr.AllocationKindSmall, 102_500, 24)))
	}
	mPass.Feed(maker.At(0, tick("A", clr.AllocationKindLarge, 1_000_000, 1_000_000)))
	rows := m.Rows(7, Tick, ByType)
	if len(rows) != 3 {
		t.Fatalf("%d rows, expected 3: %+v", len(rows), rows)
	}
	a := rows[0]
	if a.Type != "A" || a.Heap != Small || a.Samples != 60 || a.Bytes != 60*102_500 {
		t.Errorf("first row %+v", a)
	}
	// Wilson's interval of 60 in 100 is 50.2 % to 69.1 %.
	if low, high := float64(a.Low)/102_500, float64(a.High)/102_500; math.Abs(low-50.2) > 0.1 || math.Abs(high-69.1) > 0.1 {
		t.Errorf("interval %.1f to %.1f ticks, expected 50.2 to 69.1", low, high)
	}
	for _, r := range rows {
		if r.Heap == Large && (r.Bytes != 1_000_000 || r.Low != r.Bytes || r.High != r.Bytes) {
			t.Errorf("an object larger than the interval is no sample: %+v", r)
		}
	}
	total := m.Totals()[0]
	if total.Bytes != 100*102_500+1_000_000 || total.Low != total.Bytes || total.High != total.Bytes {
		t.Errorf("total %+v: ticks add up to all", total)
	}
	if rows := m.Rows(7, Tick, ByHeap); len(rows) != 2 || rows[0].Samples != 100 {
		t.Errorf("by heap: %+v", rows)
	}
}

// A tick of .NET Framework 4.0 has no type.
func TestTickWithoutType(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	ev := maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24))
	d := *ev.Desc
	d.Version = 1
	ev.Desc, ev.Payload = &d, tick("A", clr.AllocationKindSmall, 102_500, 24).Append(nil, 1, 8)
	var m Model
	mPass := pass.New(&m)
	mPass.Feed(ev)
	rows := m.Rows(7, Tick, ByType)
	if len(rows) != 1 || rows[0].Type != "" || rows[0].Bytes != 102_500 {
		t.Errorf("rows %+v", rows)
	}
}

// TestSampledIntervals samples as the runtime documents it: the true bytes of each type lie in
// the interval in about 95 of 100 traces, and the estimates are unbiased.
func TestSampledIntervals(t *testing.T) {
	types := []struct {
		name        string
		size, count int
	}{{"small", 32, 2_000_000}, {"medium", 2_000, 20_000}, {"large", 90_000, 300}, {"huge", 1_000_000, 20}}
	const traces = 400
	rng := rand.New(rand.NewPCG(1, 2))
	inside := make([]int, len(types))
	sum := make([]float64, len(types))
	totals := 0
	for range traces {
		maker := tracetest.Maker{PID: 7}
		var m Model
		var all int64
		mPass := pass.New(&m)
		for _, typ := range types {
			p := 1 - math.Pow(1-1.0/interval, float64(typ.size))
			for range binomial(rng, typ.count, p) {
				mPass.Feed(maker.At(0, &clr.AllocationSampled{TypeID: 1, TypeName: clr.NewUTF16(typ.name), ObjectSize: uint64(typ.size)}))
			}
			all += int64(typ.size) * int64(typ.count)
		}
		for _, r := range m.Rows(7, Sampled, ByType) {
			for i, typ := range types {
				if r.Type != typ.name {
					continue
				}
				sum[i] += float64(r.Bytes)
				if truth := int64(typ.size) * int64(typ.count); r.Low <= truth && truth <= r.High {
					inside[i]++
				}
			}
		}
		if whole := m.Totals()[0]; whole.Low <= all && all <= whole.High {
			totals++
		}
	}
	for i, typ := range types {
		if inside[i] < traces*92/100 {
			t.Errorf("%s: the truth is in %d of %d intervals", typ.name, inside[i], traces)
		}
		if mean := sum[i] / traces / float64(typ.size*typ.count); math.Abs(mean-1) > 0.02 {
			t.Errorf("%s: estimates are %.3f of the truth on average", typ.name, mean)
		}
	}
	if totals < traces*92/100 {
		t.Errorf("the total is in %d of %d intervals", totals, traces)
	}
}

// binomial draws how many of n succeed, by the waiting times between them.
func binomial(rng *rand.Rand, n int, p float64) int {
	if p > 0.1 {
		k := 0
		for range n {
			if rng.Float64() < p {
				k++
			}
		}
		return k
	}
	k := -1
	for at := 0; at <= n; k++ {
		at += 1 + int(math.Log(1-rng.Float64())/math.Log1p(-p))
	}
	return k
}

func TestSampledObjects(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var types symbol.Types
	m := Model{Types: &types}
	mPass := pass.New(&m)
	mPass.Feed(maker.At(0, &clr.GCSampledObjectAllocationHigh{TypeID: 9, ObjectCountForTypeSample: 3, TotalSizeForTypeSample: 72}))
	types.Feed(maker.At(1, &clr.BulkType{Count: 1, Values: []clr.BulkTypeValue{{TypeID: 9, Name: clr.NewUTF16("N.T")}}}))
	rows := m.Rows(7, Object, ByType)
	if len(rows) != 1 || rows[0].Type != "N.T" || rows[0].Samples != 3 || rows[0].Bytes != 72 || rows[0].Low != 72 || !rows[0].Open {
		t.Errorf("rows %+v", rows)
	}
}

func TestBest(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var m Model
	if got := m.BestSource(7); got != SourceUnknown {
		t.Errorf("nothing: %v", got)
	}
	mPass := pass.New(&m)
	mPass.Feed(maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24)))
	if got := m.BestSource(7); got != Tick {
		t.Errorf("ticks: %v", got)
	}
	mPass.Feed(maker.At(0, &clr.AllocationSampled{ObjectSize: 24}))
	if got := m.BestSource(7); got != Sampled {
		t.Errorf("both: %v", got)
	}
}

func TestByStackAndMethod(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var table symbol.Table
	m := Model{Stacks: symbol.NewStacks(&table)}
	mPass := pass.New(&m)
	feed := func(stack ...uint64) {
		mPass.Feed(maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24), stack...))
	}
	feed(0x1000, 0x2000)
	feed(0x1004, 0x2008) // the same methods
	feed(0x2000)
	feed()
	method := func(id, at uint64, name string) {
		table.Feed(maker.At(time.Second, &clr.MethodDCEndVerbose{MethodID: id, MethodStartAddress: at, MethodSize: 16, MethodName: clr.NewUTF16(name)}))
	}
	method(1, 0x1000, "leaf")
	method(2, 0x2000, "main")

	rows := m.Rows(7, Tick, ByType|ByStack)
	if len(rows) != 3 || rows[0].Samples != 2 {
		t.Errorf("by type and stack: %+v", rows)
	}
	for _, r := range m.Rows(7, Tick, ByMethod) {
		want := map[string][2]int64{"leaf": {2, 2}, "main": {1, 3}, "": {1, 0}}[r.Method]
		if r.Samples != want[0] || r.Inclusive != want[1]*102_500 {
			t.Errorf("method %q: %d samples, %d bytes with its callees, expected %v", r.Method, r.Samples, r.Inclusive, want)
		}
	}
}

// Types and stacks without end take no memory without end, and no bytes are
// lost.
func TestBounded(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var table symbol.Table
	m := Model{Stacks: symbol.NewStacks(&table)}
	const n = maxRows + 1000
	e := tick("", clr.AllocationKindSmall, 1, 0)
	mPass := pass.New(&m)
	for i := range uint64(n) {
		e.TypeID = i % (2 * maxTypes)
		mPass.Feed(maker.At(0, e, i<<8))
	}
	if len(m.rows) > maxRows+maxTypes || m.types > maxTypes {
		t.Errorf("%d rows and %d types are kept", len(m.rows), m.types)
	}
	if total := m.Totals()[0]; total.Bytes != n || total.Samples != n {
		t.Errorf("total %+v, expected %d", total, n)
	}
	var sum int64
	for _, r := range m.Rows(7, Tick, ByType|ByStack) {
		sum += r.Bytes
	}
	if sum != n {
		t.Errorf("rows sum to %d, expected %d", sum, n)
	}
}

func FuzzFeed(f *testing.F) {
	maker := tracetest.Maker{PID: 7}
	f.Add(maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24)).Payload)
	f.Add(maker.At(0, &clr.AllocationSampled{ObjectSize: math.MaxUint64}).Payload)
	f.Fuzz(func(t *testing.T, payload []byte) {
		maker := tracetest.Maker{PID: 7}
		var m Model
		mPass := pass.New(&m)
		for _, like := range []clr.Event{&clr.GCAllocationTick{}, &clr.AllocationSampled{}, &clr.GCSampledObjectAllocationLow{}} {
			ev := maker.At(0, like)
			ev.Payload = payload
			mPass.Feed(ev)
			mPass.Feed(ev)
		}
		for _, total := range m.Totals() {
			for _, r := range m.Rows(total.PID, total.Source, ByType) {
				if r.Low > r.Bytes || r.High < r.Bytes || r.Low < 0 {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

// TestFeedAllocates: a Model allocates nothing for known types and stacks.
func TestFeedAllocates(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var table symbol.Table
	m := Model{Stacks: symbol.NewStacks(&table)}
	ev := maker.At(0, tick("A", clr.AllocationKindSmall, 102_500, 24), 1, 2, 3)
	mPass := pass.New(&m)
	feed := func(ev *trace.Event) func() { return func() { mPass.Feed(ev) } }
	mPass.Feed(ev)
	if n := testing.AllocsPerRun(100, feed(ev)); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// TestLargeBelow weighs large objects of known size by the bytes that their ticks
// stand for, and leaves out small objects and ticks without sizes.
func TestLargeBelow(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	m := Model{LargeLimits: []uint64{200_000, 500_000}}
	mPass := pass.New(&m)
	mPass.Feed(maker.At(0, tick("A", clr.AllocationKindSmall, 150_000, 150_000)))
	mPass.Feed(maker.At(0, tick("A", clr.AllocationKindLarge, 150_000, 0)))
	if got := m.LargeBelow(7, Tick); got != nil {
		t.Errorf("without sizes of large objects: %v", got)
	}
	mPass.Feed(maker.At(0, tick("A", clr.AllocationKindLarge, 199_999, 199_999)))
	mPass.Feed(maker.At(0, tick("B", clr.AllocationKindLarge, 600_001, 200_000)))
	if got := m.LargeBelow(7, Tick); len(got) != 2 || math.Abs(got[0]-24.999875) > 1e-9 || got[1] != 100 {
		t.Errorf("%v %% below the limits, expected 25 and 100", got)
	}
	if got := m.LargeBelow(7, Sampled); got != nil {
		t.Errorf("of another source: %v", got)
	}
	if got := m.LargeBelow(8, Tick); got != nil {
		t.Errorf("of another process: %v", got)
	}
}

// TestTakeBefore: the sums before each collection are retained until they are taken.
func TestTakeBefore(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	model := Model{KeepStarts: true}
	sampled := &clr.AllocationSampled{ObjectSize: 1 << 40} // certain to be sampled
	modelPass := pass.New(&model)
	for number := range uint32(3) {
		modelPass.Feed(m.At(0, &clr.GCStart{Count: number}))
		modelPass.Feed(m.At(0, tick("A", clr.AllocationKindSmall, 100_000, 24)))
		modelPass.Feed(m.At(0, sampled))
	}
	for number := range uint32(3) {
		got, known := model.TakeBefore(7, number)
		if want := (BySource{Tick: float64(number) * 100_000, Sampled: float64(number) * (1 << 40)}); !known || got != want {
			t.Errorf("before collection %d: %v (%t), expected %v", number, got, known, want)
		}
		if _, known := model.TakeBefore(7, number); known {
			t.Errorf("collection %d is not forgotten", number)
		}
	}
	if _, known := model.TakeBefore(8, 1); known {
		t.Error("known of another process")
	}
}

// TestImpossibleSizes: objects without a size were not sampled, and ones that no process has
// room for are damage.
func TestImpossibleSizes(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var m Model
	p := pass.New(&m)
	for _, size := range []uint64{0, clr.MaxSize, clr.MaxSize - 1} {
		p.Feed(maker.At(0, &clr.AllocationSampled{ObjectSize: size}))
		p.Feed(maker.At(0, &clr.GCSampledObjectAllocationLow{TypeID: 3, ObjectCountForTypeSample: 1, TotalSizeForTypeSample: size}))
	}
	totals := m.Totals()
	if len(totals) != 2 || totals[0].Samples != 1 || totals[0].Bytes != clr.MaxSize-1 || totals[1].Samples != 2 || totals[1].Bytes != clr.MaxSize-1 || m.Rejected() != 2 {
		t.Errorf("%+v, %d rejected", totals, m.Rejected())
	}
}
