package heap

import (
	"cmp"

	"github.com/gctrail/gctrail/internal/timeline"
)

// A TreeNode counts the objects of one type at the same place of a tree: the dominator tree,
// or the shortest paths from roots. Objects right below others of their type, as in a linked
// list, are in the node of the first.
type TreeNode struct {
	// Root is set in the nodes right below the top, unless the tree begins at types. Static
	// fields of one name are one node, and so are variables of one method, and other roots of
	// one kind; Object and ID are 0.
	Root *Root
	// Type is nil for the top, for roots, and for the node of the objects that no single
	// root holds.
	Type *Type

	Objects, Bytes int64 // of the node alone: 0 if Type is nil
	// TotalObjects and TotalBytes include the nodes below. In the dominator tree, the objects
	// retain this much.
	TotalObjects, TotalBytes int64

	Children []*TreeNode // the largest first
	Omitted  Omitted
}

// Omitted counts the nodes right below another that are left out of a tree, and the objects
// of these and of all below.
type Omitted struct{ Nodes, Objects, Bytes int64 }

func (o *Omitted) add(n *TreeNode) {
	o.Nodes++
	o.Objects += n.TotalObjects
	o.Bytes += n.TotalBytes
}

// A TreeQuery selects a part of a tree.
type TreeQuery struct {
	// Type selects types, nil all: the dominator tree begins at objects of such types
	// instead of roots, and paths lead to such objects only.
	Type  func(of *Type) bool
	Least int64 // leaves out nodes whose TotalBytes are fewer
	// Share leaves out nodes whose TotalBytes are a smaller part of the whole tree.
	Share float64
	Depth int // how many levels below the top there are; 0 for MaxTreeDepth, which is the most
	Max   int // how many nodes below the top there are, the largest ones; 0 for all
}

// MaxTreeDepth bounds the levels of a tree, so that it may be walked by recursion. A list
// whose elements alternate between two types has as many levels as elements.
const MaxTreeDepth = 200

// A branch is a node whose children are not yet found. At has the positions of its objects
// that no other one of the node dominates, or the numbers of its ways.
type branch struct {
	*TreeNode
	parent *TreeNode
	depth  int
	at     []uint32
}

// grow returns the tree of which branches are right below the top. A branch is at most as
// large as its parent, so that taking the largest first takes parents before their children.
func (q *TreeQuery) grow(branches []branch, below func(branch) []branch) *TreeNode {
	top := new(TreeNode)
	for _, b := range branches {
		top.TotalObjects += b.TotalObjects
		top.TotalBytes += b.TotalBytes
	}
	least := max(float64(q.Least), q.Share*float64(top.TotalBytes))
	deepest := min(cmp.Or(q.Depth, MaxTreeDepth), MaxTreeDepth)
	var left timeline.Heap[branch]
	order := uint64(0)
	push := func(parent *TreeNode, depth int, branches []branch) {
		for _, b := range branches {
			if float64(b.TotalBytes) < least || depth > deepest {
				parent.Omitted.add(b.TreeNode)
				continue
			}
			b.parent, b.depth = parent, depth
			order++
			left.Push(timeline.Run[branch]{Time: -b.TotalBytes, Order: order, Of: b})
		}
	}
	push(top, 1, branches)
	for nodes := 1; len(left) > 0; nodes++ {
		b := left[0].Of
		left.Drop()
		if q.Max > 0 && nodes > q.Max {
			b.parent.Omitted.add(b.TreeNode)
			continue
		}
		b.parent.Children = append(b.parent.Children, b.TreeNode)
		push(b.TreeNode, b.depth+1, below(b))
	}
	return top
}

// A fold adds up objects by the node to which they belong.
type fold[K comparable] struct {
	branches []branch
	byKey    map[K]int
}

// add adds objects at a place to the node of a key, which is made by node if it is new.
func (f *fold[K]) add(k K, at uint32, objects, bytes int64, node func() TreeNode) {
	i, known := f.byKey[k]
	if !known {
		if f.byKey == nil {
			f.byKey = make(map[K]int)
		}
		i = len(f.branches)
		f.byKey[k] = i
		n := node()
		f.branches = append(f.branches, branch{TreeNode: &n})
	}
	b := &f.branches[i]
	b.at = append(b.at, at)
	b.TotalObjects += objects
	b.TotalBytes += bytes
}

// A rootKey identifies the node of a root.
type rootKey struct {
	kind          RootKind
	field, method string
}

func (r *Root) key() rootKey { return rootKey{r.Kind, r.Field, r.Method} }

func (k rootKey) root() Root { return Root{Kind: k.kind, Field: k.field, Method: k.method} }

func (k rootKey) node() TreeNode {
	r := k.root()
	return TreeNode{Root: &r}
}

// Tree returns the dominator tree of the objects that are alive, with one node for objects of
// one type whose immediate dominators are in one node.
func (d *Dominators) Tree(q TreeQuery) *TreeNode {
	if q.Type != nil {
		return q.grow(d.byType(d.outermost(q.Type)), d.below)
	}
	return q.grow(d.byRoot(), func(b branch) []branch {
		if b.Type == nil {
			return d.byType(b.at)
		}
		return d.below(b)
	})
}

// outermost returns the positions of objects of the given types that no other such object
// dominates.
func (d *Dominators) outermost(is func(of *Type) bool) []uint32 {
	types := d.graph.ofTypes(is)
	var positions []uint32
	for p := uint32(1); p < uint32(len(d.retained)); {
		if !types[d.graph.nodes.typeOf(d.Object(p))] {
			p++
			continue
		}
		positions = append(positions, p)
		p += d.tree.span[p]
	}
	return positions
}

// byRoot divides the objects that nothing but roots dominates.
func (d *Dominators) byRoot() []branch {
	rooted := d.graph.rootsOf()
	const several = NumRootKinds
	var f fold[rootKey]
	for p := range d.Children(0) {
		k := rootKey{kind: several}
		if r, is := rooted[d.Object(p)]; is {
			k = r.key()
		}
		f.add(k, p, d.Held(p), d.retained[p], func() TreeNode {
			if k.kind == several {
				return TreeNode{}
			}
			return k.node()
		})
	}
	return f.branches
}

func (d *Dominators) byType(positions []uint32) []branch {
	var f fold[uint32]
	for _, p := range positions {
		d.fold(&f, p)
	}
	return f.branches
}

func (d *Dominators) fold(f *fold[uint32], p uint32) {
	t := d.graph.nodes.typeOf(d.Object(p))
	f.add(t, p, d.Held(p), d.retained[p], func() TreeNode { return TreeNode{Type: d.graph.types[t]} })
}

// below counts the objects of a node, and divides what they dominate.
func (d *Dominators) below(b branch) []branch {
	var f fold[uint32]
	for len(b.at) > 0 {
		last := len(b.at) - 1
		p := b.at[last]
		b.at = b.at[:last]
		b.Objects++
		b.Bytes += d.graph.Size(d.Object(p))
		for child := range d.Children(p) {
			if d.graph.Type(d.Object(child)) == b.Type {
				b.at = append(b.at, child)
			} else {
				d.fold(&f, child)
			}
		}
	}
	return f.branches
}

// PathTree returns the shortest paths from roots to objects that are alive, the same paths as
// ByPath, with one node for all that begin alike.
func (g *Graph) PathTree(q TreeQuery) *TreeNode {
	w, types := g.ways(), g.ofTypes(q.Type)
	nodes := make([]TreeNode, len(w.all))
	for object, id := range w.of {
		if o := uint32(object); id != none && types[g.nodes.typeOf(o)] {
			nodes[id].Objects++
			nodes[id].Bytes += g.Size(o)
		}
	}
	first, next := make([]uint32, len(nodes)), make([]uint32, len(nodes)) // of children; 0 for none, which is below no other
	var roots fold[rootKey]
	for id := len(nodes) - 1; id >= 0; id-- {
		n, way := &nodes[id], &w.all[id]
		n.Type = g.types[way.typ]
		n.TotalObjects += n.Objects
		n.TotalBytes += n.Bytes
		switch k := w.roots[way.root]; {
		case n.TotalObjects == 0:
		case way.before == none:
			roots.add(k, uint32(id), n.TotalObjects, n.TotalBytes, k.node)
		default:
			nodes[way.before].TotalObjects += n.TotalObjects
			nodes[way.before].TotalBytes += n.TotalBytes
			next[id], first[way.before] = first[way.before], uint32(id)
		}
	}
	return q.grow(roots.branches, func(b branch) []branch {
		var branches []branch
		add := func(id uint32) { branches = append(branches, branch{TreeNode: &nodes[id], at: []uint32{id}}) }
		if b.Type == nil {
			for _, id := range b.at {
				add(id)
			}
			return branches
		}
		for id := first[b.at[0]]; id != 0; id = next[id] {
			add(id)
		}
		return branches
	})
}
