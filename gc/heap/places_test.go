package heap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// TestGrownPlaces adds up the growth of all paths, and of all holders: it is the growth of the
// live bytes. From the last snapshot to the first it is negative, and from one to itself zero.
func TestGrownPlaces(t *testing.T) {
	all := leaking(t)
	before, after := all[0].Graph.Dominators(), all[2].Graph.Dominators()
	for name, tt := range map[string]struct {
		grown func(before, after *heap.Snapshot, keeps func(*heap.Type) bool) []heap.PlaceGrowth
		leak  string // where most of the leaked objects are
	}{
		"path":   {heap.GrownPaths, "leak (static) → System.Collections.Generic.List`1[Shop.Leak] → Shop.Leak[] → Shop.Leak"},
		"holder": {heap.GrownHolders, "Shop.Leak[] → Shop.Leak"},
	} {
		var objects, bytes int64
		grown := tt.grown(all[0], all[2], nil)
		for _, g := range grown {
			objects += g.Objects
			bytes += g.Bytes
		}
		if objects != after.Live()-before.Live() || bytes != after.LiveBytes()-before.LiveBytes() {
			t.Errorf("%s: %d objects, %d bytes", name, objects, bytes)
		}
		back := tt.grown(all[2], all[0], nil)
		if n := len(grown); len(back) != n || back[n-1].Bytes != -grown[0].Bytes || len(tt.grown(all[1], all[1], nil)) > 0 {
			t.Errorf("%s: %d places, and %d back", name, n, len(back))
		}
		leaks := tt.grown(all[0], all[2], func(of *heap.Type) bool { return of.Name == "Shop.Leak" })
		if len(leaks) != 2 || strings.Join(leaks[0].Path(), " → ") != tt.leak || leaks[0].Objects != 5999 || leaks[0].Retained != 5999*312 {
			t.Errorf("%s: %+v", name, leaks)
		}
		lost := *all[1]
		lost.Graph = nil
		if grown := tt.grown(all[0], &lost, nil); grown != nil {
			t.Errorf("%s: %v grew in a snapshot without objects", name, grown)
		}
	}
}

// TestGrownLongPath checks that the middle of a long path is left out, here of one through a
// list whose elements alternate between two types.
func TestGrownLongPath(t *testing.T) {
	chain := func(length int) *heap.Snapshot {
		nodes, edges := &clr.GCBulkNode{}, &clr.GCBulkEdge{}
		for i := range length {
			node := clr.GCBulkNodeValue{Address: uint64(0x100 + 0x20*i), Size: 32, TypeID: []uint64{list, text}[i%2], EdgeCount: 1}
			if i == length-1 {
				node.EdgeCount = 0
			} else {
				edges.Values = append(edges.Values, clr.GCBulkEdgeValue{Value: node.Address + 0x20})
			}
			nodes.Values = append(nodes.Values, node)
		}
		return one(t, read(
			t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, &clr.GCStart{Count: 7, Depth: 2},
			&clr.BulkType{Values: []clr.BulkTypeValue{{TypeID: list, Name: clr.NewUTF16("List")}, {TypeID: text, Name: clr.NewUTF16("Text")}}},
			&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{ObjectID: 0x100, FieldName: clr.NewUTF16("first")}}},
			nodes, edges, &clr.GCEnd{Count: 7, Depth: 2},
		))
	}
	grown := heap.GrownPaths(chain(20), chain(41), nil)
	if len(grown) != 41 { // those that both have retain more
		t.Fatalf("%d places", len(grown))
	}
	most := slices.MaxFunc(grown, func(a, b heap.PlaceGrowth) int { return len(a.Path()) - len(b.Path()) })
	if longest := most.Path(); len(longest) != 26 || longest[0] != "first (static)" || longest[13] != "…" || longest[25] != "List" || longest[24] != "Text" {
		t.Errorf("%q", longest)
	}
}
