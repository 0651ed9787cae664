package heap

import (
	"cmp"
	"runtime/debug"
	"slices"
)

// Dominators is the dominator tree of the objects that are alive. An object dominates
// another if all ways from roots to the other lead through it: without it, the other would
// be garbage too. An object retains the bytes of all objects that it dominates, and its own.
//
// Objects have positions in it, from 1 on: the objects that one dominates follow it. Position 0
// is the program, above all roots.
type Dominators struct {
	graph    *Graph
	tree     *domtree
	retained []int64 // by position
}

// returnMemory returns garbage to the system if a graph is so large that this is worth its time.
// Freed memory is in pieces that the next large column does not fit in, so that the process
// would have both.
func returnMemory(objects int) {
	const many = 1 << 22
	if objects > many {
		debug.FreeOSMemory()
	}
}

// Dominators returns the dominator tree of the graph.
func (g *Graph) Dominators() *Dominators {
	returnMemory(g.Len()) // of reading
	d := &Dominators{graph: g, tree: dominators(&g.refs, g.rooted())}
	returnMemory(g.Len()) // of the search
	d.retained = make([]int64, len(d.tree.node))
	for p := len(d.retained) - 1; p > 0; p-- {
		d.retained[p] += g.Size(d.tree.node[p])
		d.retained[d.tree.up[p]] += d.retained[p]
	}
	return d
}

// Live returns how many objects are alive.
func (d *Dominators) Live() int64 { return int64(len(d.tree.node)) - 1 }

// LiveBytes returns the bytes of the objects that are alive.
func (d *Dominators) LiveBytes() int64 { return d.retained[0] }

// Retained returns the bytes that the object at a position retains.
func (d *Dominators) Retained(position uint32) int64 { return d.retained[position] }

// Object returns the object at a position. At position 0 there is none.
func (d *Dominators) Object(position uint32) uint32 { return d.tree.node[position] }

// Holder returns the position of the immediate dominator.
func (d *Dominators) Holder(position uint32) uint32 { return d.tree.up[position] }

// Held returns how many objects the one at a position dominates, with itself.
func (d *Dominators) Held(position uint32) int64 { return int64(d.tree.span[position]) }

// Children yields the positions whose immediate dominator is at a position.
func (d *Dominators) Children(position uint32) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		end := position + d.tree.span[position]
		for p := position + 1; p < end; p += d.tree.span[p] {
			if !yield(p) {
				return
			}
		}
	}
}

// Largest returns the positions of the n objects that retain most. Of objects that retain the
// same, it has the one at the lower address first.
func (d *Dominators) Largest(n int) []uint32 {
	return d.largest(n, d.Retained, func(uint32) bool { return true })
}

// largest is Largest by another figure, among the positions that are kept.
func (d *Dominators) largest(n int, by func(position uint32) int64, keeps func(position uint32) bool) []uint32 {
	order := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(d.graph.Address(d.Object(a)), d.graph.Address(d.Object(b))))
	}
	var largest []uint32
	least := int64(-1)
	for p := uint32(1); p < uint32(len(d.retained)); p++ {
		if by(p) < least || !keeps(p) {
			continue
		}
		if largest = append(largest, p); len(largest) >= 2*n {
			slices.SortFunc(largest, order)
			largest = largest[:n]
			least = by(largest[n-1])
		}
	}
	slices.SortFunc(largest, order)
	return largest[:min(n, len(largest))]
}

// By returns the bytes that the objects of each of n groups retain: the sum over the objects that
// are not dominated by another of their group, so that nothing counts twice. Objects of the
// group -1 are left out.
func (d *Dominators) By(n int, group func(object uint32) int) []int64 {
	retained := make([]int64, n)
	covered := make([]uint32, n) // up to which position an object of the group dominates
	for p := uint32(1); p < uint32(len(d.retained)); p++ {
		if k := group(d.tree.node[p]); k >= 0 && p >= covered[k] {
			covered[k] = p + d.tree.span[p]
			retained[k] += d.retained[p]
		}
	}
	return retained
}

// ByType returns the bytes that the objects of each type retain, as By does.
func (d *Dominators) ByType() map[*Type]int64 {
	g := d.graph
	byType := make(map[*Type]int64, len(g.types))
	for i, n := range d.By(len(g.types), func(object uint32) int { return int(g.nodes.typeOf(object)) }) {
		byType[g.types[i]] = n
	}
	return byType
}
