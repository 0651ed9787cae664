package heap

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Grouping is a way to divide the objects of a snapshot.
type Grouping uint8

// The groupings.
const (
	ByType Grouping = iota
	ByModule
	ByGeneration
	ByRoot   // the objects that nothing but roots holds, by the kind of root
	ByObject // each object alone: the largest of the dominator tree
	ByPath   // the types on a shortest path from a root

	numGroupings
)

var groupingNames = [numGroupings]string{"type", "module", "generation", "root", "dominator", "path"}

func (g Grouping) String() string { return units.Name("Grouping", groupingNames[:], g) }

// Groupings returns the names of the groupings, by their number.
func Groupings() []string { return groupingNames[:] }

// A Group is a part of the objects of a snapshot.
type Group struct {
	// Name is the module, the generation or the kind of root; empty if unknown, and for
	// groups of one type.
	Name string
	Type *Type // of all objects of the group, nil if they have several
	// Address and Generation are of the object of ByObject.
	Address    uint64
	Generation string
	// Root and Path are of ByPath and ByObject: the root, and the types of the objects on a
	// shortest way from there to the ones of the group. Objects of one type that follow each other
	// are one step, because a linked list would otherwise be millions. Root is also of Query.Root.
	Root Root
	Path []*Type
	Key  *Type // of a dependent handle, the type of its key

	Objects int64
	Bytes   gc.Opt[int64] // of the objects alone
	// Retained is the bytes that would be free without the objects of the group. If one of
	// them dominates another, only the first counts.
	Retained gc.Opt[int64]
	Roots    int64 // of ByRoot: their number, also of the same object
}

// SeveralRoots is the name of the group of objects that no single root holds.
const SeveralRoots = "several"

// A Query selects and divides the objects of a snapshot.
type Query struct {
	By         Grouping
	Generation string              // only objects of this one; empty for all
	Type       func(of *Type) bool // only objects of such types; nil for all
	MinSize    int64               // only objects of at least this many bytes
	// Root has each root of a kind listed, with what its object retains: one of RootKinds.
	Root  string
	Max   int   // the number of groups of ByObject; 0 for all
	Order Order // in which objects of ByObject are the first ones
}

// An Order says by which figure single objects are the largest.
type Order uint8

// The orders.
const (
	OrderRetained Order = iota // bytes that the object retains
	OrderBytes                 // of the object alone
	OrderHeld                  // how many objects it dominates
)

// needsGraph reports whether the query needs a snapshot's Graph.
func (q *Query) needsGraph() bool {
	return q.By == ByObject || q.By == ByPath || q.Generation != "" || q.MinSize > 0 || q.Root != ""
}

func (q *Query) keeps(of *Type) bool { return q.Type == nil || q.Type(of) }

// A selection is the objects of a graph that a query selects.
type selection struct {
	g          *Graph
	types      []bool
	generation int // -1 for all
	least      int64
}

func (q *Query) selection(g *Graph) *selection {
	return &selection{g, g.ofTypes(q.Type), slices.Index(generationNames[:], q.Generation), q.MinSize}
}

func (s *selection) has(object uint32) bool {
	g := s.g
	return s.types[g.nodes.typeOf(object)] &&
		(s.generation < 0 || g.generation != nil && g.generation[object] == uint8(s.generation)) &&
		(s.least == 0 || g.Size(object) >= s.least)
}

// ofTypes returns by index which types are selected; nil selects all.
func (g *Graph) ofTypes(is func(of *Type) bool) []bool {
	types := make([]bool, len(g.types))
	for i, of := range g.types {
		types[i] = is == nil || is(of)
	}
	return types
}

// Groups returns the groups of a query, the largest retained bytes first. Without a dominator
// tree of the snapshot's graph, what they retain is unknown, and nothing is returned for a
// query that only the graph answers.
func (s *Snapshot) Groups(q Query, d *Dominators) []Group {
	var groups []Group
	switch {
	case d != nil && q.By == ByObject:
		groups = d.objects(&q)
	case d != nil && q.Root != "":
		groups = d.eachRoot(&q)
	case d != nil && q.By == ByRoot:
		groups = d.roots(&q, &s.Roots)
	case d != nil && q.By == ByPath:
		groups = d.paths(&q)
	case d != nil:
		groups = d.groups(&q)
	case !q.needsGraph():
		groups = s.counted(&q)
	}
	if q.Order != OrderRetained {
		return groups
	}
	sort.SliceStable(groups, func(i, j int) bool {
		a, b := &groups[i], &groups[j]
		return cmp.Or(cmp.Compare(b.Retained.Or(0), a.Retained.Or(0)), cmp.Compare(b.Bytes.Or(0), a.Bytes.Or(0)), cmp.Compare(b.Objects, a.Objects)) < 0
	})
	return groups
}

// counted returns groups of a snapshot that has no graph.
func (s *Snapshot) counted(q *Query) []Group {
	byModule := make(map[string]int)
	var groups []Group
	switch q.By {
	case ByGeneration:
		for _, g := range s.Generations {
			if q.Type == nil && g.Objects > 0 {
				groups = append(groups, Group{Name: g.Name, Objects: g.Objects, Bytes: gc.Some(g.Bytes)})
			}
		}
		return groups
	case ByRoot:
		for k, n := range s.Roots {
			if q.Type == nil && n > 0 {
				groups = append(groups, Group{Name: RootKind(k).String(), Roots: n})
			}
		}
		return groups
	}
	for _, u := range s.Types {
		if !q.keeps(u.Type) {
			continue
		}
		if q.By == ByType {
			groups = append(groups, Group{Type: u.Type, Objects: u.Objects, Bytes: gc.Some(u.Bytes)})
			continue
		}
		i, known := byModule[u.Module]
		if !known {
			i = len(groups)
			byModule[u.Module] = i
			groups = append(groups, Group{Name: u.Module, Bytes: gc.Some(int64(0))})
		}
		groups[i].Objects += u.Objects
		groups[i].Bytes = gc.Some(groups[i].Bytes.Or(0) + u.Bytes)
	}
	return groups
}

// groups returns the groups of all objects, dead ones too.
func (d *Dominators) groups(q *Query) []Group {
	g, selected := d.graph, q.selection(d.graph)
	var groups []Group
	byType := make([]int, len(g.types)) // the number of the group
	byModule := make(map[string]int)
	for i, of := range g.types {
		switch {
		case !selected.types[i]:
		case q.By == ByType:
			byType[i] = len(groups)
			groups = append(groups, Group{Type: of})
		case q.By == ByModule:
			k, known := byModule[of.Module]
			if !known {
				k = len(groups)
				byModule[of.Module] = k
				groups = append(groups, Group{Name: of.Module})
			}
			byType[i] = k
		}
	}
	if q.By == ByGeneration && g.generation != nil {
		for _, name := range generationNames {
			groups = append(groups, Group{Name: name})
		}
	}
	group := func(object uint32) int {
		switch {
		case !selected.has(object):
			return -1
		case q.By != ByGeneration:
			return byType[g.nodes.typeOf(object)]
		case g.generation == nil:
			return -1
		}
		return int(g.generation[object])
	}
	d.count(&groups, group)
	return slices.DeleteFunc(groups, func(g Group) bool { return g.Objects == 0 })
}

// count adds up the sizes and the retained sizes of each group's objects. group returns the
// number of an object's group, -1 for none, and may add groups.
func (d *Dominators) count(groups *[]Group, group func(object uint32) int) {
	for object := range uint32(d.graph.Len()) {
		if k := group(object); k >= 0 {
			of := &(*groups)[k]
			of.Objects++
			of.Bytes = gc.Some(of.Bytes.Or(0) + d.graph.Size(object))
		}
	}
	for k, retained := range d.By(len(*groups), group) {
		(*groups)[k].Retained = gc.Some(retained)
	}
}

// objects returns the largest objects, with the ways to them.
func (d *Dominators) objects(q *Query) []Group {
	selected, w := q.selection(d.graph), d.graph.ways()
	n := q.Max
	if n == 0 {
		n = int(d.Live())
	}
	by := d.Retained
	switch q.Order {
	case OrderBytes:
		by = func(p uint32) int64 { return d.graph.Size(d.Object(p)) }
	case OrderHeld:
		by = d.Held
	}
	var groups []Group
	for _, p := range d.largest(n, by, func(p uint32) bool { return selected.has(d.Object(p)) }) {
		g := d.single(p)
		g.Root, g.Path = w.to(d.Object(p))
		groups = append(groups, g)
	}
	return groups
}

// single returns the group of one object.
func (d *Dominators) single(p uint32) Group {
	o := d.Object(p)
	return Group{
		Type: d.graph.Type(o), Address: d.graph.Address(o), Generation: d.graph.Generation(o),
		Objects: d.Held(p), Bytes: gc.Some(d.graph.Size(o)), Retained: gc.Some(d.Retained(p)),
	}
}

// rootOrder ranks the kinds of roots: an object with several counts for the kind that says
// most about where it comes from.
var rootOrder = [NumRootKinds]RootKind{RootStatic, RootHandle, RootPinned, RootRefCounted, RootFinalizer, RootStack, RootOther}

// rootsOf returns the kind of root of each object, and which objects have one.
func (g *Graph) rootsOf() map[uint32]Root {
	rank := func(k RootKind) int { return slices.Index(rootOrder[:], k) }
	of := make(map[uint32]Root, len(g.roots))
	for _, r := range g.roots {
		if known, has := of[r.Object]; !has || rank(r.Kind) < rank(known.Kind) {
			of[r.Object] = r
		}
	}
	return of
}

// roots returns the objects that roots hold, by kind: the retained bytes of the groups add
// up to the live bytes.
func (d *Dominators) roots(q *Query, counts *[NumRootKinds]int64) []Group {
	rooted, selected := d.graph.rootsOf(), q.selection(d.graph)
	groups := make([]Group, NumRootKinds+1)
	for k := range groups {
		groups[k] = Group{Name: SeveralRoots, Bytes: gc.Some(int64(0)), Retained: gc.Some(int64(0))}
		if k < int(NumRootKinds) {
			groups[k].Name, groups[k].Roots = RootKind(k).String(), counts[k]
		}
	}
	for p := range d.Children(0) {
		o := d.Object(p)
		if !selected.has(o) {
			continue
		}
		k := int(NumRootKinds)
		if r, is := rooted[o]; is {
			k = int(r.Kind)
		}
		group := &groups[k]
		group.Objects++
		group.Bytes = gc.Some(group.Bytes.Or(0) + d.graph.Size(o))
		group.Retained = gc.Some(group.Retained.Or(0) + d.Retained(p))
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return g.Objects+g.Roots == 0 })
}

// RootDependent is the kind of Query.Root that lists dependent handles: their values, while
// their keys are alive.
const RootDependent = "dependent"

// RootKinds returns the kinds that Query.Root takes.
func RootKinds() []string { return append(slices.Clone(rootKindNames[:]), RootDependent) }

// eachRoot returns a group for each root of a kind. An object that has several is in several.
func (d *Dominators) eachRoot(q *Query) []Group {
	g, selected := d.graph, q.selection(d.graph)
	position := make([]uint32, g.Len()) // of each object, 0 if it is not alive
	for p := uint32(1); p < uint32(len(d.tree.node)); p++ {
		position[d.tree.node[p]] = p
	}
	var groups []Group
	for _, r := range g.roots {
		if r.Kind.String() == q.Root && selected.has(r.Object) {
			of := d.single(position[r.Object])
			of.Root = r
			groups = append(groups, of)
		}
	}
	if q.Root == RootDependent {
		for _, key := range slices.Sorted(maps.Keys(g.dependents)) {
			all := g.refs.edges(key)
			for _, value := range all[len(all)-g.dependents[key]:] {
				if p := position[value]; p != 0 && selected.has(value) {
					of := d.single(p)
					of.Key = g.Type(key)
					groups = append(groups, of)
				}
			}
		}
	}
	return groups
}
