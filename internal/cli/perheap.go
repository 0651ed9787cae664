package cli

import (
	"errors"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A gcHeapRow is the part of one heap in a collection.
type gcHeapRow struct {
	*gc.Collection
	heap    uint32
	part    []gc.Generation
	marking gc.Opt[time.Duration]
	marked  gc.Opt[int64]
}

// gcHeapRows returns the rows of a collection, by heap.
func gcHeapRows(c *gc.Collection) []gcHeapRow {
	rows := make([]gcHeapRow, len(c.PerHeap))
	for i, p := range c.PerHeap {
		rows[i] = gcHeapRow{Collection: c, heap: p.Heap, part: p.Generations}
		var marking time.Duration
		var marked int64
		seen, bytes := false, false
		for _, m := range c.Marks {
			if m.Heap != p.Heap {
				continue
			}
			seen = true
			marking += m.Duration
			if n, known := m.Bytes.Get(); known {
				bytes = true
				marked += n
			}
		}
		if seen {
			rows[i].marking = gc.Some(marking)
		}
		if bytes {
			rows[i].marked = gc.Some(marked)
		}
	}
	slices.SortStableFunc(rows, func(a, b gcHeapRow) int { return int(int64(a.heap) - int64(b.heap)) })
	return rows
}

// total sums up a figure of the generations, unknown if it is of one of them.
func (r *gcHeapRow) total(of func(*gc.Generation) gc.Opt[int64]) figure.Value {
	var sum int64
	for i := range r.part {
		n, known := of(&r.part[i]).Get()
		if !known {
			return figure.Value{}
		}
		sum += n
	}
	return list.If(len(r.part) > 0, list.Bytes(sum))
}

// rootTypes are the kinds of roots in rows of marking, as keys spell them.
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

// markedFrom returns how long the heap marked from a kind of root, and how much.
func (r *gcHeapRow) markedFrom(root clr.RootType) (took gc.Opt[time.Duration], marked gc.Opt[int64]) {
	for _, m := range r.Marks {
		if m.Heap != r.heap || m.Root != root {
			continue
		}
		took = gc.Some(took.Or(0) + m.Duration)
		if n, known := m.Bytes.Get(); known {
			marked = gc.Some(marked.Or(0) + n)
		}
	}
	return took, marked
}

// gcHeapFields returns the fields of a row; tables leave out the figures of each
// generation.
func gcHeapFields() []list.Field[gcHeapRow] {
	sizes := []struct {
		name, heading string
		rank          int
		of            func(*gc.Generation) gc.Opt[int64]
	}{
		{"before_bytes", "before MB", 0, func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Before) }},
		{"after_bytes", "after MB", 0, func(g *gc.Generation) gc.Opt[int64] { return g.After }},
		{"fragmentation_bytes", "free MB", 2, func(g *gc.Generation) gc.Opt[int64] { return g.Fragmentation }},
		{"out_bytes", "survived MB", 0, func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Out) }},
		{"pinned_bytes", "pinned MB", 3, func(g *gc.Generation) gc.Opt[int64] { return g.Pinned }},
	}
	fields := []list.Field[gcHeapRow]{
		{Name: "pid", Type: figure.Int, Value: func(r *gcHeapRow) figure.Value { return list.PID(r.Process.PID) }},
		{Name: "number", Heading: "GC", Type: figure.Int, Value: func(r *gcHeapRow) figure.Value { return list.Count(r.Number) }},
		{Name: "start_ms", Heading: "start ms", Rank: 1, Type: figure.Millis, Value: func(r *gcHeapRow) figure.Value { return list.Opt(r.Start, list.Time) }},
		{Name: "generation", Heading: "gen", Type: figure.Int, Value: func(r *gcHeapRow) figure.Value { return list.Opt(r.Generation, list.Count[int]) }},
		{Name: "kind", Heading: "kind", Left: true, Rank: 1, Type: figure.Text, Value: func(r *gcHeapRow) figure.Value {
			return list.If(r.Kind != gc.KindUnknown, list.Word(r.Kind.String()))
		}},
		{Name: "heap", Heading: "heap", Type: figure.Int, Value: func(r *gcHeapRow) figure.Value { return list.Count(r.heap) }},
		{Name: "affected_by_loss", Type: figure.Bool, Value: func(r *gcHeapRow) figure.Value { return list.Bool(r.AffectedByLoss) }},
	}
	for _, s := range sizes {
		fields = append(fields, list.Field[gcHeapRow]{
			Name: s.name, Heading: s.heading, Rank: s.rank, Type: figure.Bytes,
			Value: func(r *gcHeapRow) figure.Value { return r.total(s.of) },
		})
	}
	fields = append(
		fields,
		list.Field[gcHeapRow]{Name: "mark_ms", Heading: "marking ms", Rank: 2, Type: figure.Millis, Value: func(r *gcHeapRow) figure.Value { return list.Opt(r.marking, list.Time) }},
		list.Field[gcHeapRow]{Name: "marked_bytes", Heading: "marked MB", Rank: 2, Type: figure.Bytes, Value: func(r *gcHeapRow) figure.Value { return list.Opt(r.marked, list.Bytes) }},
	)
	for _, root := range rootTypes {
		name := "mark_" + root.name
		fields = append(fields,
			list.Field[gcHeapRow]{Name: name + "_ms", Type: figure.Millis, Value: func(r *gcHeapRow) figure.Value {
				took, _ := r.markedFrom(root.typ)
				return list.Opt(took, list.Time)
			}},
			list.Field[gcHeapRow]{Name: name + "_bytes", Type: figure.Bytes, Value: func(r *gcHeapRow) figure.Value {
				_, marked := r.markedFrom(root.typ)
				return list.Opt(marked, list.Bytes)
			}})
	}
	for i, name := range gc.GenerationNames() {
		for _, s := range sizes {
			fields = append(fields, list.Field[gcHeapRow]{Name: name + "_" + s.name, Type: figure.Bytes, Value: func(r *gcHeapRow) figure.Value {
				if i >= len(r.part) {
					return figure.Value{}
				}
				return list.Opt(s.of(&r.part[i]), list.Bytes)
			}})
		}
		fields = append(fields, list.Field[gcHeapRow]{Name: name + "_budget_bytes", Type: figure.Bytes, Value: func(r *gcHeapRow) figure.Value {
			if i >= len(r.part) {
				return figure.Value{}
			}
			return list.Bytes(r.part[i].Budget)
		}})
	}
	return fields
}

// heapRows writes a row for each heap of each collection.
type heapRows struct {
	stream
	rows    *list.Writer[gcHeapRow]
	lacking int // collections without heap histories, of the trace
}

func (w *heapRows) begin(r *reading) error {
	w.lacking = 0
	return startTable(&w.stream, w.rows, r)
}

func (w *heapRows) collection(c *gc.Collection) error {
	rows := gcHeapRows(c)
	if len(rows) == 0 {
		w.lacking++
	}
	for i := range rows {
		if err := addRow(&w.stream, w.rows, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *heapRows) end() error {
	if w.lacking > 0 {
		w.std.warn(w.r.in.Name, "the trace lacks the heap histories of "+text.Plural(int64(w.lacking), "collection", "collections"))
	}
	return w.stream.end()
}

// checkPerHeap refuses flags that apply to whole collections only.
func (o *gcsOptions) checkPerHeap() error {
	if o.perHeap && len(o.columns) > 0 {
		return errors.New("--per-heap has columns of its own; leave out --columns")
	}
	return nil
}
