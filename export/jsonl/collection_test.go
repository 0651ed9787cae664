package jsonl_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/trace"
)

var start = time.Date(2026, 11, 20, 23, 56, 38, 123_456_789, time.UTC)

func TestAppendCollection(t *testing.T) {
	var got []byte
	for _, c := range []*gc.Collection{full(), {Process: &gc.Process{PID: 7}, Number: 64}} {
		line := jsonl.AppendCollection(nil, start, c)
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, line, "", " "); err != nil {
			t.Fatal(err)
		}
		got = append(got, indented.Bytes()...)
	}
	const golden = "testdata/collections.json"
	if extent.Update() {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// A collection has all keys, known or not.
func TestKeys(t *testing.T) {
	var known, unknown map[string]any
	parse(t, jsonl.AppendCollection(nil, start, full()), &known)
	parse(t, jsonl.AppendCollection(nil, start, &gc.Collection{Process: &gc.Process{}}), &unknown)
	for key, v := range known {
		if v == nil {
			t.Errorf("%s is null in a full collection", key)
		}
		if _, ok := unknown[key]; !ok {
			t.Errorf("%s is not in an empty collection", key)
		}
	}
	if len(known) != len(unknown) {
		t.Errorf("%d keys where all is known, %d where nothing is", len(known), len(unknown))
	}
}

func TestMillisAreExact(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0"},
		{1, "0.000001"},
		{19_022_732, "19.022732"},
		{10_000_000, "10"},
		{1_500_000, "1.5"},
		{-250_000, "-0.25"},
		{math.MaxInt64, "9223372036854.775807"},
		{math.MinInt64, "-9223372036854.775808"},
	}
	for _, tt := range tests {
		line := jsonl.AppendCollection(nil, start, &gc.Collection{Process: &gc.Process{}, SinceLast: gc.Some(tt.d)})
		if want := []byte(`"since_last_ms":` + tt.want + `,`); !bytes.Contains(line, want) {
			t.Errorf("%d ns: no %s in %s", tt.d, want, line)
		}
	}
}

func TestUnknownProcess(t *testing.T) {
	c := full()
	c.Process.PID = trace.UnknownID
	if line := jsonl.AppendCollection(nil, start, c); !bytes.HasPrefix(line, []byte(`{"pid":null,`)) {
		t.Errorf("got %s", line)
	}
	pid, _ := figure.Named("pid")
	if v := pid.Value(c); v != (figure.Value{}) {
		t.Errorf("the column has %+v", v)
	}
}

func TestStringsAreEscaped(t *testing.T) {
	const name = "a\"b\\c\n\x01é\U0001f600"
	c := full()
	for _, tt := range [][2]string{{name, name}, {"a\xffb", "a\ufffdb"}} {
		c.Process.Name = tt[0]
		var got struct{ Process string }
		parse(t, jsonl.AppendCollection(nil, start, c), &got)
		if got.Process != tt[1] {
			t.Errorf("%q came back as %q", tt[0], got.Process)
		}
	}
}

func TestAppendCollectionAllocatesNothing(t *testing.T) {
	c := full()
	dst := jsonl.AppendCollection(nil, start, c)
	if n := testing.AllocsPerRun(100, func() { dst = jsonl.AppendCollection(dst[:0], start, c) }); n != 0 {
		t.Errorf("%v allocations for a collection", n)
	}
}

func BenchmarkAppendCollection(b *testing.B) {
	c := full()
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = jsonl.AppendCollection(dst[:0], start, c)
	}
	b.SetBytes(int64(len(dst)))
}

func parse(t *testing.T, line []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(line, v); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
}

// full returns a collection whose figures are all known.
func full() *gc.Collection {
	ms := func(v float64) gc.Opt[time.Duration] { return gc.Some(time.Duration(v * 1e6)) }
	c := &gc.Collection{
		Process:     &gc.Process{PID: 3746, Name: "web", Runtime: ".NET 10.0.12"},
		ClrInstance: 9,
		Number:      3,
		Generation:  gc.Some(2),
		Kind:        gc.Background,
		Requested:   gc.Background,
		Reason:      gc.Some(clr.GCReasonAllocLarge),
		Condemned:   gc.Some(clr.CondemnReasons1LowEphemeral | clr.CondemnReasons1BeforeBGC),
		Mechanisms:  gc.Some(clr.GlobalMechanismsConcurrent | clr.GlobalMechanismsPromotion),
		Compacted:   gc.Some(false),
		PauseMode:   gc.Some(clr.PauseModeSustainedLowLatency),
		Start:       ms(470.552),
		End:         ms(489.574732),
		SinceLast:   ms(33.5),
		PauseStart:  ms(470.5),
		Pauses: []gc.Pause{
			{Kind: gc.PauseInitial, Start: ms(470.5).Or(0), Duration: ms(0.95).Or(0), Suspend: ms(0.036), Restart: ms(0.01)},
			{Kind: gc.PauseFinal, Start: ms(480).Or(0), Duration: ms(1.5).Or(0), Suspend: ms(0.02), Restart: ms(0.011)},
		},
		AllPauses:  true,
		HeapBefore: gc.Some[int64](157_550_000), HeapAfter: gc.Some[int64](149_800_000), HeapPeak: gc.Some[int64](157_550_000),
		Promoted: gc.Some[int64](57_220_000), Freed: gc.Some[int64](13_630_000), FreedQuality: gc.LowerBound,
		Allocated: gc.Some[int64](54_470_000), AllocatedQuality: gc.Estimate, AllocatedTicks: gc.Some[int64](54_500_000),
		CommittedBefore: gc.Some[int64](200_000_000), CommittedAfter: gc.Some[int64](210_000_000),
		MemoryLoad: gc.Some(2), Heaps: gc.Some(1),
		Marks:                []gc.Mark{{Heap: 0, Root: clr.RootTypeHandles, Duration: ms(0.25).Or(0), Bytes: gc.Some[int64](4096)}},
		PinnedObjects:        gc.Some[int64](5),
		FinalizationPromoted: gc.Some[int64](1024), FinalizationPromotedObjs: gc.Some[int64](12),
		Handles: gc.Some[int64](300), SyncBlocks: gc.Some[int64](4),
		Complete: true, AffectedByLoss: true,
	}
	for i, name := range gc.GenerationNames() {
		n := int64(i+1) * 1_000_000
		c.Generations = append(c.Generations, gc.Generation{
			Name: name, Before: 9 * n, After: gc.Some(7 * n), In: n, Out: 6 * n, Freed: gc.Some(2 * n),
			Fragmentation: gc.Some(n / 2), Survival: gc.Some(66.5), Budget: 8 * n, Pinned: gc.Some(n / 4),
		})
	}
	return c
}
