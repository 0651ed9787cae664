package heap

import "slices"

// A digraph is a directed graph in compressed rows: node i has edges to to[start[i]] up to
// to[start[i+1]].
type digraph struct {
	start []uint32
	to    []uint32
}

func (g *digraph) len() int { return len(g.start) - 1 }

func (g *digraph) edges(i uint32) []uint32 { return g.to[g.start[i]:g.start[i+1]] }

// A domtree is the dominator tree of the nodes of a graph that roots reach. They are in
// pre-order: the ones that a node dominates follow it. Position 0 is a root above all roots.
type domtree struct {
	node []uint32 // of the graph, by position; none at position 0
	up   []uint32 // the position of the immediate dominator
	span []uint32 // how many positions the subtree has, with its root
}

// dominators returns the dominator tree of the nodes that roots reach.
//
// The algorithm is semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related
// Problems", 2005): semidominators as Lengauer and Tarjan find them, and from these the
// immediate dominators in one more pass, in which each node climbs the tree from its parent
// to its semidominator. On a graph that is made for it, climbing takes quadratic time: see
// search.climb. Nothing recurses.
func dominators(g *digraph, roots []uint32) *domtree {
	s := newSearch(g, roots)
	ancestor, label := slices.Clone(s.parent), s.number // reuses the columns of the search
	s.semidominators(ancestor, label)
	s.climb(patience * len(s.vertex))
	return s.tree(ancestor, label)
}

// A search holds the nodes that roots reach, in the order of a depth-first search. Its
// columns are by that number; 0 is the root above all roots.
type search struct {
	vertex []uint32 // the node of the graph
	parent []uint32 // in the tree of the search; climb makes it the immediate dominator
	head   []uint32 // the first of the node's links, 0 for none; semidominators makes it the semidominator
	links  column[link]
	number []uint32 // by node of the graph: its number, 0 if it is not reached

	stack []frame
}

// A link is an edge that is not in the tree of the search.
type link struct{ from, next uint32 }

// A frame is a node whose edges from next to end are not yet followed.
type frame struct{ number, next, end uint32 }

func newSearch(g *digraph, roots []uint32) *search {
	n := g.len() + 1
	s := &search{vertex: make([]uint32, 1, n), parent: make([]uint32, 1, n), head: make([]uint32, n), number: make([]uint32, n)}
	s.vertex[0] = none
	s.links.add(link{})
	for _, root := range roots {
		s.follow(g, 0, root)
		for len(s.stack) > 0 {
			top := &s.stack[len(s.stack)-1]
			if top.next == top.end {
				s.stack = s.stack[:len(s.stack)-1]
				continue
			}
			to := g.to[top.next]
			top.next++
			s.follow(g, top.number, to)
		}
	}
	s.stack = nil
	return s
}

// follow follows an edge from a number to a node.
func (s *search) follow(g *digraph, from, node uint32) {
	to := s.number[node]
	if to != 0 {
		if to != from && s.parent[to] != from {
			s.links.add(link{from, s.head[to]})
			s.head[to] = uint32(s.links.n) - 1
		}
		return
	}
	to = uint32(len(s.vertex))
	s.number[node] = to
	s.vertex = append(s.vertex, node)
	s.parent = append(s.parent, from)
	if start, end := g.start[node], g.start[node+1]; start < end {
		s.stack = append(s.stack, frame{to, start, end})
	}
}

// semidominators finds the semidominator of each node: the smallest number from which a
// path leads to it through numbers larger than its own. Ancestor has the parents, and label
// may have anything: it is the smallest semidominator on the way from a node to its ancestor.
func (s *search) semidominators(ancestor, label []uint32) {
	var path []uint32
	for w := uint32(len(s.vertex)) - 1; w > 0; w-- {
		semi := s.parent[w]
		for k := s.head[w]; k != 0; {
			l := s.links.at(k)
			k = l.next
			from := l.from
			if from > w { // its number is finished, as are all above w
				if ancestor[from] > w {
					path = compress(ancestor, label, from, w, path[:0])
				}
				from = label[from]
			}
			semi = min(semi, from)
		}
		s.head[w], label[w] = semi, semi
	}
	s.links = column[link]{}
}

// compress shortens the way from v to the first ancestor that is not above w. It
// returns the memory of path.
func compress(ancestor, label []uint32, v, w uint32, path []uint32) []uint32 {
	for ; ancestor[v] > w; v = ancestor[v] {
		path = append(path, v)
	}
	for _, u := range slices.Backward(path) {
		label[u] = min(label[u], label[ancestor[u]])
		ancestor[u] = ancestor[v]
	}
	return path
}

// patience is how many steps a node may climb on average. Heaps of real programs need
// less than one.
const patience = 64

// climb finds the immediate dominators: of each node the first above its parent, or the
// parent itself, that is not above the semidominator. After more than a number of steps, it
// goes on with ladders: each node has a second pointer, to a node so much further up that a
// climb needs a logarithmic number of steps (Myers, "An Applicative Random-Access Stack", 1983).
func (s *search) climb(steps int) {
	idom, semi := s.parent, s.head
	v := uint32(1)
	for ; v < uint32(len(idom)) && steps >= 0; v++ {
		x := idom[v]
		for ; x > semi[v]; x = idom[x] {
			steps--
		}
		idom[v] = x
	}
	if v == uint32(len(idom)) {
		return
	}
	jump, depth := make([]uint32, len(idom)), make([]uint32, len(idom))
	for u := range uint32(len(idom)) {
		if u == 0 {
			continue
		}
		x := idom[u]
		if u >= v {
			for x > semi[u] {
				if jump[x] > semi[u] {
					x = jump[x]
				} else {
					x = idom[x]
				}
			}
			idom[u] = x
		}
		depth[u], jump[u] = depth[x]+1, x
		if far := jump[x]; depth[x]-depth[far] == depth[far]-depth[jump[far]] {
			jump[u] = jump[far]
		}
	}
}

// tree returns the nodes in pre-order of the dominator tree. It reuses the memory of place
// and span.
func (s *search) tree(place, span []uint32) *domtree {
	n := len(s.vertex)
	idom, free := s.parent, s.head
	span = span[:n]
	for v := range span {
		span[v] = 1
	}
	for v := n - 1; v > 0; v-- {
		span[idom[v]] += span[v]
	}
	place[0], free[0] = 0, 1
	for v := 1; v < n; v++ {
		above := idom[v]
		place[v] = free[above]
		free[above] += span[v]
		free[v] = place[v] + 1
	}
	// The search is done with its columns, so that the tree can have them.
	t := &domtree{node: free[:n], span: s.vertex, up: span}
	for v, p := range place {
		t.node[p] = s.vertex[v]
	}
	for v, p := range place {
		t.span[p] = span[v]
	}
	for v, p := range place {
		t.up[p] = place[idom[v]]
	}
	return t
}
