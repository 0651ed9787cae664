package ctf_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// A reading is all that a reader returns.
type reading struct {
	Events []trace.Event
	Info   trace.Info
	Loss   trace.Loss
	Kinds  []trace.Descriptor
	Counts []uint64
	Error  string
}

// readWith reads a trace, by plans or as usual. Events of runs are on their own, without what
// they need not have in common.
func readWith(files fs.FS, opts ctf.Options, byPlans bool) (got reading) {
	r, err := ctf.Open(files, opts)
	if err != nil {
		return reading{Error: err.Error()}
	}
	if byPlans {
		r.ReadByPlans()
	}
	for ev, err := range r.Events() {
		if err != nil {
			got.Error = err.Error()
			break
		}
		if ev.Run == nil {
			got.Events = append(got.Events, *ev.Clone())
			continue
		}
		for _, rec := range ev.Run.Records {
			one := *ev
			one.Desc, one.Ticks, one.Payload = ev.Run.Descs[rec.Desc], rec.Ticks, rec.Payload(ev.Run.Bytes)
			got.Events = append(got.Events, *one.Clone())
		}
	}
	for d, n := range r.Counts() {
		got.Kinds, got.Counts = append(got.Kinds, *d), append(got.Counts, n)
	}
	got.Info, got.Loss = *r.Info(), *r.Loss()
	return got
}

// ways are the options with which reading with plans and without must give equal results.
var ways = map[string]ctf.Options{
	"all":          {Resolve: clr.Tracepoint},
	"none":         {Resolve: clr.Tracepoint, Want: func(*trace.Descriptor) bool { return false }},
	"heads":        {Resolve: clr.Tracepoint, Head: func(*trace.Descriptor) int { return 18 }},
	"of the model": {Resolve: clr.Tracepoint, Want: gc.Wants, Head: gc.Head},
	"in runs":      {Resolve: clr.Tracepoint, Want: gc.Wants, Head: gc.Head, Runs: func(*trace.Descriptor) bool { return true }},
}

// sameInBothWays compares reading a trace with plans and without, under all options of ways.
func sameInBothWays(t interface {
	Helper()
	Fatalf(string, ...any)
}, name string, files fs.FS,
) {
	t.Helper()
	for way, opts := range ways {
		got := readWith(files, opts, false)
		opts.Runs = nil
		want := readWith(files, opts, true)
		for i := range min(len(got.Events), len(want.Events)) {
			a, b := &got.Events[i], &want.Events[i]
			if !same(a, b) || way != "in runs" && (a.TID != b.TID || a.CPU != b.CPU) {
				t.Fatalf("%s, %s: event %d is %+v, by plans %+v", name, way, i, a, b)
			}
		}
		if len(got.Events) != len(want.Events) {
			t.Fatalf("%s, %s: %d events, by plans %d", name, way, len(got.Events), len(want.Events))
		}
		got.Events, want.Events = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s, %s: %+v\nby plans %+v", name, way, got, want)
		}
	}
}

// same compares the fields that events keep in a run.
func same(a, b *trace.Event) bool {
	return a.Ticks == b.Ticks && a.PID == b.PID && a.PointerSize == b.PointerSize && a.Late == b.Late && bytes.Equal(a.Payload, b.Payload) &&
		a.Desc.Provider == b.Desc.Provider && a.Desc.ID == b.Desc.ID && a.Desc.Name == b.Desc.Name && a.Desc.Version == b.Desc.Version
}

// TestUsual: events of the usual form are read as their plans say, and all others as well.
func TestUsual(t *testing.T) {
	for name, files := range realTraces(t) {
		sameInBothWays(t, name, files)
	}
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, name := range texts {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(b), wantMark)
		sameInBothWays(t, name, assemble(t, text))
	}
}

// TestUsualInterleaved is TestUsual for streams that alternate at random, with equal and
// descending times, changing processes and damage.
func TestUsualInterleaved(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		files := assemble(t, interleaved(r))
		if rapid.Bool().Draw(r, "damaged") {
			damage(r, files)
		}
		sameInBothWays(r, "at random", files)
	})
}

// TestUsualCut is TestUsual for a file that ends anywhere in an event with sequences, which
// another stream has had first.
func TestUsualCut(t *testing.T) {
	const text = `trace
env domain=ust tracer_name=lttng-ust
clock seconds=1700000000
stream 0 header=large context=[i32:vpid i32:vtid text17:procname]
event 0 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
event 1 other:sequences fields=[u8[]:a u32[]:b u16:c]
file c_0
packet begin=1000 end=2000 seq=0 cpu=0 instance=0
  ev 0 time=1001 context=[1 1 name] 1 2 0
  ev 1 time=1002 context=[1 1 name] [5 6 7] [8 9] 10
file c_1
packet begin=1000 end=2000 seq=0 cpu=1 instance=1
  ev 1 time=1003 context=[1 1 name] [5 6 7] [8 9] 10
`
	whole := assemble(t, text)
	for n := range 192 { // behind the last event
		sameInBothWays(t, fmt.Sprintf("cut at %d", n), with(whole, "c_0", whole["c_0"].Data[:n]))
	}
}

// interleaved returns the text of a trace.
func interleaved(r *rapid.T) string {
	var b strings.Builder
	header := rapid.SampledFrom([]string{"large", "compact"}).Draw(r, "header")
	fmt.Fprintf(&b, `trace
env domain=ust tracer_name=lttng-ust
clock seconds=1700000000
stream 0 header=%s context=[i32:vpid i32:vtid text17:procname]
event 0 DotNETRuntime:GCAllocationTick_V2 fields=[u32:AllocationAmount u32:AllocationKind u16:ClrInstanceID u64:AllocationAmount64 u64:TypeID string:TypeName u32:HeapIndex]
event 1 DotNETRuntime:GCEnd_V1 fields=[u32:Count u32:Depth u16:ClrInstanceID]
event 2 other:text fields=[string:a u8:b]
event 3 other:array fields=[u16:n string:a u32[2]:b]
event 4 other:sequences fields=[u8[]:a u32[]:b u16:c]
`, header)
	for cpu := range rapid.IntRange(1, 4).Draw(r, "streams") {
		fmt.Fprintf(&b, "file c_%d\n", cpu)
		now := 1000
		for seq := range rapid.IntRange(1, 3).Draw(r, "packets") {
			begin := now
			var events strings.Builder
			for range rapid.IntRange(0, 12).Draw(r, "events") {
				now += rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5, 1000, 1 << 28, -1}).Draw(r, "step")
				event(r, &events, max(now, begin))
			}
			end := max(now, begin)
			fmt.Fprintf(&b, "packet begin=%d end=%d seq=%d cpu=%d instance=%d discarded=%d\n%s", begin, end, seq, cpu, cpu, rapid.IntRange(0, 1).Draw(r, "discarded")*seq, events.String())
			now = end
		}
	}
	return b.String()
}

// event writes the line of an event.
func event(r *rapid.T, b *strings.Builder, at int) {
	pid := rapid.IntRange(1, 2).Draw(r, "pid")
	tid := pid + rapid.SampledFrom([]int{0, 0, 10}).Draw(r, "thread")
	full := rapid.SampledFrom([]string{"", "", "full"}).Draw(r, "full")
	id := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3, 4, 4}).Draw(r, "id")
	fmt.Fprintf(b, "  ev %d time=%d context=[%d %d name%d] %s ", id, at, pid, tid, tid, full)
	b.WriteString([...]string{"100 0 1 100 7 System.String 0", "1 2 0", "text 1", "1 text [3 4]", "[5 6 7] [8 9] 10"}[id] + "\n")
}

// damage changes a byte, or cuts a file.
func damage(r *rapid.T, files fstest.MapFS) {
	name := rapid.SampledFrom([]string{"c_0", "c_1"}).Draw(r, "file")
	f := files[name]
	if f == nil || len(f.Data) == 0 {
		return
	}
	at := rapid.IntRange(0, len(f.Data)-1).Draw(r, "at")
	if rapid.Bool().Draw(r, "cut") {
		f.Data = f.Data[:at]
		return
	}
	f.Data[at] ^= byte(1 << rapid.IntRange(0, 7).Draw(r, "bit"))
}
