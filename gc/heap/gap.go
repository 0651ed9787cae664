package heap

import (
	"cmp"
	"slices"
)

// A Gap is free space before an object, or before the end of a range of a generation.
type Gap struct {
	Generation string
	Start      uint64
	Bytes      int64
	// Next is the object right behind the gap, if HasNext is set.
	Next    uint32
	HasNext bool
	// Pin is the root that pins the first pinned object among the ones that follow the gap
	// without another gap, if Pinned is set. The collector moves them together, or, as here,
	// not at all, and cannot close the gap.
	Pin    Root
	Pinned bool
}

// Gaps returns the gaps between the objects of all generations, in order of address. The gaps
// of a generation add up to its GenerationUse.Free. There are none if the ranges of the
// generations are unknown, or if ranges or runs of objects overlap, as in a damaged trace.
func (g *Graph) Gaps() []Gap {
	pieces := g.nodes.pieces()
	for i := 1; i < len(g.ranges); i++ {
		if g.ranges[i].Start < g.ranges[i-1].End {
			return nil // each range would be compared with all objects
		}
	}
	pins := make(map[uint32]Root)
	for _, r := range g.roots {
		if known, is := pins[r.Object]; r.Pins && (!is || r.Kind == RootPinned && known.Kind != RootPinned) {
			pins[r.Object] = r
		}
	}
	var gaps []Gap
	for _, r := range g.ranges {
		gap := func(start, end uint64) {
			gaps = append(gaps, Gap{Generation: generationNames[r.Generation], Start: start, Bytes: int64(end - start)})
		}
		free := r.Start
		first, _ := slices.BinarySearchFunc(pieces, r.Start, func(p piece, start uint64) int {
			if p.hi < start {
				return -1
			}
			return 1
		})
		open := false // the last gap may still be pinned
		for i := first; i < len(pieces) && pieces[i].lo < r.End; i++ {
			p := &pieces[i]
			end := p.first + p.n
			for object := g.nodes.search(p.start, max(r.Start, p.lo), p.first, end); object < end; object++ {
				address := p.start + uint64(g.nodes.offset.at(object))*unit
				if address >= r.End {
					break
				}
				if address > free {
					gap(free, address)
					gaps[len(gaps)-1].Next, gaps[len(gaps)-1].HasNext = object, true
					open = true
				}
				if pin, is := pins[object]; is && open {
					gaps[len(gaps)-1].Pin, gaps[len(gaps)-1].Pinned = pin, true
					open = false
				}
				free = max(free, address+align(g.nodes.sizeOf(object)))
			}
		}
		if free < r.End {
			gap(free, r.End)
		}
	}
	return gaps
}

// A Pinner sums up the gaps of a generation that pinned objects of one type keep open, by the
// root that pins them, or the gaps that no pinned object follows.
type Pinner struct {
	Generation string
	Type       *Type  // of the pinned objects; nil if there are none
	Root       string // see Root.String
	Gaps       int64
	Bytes      int64
}

// Pinners adds up gaps, the largest sums first.
func (g *Graph) Pinners(gaps []Gap) []Pinner {
	byKey := make(map[Pinner]int)
	var all []Pinner
	for i := range gaps {
		k := Pinner{Generation: gaps[i].Generation}
		if gaps[i].Pinned {
			k.Type, k.Root = g.Type(gaps[i].Pin.Object), gaps[i].Pin.String()
		}
		at, known := byKey[k]
		if !known {
			at = len(all)
			byKey[k] = at
			all = append(all, k)
		}
		all[at].Gaps++
		all[at].Bytes += gaps[i].Bytes
	}
	slices.SortStableFunc(all, func(a, b Pinner) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}
