package profile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

const ms = time.Millisecond

// TestDocument holds a whole profile: processes of which two have the same id and one has
// none, a background collection, one that is affected by loss, a finding, and allocations
// on stacks that share frames.
func TestFirefox(t *testing.T) {
	var out bytes.Buffer
	w := profile.NewFirefox(&out, time.Unix(100, 250e6))
	first := &gc.Process{PID: 7, Name: "web", Started: 2 * ms, Stopped: 90 * ms}
	again := &gc.Process{PID: 7, Name: "web", Started: 95 * ms}
	unknown := &gc.Process{PID: trace.UnknownID}
	for _, c := range []*gc.Collection{
		{
			Process: first, Number: 3, Generation: gc.Some(2), Kind: gc.Background, Reason: gc.Some(clr.GCReasonInduced), Start: gc.Some(10 * ms), End: gc.Some(60 * ms),
			Pauses: []gc.Pause{
				{Kind: gc.PauseInitial, Start: 9 * ms, Duration: 3 * ms, Suspend: gc.Some(time.Duration(0))},
				{Kind: gc.PauseFinal, Start: 40 * ms, Duration: 5 * ms, Suspend: gc.Some(ms / 2)},
			},
			HeapBefore: gc.Some[int64](5000), HeapAfter: gc.Some[int64](3000), PinnedObjects: gc.Some[int64](4), AffectedByLoss: true,
			Generations: []gc.Generation{{Name: "gen0", Before: 100, After: gc.Some[int64](50)}},
		},
		{Process: again, Number: 1, Start: gc.Some(100 * ms), Allocated: gc.Some[int64](800)},
		{Process: again, Number: 2, Start: gc.Some(110 * ms), End: gc.Some(111 * ms), Allocated: gc.Some[int64](900), CommittedAfter: gc.Some[int64](6000)},
		{Process: unknown, Number: 1, End: gc.Some(5 * ms)},
	} {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	w.Findings(first, []findings.Finding{{ID: "R1", Title: "it collects", Description: "much", Collections: []uint32{3, 1}}})

	stacks, stack := stacked()
	w.Allocations([]*export.Allocations{{Process: first}, {Process: first, Stacks: stacks, Timeline: slices.Values([]alloc.Timed{
		{Time: 20 * ms, Type: "A", Heap: alloc.Small, Stack: stack(0x1010, 0x2010), Bytes: 100},
		{Time: 30 * ms, Type: "A", Heap: alloc.Large, Stack: stack(0x1020, 0x2010), Bytes: 200},
		{Time: 120 * ms, Bytes: 300},
	})}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, out.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	extent.Golden(t, "testdata/firefox.json", indented.String())
}

// stacked returns stacks of two methods, and a function that returns the stack with some
// addresses, leaf first.
func stacked() (*symbol.Stacks, func(addresses ...uint64) symbol.StackID) {
	maker := tracetest.Maker{PID: 7}
	var methods symbol.Table
	for i, name := range []string{"Leaf", "Main"} {
		methods.Feed(maker.At(0, &clr.MethodLoadVerbose{MethodID: uint64(i + 1), MethodStartAddress: uint64(i+1) << 12, MethodSize: 0x100, MethodName: clr.NewUTF16(name)}))
	}
	stacks := symbol.NewStacks(&methods)
	return stacks, func(addresses ...uint64) symbol.StackID {
		var b []byte
		for _, a := range addresses {
			b = binary.LittleEndian.AppendUint64(b, a)
		}
		ev := maker.At(time.Second, &clr.GCAllocationTick{})
		ev.SetStack(b, 8)
		return stacks.Intern(ev)
	}
}
