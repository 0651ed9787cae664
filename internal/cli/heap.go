package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// heapFields returns the fields of a row; each heap has its own if perHeap is set.
func heapFields(perHeap bool) []list.Field[heapRow] {
	fields := identity((*heapRow).collection, nil, "pid", "number", "start_ms", "generation")
	if perHeap {
		fields = append(fields, heapField())
	}
	for i, name := range gc.GenerationNames() {
		f := sizeOf(i, name+"_bytes", after)
		f.Heading, f.Rank = name+" MB", max(0, i-2)
		fields = append(fields, f)
	}
	fields = append(fields, sizeOfAll("free_bytes", "free MB", 0, fragmentation),
		sizeOfAll("free_list_bytes", "in lists MB", 6, func(g *gc.Generation) gc.Opt[int64] { return g.FreeList }))
	for i, name := range gc.GenerationNames() {
		f := sizeOf(i, name+"_budget_bytes", budget)
		if i == 0 {
			f.Heading, f.Rank = "gen0 budget MB", 5
		}
		fields = append(fields, f)
	}
	if perHeap {
		return fields
	}
	return append(fields,
		committed("committed_bytes", "committed MB", (*heap.Committed).Total),
		committed("committed_in_use_bytes", "", func(c *heap.Committed) int64 { return c.InUse }),
		committed("committed_free_bytes", "", func(c *heap.Committed) int64 { return c.Free }),
		committed("committed_global_free_bytes", "", func(c *heap.Committed) int64 { return c.GlobalFree }),
		committed("committed_decommit_bytes", "", func(c *heap.Committed) int64 { return c.Decommit }),
		committed("committed_bookkeeping_bytes", "", func(c *heap.Committed) int64 { return c.Bookkeeping }),
		segmentCount("segments_created", "regions +", func(s heap.SegmentCounts) int64 { return s.Created }),
		segmentCount("segments_freed", "-", func(s heap.SegmentCounts) int64 { return s.Freed }),
		segmentCount("segments_live", "live", func(s heap.SegmentCounts) int64 { return s.Live }))
}

// budget returns how much may be allocated in a generation, if the collection sets it.
func budget(g *gc.Generation) gc.Opt[int64] {
	return gc.SomeIf(g.Budget, g.Budget > 0)
}

// committed returns the field of a part of what is committed.
func committed(name, heading string, part func(*heap.Committed) int64) list.Field[heapRow] {
	return list.Field[heapRow]{Name: name, Heading: heading, Rank: 3, Type: figure.Bytes, Value: func(r *heapRow) figure.Value {
		s, _ := r.segments.Get()
		return list.Opt(s.Committed, func(c heap.Committed) figure.Value { return list.Bytes(part(&c)) })
	}}
}

// segmentCount returns the field of a number of segments.
func segmentCount(name, heading string, number func(heap.SegmentCounts) int64) list.Field[heapRow] {
	return list.Field[heapRow]{Name: name, Heading: heading, Rank: 4, Type: figure.Int, Value: func(r *heapRow) figure.Value {
		return list.Opt(r.segments, func(s heap.SegmentCounts) figure.Value { return list.Count(number(s)) })
	}}
}

type heapOptions struct{ listing }

// maxHeapRows bounds the rows of a table, because they are held until the trace's end.
const maxHeapRows = 1 << 16

func newHeapOptions() *heapOptions {
	return &heapOptions{newListing("heap", append(list.Names(heapFields(false)), "heap"))}
}

func newHeapCmd(std *stdio) *cobra.Command {
	opts := newHeapOptions()
	cmd := opts.newCmd(std, opts, "Show the heap after each collection: generations, free space")
	cmd.Flags().BoolVar(&opts.perHeap, "per-heap", false, "one row for each heap of a collection")
	return cmd
}

func (o *heapOptions) run(ctx context.Context, std *stdio) error { return o.each(ctx, std, o.list) }

// A heapTable is the rows of one process.
type heapTable struct {
	process     *gc.Process
	collections int
	rows        []heapRow
	peak        int64
	committed   heap.Committed // at its largest
	at          uint32         // the collection
}

func heapHead(p *text.Page, of *gc.Process, t *heapTable) {
	p.Heading("%s: %s, at most %s", called(of), text.Plural(int64(t.collections), "GC", "GCs"), units.Bytes(t.peak))
	if c := &t.committed; c.Total() > 0 {
		p.Prose("Committed: ", fmt.Sprintf("at most %s (GC %d): %s in use, %s in free regions; plus %s to be decommitted and %s of bookkeeping.",
			units.Bytes(c.Total()), t.at, units.Bytes(c.InUse), units.Bytes(c.Free+c.GlobalFree), units.Bytes(c.Decommit), units.Bytes(c.Bookkeeping)))
	}
}

func (o *heapOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	w := newRowWriter(&o.listing, std, out, heapFields(o.perHeap))
	var segments heap.Segments
	var tables sums[*gc.Process, heapTable]
	var failed error
	o.unselected = func(c *gc.Collection) { segments.Remove(c.Process.PID, c.ClrInstance, c.Number) }
	scan, err := o.scan(ctx, std, paths, []pass.Model{&segments}, func(c *gc.Collection) {
		t := tables.of(c.Process)
		t.process = c.Process
		t.collections++
		t.peak = max(t.peak, c.LargestHeap().Or(0))
		snapshot, known := segments.Remove(c.Process.PID, c.ClrInstance, c.Number)
		if c.AffectedByLoss && !c.CommittedBefore.Known() { // it may be impossible
			snapshot.Committed = gc.Opt[heap.Committed]{}
		}
		if in := snapshot.Committed.Or(heap.Committed{}); in.Total() > t.committed.Total() {
			t.committed, t.at = in, c.Number
		}
		rows := o.rows(c, snapshot, known)
		switch {
		case o.format.value != "table" && o.limit() == 0 && o.sort == "":
			failed = cmp.Or(failed, w.section(nil, rows))
		case len(t.rows) < maxHeapRows:
			t.rows = append(t.rows, rows...)
		}
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	w.rejected = segments.Rejected()
	return sections(scan, std, w, tables.all, func(t *heapTable) uint64 { return t.process.PID }, heapHead,
		func(t *heapTable) []heapRow { return t.rows }, lack{what: "collections", recording: report.RecordCollections})
}

// rows returns the rows of one collection.
func (o *heapOptions) rows(c *gc.Collection, snapshot heap.SegmentCounts, known bool) []heapRow {
	if !o.perHeap {
		return []heapRow{{Collection: c, generations: c.Generations, segments: gc.SomeIf(snapshot, known)}}
	}
	return perHeapRows(c)
}

// A heapRow is the heap of a process at a collection, or one heap of server GC.
type heapRow struct {
	*gc.Collection
	heap        gc.Opt[uint32] // unknown for all heaps together
	generations []gc.Generation
	segments    gc.Opt[heap.SegmentCounts]
}

func (r *heapRow) collection() *gc.Collection { return r.Collection }

// perHeapRows returns a row for each heap of a collection.
func perHeapRows(c *gc.Collection) []heapRow {
	rows := make([]heapRow, len(c.PerHeap))
	for i, p := range c.PerHeap {
		rows[i] = heapRow{Collection: c, heap: gc.Some(p.Heap), generations: p.Generations}
	}
	slices.SortStableFunc(rows, func(a, b heapRow) int { return cmp.Compare(a.heap.Or(0), b.heap.Or(0)) })
	return rows
}

// A sizeGetter reads a size of a generation.
type sizeGetter func(*gc.Generation) gc.Opt[int64]

// after returns the size of a generation after the collection.
func after(g *gc.Generation) gc.Opt[int64] { return g.After }

// fragmentation returns the free space of a generation.
func fragmentation(g *gc.Generation) gc.Opt[int64] { return g.Fragmentation }

// sizeOf returns a field with a size of one generation.
func sizeOf(i int, name string, size sizeGetter) list.Field[heapRow] {
	return list.Field[heapRow]{Name: name, Type: figure.Bytes, Value: func(r *heapRow) figure.Value {
		if i >= len(r.generations) {
			return figure.Value{}
		}
		return list.Opt(size(&r.generations[i]), list.Bytes)
	}}
}

// sizeOfAll returns a field with the sum of a size of all generations, unknown if one of them
// is, because a partial sum would pass for the whole.
func sizeOfAll(name, heading string, rank int, size sizeGetter) list.Field[heapRow] {
	return list.Field[heapRow]{Name: name, Heading: heading, Rank: rank, Type: figure.Bytes, Value: func(r *heapRow) figure.Value {
		var sum gc.Sum[int64]
		for i := range r.generations {
			sum.Add(size(&r.generations[i]))
		}
		total, is := sum.Get()
		return list.If(is == gc.Exact, list.Bytes(total))
	}}
}

// heapField returns the field with the number of the heap.
func heapField() list.Field[heapRow] {
	return list.Field[heapRow]{Name: "heap", Heading: "heap", Type: figure.Int, Value: func(r *heapRow) figure.Value { return list.Opt(r.heap, list.Count) }}
}

// rootTypes are the kinds of roots that objects are marked from, as keys spell them.
var rootTypes = []struct {
	typ  clr.RootType
	name string
}{
	{clr.RootTypeStack, "stack"},
	{clr.RootTypeFinalizeQueue, "finalize_queue"},
	{clr.RootTypeHandles, "handles"},
	{clr.RootTypeOlder, "older"},
	{clr.RootTypeSizedRef, "sized_ref"},
	{clr.RootTypeOverflow, "overflow"},
	{clr.RootTypeDependentHandles, "dependent_handles"},
	{clr.RootTypeNewFQ, "new_fq"},
	{clr.RootTypeSteal, "steal"},
	{clr.RootTypeBGC, "bgc"},
}

// marking returns the fields of how long a heap marked from the wanted kinds of roots, and
// how much.
func marking(took, marked string, wanted func(clr.RootType) bool) []list.Field[heapRow] {
	sums := func(r *heapRow) (took gc.Sum[time.Duration], marked gc.Sum[int64]) {
		for i := range r.Marks {
			if m := &r.Marks[i]; gc.Some(m.Heap) == r.heap && wanted(m.Root) {
				took.Add(gc.Some(m.Duration))
				marked.Add(m.Bytes)
			}
		}
		return took, marked
	}
	return []list.Field[heapRow]{
		{Name: took, Type: figure.Millis, Value: func(r *heapRow) figure.Value {
			took, _ := sums(r)
			return list.Opt(took.Opt(), list.Time)
		}},
		{Name: marked, Type: figure.Bytes, Value: func(r *heapRow) figure.Value {
			_, marked := sums(r)
			return list.Opt(marked.Opt(), list.Bytes)
		}},
	}
}

// perHeapFields returns the fields of a heap's part in a collection; tables leave out the
// figures of each generation.
func perHeapFields() []list.Field[heapRow] {
	sizes := []struct {
		name, heading string
		rank          int
		size          sizeGetter
	}{
		{"before_bytes", "before MB", 0, func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Before) }},
		{"after_bytes", "after MB", 0, after},
		{"fragmentation_bytes", "free MB", 2, fragmentation},
		{"out_bytes", "survived MB", 0, func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Out) }},
		{"pinned_bytes", "pinned MB", 3, func(g *gc.Generation) gc.Opt[int64] { return g.Pinned }},
	}
	fields := append(identity((*heapRow).collection, map[string]int{"start_ms": 1, "kind": 1}, "pid", "number", "start_ms", "generation", "kind"),
		heapField(), list.Field[heapRow]{Name: "affected_by_loss", Type: figure.Bool, Value: func(r *heapRow) figure.Value { return list.Bool(r.AffectedByLoss) }})
	for _, s := range sizes {
		fields = append(fields, sizeOfAll(s.name, s.heading, s.rank, s.size))
	}
	all := marking("mark_ms", "marked_bytes", func(clr.RootType) bool { return true })
	all[0].Heading, all[0].Rank, all[1].Heading, all[1].Rank = "marking ms", 2, "marked MB", 2
	fields = append(fields, all...)
	for _, root := range rootTypes {
		name := "mark_" + root.name
		fields = append(fields, marking(name+"_ms", name+"_bytes", func(from clr.RootType) bool { return from == root.typ })...)
	}
	for i, name := range gc.GenerationNames() {
		for _, s := range sizes {
			fields = append(fields, sizeOf(i, name+"_"+s.name, s.size))
		}
		fields = append(fields, sizeOf(i, name+"_budget_bytes", func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Budget) }))
	}
	return fields
}

// heapRows writes a row for each heap of each collection.
type heapRows struct {
	rows    stream[heapRow]
	missing int // collections of the trace without heap histories
}

func (w *heapRows) begin(r *reading) error {
	w.missing = 0
	return w.rows.begin(r)
}

func (w *heapRows) add(c *gc.Collection) error {
	rows := perHeapRows(c)
	if len(rows) == 0 {
		w.missing++
	}
	for i := range rows {
		if err := w.rows.add(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *heapRows) end() error {
	if w.missing > 0 {
		w.rows.std.warn(w.rows.r.in.Name, "the trace lacks the heap histories of "+text.Plural(int64(w.missing), "collection", "collections"))
	}
	return w.rows.end()
}
