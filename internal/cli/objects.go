package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A snapshotOf is a snapshot with the process that it is of, and its dominator tree while
// it is listed.
type snapshotOf struct {
	*heap.Snapshot
	process *gc.Process
	file    string
	tree    *heap.Dominators // nil if it is unknown
	allocs  *alloc.Model     // of a trace; nil for other files
	paths   []string         // of the trace
}

// An objectRow is a part of the objects of a snapshot.
type objectRow struct {
	of *snapshotOf
	heap.Group
}

// objectFields returns the fields of objects in groups, or of the roots of a kind.
func objectFields(by heap.Grouping, root string) []list.Field[objectRow] {
	fields := []list.Field[objectRow]{
		{Name: "pid", Type: figure.Int, Value: func(r *objectRow) figure.Value { return list.PID(r.of.PID) }},
		{Name: "number", Type: figure.Int, Value: func(r *objectRow) figure.Value { return list.If(r.of.Number > 0, list.Count(r.of.Number)) }},
		{Name: "objects", Heading: "objects", Type: figure.Int, Is: certainty, Value: func(r *objectRow) figure.Value {
			return list.If(by != heap.ByRoot || r.of.Graph != nil, list.Count(r.Objects))
		}},
		{Name: "bytes", Heading: "MB", Type: figure.Bytes, Is: certainty, Value: func(r *objectRow) figure.Value { return list.Opt(r.Bytes, list.Bytes) }},
		{Name: "retained_bytes", Heading: "retained MB", Type: figure.Bytes, Value: func(r *objectRow) figure.Value { return list.Opt(r.Retained, list.Bytes) }},
	}
	words := func(name string, value func(*objectRow) string) {
		fields = append(fields, list.Field[objectRow]{Name: name, Heading: name, Left: true, Type: figure.Text, Value: func(r *objectRow) figure.Value { return list.Word(value(r)) }})
	}
	typ := func(r *objectRow) string { return r.Type.String() }
	address := func(r *objectRow) string { return fmt.Sprintf("0x%x", r.Address) }
	generation := func(r *objectRow) string { return r.Generation }
	if root != "" {
		words("holder", func(r *objectRow) string { return r.holder() })
		words("address", address)
		words("generation", generation)
		words("type", typ)
		return fields
	}
	path := func(r *objectRow) string { return strings.Join(heap.PathWords(r.Root, r.Path), " → ") }
	switch by {
	case heap.ByType:
		words("type", typ)
		fields = append(fields, list.Field[objectRow]{Name: "module", Type: figure.Text, Value: func(r *objectRow) figure.Value { return list.Word(r.Type.Module) }})
	case heap.ByObject:
		words("address", address)
		words("generation", generation)
		words("type", typ)
		fields = append(fields, list.Field[objectRow]{Name: "path", Type: figure.Text, Value: func(r *objectRow) figure.Value { return list.Word(path(r)) }})
	case heap.ByPath:
		words("path", path)
	case heap.ByRoot:
		fields = append(fields, list.Field[objectRow]{Name: "roots", Heading: "roots", Type: figure.Int, Value: func(r *objectRow) figure.Value {
			return list.If(r.Name != heap.SeveralRoots, list.Count(r.Roots))
		}})
		words("root", func(r *objectRow) string { return r.Name })
	default:
		words(by.String(), func(r *objectRow) string { return r.Name })
	}
	return fields
}

// holder returns the name of an object's root: the name of a static field or of a variable's method, the
// address of a handle, or the type of a dependent handle's key.
func (r *objectRow) holder() string {
	switch {
	case r.Key != nil:
		return r.Key.String()
	case r.Root.Name() != "":
		return r.Root.Name()
	case r.Root.ID != 0 && r.Root.Kind != heap.RootStack:
		return fmt.Sprintf("0x%x", r.Root.ID)
	}
	return ""
}

// certainty marks the figures of an incomplete snapshot as lower bounds.
func certainty(r *objectRow) gc.Certainty {
	if r.of.Missing.Whole() {
		return gc.Exact
	}
	return gc.LowerBound
}

type objectsOptions struct {
	listing
	by         choice
	types      string
	paths      string // types whose objects are divided by their paths
	generation choice
	root       choice // each root of this kind
	free       choice // a list of free space instead
	minSize    int64
	noRetained bool
	tree       bool
	depth      int    // of the tree; 0 for the usual
	typesFrom  string // a trace with the names of types

	listed []*snapshotOf // snapshots so far
}

func newObjectsOptions() *objectsOptions {
	names := list.Names(objectFields(heap.ByRoot, heap.RootDependent))
	for by := range heap.Groupings() {
		names = append(names, list.Names(objectFields(heap.Grouping(by), ""))...)
	}
	for _, lists := range freeLists {
		names = append(names, list.Names(freeFields(lists))...)
	}
	slices.Sort(names)
	o := &objectsOptions{
		listing: newListing("objects", slices.Compact(names)), by: choice{heap.ByType.String(), heap.Groupings()},
		generation: choice{of: heap.GenerationNames()}, root: choice{of: heap.RootKinds()}, free: choice{of: freeLists},
	}
	o.format.of = append(slices.Clip(o.format.of), "json", objectsPage)
	return o
}

func newObjectsCmd(std *stdio) *cobra.Command {
	opts := newObjectsOptions()
	cmd := opts.newCmd(std, opts, "List the objects in heap snapshots, and what keeps them alive", "gcdump", "dumpheap", "snapshot")
	flags := cmd.Flags()
	flags.Var(&opts.by, "by", "divide by type, module, generation, root, dominator or path")
	flags.StringVar(&opts.types, "type", "", "only objects of types whose names match, as in 'Shop.*'; * stands for any text")
	flags.StringVar(&opts.paths, "paths", "", "the shortest paths from roots to objects of matching types: --by path --type `GLOB`")
	flags.Var(&opts.generation, "generation", "only objects of this generation")
	flags.Var(&opts.root, "root", "each root of this kind, with the object that it holds")
	flags.Var(&opts.free, "free", "the free space between objects: each gap, or what pins gaps open")
	flags.Var(parsed[int64]{&opts.minSize, "SIZE", parseSize}, "min-size", "only objects of at least this size")
	flags.BoolVar(&opts.noRetained, "no-retained", false, "only count objects, fast and in little memory, without what they retain")
	flags.BoolVar(&opts.tree, "tree", false, "the dominator tree, or with --by path the shortest paths, by type")
	flags.IntVar(&opts.depth, "depth", 0, "only the first `N` levels of the tree (default 12 in a table)")
	flags.StringVar(&opts.typesFrom, "types-from", "", "take names of types that are missing from this `FILE`, another trace of the process")
	flags.Lookup("depth").DefValue = "0" // which help does not show
	opts.redaction.addFlags(flags)
	flags.Lookup("format").Usage = listFormats + ", json (one line for each file), or html (a page)"
	return cmd
}

func (o *objectsOptions) conflict() error {
	if err := o.redaction.conflict(&o.Selection, false); err != nil {
		return err
	}
	if o.redaction.On && cmp.Or(o.types, o.paths) != "" {
		return errors.New("--redact hashes the names of types, which --type and --paths would select")
	}
	if o.format.value == objectsPage && (o.tree || o.free.value != "" || o.root.value != "" || o.by.value != heap.ByType.String() || o.selects() || o.paths != "" || o.top >= 0 || o.sort != "") {
		return errors.New("--format html is a page to look around in; leave out what selects, divides and sorts")
	}
	if o.paths != "" {
		if o.types != "" || o.by.value != heap.ByType.String() {
			return errors.New("--paths selects types and divides by path; leave out --type and --by")
		}
		o.types, o.by.value = o.paths, heap.ByPath.String()
	}
	if by := o.grouping(); o.noRetained && (by != heap.ByType && by != heap.ByModule || o.minSize > 0 || o.generation.value+o.root.value+o.free.value != "" || o.tree) {
		return errors.New("--no-retained counts objects by type or module; leave out all that needs single objects: other --by, --root, --free, --tree, --generation, --min-size")
	}
	if o.free.value != "" {
		return cmp.Or(o.freeConflict(), o.listing.conflict())
	}
	if o.root.value != "" {
		if o.by.value != heap.ByType.String() && o.by.value != heap.ByRoot.String() || o.tree {
			return errors.New("--root lists each root of a kind; leave out --by and --tree")
		}
		o.by.value = heap.ByRoot.String()
	}
	if o.tree {
		return cmp.Or(o.treeConflict(), o.listing.conflict())
	}
	if o.depth != 0 {
		return errors.New("--depth is for --tree")
	}
	if o.format.value == "json" && (o.by.value != heap.ByType.String() || o.selects()) {
		return errors.New("--format json has all that is known of a snapshot; leave out --by, --root, --type, --generation and --min-size")
	}
	return o.listing.conflict()
}

// graphPercent is the GC percentage for commands that make graphs of heap snapshots. The heap
// consists of large arrays without pointers: collecting it costs little, and with less garbage
// a snapshot of 1.7 million objects needs 120 MB instead of 165.
const graphPercent = 10

func (o *objectsOptions) run(ctx context.Context, std *stdio) error {
	defer debug.SetGCPercent(debug.SetGCPercent(graphPercent))
	if o.format.value == objectsPage {
		return o.writePage(ctx, std)
	}
	return o.each(ctx, std, o.list)
}

// list writes the snapshots of a trace, or of a .gcdump file.
func (o *objectsOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	model := heap.Snapshots{MaxObjects: heap.MaxObjects}
	if o.noRetained {
		model.MaxObjects = 0
	}
	var named heap.Snapshots
	if o.typesFrom != "" {
		if _, err := o.scan(ctx, std, []string{o.typesFrom}, []pass.Model{&named}, nil); err != nil {
			return err
		}
	}
	var snapshots []*snapshotOf
	o.heapDump = func(r io.Reader) error {
		s, err := o.redaction.ReadGCDump(r)
		if err == nil {
			snapshots = []*snapshotOf{{Snapshot: s, process: &gc.Process{PID: s.PID}, file: o.redaction.Name(paths[0])}}
		}
		return err
	}
	var allocs alloc.Model
	var collections []*gc.Collection
	s, err := o.scan(ctx, std, paths, []pass.Model{&model, o.during(&allocs)}, func(c *gc.Collection) {
		if c.HeapDump {
			collections = append(collections, c)
		}
	})
	if err != nil {
		return err
	}
	if s.In.HeapDump == nil {
		if o.typesFrom != "" {
			if _, err := model.Borrow(&named); err != nil {
				return misusef("--types-from %s: %w", o.typesFrom, err)
			}
		}
		snapshots = o.selected(s, paths[0], model.All(), collections)
		for _, of := range snapshots {
			of.allocs, of.paths = &allocs, paths
		}
	}
	if err := o.write(std, out, snapshots); err != nil {
		return err
	}
	if s.In.HeapDump != nil {
		return nil
	}
	s.finish(nil)
	if n := model.Startless(); n > 0 {
		s.Warn(text.Plural(n, "object", "objects") + " of a snapshot whose start is not in the trace left out")
	}
	if len(snapshots) == 0 {
		s.lacks(&o.Selection, s.model.Processes(), lack{what: "heap snapshots", command: "gctrail dump -p PID"})
	}
	return nil
}

// selected returns the selected ones of the snapshots of a trace, with all that the trace
// has of them.
func (o *objectsOptions) selected(s *scanned, file string, all []*heap.Snapshot, collections []*gc.Collection) []*snapshotOf {
	var selected []*snapshotOf
	for _, snapshot := range all {
		of := &snapshotOf{Snapshot: snapshot, process: s.model.Process(snapshot.PID), file: o.redaction.Name(file)}
		if !o.HasProcess(of.process) || !o.has(snapshot.Start.Or(0)) {
			continue
		}
		for _, c := range collections {
			if c.Process.PID == snapshot.PID && c.Number == snapshot.Number {
				snapshot.Collected(c)
			}
		}
		snapshot.Lost(s.Loss())
		selected = append(selected, of)
	}
	return selected
}

// selects reports whether a part of the objects is asked for.
func (o *objectsOptions) selects() bool {
	return o.types != "" || o.generation.value != "" || o.minSize > 0
}

func (o *objectsOptions) grouping() heap.Grouping {
	return heap.Grouping(slices.Index(o.by.of, o.by.value))
}

// typeFilter returns which types are selected, nil for all.
func (o *objectsOptions) typeFilter() func(*heap.Type) bool {
	if o.types == "" {
		return nil
	}
	return func(t *heap.Type) bool { return t.Matches(o.types) }
}

func (s *snapshotOf) findDominators() {
	if s.Graph != nil {
		s.tree = s.Graph.Dominators()
	}
}

// write writes snapshots, of which one at a time has a dominator tree.
func (o *objectsOptions) write(std *stdio, out *output, snapshots []*snapshotOf) error {
	switch {
	case o.format.value == objectsPage:
		o.listed = append(o.listed, snapshots...)
		return nil
	case o.tree:
		return o.writeTrees(std, out, snapshots)
	case o.free.value != "":
		return o.writeFree(std, out, snapshots)
	}
	doc := objectsDoc{Snapshots: []snapshotDoc{}}
	by := o.grouping()
	w := newRowWriter(&o.listing, std, out, objectFields(by, o.root.value))
	if by == heap.ByObject {
		w.below = func(r *objectRow) []string {
			return []string{"    from " + strings.Join(heap.PathWords(r.Root, r.Path[:len(r.Path)-1]), " → ")}
		}
	}
	matched := 0
	for _, of := range snapshots {
		of.findDominators()
		if o.format.value == "json" {
			doc.Snapshots = append(doc.Snapshots, newSnapshotDoc(of, o.limit()))
		} else {
			rows := o.rows(of, by)
			matched += len(rows)
			if err := w.section(of.head, rows); err != nil {
				return err
			}
		}
		of.tree = nil
	}
	if o.types != "" && len(snapshots) > 0 && matched == 0 {
		std.warn("gctrail", "no object is of a type that matches "+text.Quoted(o.types)+"; list the types with: gctrail objects --top 0 FILE")
	}
	o.listed = append(o.listed, snapshots...)
	switch o.format.value {
	case "json":
		doc.Growth = newGrowthDocs(o.listed, o.limit())
		for i := range doc.Snapshots {
			doc.Snapshots[i].Suspects = suspectsIn(doc.Growth, &doc.Snapshots[i])
		}
		return jsontext.Encode(out, doc)
	case list.Table:
		if by == heap.ByType && !o.selects() || (by == heap.ByPath || by == heap.ByObject) && o.generation.value == "" && o.minSize == 0 && o.root.value == "" {
			return o.writeGrowth(std, out, by)
		}
	}
	return nil
}

// orders are the columns by which single objects are the largest. By others, these are sorted.
var orders = map[string]heap.Order{"bytes": heap.OrderBytes, "objects": heap.OrderHeld}

// rows returns the rows of a snapshot.
func (o *objectsOptions) rows(of *snapshotOf, by heap.Grouping) []objectRow {
	q := heap.Query{By: by, Generation: o.generation.value, Type: o.typeFilter(), MinSize: o.minSize, Root: o.root.value, Max: o.limit(), Order: orders[o.sort]}
	if o.top < 0 { // in csv too: there are millions
		q.Max = defaultTop
	}
	return text.Each(of.Groups(q, of.tree), func(g *heap.Group) objectRow { return objectRow{of, *g} })
}

func (s *snapshotOf) head(p *text.Page) {
	p.Heading("%s: %s, %s%s of %s", called(s.process), s.Label(), s.About(), text.Plural(s.Objects, "object", "objects"), units.Bytes(s.Bytes))
	if s.tree != nil {
		live, bytes := s.tree.Live(), s.tree.LiveBytes()
		p.Prose("Alive: ", fmt.Sprintf("%s of %s; nothing holds the other %s of %s.", text.Plural(live, "object", "objects"), units.Bytes(bytes), units.Count(s.Objects-live), units.Bytes(s.Bytes-bytes)))
	}
	var roots []string
	for k, n := range s.Roots {
		if n > 0 {
			roots = append(roots, heap.RootKind(k).Counted(n))
		}
	}
	if s.WeakRoots > 0 {
		roots = append(roots, text.Plural(s.WeakRoots, "weak handle", "weak handles")+", which hold nothing")
	}
	if len(roots) == 0 {
		roots = []string{"none"}
	}
	p.Prose("Roots: ", s.About()+strings.Join(roots, ", ")+".")
	var free []string
	for _, g := range s.Generations {
		if n := g.Free.Or(0); n > 0 && s.Missing.Whole() {
			free = append(free, units.Bytes(n)+" in "+g.Name)
		}
	}
	if len(free) > 0 {
		p.Prose("Free between objects: ", strings.Join(free, ", ")+".")
	}
	s.writeAllocated(p)
	if s.Native() {
		p.Prose("Types: ", "NativeAOT programs send no names. +0x1000 is the place of a type in the program's file, the same in every run: its .pdb, .map or symbols name it.")
	} else if n := s.Nameless(); n > 0 {
		why := "another session had received their names"
		if !s.Missing.Whole() {
			why = "their names are in a part that is missing, or another session had received them"
		}
		p.Prose("Unnamed: ", fmt.Sprintf("%s, because %s; --types-from FILE takes names from another trace of the process, such as an earlier snapshot.", text.Plural(int64(n), "type", "types"), why))
	}
	if missing := s.Lacks(); missing != "" {
		p.Prose("Missing: ", missing)
	}
}
