package heap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// drawn returns a tree in lines, indented by level: the objects and bytes of each node, alone
// and with all nodes below.
func drawn(n *heap.TreeNode, indent string) string {
	name := "several"
	switch {
	case n.Root != nil:
		name = strings.TrimSpace(n.Root.Kind.String() + " " + n.Root.Field)
	case n.Type != nil:
		name = n.Type.String()
	case indent == "":
		name = "top"
	}
	out := fmt.Sprintf("%s%s: %d of %d, in all %d of %d\n", indent, name, n.Objects, n.Bytes, n.TotalObjects, n.TotalBytes)
	for _, child := range n.Children {
		out += drawn(child, indent+"  ")
	}
	if n.Omitted.Nodes > 0 {
		out += fmt.Sprintf("%s  omitted: %d nodes, %d of %d\n", indent, n.Omitted.Nodes, n.Omitted.Objects, n.Omitted.Bytes)
	}
	return out
}

// twoLists returns a heap with two lists, which static fields hold: in the left one a text
// that refers to another and a text alone, in the right one an order with a text, and in both
// a text that neither dominates.
func twoLists() []clr.Event {
	return []clr.Event{
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.BulkType{Values: []clr.BulkTypeValue{{TypeID: list, Name: clr.NewUTF16("List")}, {TypeID: text, Name: clr.NewUTF16("Text")}, {TypeID: order, Name: clr.NewUTF16("Order")}}},
		&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{
			{ObjectID: 0x100, FieldName: clr.NewUTF16("left")}, {ObjectID: 0x200, FieldName: clr.NewUTF16("right")},
		}},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{
			{Address: 0x100, Size: 32, TypeID: list, EdgeCount: 3}, // left
			{Address: 0x120, Size: 24, TypeID: text, EdgeCount: 1},
			{Address: 0x140, Size: 40, TypeID: text},               // linked
			{Address: 0x200, Size: 32, TypeID: list, EdgeCount: 2}, // right
			{Address: 0x220, Size: 64, TypeID: order, EdgeCount: 1},
			{Address: 0x260, Size: 100, TypeID: text}, // in both
			{Address: 0x300, Size: 80, TypeID: text},  // of the order
			{Address: 0x380, Size: 24, TypeID: text},  // of left
		}},
		&clr.GCBulkEdge{Values: []clr.GCBulkEdgeValue{{Value: 0x120}, {Value: 0x260}, {Value: 0x380}, {Value: 0x140}, {Value: 0x220}, {Value: 0x260}, {Value: 0x300}}},
		&clr.GCEnd{Count: 7, Depth: 2},
	}
}

func TestTree(t *testing.T) {
	g := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, twoLists()...)).Graph
	texts := func(of *heap.Type) bool { return of.Name == "Text" }
	for name, tt := range map[string]struct {
		tree *heap.TreeNode
		want string
	}{
		"dominators": {g.Dominators().Tree(heap.TreeQuery{}), `
			top: 0 of 0, in all 8 of 396
			  static right: 0 of 0, in all 3 of 176
			    List: 1 of 32, in all 3 of 176
			      Order: 1 of 64, in all 2 of 144
			        Text: 1 of 80, in all 1 of 80
			  static left: 0 of 0, in all 4 of 120
			    List: 1 of 32, in all 4 of 120
			      Text: 3 of 88, in all 3 of 88
			  several: 0 of 0, in all 1 of 100
			    Text: 1 of 100, in all 1 of 100`},
		"of a size": {g.Dominators().Tree(heap.TreeQuery{Least: 120}), `
			top: 0 of 0, in all 8 of 396
			  static right: 0 of 0, in all 3 of 176
			    List: 1 of 32, in all 3 of 176
			      Order: 1 of 64, in all 2 of 144
			        omitted: 1 nodes, 1 of 80
			  static left: 0 of 0, in all 4 of 120
			    List: 1 of 32, in all 4 of 120
			      omitted: 1 nodes, 3 of 88
			  omitted: 1 nodes, 1 of 100`},
		"largest": {g.Dominators().Tree(heap.TreeQuery{Max: 3}), `
			top: 0 of 0, in all 8 of 396
			  static right: 0 of 0, in all 3 of 176
			    List: 1 of 32, in all 3 of 176
			      Order: 1 of 64, in all 2 of 144
			        omitted: 1 nodes, 1 of 80
			  omitted: 2 nodes, 5 of 220`},
		"top levels": {g.Dominators().Tree(heap.TreeQuery{Depth: 1}), `
			top: 0 of 0, in all 8 of 396
			  static right: 0 of 0, in all 3 of 176
			    omitted: 1 nodes, 3 of 176
			  static left: 0 of 0, in all 4 of 120
			    omitted: 1 nodes, 4 of 120
			  several: 0 of 0, in all 1 of 100
			    omitted: 1 nodes, 1 of 100`},
		"from a type": {g.Dominators().Tree(heap.TreeQuery{Type: func(of *heap.Type) bool { return of.Name != "List" }}), `
			top: 0 of 0, in all 6 of 332
			  Text: 4 of 188, in all 4 of 188
			  Order: 1 of 64, in all 2 of 144
			    Text: 1 of 80, in all 1 of 80`},
		"paths": {g.PathTree(heap.TreeQuery{}), `
			top: 0 of 0, in all 8 of 396
			  static left: 0 of 0, in all 5 of 220
			    List: 1 of 32, in all 5 of 220
			      Text: 4 of 188, in all 4 of 188
			  static right: 0 of 0, in all 3 of 176
			    List: 1 of 32, in all 3 of 176
			      Order: 1 of 64, in all 2 of 144
			        Text: 1 of 80, in all 1 of 80`},
		"paths to a type": {g.PathTree(heap.TreeQuery{Type: texts, Share: 0.3}), `
			top: 0 of 0, in all 5 of 268
			  static left: 0 of 0, in all 4 of 188
			    List: 0 of 0, in all 4 of 188
			      Text: 4 of 188, in all 4 of 188
			  omitted: 1 nodes, 1 of 80`},
	} {
		want := strings.ReplaceAll(strings.TrimPrefix(tt.want, "\n"), "\t", "") + "\n"
		if diff := cmp.Diff(want, drawn(tt.tree, "")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTreesAddUp checks that a node's total is its own bytes plus its children's, with the
// omitted ones, and that the trees of a real heap agree with the lists.
func TestTreesAddUp(t *testing.T) {
	s := leaking(t)[2]
	d := s.Graph.Dominators()
	var nodes, own int64
	var check func(n *heap.TreeNode)
	check = func(n *heap.TreeNode) {
		nodes++
		own += n.Objects
		objects, bytes := n.Objects+n.Omitted.Objects, n.Bytes+n.Omitted.Bytes
		for i, child := range n.Children {
			if i > 0 && child.TotalBytes > n.Children[i-1].TotalBytes {
				t.Error("a child is larger than the one before")
			}
			objects += child.TotalObjects
			bytes += child.TotalBytes
			check(child)
		}
		if objects != n.TotalObjects || bytes != n.TotalBytes {
			t.Errorf("%v: %d objects of %d bytes, not %d of %d", n.Type, objects, bytes, n.TotalObjects, n.TotalBytes)
		}
	}
	for _, q := range []heap.TreeQuery{{}, {Least: s.Bytes / 1000}, {Share: 0.01}, {Max: 30}, {Depth: 3}} {
		for _, tree := range []*heap.TreeNode{d.Tree(q), s.Graph.PathTree(q)} {
			nodes, own = 0, 0
			check(tree)
			if tree.TotalObjects != d.Live() || tree.TotalBytes != d.LiveBytes() {
				t.Errorf("%d objects of %d bytes", tree.TotalObjects, tree.TotalBytes)
			}
			if q.Max > 0 && nodes != int64(q.Max)+1 {
				t.Errorf("%d nodes of at most %d", nodes-1, q.Max)
			}
			if whole := q.Least+int64(q.Max+q.Depth) == 0 && q.Share == 0; whole != (own == d.Live()) {
				t.Errorf("%d of %d objects are in nodes", own, d.Live())
			}
		}
	}
	for _, g := range s.Groups(heap.Query{By: heap.ByType}, d) {
		if tree := d.Tree(heap.TreeQuery{Type: func(of *heap.Type) bool { return of == g.Type }}); tree.TotalBytes != g.Retained.Or(0) {
			t.Errorf("%s: the tree has %d bytes, the list %v", g.Type, tree.TotalBytes, g.Retained)
		}
	}
}

// TestTreeIsBounded: a list whose elements have two types in turn has no more levels than a
// tree may have.
func TestTreeIsBounded(t *testing.T) {
	const n = 100_000
	g := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, chain(n, 2)...)).Graph
	for _, tree := range []*heap.TreeNode{g.Dominators().Tree(heap.TreeQuery{}), g.PathTree(heap.TreeQuery{Depth: 1 << 30})} {
		levels := 0
		for ; len(tree.Children) > 0; tree = tree.Children[0] {
			levels++
		}
		if levels != heap.MaxTreeDepth || tree.Omitted.Objects != n-(heap.MaxTreeDepth-1) {
			t.Errorf("%d levels, %+v below", levels, tree.Omitted)
		}
	}
}

// chain returns a heap in which a static field refers to the first of some objects, and each
// refers to the next. Their types alternate.
func chain(objects, types int) []clr.Event {
	const each = 2000
	events := []clr.Event{
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{ObjectID: 0x1000, FieldName: clr.NewUTF16("first")}}},
	}
	address := func(i int) uint64 { return 0x1000 + 24*uint64(i) }
	for at, index := 0, uint32(0); at < objects; index++ {
		nodes, edges := &clr.GCBulkNode{Index: index}, &clr.GCBulkEdge{Index: index}
		for end := min(at+each, objects); at < end; at++ {
			node := clr.GCBulkNodeValue{Address: address(at), Size: 24, TypeID: order + 16*uint64(at%types)}
			if at+1 < objects {
				node.EdgeCount = 1
				edges.Values = append(edges.Values, clr.GCBulkEdgeValue{Value: address(at + 1)})
			}
			nodes.Values = append(nodes.Values, node)
		}
		events = append(events, nodes, edges)
	}
	return append(events, &clr.GCEnd{Count: 7, Depth: 2})
}
