package snapshot

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/jsontext"
)

// The types of nodes and edges by which DevTools groups them (HeapSnapshotModel.ts of
// chrome-devtools-frontend). Arrays are objects here, because DevTools shows all nodes of
// its type for arrays as one class.
const (
	nodeString    = 2
	nodeObject    = 3
	nodeSynthetic = 9

	edgeElement  = 1
	edgeProperty = 2
	edgeInternal = 3
)

// devtoolsMeta describes the numbers of nodes and edges.
const devtoolsMeta = `{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],` +
	`"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string","sliced string","symbol","bigint","object shape"],` +
	`"string","number","number","number","number","number"],` +
	`"edge_fields":["type","name_or_index","to_node"],` +
	`"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],` +
	`"trace_function_info_fields":[],"trace_node_fields":[],"sample_fields":[],"location_fields":[]}`

// nodeFields is how many numbers a node has.
const nodeFields = 7

// WriteDevTools writes a snapshot as a .heapsnapshot file, which the Memory panel of Chrome,
// Edge and Node.js's inspector loads. Sizes are as in the events. Ids of objects are their
// positions, which say nothing about another snapshot, because objects move.
//
// The error is the writer's, or ErrIncomplete.
func WriteDevTools(w io.Writer, s *heap.Snapshot) error {
	if s.Graph == nil {
		return ErrIncomplete
	}
	d := &devtools{w: bufio.NewWriterSize(w, 64<<10), g: s.Graph, kinds: rootKinds(s.Graph), strings: map[string]int{"": 0}, names: []string{""}}
	d.group()
	d.write()
	return d.w.Flush()
}

// A devtools writes one snapshot: the root, a node for each kind of roots, and the objects.
type devtools struct {
	w     *bufio.Writer
	g     *heap.Graph
	kinds []heap.RootKind
	roots [][]heap.Root // by kind

	strings map[string]int
	names   []string
	types   map[*heap.Type]int // indexes of names
	number  []byte
	started bool // the list has a number
}

func (d *devtools) group() {
	for _, kind := range d.kinds {
		d.roots = append(d.roots, slices.DeleteFunc(slices.Clone(d.g.Roots()), func(r heap.Root) bool { return r.Kind != kind }))
	}
}

func (d *devtools) write() {
	objects := uint32(d.g.Len())
	edges := len(d.kinds) + len(d.g.Roots())
	for i := range objects {
		edges += len(d.g.References(i))
	}
	d.text(`{"snapshot":{"meta":` + devtoolsMeta + `,"node_count":` + strconv.Itoa(1+len(d.kinds)+int(objects)) +
		`,"edge_count":` + strconv.Itoa(edges) + `,"trace_function_count":0},`)
	d.list("nodes", d.nodes)
	d.list("edges", d.edges)
	d.text(`"trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[],"strings":[`)
	for i, name := range d.names {
		if i > 0 {
			d.text(",")
		}
		d.number = jsontext.AppendString(d.number[:0], name)
		_, _ = d.w.Write(d.number) // Flush returns its error
	}
	d.text("]}\n")
}

func (d *devtools) nodes() {
	d.node(nodeSynthetic, 0, 0, 0, len(d.kinds))
	for i, kind := range d.kinds {
		d.node(nodeSynthetic, d.name("("+kind.String()+" roots)"), 1+i, 0, len(d.roots[i]))
	}
	d.types = make(map[*heap.Type]int)
	for i := range uint32(d.g.Len()) {
		t := d.g.Type(i)
		name, known := d.types[t]
		if !known {
			name = d.name(t.String())
			d.types[t] = name
		}
		kind := nodeObject
		if t.Name == "System.String" {
			kind = nodeString
		}
		d.node(kind, name, d.place(i), min(d.g.Size(i), math.MaxUint32), len(d.g.References(i)))
	}
}

// node writes a node. Ids are odd, as V8's of objects are.
func (d *devtools) node(kind, name, place int, size int64, edges int) {
	d.numbers(int64(kind), int64(name), int64(2*place+1), size, int64(edges), 0, 0)
}

// place returns the position of an object among all nodes.
func (d *devtools) place(object uint32) int { return 1 + len(d.kinds) + int(object) }

func (d *devtools) edges() {
	for i := range d.kinds {
		d.edge(edgeElement, i, 1+i)
	}
	for _, roots := range d.roots {
		for i, r := range roots {
			if r.Field != "" {
				d.edge(edgeProperty, d.name(r.Field), d.place(r.Object))
			} else {
				d.edge(edgeElement, i, d.place(r.Object))
			}
		}
	}
	dependent := d.name("dependent handle")
	for i := range uint32(d.g.Len()) {
		references := d.g.References(i)
		own := len(references) - d.g.Dependents(i)
		for k, object := range references {
			if k < own {
				d.edge(edgeElement, k, d.place(object))
			} else {
				d.edge(edgeInternal, dependent, d.place(object))
			}
		}
	}
}

func (d *devtools) edge(kind, name, place int) {
	d.numbers(int64(kind), int64(name), int64(nodeFields*place))
}

// name returns the index of a string.
func (d *devtools) name(s string) int {
	i, known := d.strings[s]
	if !known {
		i = len(d.names)
		d.strings[s] = i
		d.names = append(d.names, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return i
}

func (d *devtools) list(key string, numbers func()) {
	d.text(`"` + key + `":[`)
	d.started = false
	numbers()
	d.text("],")
}

func (d *devtools) numbers(values ...int64) {
	b := d.number[:0]
	for _, v := range values {
		if d.started {
			b = append(b, ',')
		}
		d.started = true
		b = strconv.AppendInt(b, v, 10)
	}
	d.number = append(b, '\n')
	_, _ = d.w.Write(d.number) // Flush returns its error
}

func (d *devtools) text(s string) { _, _ = d.w.WriteString(s) } // Flush returns its error
