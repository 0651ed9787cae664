package html

import (
	"path"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
)

// The bounds of a page's heap snapshots of a process, and of each snapshot.
const (
	maxSnapshots = 12
	maxNodes     = 3_000 // of the tree
	maxLevels    = 60    // of the tree
	maxShapes    = 8     // paths to objects of a type
	maxPaths     = 4_000
	// foldBelow is the part of the live bytes below which a node of the tree is folded.
	foldBelow = 1000
)

// A Snapshot is a heap snapshot, with its file if the page has snapshots of several.
type Snapshot struct {
	*heap.Snapshot
	File string
}

// objects is the page's data about a process's heap snapshots.
type objects struct {
	// Names are the names of types, and of roots. Modules are the files of types, and of
	// roots -1.
	Names       []string       `json:"names"`
	Modules     []int          `json:"modules"`
	Files       []string       `json:"files"`
	Generations []string       `json:"generations"`
	FoldBelow   int            `json:"fold_below"`
	Snapshots   []pageSnapshot `json:"snapshots"`
	LeftOut     int            `json:"snapshots_left_out"`
	Suspects    []suspect      `json:"suspects"`
	// Unsuspected says why there are no suspects; empty if there are, or if there is one
	// snapshot only.
	Unsuspected string `json:"unsuspected"`
}

// A pageSnapshot is a snapshot on the page. Names are indexes of objects.Names, and unknown
// sizes -1.
type pageSnapshot struct {
	Label       string          `json:"label"`
	StartUS     gc.Opt[int64]   `json:"start_us"`
	About       string          `json:"about"` // before figures that are not exact
	Lacks       string          `json:"lacks"` // the parts that are missing; empty for none
	Objects     int64           `json:"objects"`
	Bytes       int64           `json:"bytes"`
	Live        gc.Opt[int64]   `json:"live_objects"`
	LiveBytes   gc.Opt[int64]   `json:"live_bytes"`
	Roots       []rootRow       `json:"roots"`
	WeakRoots   int64           `json:"weak_roots"`
	Generations []generationRow `json:"generations"`
	// Types has a row for each type: name, objects, bytes, retained bytes, and the bytes in
	// each generation as far as there are any. Others are the types for which there was no
	// room.
	Types  [][]int64 `json:"types"`
	Others counted   `json:"others"`
	// Tree is the dominator tree: for each node its name, the number of its parent, which
	// stands before it, or -1, its objects and bytes, and with all below. A node of the name
	// -1 stands for nodes that are folded: its objects are their number.
	Tree [][6]int64 `json:"tree"`
	// Paths are shortest paths from roots: objects, bytes, retained bytes, and the names on
	// the way, the root first and the type of the objects last; -1 for steps left out.
	Paths [][]int64 `json:"paths"`
}

type (
	rootRow struct {
		Root     string        `json:"root"`
		Roots    int64         `json:"roots"`
		Retained gc.Opt[int64] `json:"retained_bytes"`
	}
	generationRow struct {
		Name    string        `json:"name"`
		Objects int64         `json:"objects"`
		Bytes   int64         `json:"bytes"`
		Free    gc.Opt[int64] `json:"free_bytes"`
	}
	counted struct {
		Types   int64 `json:"types"`
		Objects int64 `json:"objects"`
		Bytes   int64 `json:"bytes"`
	}
	suspect struct {
		Says       string `json:"says"`
		Type       int    `json:"type"`
		Confidence string `json:"confidence"`
	}
)

// absent stands for an unknown size, and for the number of a name or a file that there is not.
const absent = -1

// NewObjects returns the heap snapshots of a process, in their order. There is one dominator
// tree at a time.
func NewObjects(pid uint64, snapshots []Snapshot) *Part {
	n := names{types: make(map[*heap.Type]int), same: make(map[sameType]int), roots: make(map[string]int), files: make(map[string]int)}
	n.page = objects{
		Names: []string{}, Modules: []int{}, Files: []string{}, Generations: heap.GenerationNames(), FoldBelow: foldBelow,
		Snapshots: []pageSnapshot{}, Suspects: []suspect{},
	}
	shown := snapshots
	if n := len(snapshots); n > maxSnapshots { // growth begins at the first
		shown = append(snapshots[:1:1], snapshots[n-maxSnapshots+1:]...)
	}
	n.page.LeftOut = len(snapshots) - len(shown)
	for _, s := range shown {
		n.number(s.Types)
		of := n.snapshot(s.Snapshot)
		switch {
		case s.File != "" && s.Number > 0:
			of.Label += " of " + base(s.File)
		case s.File != "":
			of.Label = base(s.File)
		}
		n.page.Snapshots = append(n.page.Snapshots, of)
	}
	if len(snapshots) > 1 {
		all := make([]*heap.Snapshot, len(snapshots))
		for i := range snapshots {
			all[i] = snapshots[i].Snapshot
		}
		found := heap.Suspects(all)
		for i := range found {
			s := &found[i]
			at := s.Path[len(s.Path)-1]
			if len(s.Held) > 0 {
				at = s.Held[0] // more and more of them
			}
			n.page.Suspects = append(n.page.Suspects, suspect{s.String(), n.ofType(at.Type), s.Confidence()})
		}
		if len(found) == 0 {
			n.page.Unsuspected = heap.Unsuspected(all)
		}
	}
	page := n.page // without the indexes and types, which only this function needs
	return &Part{pid, &page}
}

// names numbers the names of a page.
type names struct {
	page  objects
	types map[*heap.Type]int
	same  map[sameType]int
	roots map[string]int
	files map[string]int
}

// A sameType is how types of several files are known for the same: by the name and the
// module, and of several with the same ones, which have numbers, by their order.
type sameType struct {
	name, module string
	number       int
}

func (n *names) add(name string, module int) int {
	n.page.Names, n.page.Modules = append(n.page.Names, name), append(n.page.Modules, module)
	return len(n.page.Names) - 1
}

// number numbers the names of the types in a snapshot.
func (n *names) number(types []heap.TypeUse) {
	seen := make(map[sameType]int)
	for _, u := range types {
		k := sameType{name: u.Type.String(), module: u.Type.Module}
		seen[k]++
		k.number = seen[k]
		if _, known := n.types[u.Type]; known {
			continue
		}
		i, known := n.same[k]
		if !known {
			i = n.add(k.name, n.file(k.module))
			n.same[k] = i
		}
		n.types[u.Type] = i
	}
}

func (n *names) ofType(t *heap.Type) int { return n.types[t] }

// file returns the number of the file of a type, without its folder.
func (n *names) file(module string) int {
	if module == "" {
		return absent
	}
	name := base(module)
	i, known := n.files[name]
	if !known {
		i = len(n.page.Files)
		n.files[name] = i
		n.page.Files = append(n.page.Files, name)
	}
	return i
}

// base returns the name of a file without its folder, of any system.
func base(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

func (n *names) ofRoot(words string) int {
	i, known := n.roots[words]
	if !known {
		i = n.add(words, absent)
		n.roots[words] = i
	}
	return i
}

func (n *names) snapshot(s *heap.Snapshot) pageSnapshot {
	of := pageSnapshot{
		Label: s.Label(), About: s.About(), Lacks: s.Lacks(), Objects: s.Objects, Bytes: s.Bytes, WeakRoots: s.WeakRoots,
		Roots: []rootRow{}, Generations: []generationRow{}, Types: [][]int64{}, Tree: [][6]int64{}, Paths: [][]int64{},
	}
	start, known := s.Start.Get()
	of.StartUS = gc.SomeIf(start.Microseconds(), known)
	for _, g := range s.Generations {
		free := g.Free
		if !s.Missing.Whole() {
			free = gc.Opt[int64]{} // objects that did not arrive would count as free
		}
		of.Generations = append(of.Generations, generationRow{g.Name, g.Objects, g.Bytes, free})
	}
	var tree *heap.Dominators
	if s.Graph != nil {
		tree = s.Graph.Dominators()
		of.Live, of.LiveBytes = gc.Some(tree.Live()), gc.Some(tree.LiveBytes())
		q := heap.TreeQuery{Least: max(1, tree.LiveBytes()/foldBelow), Depth: maxLevels, Max: maxNodes}
		n.addNodes(&of, tree.Tree(q), -1)
	}
	for _, g := range s.Groups(heap.Query{By: heap.ByRoot}, tree) {
		of.Roots = append(of.Roots, rootRow{g.Name, g.Roots, g.Retained})
	}
	n.addTypes(&of, s, tree)
	return of
}

// addTypes adds the types, the ones that retain most first, and the paths to their objects.
func (n *names) addTypes(of *pageSnapshot, s *heap.Snapshot, tree *heap.Dominators) {
	var generations map[*heap.Type][]int64
	var paths map[*heap.Type][]heap.Group
	if tree != nil {
		generations, paths = s.Graph.Generations(), tree.Paths(maxShapes)
	}
	for i, g := range s.Groups(heap.Query{By: heap.ByType}, tree) {
		if i >= maxTypes {
			of.Others.Types++
			of.Others.Objects += g.Objects
			of.Others.Bytes += g.Bytes.Or(0)
			continue
		}
		row := []int64{int64(n.ofType(g.Type)), g.Objects, g.Bytes.Or(0), g.Retained.Or(absent)}
		in := generations[g.Type]
		for len(in) > 0 && in[len(in)-1] == 0 {
			in = in[:len(in)-1]
		}
		of.Types = append(of.Types, append(row, in...))
		for _, p := range paths[g.Type][:min(len(paths[g.Type]), maxPaths-len(of.Paths))] {
			way := []int64{p.Objects, p.Bytes.Or(0), p.Retained.Or(absent), int64(n.ofRoot(p.Root.String()))}
			for _, t := range p.Path {
				step := absent
				if t != nil {
					step = n.ofType(t)
				}
				way = append(way, int64(step))
			}
			of.Paths = append(of.Paths, way)
		}
	}
}

// addNodes adds the nodes below another of the dominator tree, which has few levels.
func (n *names) addNodes(of *pageSnapshot, above *heap.TreeNode, parent int64) {
	for _, node := range above.Children {
		name := n.ofRoot("several roots")
		switch {
		case node.Root != nil:
			name = n.ofRoot(node.Root.String())
		case node.Type != nil:
			name = n.ofType(node.Type)
		}
		of.Tree = append(of.Tree, [6]int64{int64(name), parent, node.Objects, node.Bytes, node.TotalObjects, node.TotalBytes})
		n.addNodes(of, node, int64(len(of.Tree)-1))
	}
	if o := above.Omitted; o.Nodes > 0 {
		of.Tree = append(of.Tree, [6]int64{absent, parent, o.Nodes, 0, o.Objects, o.Bytes})
	}
}
