package heap

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/gc"
)

// maxSteps bounds the steps of a path of Paths. Of a longer one, the steps in the middle are
// left out.
const maxSteps = 24

// Paths returns the groups of ByPath that are the largest ones of each type, at most n of a
// type, in one walk of the heap. A nil type in a path stands for steps that are left out: the
// path to an element of a list whose elements alternate between two types has as many steps as
// the list has elements.
func (d *Dominators) Paths(n int) map[*Type][]Group {
	g, w := d.graph, d.graph.ways()
	count, bytes := make([]int64, len(w.all)), make([]int64, len(w.all))
	for object, id := range w.of {
		if id != none {
			count[id]++
			bytes[id] += g.Size(uint32(object))
		}
	}
	retained := d.By(len(w.all), func(object uint32) int { return int(w.of[object]) }) // there is a way to each that is alive
	byType := make([][]uint32, len(g.types))
	for id := range w.all {
		t := w.all[id].typ
		byType[t] = append(byType[t], uint32(id))
	}
	ends := w.ends()
	paths := make(map[*Type][]Group)
	for t, ids := range byType {
		slices.SortFunc(ids, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(retained[b], retained[a]), cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b))
		})
		for _, id := range ids[:min(n, len(ids))] {
			root, path := w.shortened(id, ends)
			paths[g.types[t]] = append(paths[g.types[t]], Group{Root: root, Path: path, Objects: count[id], Bytes: gc.Some(bytes[id]), Retained: gc.Some(retained[id])})
		}
	}
	return paths
}

// An end is a step of a way as far from the root as the first ones that are kept of a longer
// path, or the way's last, and how many steps the way has.
type end struct{ step, steps uint32 }

// ends returns the ends of all ways, which are behind the ways that they continue.
func (w *ways) ends() []end {
	all := make([]end, len(w.all))
	for id := range w.all {
		of := end{uint32(id), 1}
		if before := w.all[id].before; before != none {
			of.steps += all[before].steps
			if of.steps > maxSteps/2 {
				of.step = all[before].step
			}
		}
		all[id] = of
	}
	return all
}

// shortened returns the root and at most maxSteps types of a way, with nil for the ones
// between the first and the last that are left out.
func (w *ways) shortened(id uint32, ends []end) (root Root, path []*Type) {
	long := ends[id].steps > maxSteps
	first := ends[id].step
	for ; id != none; id = w.all[id].before {
		if long && len(path) == maxSteps/2 {
			path = append(path, nil)
			id = first
		}
		root = w.rootOf(id)
		path = append(path, w.g.types[w.all[id].typ])
	}
	slices.Reverse(path)
	return root, path
}

// Generations returns the bytes of the objects of each type by generation, in the order of
// GenerationNames; nil if generations are unknown.
func (g *Graph) Generations() map[*Type][]int64 {
	if g.generation == nil {
		return nil
	}
	const n = len(generationNames)
	bytes := make([]int64, n*len(g.types))
	for object := range uint32(g.Len()) {
		bytes[n*int(g.nodes.typeOf(object))+int(g.generation[object])] += g.Size(object)
	}
	byType := make(map[*Type][]int64, len(g.types))
	for i, t := range g.types {
		byType[t] = bytes[n*i : n*i+n]
	}
	return byType
}
