package cli

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A heapRow is a collection with the heap of the process, or with one heap of server GC.
type heapRow struct {
	*gc.Collection
	heap        gc.Opt[uint32] // unknown for all heaps together
	generations []gc.Generation
	segments    gc.Opt[heap.SegmentCounts]
}

func (r *heapRow) collection() *gc.Collection { return r.Collection }

// perHeapRows returns a row for each heap of a collection.
func perHeapRows(c *gc.Collection) []heapRow {
	rows := text.Each(c.PerHeap, func(p *gc.HeapPart) heapRow {
		return heapRow{Collection: c, heap: gc.Some(p.Heap), generations: p.Generations}
	})
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
