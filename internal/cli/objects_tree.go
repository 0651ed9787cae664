package cli

import (
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

const (
	// leastOfTree is the part of a tree that each of its nodes has at least, unless --top says
	// how many there are.
	leastOfTree = 0.001
	// treeTop and treeDepth are how many nodes and levels of a tree a table has.
	treeTop   = 40
	treeDepth = 12
)

// A treeRow is a node of a tree, or all nodes that are left out right below another.
type treeRow struct {
	of                       *snapshotOf
	node, parent             int64 // 0 for omitted nodes, and for the parent of the first level
	depth                    int
	totalObjects, totalBytes int64
	all                      int64 // bytes of the whole tree
	objects, bytes           gc.Opt[int64]
	root, holder             string // of a node for roots
	typ, module              string // of others
	omitted                  int64  // nodes
}

// treeFields returns the fields of a tree. In a table, the names of nodes are indented, and
// total is the heading of total_bytes.
func treeFields(table bool, total string) []list.Field[treeRow] {
	number := func(name, heading string, value func(*treeRow) figure.Value) list.Field[treeRow] {
		return list.Field[treeRow]{Name: name, Heading: heading, Type: figure.Int, Value: value}
	}
	word := func(name string, value func(*treeRow) string) list.Field[treeRow] {
		return list.Field[treeRow]{Name: name, Type: figure.Text, Value: func(r *treeRow) figure.Value { return list.Word(value(r)) }}
	}
	known := func(n int64) figure.Value { return list.If(n > 0, list.Count(n)) }
	fields := []list.Field[treeRow]{
		number("pid", "", func(r *treeRow) figure.Value { return list.PID(r.of.PID) }),
		number("number", "", func(r *treeRow) figure.Value { return known(int64(r.of.Number)) }),
		number("node", "", func(r *treeRow) figure.Value { return known(r.node) }),
		number("parent", "", func(r *treeRow) figure.Value { return known(r.parent) }),
		number("depth", "", func(r *treeRow) figure.Value { return list.Count(r.depth) }),
		{Name: "total_bytes", Heading: total, Type: figure.Bytes, Value: func(r *treeRow) figure.Value { return list.Bytes(r.totalBytes) }},
		{Name: "total_pct", Heading: "%", Type: figure.Percent, Value: func(r *treeRow) figure.Value { return list.Share(r.totalBytes, r.all) }},
		number("total_objects", "", func(r *treeRow) figure.Value { return list.Count(r.totalObjects) }),
		{Name: "bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *treeRow) figure.Value { return list.Opt(r.bytes, list.Bytes) }},
		number("objects", "objects", func(r *treeRow) figure.Value { return list.Opt(r.objects, list.Count) }),
		number("omitted_nodes", "", func(r *treeRow) figure.Value { return known(r.omitted) }),
		word("root", func(r *treeRow) string { return r.root }),
		word("holder", func(r *treeRow) string { return r.holder }),
	}
	if table {
		label := word("type", (*treeRow).label)
		label.Heading, label.Left = "type", true
		return append(fields, label)
	}
	return append(fields,
		word("type", func(r *treeRow) string { return r.typ }),
		word("module", func(r *treeRow) string { return r.module }))
}

// label returns the name of a node, indented by its level. Roots of one kind are in brackets,
// because no type is.
func (r *treeRow) label() string {
	indent := strings.Repeat("  ", r.depth-1)
	switch {
	case r.omitted > 0:
		return indent + "(" + text.Plural(r.omitted, "more node", "more nodes") + ")"
	case r.typ != "":
		return indent + r.typ
	case r.holder != "":
		return indent + r.holder + " (" + r.root + ")"
	}
	return indent + "[" + r.root + "]"
}

// rootOf returns the kind of root that a node without a type stands for, and the static field
// or the method.
func rootOf(n *heap.TreeNode) (root, holder string) {
	switch {
	case n.Root != nil:
		return n.Root.Kind.String(), n.Root.Name()
	case n.Type == nil:
		return heap.SeveralRoots, ""
	}
	return "", ""
}

func (o *objectsOptions) treeConflict() error {
	by := o.grouping()
	return firstBroken(
		rule{by != heap.ByType && by != heap.ByObject && by != heap.ByPath, "--tree folds dominators or paths by type; leave out --by, or use --by path"},
		rule{o.generation.value != "" || o.minSize > 0 || o.sort != "", "--tree has objects of all sizes and generations, the largest nodes first; leave out --min-size, --generation and --sort"},
		rule{o.depth < 0, "--depth is a number of levels"},
	)
}

// treeOf returns the tree of a snapshot that is asked for, nil if the snapshot has no graph.
func (o *objectsOptions) treeOf(of *snapshotOf) *heap.TreeNode {
	if of.tree == nil {
		return nil
	}
	q := heap.TreeQuery{Type: o.typeFilter(), Max: o.limit(), Depth: o.depth}
	if o.top < 0 {
		q.Share = leastOfTree
		if o.format.value == list.Table {
			q.Max = treeTop
		}
	}
	if o.depth == 0 && o.format.value == list.Table {
		q.Depth = treeDepth
	}
	if o.grouping() == heap.ByPath {
		return of.Graph.PathTree(q)
	}
	return of.tree.Tree(q)
}

// treeRows returns the nodes of a tree below its top, each above the ones below it.
func treeRows(of *snapshotOf, top *heap.TreeNode) []treeRow {
	var rows []treeRow
	nodes := int64(0)
	var add func(n *heap.TreeNode, parent int64, depth int)
	add = func(n *heap.TreeNode, parent int64, depth int) {
		for _, child := range n.Children {
			nodes++
			r := treeRow{of: of, node: nodes, parent: parent, depth: depth, totalObjects: child.TotalObjects, totalBytes: child.TotalBytes, all: top.TotalBytes}
			r.root, r.holder = rootOf(child)
			if t := child.Type; t != nil {
				r.objects, r.bytes = gc.Some(child.Objects), gc.Some(child.Bytes)
				r.typ, r.module = t.String(), t.Module
			}
			rows = append(rows, r)
			add(child, nodes, depth+1)
		}
		if o := n.Omitted; o.Nodes > 0 {
			rows = append(rows, treeRow{of: of, parent: parent, depth: depth, totalObjects: o.Objects, totalBytes: o.Bytes, all: top.TotalBytes, omitted: o.Nodes})
		}
	}
	if top != nil {
		add(top, 0, 1)
	}
	return rows
}

// writeTrees writes the trees of snapshots, of which one at a time has a dominator tree.
func (o *objectsOptions) writeTrees(std *stdio, out *output, snapshots []*snapshotOf) error {
	l := o.listing
	l.top = 0 // the tree has no more rows than are asked for
	total := "retained MB"
	if o.grouping() == heap.ByPath {
		total = "total MB"
	}
	w := newRowWriter(&l, std, out, treeFields(o.format.value == list.Table, total))
	w.begun = len(o.listed)
	o.listed = append(o.listed, snapshots...)
	doc := treesDoc{Snapshots: []treeSnapshotDoc{}}
	for _, of := range snapshots {
		of.findDominators()
		top := o.treeOf(of)
		var err error
		if o.format.value == "json" {
			doc.Snapshots = append(doc.Snapshots, newTreeSnapshotDoc(of, top))
		} else {
			err = w.section(of.head, treeRows(of, top))
		}
		if err != nil {
			return err
		}
		of.tree = nil
	}
	if o.format.value == "json" {
		return jsontext.Encode(out, doc)
	}
	return nil
}

// treesDoc is the output of objects --tree --format json for a file.
type treesDoc struct {
	Snapshots []treeSnapshotDoc `json:"snapshots"`
}

type treeSnapshotDoc struct {
	Number   gc.Opt[int64]  `json:"number"`
	PID      gc.Opt[int64]  `json:"pid"`
	Process  gc.Opt[string] `json:"process"`
	Complete bool           `json:"complete"`
	// Tree is the top, which stands for the program.
	Tree gc.Opt[treeDoc] `json:"tree"`
}

// A treeDoc is a node of a tree in JSON.
type treeDoc struct {
	Root         gc.Opt[string] `json:"root"`
	Holder       gc.Opt[string] `json:"holder"`
	Type         gc.Opt[string] `json:"type"`
	Module       gc.Opt[string] `json:"module"`
	Objects      int64          `json:"objects"`
	Bytes        int64          `json:"bytes"`
	TotalObjects int64          `json:"total_objects"`
	TotalBytes   int64          `json:"total_bytes"`
	Omitted      omittedDoc     `json:"omitted"`
	Children     []treeDoc      `json:"children"`
}

type omittedDoc struct {
	Nodes   int64 `json:"nodes"`
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

func newTreeSnapshotDoc(s *snapshotOf, top *heap.TreeNode) treeSnapshotDoc {
	doc := treeSnapshotDoc{Number: s.number(), PID: s.pid(), Process: word(s.process.Name), Complete: s.Missing.Whole()}
	if top != nil {
		tree := newTreeDoc(top)
		tree.Root = gc.Opt[string]{} // is above all
		doc.Tree = gc.Some(tree)
	}
	return doc
}

func newTreeDoc(n *heap.TreeNode) treeDoc {
	root, holder := rootOf(n)
	doc := treeDoc{
		Root: word(root), Holder: word(holder), Objects: n.Objects, Bytes: n.Bytes, TotalObjects: n.TotalObjects, TotalBytes: n.TotalBytes,
		Omitted: omittedDoc(n.Omitted), Children: text.Each(n.Children, func(child **heap.TreeNode) treeDoc { return newTreeDoc(*child) }),
	}
	if n.Type != nil {
		doc.Type, doc.Module = gc.Some(n.Type.String()), word(n.Type.Module)
	}
	return doc
}
