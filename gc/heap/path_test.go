package heap_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// TestPaths: every object that is alive is in the group of one path, without a step twice.
func TestPaths(t *testing.T) {
	for _, s := range leaking(t) {
		d := s.Graph.Dominators()
		var objects, bytes int64
		for _, g := range s.Groups(heap.Query{By: heap.ByPath}, d) {
			objects += g.Objects
			bytes += g.Bytes.Or(0)
			if g.Retained.Or(0) < g.Bytes.Or(0) || len(g.Path) == 0 {
				t.Errorf("%v: %d objects of %v retain %v", g.Path, g.Objects, g.Bytes, g.Retained)
			}
			for i := 1; i < len(g.Path); i++ {
				if g.Path[i] == g.Path[i-1] {
					t.Errorf("%v has a step twice", g.Path)
				}
			}
		}
		if objects != d.Live() || bytes != d.LiveBytes() {
			t.Errorf("GC %d: %d objects of %d bytes have a path, not %d of %d", s.Number, objects, bytes, d.Live(), d.LiveBytes())
		}
	}
}

// TestPathsOfType: the way to objects is a shortest one from the root that says most, with
// one step for a chain of objects of a type.
func TestPathsOfType(t *testing.T) {
	s := leaking(t)[2]
	groups := s.Groups(heap.Query{By: heap.ByPath, Type: func(of *heap.Type) bool { return of.Name == "Shop.Leak" }}, s.Graph.Dominators())
	if len(groups) != 2 || groups[0].Objects != 5999 || groups[0].Root.Field != "leak" || len(groups[0].Path) != 3 ||
		groups[1].Objects != 1 || groups[1].Root.Kind != heap.RootStack || len(groups[1].Path) != 1 {
		t.Errorf("%+v", groups)
	}
}

// TestMethods: a root in a variable has the name of its method, whether that comes before the
// snapshot or in the rundown; others have none.
func TestMethods(t *testing.T) {
	method := func(id uint64, name string) clr.MethodLoadVerbose {
		return clr.MethodLoadVerbose{MethodID: id, MethodNamespace: clr.NewUTF16("Shop.Program"), MethodName: clr.NewUTF16(name), MethodSize: 1}
	}
	before, after := method(0x10, "Main"), clr.MethodDCEndVerbose(method(0x20, "Serve"))
	g := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8,
		&before,
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{{Address: 0x100, Size: 24}, {Address: 0x120, Size: 24}, {Address: 0x140, Size: 24}, {Address: 0x160, Size: 24}}},
		&clr.GCBulkRootEdge{Values: []clr.GCBulkRootEdgeValue{
			{RootedNodeAddress: 0x100, GCRootKind: clr.BulkRootKindStack, GCRootID: 0x10},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindStack, GCRootID: 0x20},
			{RootedNodeAddress: 0x140, GCRootKind: clr.BulkRootKindStack, GCRootID: 0x30},
			{RootedNodeAddress: 0x160, GCRootKind: clr.BulkRootKindHandle, GCRootID: 0x10},
		}},
		&clr.GCEnd{Count: 7, Depth: 2},
		&after,
	)).Graph
	var roots, ways []string
	to := g.Ways()
	for _, r := range g.Roots() {
		roots = append(roots, r.String())
		root, _ := to(r.Object)
		ways = append(ways, root.String())
	}
	want := []string{"a variable of Shop.Program.Main", "a variable of Shop.Program.Serve", "a variable", "a strong handle"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{roots, ways}); diff != "" {
		t.Error(diff)
	}
}
