package profile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestHeap: the stacks of a heap are the places of the tree with their own bytes, and what
// the tree leaves out is in one frame at its place.
func TestHeap(t *testing.T) {
	tree := &heap.TreeNode{Children: []*heap.TreeNode{
		{Root: &heap.Root{Kind: heap.RootStatic, Field: "orders"}, Children: []*heap.TreeNode{{
			Type: &heap.Type{Name: "Shop.List", Module: `C:\app\shop.dll`}, Objects: 1, Bytes: 24,
			Children: []*heap.TreeNode{{Type: &heap.Type{Name: "Shop.Order"}, Objects: 2, Bytes: 64}},
			Omitted:  heap.Omitted{Nodes: 1, Objects: 3, Bytes: 72},
		}}},
		{Children: []*heap.TreeNode{{Type: &heap.Type{Name: "System.String"}, Objects: 1, Bytes: 22}}},
	}}
	var got []string
	p := profile.Heap(&gc.Process{Name: "shop"}, tree)
	for s := range p.Processes[0].Samples {
		var frames []string
		for _, f := range s.Stack {
			frames = append(frames, f.Module+":"+f.Method)
		}
		got = append(got, fmt.Sprint(s.Objects, s.Bytes, " ", strings.Join(frames, " ")))
	}
	want := []string{
		"1 24 shop.dll:Shop.List :orders (static)", "2 64 :Shop.Order shop.dll:Shop.List :orders (static)",
		"3 72 :(other objects) shop.dll:Shop.List :orders (static)", "1 22 :System.String :several roots",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestHeapSums: whatever a tree leaves out, its stacks have the bytes of all objects that are
// alive.
func TestHeapSums(t *testing.T) {
	g := dotnettest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")[2].Graph
	d := g.Dominators()
	for _, q := range []heap.TreeQuery{{}, {Max: 30}, {Depth: 2}} {
		for name, tree := range map[string]*heap.TreeNode{"dominator": d.Tree(q), "path": g.PathTree(q)} {
			p := profile.Heap(&gc.Process{}, tree)
			var objects, size int64
			for s := range p.Processes[0].Samples {
				objects += s.Objects
				size += s.Bytes
			}
			if objects != d.Live() || size != d.LiveBytes() {
				t.Errorf("%s, %+v: %d objects of %d bytes, want %d of %d", name, q, objects, size, d.Live(), d.LiveBytes())
			}
			var out bytes.Buffer
			if err := profile.WriteCollapsed(&out, p); err != nil || out.Len() == 0 {
				t.Error(err)
			}
		}
	}
}
