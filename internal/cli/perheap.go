package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/export/csv"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
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
func (r *gcHeapRow) total(of func(*gc.Generation) gc.Opt[int64]) column.Value {
	var sum int64
	for i := range r.part {
		n, known := of(&r.part[i]).Get()
		if !known {
			return column.Value{}
		}
		sum += n
	}
	return knownIf(len(r.part) > 0, bytesOf(sum))
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

// gcHeapFields returns those of a row; what each generation has is left out of
// tables.
func gcHeapFields() []field[gcHeapRow] {
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
	fields := []field[gcHeapRow]{
		{name: "pid", value: func(r *gcHeapRow) column.Value { return pidOf(r.Process.PID) }},
		{name: "number", heading: "GC", value: func(r *gcHeapRow) column.Value { return countOf(r.Number) }},
		{name: "start_ms", heading: "start ms", rank: 1, value: func(r *gcHeapRow) column.Value { return valueOf(r.Start, timeOf) }},
		{name: "generation", heading: "gen", value: func(r *gcHeapRow) column.Value { return valueOf(r.Generation, countOf[int]) }},
		{name: "kind", heading: "kind", left: true, rank: 1, value: func(r *gcHeapRow) column.Value {
			return knownIf(r.Kind != gc.KindUnknown, wordOf(r.Kind.String()))
		}},
		{name: "heap", heading: "heap", value: func(r *gcHeapRow) column.Value { return countOf(r.heap) }},
		{name: "affected_by_loss", value: func(r *gcHeapRow) column.Value { return boolOf(r.AffectedByLoss) }},
	}
	for _, s := range sizes {
		fields = append(fields, field[gcHeapRow]{
			name: s.name, heading: s.heading, rank: s.rank,
			value: func(r *gcHeapRow) column.Value { return r.total(s.of) },
		})
	}
	fields = append(
		fields,
		field[gcHeapRow]{name: "mark_ms", heading: "marking ms", rank: 2, value: func(r *gcHeapRow) column.Value { return valueOf(r.marking, timeOf) }},
		field[gcHeapRow]{name: "marked_bytes", heading: "marked MB", rank: 2, value: func(r *gcHeapRow) column.Value { return valueOf(r.marked, bytesOf) }},
	)
	for _, root := range rootTypes {
		name := "mark_" + root.name
		fields = append(fields,
			field[gcHeapRow]{name: name + "_ms", value: func(r *gcHeapRow) column.Value {
				took, _ := r.markedFrom(root.typ)
				return valueOf(took, timeOf)
			}},
			field[gcHeapRow]{name: name + "_bytes", value: func(r *gcHeapRow) column.Value {
				_, marked := r.markedFrom(root.typ)
				return valueOf(marked, bytesOf)
			}})
	}
	for i, name := range gc.GenerationNames() {
		for _, s := range sizes {
			fields = append(fields, field[gcHeapRow]{name: name + "_" + s.name, value: func(r *gcHeapRow) column.Value {
				if i >= len(r.part) {
					return column.Value{}
				}
				return valueOf(s.of(&r.part[i]), bytesOf)
			}})
		}
		fields = append(fields, field[gcHeapRow]{name: name + "_budget_bytes", value: func(r *gcHeapRow) column.Value {
			if i >= len(r.part) {
				return column.Value{}
			}
			return bytesOf(r.part[i].Budget)
		}})
	}
	return fields
}

// perHeapGCs writes a row for each heap of each collection.
type perHeapGCs struct {
	*gcsOptions
	std    *stdio
	out    *output
	fields []field[gcHeapRow]
	table  text.Table
	r      *reading
	begun  int // traces
	untold int // collections whose heaps the trace does not tell
	line   []byte
}

func newPerHeapGCs(o *gcsOptions, std *stdio, out *output) *perHeapGCs {
	return &perHeapGCs{gcsOptions: o, std: std, out: out, fields: gcHeapFields()}
}

func (w *perHeapGCs) begin(r *reading) error {
	w.r = r
	w.untold = 0
	w.begun++
	switch w.format.value {
	case "table":
		w.table = text.Table{W: w.out}
		if w.out.file == nil {
			w.table.Bold, w.table.Width = w.std.outTerm.Colour, w.std.outTerm.Width
		}
		for _, f := range w.fields {
			if f.heading != "" {
				w.table.Columns = append(w.table.Columns, text.Column{Heading: f.heading, Left: f.left, Rank: f.rank})
			}
		}
		if len(w.files) > 1 {
			_, err := fmt.Fprintf(w.out, "%s%s:\n", map[bool]string{true: "\n"}[w.begun > 1], r.in.Name)
			return err
		}
	case "csv":
		if w.begun == 1 {
			_, err := w.out.Write([]byte(strings.Join(fieldNames(w.fields), ",") + "\n"))
			return err
		}
	}
	return nil
}

func (w *perHeapGCs) collection(c *gc.Collection) error {
	rows := gcHeapRows(c)
	if len(rows) == 0 {
		w.untold++
	}
	for i := range rows {
		if err := w.row(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *perHeapGCs) row(r *gcHeapRow) error {
	var values []column.Value
	var cells []string
	for _, f := range w.fields {
		v := f.value(r)
		values = append(values, v)
		if f.heading != "" {
			cells = append(cells, cell(v))
		}
	}
	w.line = w.line[:0]
	switch w.format.value {
	case "table":
		return w.table.Row(cells)
	case "csv":
		w.line = (&csv.Writer{Raw: w.raw}).AppendRow(w.line, values)
	default:
		w.line = jsonl.AppendRow(w.line, fieldNames(w.fields), values)
	}
	_, err := w.out.Write(w.line)
	return err
}

func (w *perHeapGCs) end() error {
	if w.untold > 0 {
		w.std.warn(w.r.in.Name, "the trace lacks the heap histories of "+text.Plural(int64(w.untold), "collection", "collections"))
	}
	if w.format.value != "table" {
		return nil
	}
	return w.table.Flush()
}

// checkPerHeap refuses flags that apply to whole collections only.
func (o *gcsOptions) checkPerHeap() error {
	if o.perHeap && len(o.columns) > 0 {
		return errors.New("--per-heap has columns of its own; leave out --columns")
	}
	return nil
}
