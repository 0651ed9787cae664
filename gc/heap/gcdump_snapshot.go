package heap

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// pseudo are the nodes that stand for kinds of roots, as PerfView and as dotnet-gcdump call
// them. Others in brackets are of no kind.
var pseudo = map[string]RootKind{
	"[local vars]":        RootStack,
	"[FinalizerQueue]":    RootFinalizer,
	"[finalizer Handles]": RootFinalizer,
	"[StrongHandle]":      RootHandle,
	"[strong Handles]":    RootHandle,
	"[PinnedHandle]":      RootPinned,
	"[pinning Handles]":   RootPinned,
	"[COM/WinRT Objects]": RootRefCounted,
}

const (
	staticVar        = "[static var "
	dependentHandles = "[Dependent Handles]"
	undefined        = "UNDEFINED" // the type of nodes that the writer met as a reference only
)

// object reports whether a node is an object: nodes that stand for roots have no address.
func (d *gcdump) object(node uint32, r *record) bool {
	return d.address(node) != 0 && d.types[r.typ].name != undefined
}

func (d *gcdump) address(node uint32) uint64 { return d.number(d.addresses, node, 8) }

// snapshot makes the snapshot of the file as if it came in events, in order of address.
func (d *gcdump) snapshot() *Snapshot {
	t := &types{byID: make(map[uint64]uint32, len(d.types))}
	for i := range d.types {
		t.byID[uint64(i)] = uint32(i)
		t.all = append(t.all, &Type{Name: d.types[i].name, Module: d.types[i].module})
	}
	n := uint32(len(d.offsets) / 4)
	s := &Snapshot{PID: trace.UnknownID}
	if d.pid != 0 {
		s.PID = d.pid
	}
	w := &walk{of: s, types: t, graph: n <= MaxObjects, ranges: d.ranges}
	s.TooLarge = !w.graph
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Compare(d.address(a), d.address(b))
	})
	var r record
	for _, node := range order {
		if d.record(node, &r); r.typ == none {
			s.Missing.Events++
		} else if d.object(node, &r) {
			w.addNode(d.address(node), uint64(r.size), uint64(r.typ), uint64(len(r.children)))
			s.Edges += int64(len(r.children))
			for _, child := range r.children {
				if w.graph {
					w.edges.add(d.address(child))
				}
			}
		}
	}
	d.roots(w)
	w.end()
	d.scale(s, t.all)
	return s
}

// roots walks the nodes above the objects, in their order in the file.
func (d *gcdump) roots(w *walk) {
	type node struct {
		number uint32
		root   root // of the objects below
		static string
	}
	seen := map[uint32]bool{d.root: true}
	left := []node{{number: d.root}}
	var r, child record
	for ; len(left) > 0; left = left[1:] {
		of := left[0]
		if of.number >= uint32(len(d.offsets)/4) {
			continue
		}
		if d.record(of.number, &r); r.typ == none {
			continue
		}
		for _, c := range r.children {
			d.record(c, &child)
			switch {
			case child.typ == none || d.types[child.typ].name == undefined || seen[c]:
			case d.object(c, &child):
				if of.root.dependent {
					w.of.Dependent++
				}
				if of.root.kind == RootStatic {
					w.of.Statics++
					of.root.field = fieldOf(of.static, d.types[child.typ].name)
				}
				of.root.address = d.address(c)
				w.root(of.root)
			default:
				seen[c] = true
				name := d.types[child.typ].name
				below := node{number: c, root: root{kind: pseudo[name], dependent: name == dependentHandles, pins: pseudo[name] == RootPinned}}
				if static, is := strings.CutPrefix(name, staticVar); is {
					below.root.kind, below.static = RootStatic, strings.TrimSuffix(static, "]")
				}
				left = append(left, below)
			}
		}
	}
}

// fieldOf returns the field of a static, which has the name of its object's type before it.
// The type has the order of magnitude of the object's size behind its name there only.
func fieldOf(static, typ string) string {
	typ, _, _ = strings.Cut(typ, " (Bytes > ")
	if field, is := strings.CutPrefix(static, typ+"."); is {
		return field
	}
	return static[strings.LastIndexByte(static, '.')+1:]
}

// scale makes estimates of the figures of a sample, which a writer takes of a large heap:
// then the objects between the sampled ones are unknown.
func (d *gcdump) scale(s *Snapshot, all []*Type) {
	if d.count == 1 && d.size == 1 && len(d.multipliers) == 0 {
		return
	}
	s.Sampled, s.Graph = true, nil
	s.Objects, s.Bytes, s.Aligned = 0, 0, 0
	byType := make(map[*Type]float32, len(d.multipliers))
	for i, m := range d.multipliers[:min(len(d.multipliers), len(all))] {
		byType[all[i]] = m
	}
	for i := range s.Types {
		u := &s.Types[i]
		count, size := d.count, d.size
		if m, known := byType[u.Type]; known {
			count, size = m, m
		}
		u.Objects = units.IntCapped(math.Round(float64(u.Objects) * float64(count)))
		u.Bytes = units.IntCapped(math.Round(float64(u.Bytes) * float64(size)))
		u.Aligned = units.IntCapped(math.Round(float64(u.Aligned) * float64(size)))
		s.Objects = units.AddCapped(s.Objects, u.Objects)
		s.Bytes = units.AddCapped(s.Bytes, u.Bytes)
		s.Aligned = units.AddCapped(s.Aligned, u.Aligned)
	}
}
