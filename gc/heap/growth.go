package heap

import (
	"cmp"
	"slices"
)

// A TypeGrowth is how many more objects of a type there are in a later snapshot, by its
// name and module, because its method table may have moved. It is negative for fewer.
type TypeGrowth struct {
	Type           *Type // of the later snapshot, or else of the earlier
	Objects, Bytes int64
}

// Grown returns the types of which the later of two snapshots has more or fewer objects or
// bytes, those that grew most first. Of snapshots that are not whole, it says how much more
// arrived.
func Grown(before, after *Snapshot) []TypeGrowth {
	type name struct{ declaring, name, module string }
	byName := make(map[name]*TypeGrowth)
	add := func(s *Snapshot, sign int64) {
		for _, t := range s.Types {
			n := name{t.Declaring, t.Name, t.Module}
			if t.Name == "" {
				n.name = t.String()
			}
			g := byName[n]
			if g == nil {
				g = &TypeGrowth{Type: t.Type}
				byName[n] = g
			}
			g.Objects += sign * t.Objects
			g.Bytes += sign * t.Bytes
		}
	}
	add(after, 1)
	add(before, -1)
	var all []TypeGrowth
	for _, g := range byName {
		if g.Objects != 0 || g.Bytes != 0 {
			all = append(all, *g)
		}
	}
	slices.SortFunc(all, func(a, b TypeGrowth) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Type.String(), b.Type.String()), cmp.Compare(a.Type.Module, b.Type.Module))
	})
	return all
}

// A Suspect is an object that retains a part of what grew, or objects of one type that
// roots of one kind hold.
type Suspect struct {
	// Root is a root from which a shortest path leads to the object, and Path has the types
	// of the objects on it, the suspect last.
	Root Root
	Path []*Type
	// Objects is 1 for an object, or else how many there are.
	Objects int64
	// Held is the type of most of what grew below it, and HeldObjects how many objects of
	// that type it dominates directly; nil if what grew is the suspect itself.
	Held        *Type
	HeldObjects int64

	Retained int64 // bytes, in the last snapshot
	Grew     int64 // by how many bytes, since the first snapshot
	// Share is Grew as a part of the growth of all that is alive.
	Share float64
}

const (
	// suspectShare is the part of the growth from which an object is a suspect. MAT, the
	// analyzer of Java's heaps, takes 10 % of the heap.
	suspectShare = 0.1
	// mostShare is the part of an object's growth that a single object below it must have
	// for being the suspect instead.
	mostShare = 0.8
	// leastGrowth is the share of the live bytes that must have grown: programs without
	// leaks differ by less from one moment to the next.
	leastGrowth = 0.02
)

// Suspects returns the objects that account for the growth from the first to the last of
// several snapshots of a process, those that grew most first. It follows the dominator tree
// from the roots down to where what grew divides. Objects of two snapshots are the same if
// they have the same type and holder, because addresses change.
//
// There is none if a snapshot has no Graph, or if little grew. What did not grow from each
// snapshot to the next is no suspect: it may have been filled once.
func Suspects(snapshots []*Snapshot) []Suspect {
	if len(snapshots) < 2 || slices.ContainsFunc(snapshots, func(s *Snapshot) bool { return s.Graph == nil }) {
		return nil
	}
	views := make([]*view, len(snapshots))
	for i, s := range snapshots {
		views[i] = newView(s.Graph)
	}
	first, last := views[0], views[len(views)-1]
	total := last.d.LiveBytes() - first.d.LiveBytes()
	if float64(total) < leastGrowth*float64(last.d.LiveBytes()) {
		return nil
	}
	before, after := first.below(place{0}), last.below(place{0})
	var found []Suspect
	for k, positions := range after {
		grew := last.retained(positions) - first.retained(before[k])
		if float64(grew) < suspectShare*float64(total) {
			continue
		}
		s := growth{first: first, last: last, at: chain{k}, before: before[k], after: positions, grew: grew}
		if s.descend(); steady(views, s.at) {
			found = append(found, s.suspect(total))
		}
	}
	slices.SortFunc(found, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Grew, a.Grew), cmp.Compare(a.Path[len(a.Path)-1].String(), b.Path[len(b.Path)-1].String()))
	})
	return found
}

// A key is how an object is known in another snapshot: its type and, right below the roots,
// the kind of root and the name of the field that hold it.
type key struct {
	typ, module string
	root        RootKind
	field       string
}

// A chain leads from the roots to objects, by the keys of the objects on the way.
type chain []key

// A place is the positions of objects in a dominator tree.
type place []uint32

// A view is a snapshot while it is compared.
type view struct {
	g     *Graph
	d     *Dominators
	roots map[uint32]Root // of each object that has one
}

func newView(g *Graph) *view { return &view{g, g.Dominators(), g.rootsOf()} }

// below returns the objects right below some, by their keys.
func (v *view) below(positions place) map[key]place {
	groups := make(map[key]place)
	for _, p := range positions {
		for child := range v.d.Children(p) {
			object := v.d.Object(child)
			t := v.g.Type(object)
			k := key{typ: t.String(), module: t.Module}
			if p == 0 {
				r := v.roots[object]
				k.root, k.field = r.Kind, r.Field
			}
			groups[k] = append(groups[k], child)
		}
	}
	return groups
}

// follow returns the objects that a chain leads to.
func (v *view) follow(at chain) place {
	positions := place{0}
	for _, k := range at {
		positions = v.below(positions)[k]
	}
	return positions
}

func (v *view) retained(positions place) (sum int64) {
	for _, p := range positions {
		sum += v.d.Retained(p)
	}
	return sum
}

// A growth follows what grew from the roots down.
type growth struct {
	first, last   *view
	at            chain
	before, after place // where it leads, in both snapshots
	grew          int64

	most      place // what grew most right below
	mostGrew  int64
	mostKey   key
	mostFirst place
}

// descend follows the growth to the last single object that has most of it.
func (g *growth) descend() {
	for g.look(); len(g.after) == 1 && len(g.most) == 1 && float64(g.mostGrew) >= mostShare*float64(g.grew); g.look() {
		g.at, g.before, g.after, g.grew = append(g.at, g.mostKey), g.mostFirst, g.most, g.mostGrew
	}
}

// look finds what grew most right below.
func (g *growth) look() {
	before := g.first.below(g.before)
	g.most, g.mostGrew = nil, 0
	for k, children := range g.last.below(g.after) {
		grew := g.last.retained(children) - g.first.retained(before[k])
		if grew > g.mostGrew || grew > 0 && grew == g.mostGrew && k.typ < g.mostKey.typ {
			g.most, g.mostGrew, g.mostKey, g.mostFirst = children, grew, k, before[k]
		}
	}
}

func (g *growth) suspect(total int64) Suspect {
	s := Suspect{Objects: int64(len(g.after)), Retained: g.last.retained(g.after), Grew: g.grew, Share: float64(g.grew) / float64(total)}
	if len(g.most) > 0 {
		s.Held, s.HeldObjects = g.last.g.Type(g.last.d.Object(g.most[0])), int64(len(g.most))
	}
	s.Root, s.Path = g.last.g.ways().to(g.last.d.Object(g.after[0]))
	return s
}

// steady reports whether the objects of a chain grew from each snapshot to the next.
func steady(views []*view, at chain) bool {
	for i := 1; i < len(views); i++ {
		if views[i].retained(views[i].follow(at)) <= views[i-1].retained(views[i-1].follow(at)) {
			return false
		}
	}
	return true
}
