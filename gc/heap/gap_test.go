package heap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// TestGaps: a gap is pinned by the first pinned object behind it that is reached without
// another gap.
func TestGaps(t *testing.T) {
	g := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8,
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.BulkType{Values: []clr.BulkTypeValue{{TypeID: text, Name: clr.NewUTF16("Text")}, {TypeID: order, Name: clr.NewUTF16("Order")}}},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{
			{Address: 0x110, Size: 24, TypeID: order}, // behind a gap, right before
			{Address: 0x128, Size: 23, TypeID: text},  // this one, which is pinned twice
			{Address: 0x140, Size: 24, TypeID: text},  // pinned, without a gap
			{Address: 0x180, Size: 24, TypeID: order},
			{Address: 0x1c0, Size: 24, TypeID: order}, // of a fixed variable
			{Address: 0x810, Size: 24, TypeID: order},
			{Address: 0x9000, Size: 24, TypeID: order},
		}},
		&clr.GCBulkRootEdge{Values: []clr.GCBulkRootEdgeValue{
			{RootedNodeAddress: 0x128, GCRootKind: clr.BulkRootKindStack, GCRootFlag: clr.BulkRootFlagsPinning},
			{RootedNodeAddress: 0x128, GCRootKind: clr.BulkRootKindHandle, GCRootFlag: clr.BulkRootFlagsPinning, GCRootID: 0x77},
			{RootedNodeAddress: 0x140, GCRootKind: clr.BulkRootKindHandle, GCRootFlag: clr.BulkRootFlagsPinning},
			{RootedNodeAddress: 0x180, GCRootKind: clr.BulkRootKindHandle},
			{RootedNodeAddress: 0x1c0, GCRootKind: clr.BulkRootKindStack, GCRootFlag: clr.BulkRootFlagsPinning | clr.BulkRootFlagsInterior},
		}},
		&clr.GCGenerationRange{Generation: 1, RangeStart: 0x180, RangeUsedLength: 0x80},
		&clr.GCGenerationRange{Generation: 2, RangeStart: 0x100, RangeUsedLength: 0x80},
		&clr.GCGenerationRange{Generation: 3, RangeStart: 0x800, RangeUsedLength: 0x40},
		&clr.GCEnd{Count: 7, Depth: 2},
	)).Graph
	var lines []string
	gaps := g.Gaps()
	for _, gap := range gaps {
		line := fmt.Sprintf("%s: %d at %#x", gap.Generation, gap.Bytes, gap.Start)
		if gap.HasNext {
			line += fmt.Sprintf(" before %#x", g.Address(gap.Next))
		}
		if gap.Pinned {
			line += fmt.Sprintf(", %s pins %#x by %#x", gap.Pin, g.Address(gap.Pin.Object), gap.Pin.ID)
		}
		lines = append(lines, line)
	}
	for _, p := range g.Pinners(gaps) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %d of %d by %v %s", p.Generation, p.Gaps, p.Bytes, p.Type, p.Root)))
	}
	want := []string{
		"gen2: 16 at 0x100 before 0x110, a pinned handle pins 0x128 by 0x77",
		"gen2: 40 at 0x158",
		"gen1: 40 at 0x198 before 0x1c0, a variable pins 0x1c0 by 0x0",
		"gen1: 40 at 0x1d8",
		"loh: 16 at 0x800 before 0x810",
		"loh: 24 at 0x828",
		"gen2: 1 of 40 by <nil>",
		"gen1: 1 of 40 by Order a variable",
		"gen1: 1 of 40 by <nil>",
		"loh: 2 of 40 by <nil>",
		"gen2: 1 of 16 by Text a pinned handle",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}
