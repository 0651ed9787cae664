package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

// graphOf returns the graph with the edges of each node.
func graphOf(edges [][]uint32) *digraph {
	g := &digraph{start: make([]uint32, 1, len(edges)+1)}
	for _, to := range edges {
		g.to = append(g.to, to...)
		g.start = append(g.start, uint32(len(g.to)))
	}
	return g
}

// reach returns what roots reach without one node.
func reach(g *digraph, roots []uint32, without uint32) []bool {
	seen := make([]bool, g.len())
	var left []uint32
	visit := func(v uint32) {
		if v != without && !seen[v] {
			seen[v] = true
			left = append(left, v)
		}
	}
	for _, r := range roots {
		visit(r)
	}
	for len(left) > 0 {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		for _, w := range g.edges(v) {
			visit(w)
		}
	}
	return seen
}

// check compares a tree with the definition: a node dominates another if roots do not reach
// the other without it.
func (t *domtree) check(tb testing.TB, g *digraph, roots []uint32) {
	tb.Helper()
	live := reach(g, roots, none)
	position := make(map[uint32]uint32)
	for p, v := range t.node[1:] {
		if position[v] != 0 || !live[v] {
			tb.Fatalf("node %d is in the tree twice, or not alive", v)
		}
		position[v] = uint32(p) + 1
	}
	for v := range uint32(g.len()) {
		if live[v] != (position[v] != 0) {
			tb.Fatalf("node %d is alive: %t; in the tree: %t", v, live[v], position[v] != 0)
		}
		if !live[v] {
			continue
		}
		without, dominated := reach(g, roots, v), uint32(0)
		p := position[v]
		for w := range uint32(g.len()) {
			if live[w] && !without[w] {
				dominated++
				if q := position[w]; q < p || q >= p+t.span[p] {
					tb.Fatalf("%d dominates %d, which is at %d, outside of %d to %d", v, w, q, p, p+t.span[p])
				}
			}
		}
		if dominated != t.span[p] {
			tb.Fatalf("%d dominates %d nodes, the tree has %d", v, dominated, t.span[p])
		}
		if up := t.up[p]; up >= p || p >= up+t.span[up] {
			tb.Fatalf("%d is at %d, below %d", v, p, up)
		}
	}
	if int(t.span[0]) != len(t.node) {
		tb.Fatalf("%d of %d nodes below the root", t.span[0], len(t.node))
	}
}

// impatient returns the tree that search.climb finds with ladders from the start.
func impatient(g *digraph, roots []uint32) *domtree {
	s := newSearch(g, roots)
	ancestor, label := slices.Clone(s.parent), s.number
	s.semidominators(ancestor, label)
	s.climb(-1)
	return s.tree(ancestor, label)
}

func TestRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range extent.Pick(3000, 10_000, 10_000) {
		n := 1 + r.IntN(24)
		edges := make([][]uint32, n)
		for range r.IntN(3 * n) {
			v := r.IntN(n)
			edges[v] = append(edges[v], uint32(r.IntN(n)))
		}
		var roots []uint32
		for range r.IntN(4) {
			roots = append(roots, uint32(r.IntN(n)))
		}
		g := graphOf(edges)
		tree := dominators(g, roots)
		tree.check(t, g, roots)
		ladders := impatient(g, roots)
		if !slices.Equal(tree.node, ladders.node) || !slices.Equal(tree.up, ladders.up) || !slices.Equal(tree.span, ladders.span) {
			t.Fatalf("another tree with ladders for %v from %v", edges, roots)
		}
	}
}

// shapes are graphs that algorithms for dominators are slow on, or wrong.
func shapes(n uint32) map[string][][]uint32 {
	made := make(map[string][][]uint32)
	each := func(name string, edges func(i uint32) []uint32) {
		all := make([][]uint32, n)
		for i := range n {
			all[i] = edges(i)
		}
		made[name] = all
	}
	each("chain", func(i uint32) []uint32 { return []uint32{min(i+1, n-1)} })
	each("chain with ways back", func(i uint32) []uint32 { return []uint32{i / 2, min(i+1, n-1), i} })
	each("ladder", func(i uint32) []uint32 { return []uint32{min(i+2, n-1), i ^ 1&(n-1)} })
	each("lattice", func(i uint32) []uint32 {
		const side = 16
		var next []uint32
		for k := i/side*side + side; k < min(i/side*side+2*side, n); k++ {
			next = append(next, k)
		}
		return next
	})
	each("spine whose teeth climb to its start", func(i uint32) []uint32 {
		if i < n/2 {
			return []uint32{i + 1, n - 1 - i}
		}
		return []uint32{min(i+1, n-1)}
	})
	// Each node of the second half is reached from the first node and from the end of a long
	// chain, so that it climbs all of the chain.
	each("climbers", func(i uint32) []uint32 {
		switch {
		case i == 0:
			all := []uint32{1}
			for k := n / 2; k < n; k++ {
				all = append(all, k)
			}
			return all
		case i+1 < n/2:
			return []uint32{i + 1}
		case i+1 == n/2:
			var all []uint32
			for k := n / 2; k < n; k++ {
				all = append(all, k)
			}
			return all
		}
		return nil
	})
	each("self loops, and nodes out of reach", func(i uint32) []uint32 {
		if i%3 == 0 {
			return []uint32{i, i, i / 2}
		}
		return []uint32{i, min(i+3, n-1)}
	})
	return made
}

func TestShapes(t *testing.T) {
	for name, edges := range shapes(256) {
		t.Run(name, func(t *testing.T) {
			g := graphOf(edges)
			for _, roots := range [][]uint32{{0}, {0, 1, 0}, {255, 7}, nil} {
				dominators(g, roots).check(t, g, roots)
				impatient(g, roots).check(t, g, roots)
			}
		})
	}
}

// TestLargeShapes: none of the shapes takes longer than a walk of it, by much.
func TestLargeShapes(t *testing.T) {
	const n = 300_000
	for name, edges := range shapes(n) {
		t.Run(name, func(t *testing.T) {
			tree := dominators(graphOf(edges), []uint32{0})
			if int(tree.span[0]) != len(tree.node) {
				t.Errorf("%d of %d nodes below the root", tree.span[0], len(tree.node))
			}
			if name == "chain" && tree.span[1] != n {
				t.Errorf("the first of %d dominates %d", n, tree.span[1])
			}
		})
	}
}

func BenchmarkDominators(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 20
	edges := make([][]uint32, n)
	for i := range edges {
		edges[i] = []uint32{uint32(min(i+1, n-1)), uint32(r.IntN(n))}[:1+i%2]
	}
	g := graphOf(edges)
	b.SetBytes(int64(4 * len(g.to)))
	for b.Loop() {
		dominators(g, []uint32{0})
	}
}
