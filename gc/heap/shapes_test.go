package heap_test

import (
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// TestPathsByType: the paths to objects of a type are the ones of a query for the type, the
// ones that retain most first, and no more than are asked for.
func TestPathsByType(t *testing.T) {
	s := leaking(t)[2]
	d := s.Graph.Dominators()
	all, first := d.Paths(1_000), d.Paths(2)
	for of, paths := range all {
		want := s.Groups(heap.Query{By: heap.ByPath, Type: func(t *heap.Type) bool { return t == of }}, d)
		if len(paths) != len(want) || len(first[of]) != min(2, len(want)) {
			t.Fatalf("%s: %d and %d paths, want %d", of, len(paths), len(first[of]), len(want))
		}
		for i := range paths {
			same := func(g heap.Group) bool {
				return slices.Equal(g.Path, paths[i].Path) && g.Root.Kind == paths[i].Root.Kind && g.Root.Field == paths[i].Root.Field &&
					g.Objects == paths[i].Objects && g.Bytes == paths[i].Bytes && g.Retained == paths[i].Retained
			}
			if !slices.ContainsFunc(want, same) {
				t.Errorf("%s: %+v is no path", of, paths[i])
			}
			if i > 0 && paths[i].Retained.Or(0) > paths[i-1].Retained.Or(0) {
				t.Errorf("%s: path %d retains more than the one before", of, i)
			}
		}
	}
	if len(all) < 100 {
		t.Errorf("%d types have paths", len(all))
	}
}

// alternating returns a list of n objects whose types alternate, which a static field holds.
func alternating(n int) []clr.Event {
	nodes, edges := make([]clr.GCBulkNodeValue, n), make([]clr.GCBulkEdgeValue, n-1)
	for i := range nodes {
		nodes[i] = clr.GCBulkNodeValue{Address: uint64(0x1000 + 24*i), Size: 24, TypeID: []uint64{list, text}[i%2], EdgeCount: 1}
	}
	for i := range edges {
		edges[i].Value = nodes[i+1].Address
	}
	nodes[n-1].EdgeCount = 0
	return []clr.Event{
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{ObjectID: 0x1000, FieldName: clr.NewUTF16("first")}}},
		&clr.GCBulkNode{Values: nodes},
		&clr.GCBulkEdge{Values: edges},
		&clr.GCEnd{Count: 7, Depth: 2},
	}
}

// TestLongPaths: a path with many steps lacks some in the middle, and says so.
func TestLongPaths(t *testing.T) {
	for n, want := range map[int]int{1: 1, 24: 24, 25: 25, 26: 25, 37: 25, 100: 25, 1000: 25} {
		s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, alternating(n)...))
		g := s.Graph
		last := g.Type(uint32(n - 1))
		longest := heap.Group{}
		for _, p := range g.Dominators().Paths(n)[last] {
			if p.Path[len(p.Path)-1] != last || p.Path[0] != g.Type(0) || p.Root.Field != "first" || p.Objects != 1 {
				t.Errorf("%d: %+v", n, p)
			}
			if len(p.Path) > len(longest.Path) {
				longest = p
			}
		}
		if gap := slices.Index(longest.Path, nil); len(longest.Path) != want || (gap >= 0) != (n > 24) {
			t.Errorf("%d: %d steps, a gap at %d", n, len(longest.Path), gap)
		}
	}
}

// TestGenerationsOfTypes: the bytes of types by generation add up to the bytes of the
// generations and of the types.
func TestGenerationsOfTypes(t *testing.T) {
	s := leaking(t)[2]
	byType := s.Graph.Generations()
	var sums [6]int64
	for _, u := range s.Types {
		var sum int64
		for i, n := range byType[u.Type] {
			sums[i] += n
			sum += n
		}
		if sum != u.Bytes {
			t.Errorf("%s: %d bytes, want %d", u.Type, sum, u.Bytes)
		}
	}
	for i, g := range s.Generations {
		if sums[i] != g.Bytes {
			t.Errorf("%s: %d bytes, want %d", g.Name, sums[i], g.Bytes)
		}
	}
	g := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, alternating(3)...)).Graph
	if of := g.Generations(); of != nil {
		t.Errorf("%v, though no generation is known", of)
	}
}
