package heap

import (
	"cmp"
	"slices"
)

// A way is a step on shortest paths from roots to objects: the step before it, and the type
// of the objects that it leads to.
type way struct {
	before uint32 // none right below a root
	typ    uint32
	root   uint32 // right below a root, its place in roots
	// dependent is set if a dependent handle leads from the step before.
	dependent bool
}

// ways are the shortest paths from roots to all objects. Paths over objects of the same
// types are one.
type ways struct {
	g     *Graph
	all   []way
	roots []rootKey
	of    []uint32 // of each object; none if no root leads to it
}

// ways walks the graph from its roots, by distance. At the same distance, the roots that say
// most come first.
func (g *Graph) ways() *ways {
	w := &ways{g: g, of: make([]uint32, g.Len())}
	for i := range w.of {
		w.of[i] = none
	}
	roots := slices.SortedStableFunc(slices.Values(g.roots), func(a, b Root) int {
		return cmp.Compare(slices.Index(rootOrder[:], a.Kind), slices.Index(rootOrder[:], b.Kind))
	})
	known := make(map[way]uint32)
	take := func(object uint32, step way) {
		id, is := known[step]
		if !is {
			id = uint32(len(w.all))
			known[step] = id
			w.all = append(w.all, step)
		}
		w.of[object] = id
	}
	queue := make([]uint32, 0, g.Len())
	places := make(map[rootKey]uint32)
	for _, r := range roots {
		if w.of[r.Object] == none {
			at, is := places[r.key()]
			if !is {
				at = uint32(len(w.roots))
				places[r.key()] = at
				w.roots = append(w.roots, r.key())
			}
			take(r.Object, way{before: none, typ: g.nodes.typeOf(r.Object), root: at})
			queue = append(queue, r.Object)
		}
	}
	for i := 0; i < len(queue); i++ {
		from := w.of[queue[i]]
		refs := g.refs.edges(queue[i])
		values := len(refs) - g.dependents[queue[i]]
		for k, to := range refs {
			if w.of[to] != none {
				continue
			}
			if typ := g.nodes.typeOf(to); typ == w.all[from].typ {
				w.of[to] = from
			} else {
				take(to, way{before: from, typ: typ, dependent: k >= values})
			}
			queue = append(queue, to)
		}
	}
	return w
}

// to returns the root and the types on the way to an object that a root leads to.
func (w *ways) to(object uint32) (root Root, path []*Type) {
	for id := w.of[object]; id != none; id = w.all[id].before {
		root = w.rootOf(id)
		path = append(path, w.g.types[w.all[id].typ])
	}
	root.Object = object
	slices.Reverse(path)
	return root, path
}

// rootOf returns the root of a step right below one.
func (w *ways) rootOf(id uint32) Root { return w.roots[w.all[id].root].root() }

// steps returns the root and the steps on the way to an object that a root leads to.
func (w *ways) steps(object uint32) (root Root, path []Step) {
	root, types := w.to(object)
	path = make([]Step, len(types))
	id := w.of[object]
	for i := len(types) - 1; i >= 0; i-- {
		path[i] = Step{Type: types[i], Objects: 1, Dependent: w.all[id].dependent}
		id = w.all[id].before
	}
	return root, path
}

// Ways returns a function that returns a shortest way to an object which is alive: the root,
// and the types of the objects from there on, as Group has them.
func (g *Graph) Ways() func(object uint32) (Root, []*Type) { return g.ways().to }

// paths returns the objects of a query by the way to them. Objects that no root leads to are
// in no group.
func (d *Dominators) paths(q *Query) []Group {
	w, selected := d.graph.ways(), q.selection(d.graph)
	byWay := make([]int, len(w.all)) // the number of the group and one
	var groups []Group
	group := func(object uint32) int {
		id := w.of[object]
		if id == none || !selected.has(object) {
			return -1
		}
		if byWay[id] == 0 {
			root, path := w.to(object)
			groups = append(groups, Group{Root: root, Path: path})
			byWay[id] = len(groups)
		}
		return byWay[id] - 1
	}
	d.count(&groups, group)
	return groups
}
