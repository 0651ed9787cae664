package heap

import "slices"

// A Graph holds the objects of a snapshot and their references. Objects are numbered from 0,
// in the order in which the runtime wrote them.
type Graph struct {
	nodes      nodes
	types      []*Type // by the index that nodes have
	generation []uint8 // of each object; nil if unknown
	ranges     []Range // in order of address
	refs       digraph
	dependents map[uint32]int // values of dependent handles, by the key
	roots      []Root
}

// A Root is a reason for an object to be alive.
type Root struct {
	Object uint32
	Kind   RootKind
	// ID is the address of a handle or of the field of a static, or the MethodID of the
	// method whose variable a stack holds; 0 for a thread-static field.
	ID    uint64
	Field string // the name of a static field
	// Method is the method whose variable a stack holds: its type and name, empty if the
	// trace does not name it.
	Method string
	// Dependent is set for the value of a dependent handle whose key is unknown, in a .gcdump.
	Dependent bool
	// Pins is set if the root, a pinned handle or a fixed variable, keeps the collector from
	// moving the object.
	Pins bool
}

// A Range is a part of the heap that a generation uses after the collection.
type Range struct {
	Start, End uint64
	Generation uint8 // an index of GenerationNames
}

// Len returns the number of objects.
func (g *Graph) Len() int { return g.refs.len() }

// Type returns the type of an object.
func (g *Graph) Type(object uint32) *Type { return g.types[g.nodes.typeOf(object)] }

// Size returns the size of an object in bytes.
func (g *Graph) Size(object uint32) int64 { return int64(g.nodes.sizeOf(object)) }

// Address returns the address of an object.
func (g *Graph) Address(object uint32) uint64 { return g.nodes.addressOf(object) }

// Generation returns the generation of an object, one of GenerationNames; empty if unknown.
func (g *Graph) Generation(object uint32) string {
	if g.generation == nil {
		return ""
	}
	return generationNames[g.generation[object]]
}

// Ranges returns the parts of the heap that have a generation, in order of address. Frozen
// objects are in none.
func (g *Graph) Ranges() []Range { return g.ranges }

// References returns the objects that an object refers to, with the values that it keeps
// alive as the key of dependent handles last. An object that it refers to twice is there twice.
func (g *Graph) References(object uint32) []uint32 { return g.refs.edges(object) }

// Dependents returns how many of an object's references are values of dependent handles.
func (g *Graph) Dependents(object uint32) int { return g.dependents[object] }

// Roots returns the strong roots.
func (g *Graph) Roots() []Root { return g.roots }

// rooted returns the objects that roots lead to, each once.
func (g *Graph) rooted() []uint32 {
	objects := make([]uint32, len(g.roots))
	for i, r := range g.roots {
		objects[i] = r.Object
	}
	slices.Sort(objects)
	return slices.Compact(objects)
}

// leaveOut gives up the graph, and continues to count.
func (w *walk) leaveOut() {
	w.of.TooLarge, w.graph = true, false
	w.nodes, w.counts, w.edges, w.roots, w.dependent = nodes{}, column[uint32]{}, column[uint64]{}, nil, nil
}

// build makes the graph, unless it shows that something is missing.
func (w *walk) build() {
	g := &Graph{nodes: w.nodes, types: w.types.all, generation: w.generations()}
	g.ranges = w.ranges
	if w.nodes.len() == 0 {
		return
	}
	x := newIndex(&g.nodes)
	missing := &w.of.Missing
	missing.Duplicates = int64(x.duplicates)
	missing.Unknown = w.resolve(x, g)
	for _, r := range w.roots {
		object := x.find(r.address)
		if object == none {
			missing.Unknown++
			continue
		}
		g.roots = append(g.roots, Root{Object: object, Kind: r.kind, ID: r.id, Field: r.field, Dependent: r.dependent, Pins: r.pins})
	}
	if missing.Whole() {
		w.of.Graph = g
	}
}

// resolve finds the objects that references lead to, and returns how many lead to none.
// Each object takes its number of references in the order of both, and what depends on it
// after them.
func (w *walk) resolve(x *index, of *Graph) (unknown int64) {
	g := &of.refs
	var pairs []uint64 // key and value
	for _, d := range w.dependent {
		if key, value := x.find(d.key), x.find(d.value); key != none && value != none {
			pairs = append(pairs, uint64(key)<<32|uint64(value))
		}
	}
	slices.Sort(pairs)
	n := w.nodes.len()
	g.start, g.to = make([]uint32, n+1), make([]uint32, 0, w.edges.n+len(pairs))
	next := 0
	for i := range uint32(n) {
		for count := w.counts.at(i); count > 0 && next < w.edges.n; count-- {
			if object := x.find(w.edges.at(uint32(next))); object != none {
				g.to = append(g.to, object)
			} else {
				unknown++
			}
			if next++; next%chunkSize == 0 {
				w.edges.chunks[next/chunkSize-1] = nil // early, because memory use peaks here
			}
		}
		for ; len(pairs) > 0 && uint32(pairs[0]>>32) == i; pairs = pairs[1:] {
			g.to = append(g.to, uint32(pairs[0]))
			if of.dependents == nil {
				of.dependents = make(map[uint32]int)
			}
			of.dependents[i]++
		}
		g.start[i+1] = uint32(len(g.to))
	}
	w.counts, w.edges = column[uint32]{}, column[uint64]{}
	return unknown
}
