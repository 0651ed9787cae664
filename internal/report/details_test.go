package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// The code of a made-up program, which GC.Collect returns to.
const (
	collectAt = 0x1000
	cleanupAt = 0x2000
	readAt    = 0x3000
	growAt    = 0x4000
)

func fedDetails(m *tracetest.Maker, induced int) (*Details, *pass.Pass) {
	d := NewDetails(new(selection.Selection), new(trace.Info))
	p := pass.New(d.Models()...)
	for at, name := range map[uint64]string{collectAt: "System.GC|Collect", cleanupAt: "App|Cleanup", readAt: "System.IO.Stream|Read", growAt: "App.Buffer|Grow"} {
		space, method, _ := strings.Cut(name, "|")
		p.Feed(m.At(0, &clr.MethodLoadVerbose{
			MethodID: at, MethodStartAddress: at, MethodSize: 0x100,
			MethodNamespace: clr.NewUTF16(space), MethodName: clr.NewUTF16(method), MethodSignature: clr.NewUTF16("void ()"),
		}))
	}
	for range induced {
		p.Feed(m.At(time.Second, &clr.GCTriggered{Reason: clr.GCReasonInduced}, collectAt+8, cleanupAt+8))
	}
	p.Feed(m.At(time.Second, &clr.GCTriggered{Reason: clr.GCReasonAllocSmall}, readAt+8))
	p.Feed(m.At(time.Second, &clr.GCTriggered{Reason: clr.GCReasonInduced}))
	return d, p
}

// TestDetails: findings name the program's own methods instead of the library methods
// that it calls.
func TestDetails(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	d, p := fedDetails(&m, 3)
	tick := func(name string, amount uint64, kind clr.AllocationKind, stack ...uint64) {
		p.Feed(m.At(time.Second, &clr.GCAllocationTick{
			AllocationAmount: uint32(amount), AllocationAmount64: amount, AllocationKind: kind, TypeName: clr.NewUTF16(name),
		}, stack...))
	}
	for range 6 {
		tick("System.Byte[]", 100_000, clr.AllocationKindLarge, readAt+4, growAt+4)
	}
	for range 4 {
		tick("System.String", 100_000, clr.AllocationKindLarge)
	}
	tick("System.Object", 100_000, clr.AllocationKindSmall, readAt+4)

	got := d.of(&gc.Process{PID: 7})
	if len(got.Collects) != 1 || got.Collects[0].Method != "App.Cleanup()" || got.Collects[0].Count != 3 || len(got.Unforced) != 0 {
		t.Errorf("callers of GC.Collect %v, unforced %v", got.Collects, got.Unforced)
	}
	if got.Source != alloc.Tick || len(got.Types) != 3 {
		t.Fatalf("%v: %+v", got.Source, got.Types)
	}
	bytes, words, object := got.Types[0], got.Types[1], got.Types[2]
	if bytes.Name != "System.Byte[]" || bytes.Heap != alloc.Large || bytes.Share != 60 || bytes.From != "App.Buffer.Grow()" || bytes.FromBytes != 600_000 {
		t.Errorf("%+v", bytes)
	}
	if words.Share != 40 || words.From != "" {
		t.Errorf("%+v", words)
	}
	if object.Share != 100 || object.From != "System.IO.Stream.Read()" {
		t.Errorf("where all of a stack is of libraries, the method that allocates is named: %+v", object)
	}
	if other := d.of(&gc.Process{PID: 8}); len(other.Types)+len(other.Collects) != 0 {
		t.Errorf("of another process: %+v", other)
	}
}

// Handles, pins and finalized objects come with their shares of all, and handles with
// the program's method that creates them.
func TestDetailsOfObjects(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	d, p := fedDetails(&m, 0)
	set := func(id uint64, kind clr.HandleKind, stack ...uint64) {
		p.Feed(m.At(time.Second, &clr.SetGCHandle{HandleID: id, Kind: kind}, stack...))
	}
	set(1, clr.HandleKindStrong, readAt+8, growAt+8)
	set(2, clr.HandleKindStrong, readAt+8, growAt+8)
	set(3, clr.HandleKindStrong, cleanupAt+8)
	set(4, clr.HandleKindStrong)
	set(5, clr.HandleKindPinned, growAt+8)
	p.Feed(m.At(time.Second, &clr.DestroyGCHandle{HandleID: 4}))
	p.Feed(m.At(time.Second, &clr.GCStart{Count: 1}))
	pin := func(id, object uint64, typ string) {
		p.Feed(m.At(time.Second, &clr.PinObjectAtGCTime{HandleID: id, ObjectID: object, ObjectSize: 100, TypeName: clr.NewUTF16(typ)}))
	}
	pin(5, 0x100, "System.Byte[]")
	pin(0x7fff, 0x200, "System.Byte[]")
	pin(0x7ffe, 0x300, "System.Byte[]")
	pin(0x7ffd, 0x400, "System.Object")
	for range 3 {
		p.Feed(m.At(time.Second, &clr.FinalizeObject{TypeID: 9}))
	}
	p.Feed(m.At(time.Second, &clr.BulkType{Count: 1, Values: []clr.BulkTypeValue{{TypeID: 9, Name: clr.NewUTF16("App.File")}}}))

	got := d.of(&gc.Process{PID: 7})
	if len(got.Handles) != 2 || got.PinnedFrom != "App.Buffer.Grow()" {
		t.Fatalf("handles %+v, pinned from %q", got.Handles, got.PinnedFrom)
	}
	strong := findings.OpenHandles{Kind: clr.HandleKindStrong, Created: 4, Open: 3, From: gc.Some("App.Buffer.Grow()"), FromOpen: gc.Some(int64(2))}
	if got.Handles[0] != strong {
		t.Errorf("%+v, expected %+v", got.Handles[0], strong)
	}
	pinned := findings.PinnedType{Name: gc.Some("System.Byte[]"), Pins: 3, Bytes: 300, Share: 75, Collections: 1, Longest: 1, ByHandle: gc.Some(int64(1))}
	if len(got.Pins) != 2 || got.Pins[0] != pinned {
		t.Errorf("%+v, expected first %+v", got.Pins, pinned)
	}
	if want := (findings.FinalizedType{Name: gc.Some("App.File"), Count: 3, Share: 100}); len(got.Finalized) != 1 || got.Finalized[0] != want {
		t.Errorf("%+v, expected %+v", got.Finalized, want)
	}
}

// The phases of background collections come with the collection in which each took
// longest, and matter where background collections take a good part of the pauses.
func TestPhasesOfBackgroundCollections(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	d, p := fedDetails(&m, 0)
	ms := time.Millisecond
	for number, mark := range map[uint32]time.Duration{1: 5 * ms, 2: 20 * ms} {
		at := time.Duration(number) * time.Second
		feed := func(after time.Duration, e clr.Event) { p.Feed(m.At(at+after, e)) }
		feed(0, &clr.GCStart{Count: number, Type: clr.GCTypeBackgroundGC})
		feed(0, &clr.BGCBegin{})
		feed(1*ms, &clr.BGC1stNonConEnd{})
		feed(1*ms+mark, &clr.BGC1stConEnd{})
		feed(2*ms+mark, &clr.BGC2ndNonConBegin{})
		feed(5*ms+mark, &clr.BGC2ndNonConEnd{})
		feed(6*ms+mark, &clr.BGC2ndConBegin{})
		feed(9*ms+mark, &clr.BGC2ndConEnd{})
		feed(10*ms+mark, &clr.GCEnd{Count: number})
	}
	c := Case{Phases: d.phasesOf(&gc.Process{PID: 7})}
	phases := c.phasesJSON()
	if len(phases) != int(background.NumPhases) {
		t.Fatalf("phases %+v", phases)
	}
	want := PhaseTotals{"concurrent_mark", 2, Millis(25 * ms), Millis(20 * ms), 2}
	if got := phases[background.ConcurrentMark]; got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	if other := (&Case{Phases: d.phasesOf(&gc.Process{PID: 8})}).phasesJSON(); len(other) != 0 {
		t.Errorf("of another process: %+v", other)
	}
}

// The first next step shows the lines that allocate where stacks name them.
func TestNextOfNamedStacks(t *testing.T) {
	for from, want := range map[string]string{
		"App.Buffer.Grow()": "gctrail allocs --by " + text.Quoted("type,stack") + " app.nettrace",
		"":                  "gctrail gcs app.nettrace",
	} {
		rep := Report{paths: []string{"app.nettrace"}, info: new(trace.Info), counts: map[clr.Kind]uint64{clr.KindGCAllocationTick: 1}}
		rep.cases = []Case{{Result: findings.Result{Case: &findings.Case{Details: findings.Details{Types: []findings.AllocatedType{{Name: "System.Byte[]", From: from}}}}}}}
		next := rep.next()
		if next[0] != want {
			t.Errorf("types allocated from %q: first %q, expected %q", from, next[0], want)
		}
		seen := 0
		for _, command := range next {
			if strings.HasPrefix(command, "gctrail allocs") {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("types allocated from %q: allocs is suggested %d times in %q", from, seen, next)
		}
	}
}
