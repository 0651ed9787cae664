package heap

import (
	"cmp"
	"slices"
)

// A PlaceGrowth counts how many more objects of a type a later snapshot has at one place: at
// the end of one path, or with holders of one type. It is negative for fewer.
type PlaceGrowth struct {
	Objects, Bytes, Retained int64

	at    uint32
	spots *spots
}

// A spot is a place as both snapshots know it: the number of the one that it is below, or
// none, the number of the type's name, and right below the roots what holds it.
type spot struct {
	above, name uint32
	root        rootKey
}

// spots numbers the places of two snapshots.
type spots struct {
	ids   map[spot]uint32
	all   []spot
	depth []int    // of each, from 1 on
	head  []uint32 // of each: the last place within half of maxWords on the way to it
	of    []spotSums
	names []string // of types, by their number
}

// spotSums is the growth of a place.
type spotSums struct{ objects, bytes, retained int64 }

func (s *spots) id(at spot) uint32 {
	id, known := s.ids[at]
	if !known {
		id = uint32(len(s.all))
		s.ids[at] = id
		s.all = append(s.all, at)
		depth, head := 1, id
		if at.above != none {
			if depth += s.depth[at.above]; depth > maxWords/2 {
				head = s.head[at.above]
			}
		}
		s.depth, s.head = append(s.depth, depth), append(s.head, head)
		s.of = append(s.of, spotSums{})
	}
	return id
}

// add adds the objects of a snapshot, each at the place that at has for it, or takes them away.
func (s *spots) add(v *view, sign int64, at []uint32, keeps func(*Type) bool) {
	place := func(object uint32) int {
		if at[object] == none || keeps != nil && !keeps(v.g.Type(object)) {
			return -1
		}
		return int(at[object])
	}
	for object := range uint32(v.g.Len()) {
		if k := place(object); k >= 0 {
			s.of[k].objects += sign
			s.of[k].bytes += sign * v.g.Size(object)
		}
	}
	for k, retained := range v.d.By(len(s.all), place) {
		s.of[k].retained += sign * retained
	}
}

// GrownPaths returns the growth between two snapshots by the types on a shortest path from a
// root, the most bytes first. Only objects of types that keeps returns true for count, unless
// it is nil. It is nil if a snapshot has no Graph.
func GrownPaths(before, after *Snapshot, keeps func(*Type) bool) []PlaceGrowth {
	return grownAt(before, after, keeps, func(s *spots, v *view) []uint32 {
		w := v.g.ways()
		ids := make([]uint32, len(w.all))
		for i, step := range w.all { // after the step before it
			at := spot{above: none, name: v.names[step.typ]}
			if step.before != none {
				at.above = ids[step.before]
			} else {
				at.root = w.roots[step.root]
			}
			ids[i] = s.id(at)
		}
		at := make([]uint32, v.g.Len())
		for object, id := range w.of {
			at[object] = none
			if id != none {
				at[object] = ids[id]
			}
		}
		return at
	})
}

// GrownHolders is GrownPaths by the types of objects and of their immediate dominators, or
// the roots of objects that none dominates.
func GrownHolders(before, after *Snapshot, keeps func(*Type) bool) []PlaceGrowth {
	return grownAt(before, after, keeps, func(s *spots, v *view) []uint32 {
		at := make([]uint32, v.g.Len())
		for object := range at {
			at[object] = none
		}
		for p := uint32(1); p <= uint32(v.d.Live()); p++ {
			object, holder := v.d.Object(p), v.d.Holder(p)
			of := spot{above: none, name: v.name(p)}
			if holder > 0 {
				of.above = s.id(spot{above: none, name: v.name(holder), root: rootKey{kind: NumRootKinds}})
			} else {
				r := v.roots[object]
				of.root = r.key()
			}
			at[object] = s.id(of)
		}
		return at
	})
}

// grownAt returns the growth by the places that a function gives to the objects of a snapshot.
func grownAt(before, after *Snapshot, keeps func(*Type) bool, places func(*spots, *view) []uint32) []PlaceGrowth {
	if before.Graph == nil || after.Graph == nil {
		return nil
	}
	s := &spots{ids: make(map[spot]uint32)}
	numbers := make(map[typeName]uint32)
	for _, side := range []struct {
		of   *Snapshot
		sign int64
	}{{before, -1}, {after, 1}} {
		v := newView(side.of.Graph, numbers)
		s.add(v, side.sign, places(s, v), keeps)
	}
	var grown []uint32
	for id, n := range s.of {
		if n != (spotSums{}) {
			grown = append(grown, uint32(id))
		}
	}
	slices.SortFunc(grown, func(a, b uint32) int {
		x, y := s.of[a], s.of[b]
		return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(y.retained, x.retained), cmp.Compare(y.objects, x.objects), cmp.Compare(a, b))
	})
	s.names = make([]string, len(numbers))
	for t, number := range numbers {
		s.names[number] = t.name
	}
	all := make([]PlaceGrowth, len(grown))
	for i, id := range grown {
		n := s.of[id]
		all[i] = PlaceGrowth{n.objects, n.bytes, n.retained, id, s}
	}
	return all
}

// maxWords bounds the words of a place: paths through lists whose elements alternate between two
// types are as long as these lists.
const maxWords = 24

// Path returns the way to a place in words: the root and the types, or the holder and the
// type. Of a long one, the middle is left out.
func (g *PlaceGrowth) Path() []string {
	s := g.spots
	if s.depth[g.at] <= maxWords {
		return s.words(g.at, maxWords)
	}
	return slices.Concat(s.words(s.head[g.at], maxWords), []string{"…"}, s.words(g.at, maxWords/2))
}

// words returns at most so many types at the end of the way to a place, and the root if it
// has no more.
func (s *spots) words(id uint32, most int) []string {
	var words []string
	for at := s.all[id]; len(words) < most; at = s.all[at.above] {
		words = append(words, s.names[at.name])
		if at.above == none {
			if at.root.kind < NumRootKinds {
				words = append(words, at.root.root().String())
			}
			break
		}
	}
	slices.Reverse(words)
	return words
}
