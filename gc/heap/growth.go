package heap

import (
	"cmp"
	"slices"
	"time"
)

// Comparable returns the snapshots between which growth is known: the whole ones, or all if
// there are fewer than two of these. A snapshot with holes is taken again, and another follows.
func Comparable(all []*Snapshot) []*Snapshot {
	var whole []*Snapshot
	for _, s := range all {
		if s.Missing.Whole() {
			whole = append(whole, s)
		}
	}
	if len(whole) < 2 {
		return all
	}
	return whole
}

// A TypeGrowth counts how many more objects of a type a later snapshot has; it is negative for
// fewer. Types are matched by name and module, because their method tables may have moved.
type TypeGrowth struct {
	Type           *Type // of the later snapshot, or else of the earlier
	Objects, Bytes int64
}

// Grown returns the types whose objects or bytes differ between two snapshots, in descending
// order of growth. If the snapshots are incomplete, it compares the parts that arrived.
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

// A Suspect is an object that retains a part of what grew, or objects of one type that are
// held alike.
type Suspect struct {
	// Root is a root from which a shortest path leads to the object, and Path has the steps
	// on it, the suspect last.
	Root Root
	Path []Step
	// Objects is the number of objects, 1 for a single one.
	Objects int64
	// Held is the growth below it: the objects that it dominates directly and of whose type
	// most of the growth is, and what these dominate in turn, down to where the growth
	// divides. It is nil if what grew is the suspect itself.
	Held []Step

	Retained int64 // bytes, in the last snapshot
	Grew     int64 // by how many bytes, since the first snapshot
	// Share is Grew as a part of the growth of all that is alive.
	Share float64
	// Snapshots is how many snapshots show the growth.
	Snapshots int
}

// A Step is the objects of one type that are at the same place on the way from a root.
// Objects of the type that follow each other, as in a linked list, are one step.
type Step struct {
	*Type
	Objects int64
	// Dependent is set if a dependent handle, of which a ConditionalWeakTable is made, leads
	// here.
	Dependent bool
}

const (
	// suspectShare is the least part of the growth that makes an object a suspect. MAT, the
	// analyzer of Java's heaps, takes 10 % of the heap.
	suspectShare = 0.1
	// mostShare is the part of an object's growth that the objects below it must account for to
	// be the suspect instead, and leastShare the part of all growth that they must account for.
	mostShare, leastShare = 0.8, 0.5
	// leastGrowth is the share of the live bytes that must have grown: programs without
	// leaks differ by less from one moment to the next.
	leastGrowth = 0.02
	// ebbShare is the part of its mean growth that an object must still grow by between the
	// last two of three or more snapshots: a cache that becomes full grows less and less.
	ebbShare = 0.5
	// sameMoment is the part of the longest time between two snapshots that others must be
	// apart. Runtimes before .NET 10 write two, one right after the other, when asked for one.
	sameMoment = 0.1
	// maxSame is how many steps of one type a suspect may be below.
	maxSame = 2
)

// Suspects returns the objects that account for the growth from the first to the last of several
// snapshots of a process, in descending order of growth. It follows the dominator tree down from
// the roots until the growth divides. Objects of two snapshots are the same if they have the
// same type and holder, because addresses change.
//
// There is none if one of the Comparable snapshots has no Graph, or if little grew. Objects that
// did not grow from each snapshot to the next, or hardly grew at the end, are not suspects,
// because they may be a cache that has been filled.
func Suspects(snapshots []*Snapshot) []Suspect {
	snapshots = Comparable(snapshots)
	if slices.ContainsFunc(snapshots, func(s *Snapshot) bool { return s.Graph == nil }) {
		return nil
	}
	if snapshots = moments(snapshots); len(snapshots) < 2 {
		return nil
	}
	names := make(map[typeName]uint32)
	views := make([]*view, len(snapshots))
	for i, s := range snapshots {
		views[i] = newView(s.Graph, names)
	}
	first, last := views[0], views[len(views)-1]
	total := last.d.LiveBytes() - first.d.LiveBytes()
	if float64(total) < leastGrowth*float64(last.d.LiveBytes()) {
		return nil
	}
	var found []Suspect
	for _, top := range grown(first, last, level{after: place{0}, before: place{0}}) {
		if float64(top.grew) < suspectShare*float64(total) {
			break
		}
		levels, most := descend(first, last, top)
		at := accumulated(first, last, levels)
		if steady(views, levels[:at+1]) {
			s := last.suspect(levels[:at+1], append(levels[at+1:], most...))
			s.Share, s.Snapshots = float64(s.Grew)/float64(total), len(views)
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Grew, a.Grew), cmp.Compare(a.Path[len(a.Path)-1].String(), b.Path[len(b.Path)-1].String()))
	})
	return found
}

// moments leaves out snapshots that were taken together with the previous one. Snapshots of
// different traces all stay, because their times are not comparable.
func moments(snapshots []*Snapshot) []*Snapshot {
	since := func(i int) (d time.Duration, known bool) {
		before, s := snapshots[i-1], snapshots[i]
		d = s.Start.Or(0) - before.End.Or(0)
		return d, before.End.Known() && s.Start.Known() && d >= 0 && before.Graph.types[0] == s.Graph.types[0]
	}
	var longest time.Duration
	for i := 1; i < len(snapshots); i++ {
		if d, known := since(i); known {
			longest = max(longest, d)
		}
	}
	var apart []*Snapshot
	for i, s := range snapshots {
		if i > 0 {
			if d, known := since(i); known && float64(d) < sameMoment*float64(longest) {
				continue
			}
		}
		apart = append(apart, s)
	}
	return apart
}

// A typeName identifies a type across snapshots.
type typeName struct{ name, module string }

// A key identifies objects across snapshots: by the number of their type's name and, right
// below the roots, the kind of root and the name of the field that hold them.
type key struct {
	name  uint32
	root  RootKind
	field string
}

// A place is the positions of objects in a dominator tree, none below another.
type place []uint32

// A view is a snapshot while it is compared.
type view struct {
	g     *Graph
	d     *Dominators
	roots map[uint32]Root // of each object that has one
	names []uint32        // of each type of the graph, numbered
}

func newView(g *Graph, numbers map[typeName]uint32) *view {
	v := &view{g: g, d: g.Dominators(), roots: g.rootsOf(), names: make([]uint32, len(g.types))}
	for i, t := range g.types {
		name := typeName{t.String(), t.Module}
		number, known := numbers[name]
		if !known {
			number = uint32(len(numbers))
			numbers[name] = number
		}
		v.names[i] = number
	}
	return v
}

func (v *view) name(position uint32) uint32 { return v.names[v.g.nodes.typeOf(v.d.Object(position))] }

// below returns the objects right below some, by their keys, and how many these are with
// the objects of their types that follow them.
func (v *view) below(tops place) (groups map[key]place, objects int64) {
	groups = make(map[key]place)
	for open := slices.Clone(tops); len(open) > 0; {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		objects++
		for child := range v.d.Children(p) {
			k := key{name: v.name(child)}
			switch {
			case p == 0:
				r := v.roots[v.d.Object(child)]
				k.root, k.field = r.Kind, r.Field
			case k.name == v.name(p):
				open = append(open, child)
				continue
			}
			groups[k] = append(groups[k], child)
		}
	}
	return groups, objects
}

// objects returns how many objects a step has.
func (v *view) objects(tops place) int64 {
	_, n := v.below(tops)
	return n
}

func (v *view) retained(tops place) (sum int64) {
	for _, p := range tops {
		sum += v.d.Retained(p)
	}
	return sum
}

// A level is a step on the way down to a suspect, in the first and in the last snapshot.
type level struct {
	key
	before, after place
	grew          int64
}

// grown returns the levels directly below at that grew, in descending order of growth.
func grown(first, last *view, at level) []level {
	before, _ := first.below(at.before)
	after, _ := last.below(at.after)
	var levels []level
	for k, tops := range after {
		if grew := last.retained(tops) - first.retained(before[k]); grew > 0 {
			levels = append(levels, level{k, before[k], tops, grew})
		}
	}
	slices.SortFunc(levels, func(a, b level) int {
		return cmp.Or(cmp.Compare(b.grew, a.grew), cmp.Compare(a.name, b.name), cmp.Compare(a.root, b.root), cmp.Compare(a.field, b.field))
	})
	return levels
}

// descend follows the growth to the last level that has most of it, and returns also the one
// below that grew most, if any.
func descend(first, last *view, top level) (levels, most []level) {
	same := make(map[uint32]int)
	for levels = []level{top}; ; {
		at := levels[len(levels)-1]
		same[at.name]++
		more := grown(first, last, at)
		if len(more) == 0 {
			return levels, nil
		}
		next := more[0]
		if float64(next.grew) < max(mostShare*float64(at.grew), leastShare*float64(top.grew)) || same[next.name] == maxSame {
			return levels, more[:1]
		}
		levels = append(levels, next)
	}
}

// accumulated returns the index of the last level whose objects have not become more: they hold
// the objects that accumulate.
func accumulated(first, last *view, levels []level) int {
	for i, at := range levels {
		if n := last.objects(at.after); n > 1 && n > first.objects(at.before) {
			return max(i-1, 0)
		}
	}
	return len(levels) - 1
}

// suspect returns the objects of the last of some levels, and what they hold. Objects at the
// end that hold nothing themselves are left out where their holders grew too.
func (v *view) suspect(to, held []level) Suspect {
	at := to[len(to)-1]
	s := Suspect{Objects: v.objects(at.after), Retained: v.retained(at.after), Grew: at.grew}
	s.Root, s.Path = v.g.ways().steps(v.d.Object(at.after[0]))
	for _, l := range held {
		groups, objects := v.below(l.after)
		if len(groups) == 0 && (len(s.Held) > 0 || s.Objects > 1) {
			break
		}
		s.Held = append(s.Held, Step{v.g.Type(v.d.Object(l.after[0])), objects, v.dependent(l.after)})
	}
	return s
}

// dependent reports whether the holders of objects are the keys of dependent handles whose
// values the objects are.
func (v *view) dependent(tops place) bool {
	for _, p := range tops {
		holder := v.d.Object(v.d.Holder(p))
		refs := v.g.References(holder)
		own, values := refs[:len(refs)-v.g.dependents[holder]], refs[len(refs)-v.g.dependents[holder]:]
		if object := v.d.Object(p); slices.Contains(own, object) || !slices.Contains(values, object) {
			return false
		}
	}
	return true
}

// steady reports whether the objects of the last of some levels grew from each snapshot to the
// next, and still do.
func steady(views []*view, levels []level) bool {
	retained := make([]int64, len(views))
	for i, v := range views {
		tops := place{0}
		for _, l := range levels {
			groups, _ := v.below(tops)
			tops = groups[l.key]
		}
		retained[i] = v.retained(tops)
		if i > 0 && retained[i] <= retained[i-1] {
			return false
		}
	}
	n := len(retained) - 1
	mean := float64(retained[n]-retained[0]) / float64(n)
	return float64(retained[n]-retained[n-1]) >= ebbShare*mean
}
