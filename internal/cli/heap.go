package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

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
	committed   heap.Committed // at its largest after a collection
	at          uint32         // the collection
}

func heapHead(p *text.Page, of *gc.Process, t *heapTable) {
	p.Heading("%s: %s, largest heap %s", called(of), text.Plural(int64(t.collections), "GC", "GCs"), units.Bytes(t.peak))
	if c := &t.committed; c.Total() > 0 {
		p.Prose("Committed: ", fmt.Sprintf("up to %s after a GC (GC %d): %s in use, %s in free regions; plus %s to be decommitted and %s of bookkeeping.",
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
	return sections(scan, w, tables.all, func(t *heapTable) uint64 { return t.process.PID }, heapHead,
		func(t *heapTable) []heapRow { return t.rows }, lack{what: "collections", recording: report.RecordCollections})
}

// rows returns the rows of one collection.
func (o *heapOptions) rows(c *gc.Collection, snapshot heap.SegmentCounts, known bool) []heapRow {
	if !o.perHeap {
		return []heapRow{{Collection: c, generations: c.Generations, segments: gc.SomeIf(snapshot, known)}}
	}
	return perHeapRows(c)
}
