package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A joinRow is one phase of one heap, in one collection or in all.
type joinRow struct {
	pid    uint64
	number uint32
	join.Row
}

// joinFields returns the fields of a row; number is among them if each collection has
// rows of its own.
func joinFields(number bool) []list.Field[joinRow] {
	fields := []list.Field[joinRow]{
		{Name: "pid", Type: figure.Int, Value: func(r *joinRow) figure.Value { return list.PID(r.pid) }},
		{Name: "number", Type: figure.Int, Value: func(r *joinRow) figure.Value { return list.Count(r.number) }},
		{Name: "heap", Heading: "heap", Type: figure.Int, Value: func(r *joinRow) figure.Value { return list.Count(r.Heap) }},
		{Name: "phase", Heading: "phase", Left: true, Type: figure.Text, Value: func(r *joinRow) figure.Value { return list.Word(r.Phase) }},
		{Name: "working_ms", Heading: "working ms", Type: figure.Millis, Value: func(r *joinRow) figure.Value { return list.Time(r.Working) }},
		{Name: "waiting_ms", Heading: "waiting ms", Type: figure.Millis, Value: func(r *joinRow) figure.Value { return list.Time(r.Waiting) }},
		{Name: "waking_ms", Heading: "waking ms", Rank: 2, Type: figure.Millis, Value: func(r *joinRow) figure.Value { return list.Time(r.Waking) }},
		{Name: "last", Heading: "came last", Rank: 1, Type: figure.Int, Value: func(r *joinRow) figure.Value { return list.Count(r.Last) }},
		{Name: "held_ms", Heading: "others waited ms", Type: figure.Millis, Value: func(r *joinRow) figure.Value { return list.Time(r.WaitedFor) }},
	}
	if !number {
		fields = slices.Delete(fields, 1, 2)
	}
	return fields
}

type joinsOptions struct {
	listing
	tunings bool
}

func newJoinsOptions() *joinsOptions {
	return &joinsOptions{listing: newListing("joins", slices.Concat(list.Names(joinFields(true)), list.Names(tuningFields())[2:]))}
}

func newJoinsCmd(std *stdio) *cobra.Command {
	opts := newJoinsOptions()
	cmd := opts.newCmd(std, opts, "Show how the heaps of server GC wait for each other")
	cmd.Flags().BoolVar(&opts.tunings, "tunings", false, "show how server GC adapts the number of its heaps (DATAS)")
	return cmd
}

func (o *joinsOptions) run(ctx context.Context, std *stdio) error {
	if o.tunings {
		return o.each(ctx, std, o.listTunings)
	}
	return o.each(ctx, std, o.list)
}

// A joinSum sums up the phases of one process's heaps in all collections.
type joinSum struct {
	pid uint64
	join.Sum
}

func (o *joinsOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	inTable := o.format.value == "table"
	w := newRowWriter(&o.listing, std, out, joinFields(!inTable))
	var all sums[uint64, joinSum]
	var failed error
	o.byID = true
	model := join.Model{Done: func(c *join.Collection) {
		if o.ids != nil && !o.ids[c.PID] || !o.has(c.Start) {
			return
		}
		s := all.of(c.PID)
		s.pid = c.PID
		s.Add(c)
		if !inTable {
			failed = cmp.Or(failed, w.section(nil, joinRows(c.PID, c.Number, c.Rows)))
		}
	}}
	scan, err := o.scan(ctx, std, paths, []pass.Model{&model}, func(c *gc.Collection) {
		for _, m := range c.Marks {
			all.of(c.Process.PID).Mark(m.Heap, m.Root, m.Bytes.Or(0))
		}
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	all.all = slices.DeleteFunc(all.all, func(s *joinSum) bool { return s.Collections == 0 })
	rows := func(s *joinSum) []joinRow {
		if !inTable {
			return nil // written already
		}
		return joinRows(s.pid, 0, s.Rows())
	}
	return sections(scan, w, all.all, func(s *joinSum) uint64 { return s.pid }, joinsHead, rows,
		lack{what: "join events, which server GC has,", recording: report.RecordVerbose, server: true})
}

func joinRows(pid uint64, number uint32, of []join.Row) []joinRow {
	return text.Each(of, func(r *join.Row) joinRow { return joinRow{pid, number, *r} })
}

func joinsHead(p *text.Page, of *gc.Process, s *joinSum) {
	p.Heading("%s: %s paused in %s", called(of), units.Duration(s.Pause()), text.Plural(int64(s.Collections), "server GC", "server GCs"))
	straggler, ok := s.Straggler()
	if !ok {
		return
	}
	p.Prose("Straggler: ", fmt.Sprintf("heap %d; other heaps waited %s for it (%s of the pauses). %s",
		straggler.Heap, units.Duration(straggler.Held), units.Percent(100*float64(straggler.Held)/float64(max(1, s.Pause()))), straggler.Explain()))
}

// A tuningRow is a tuning with the heap after its collection.
type tuningRow struct {
	join.Tuning
	heap gc.Opt[int64]
}

func tuningFields() []list.Field[tuningRow] {
	size := func(r *tuningRow) bool { return r.Kind == join.TuningSize }
	return []list.Field[tuningRow]{
		{Name: "pid", Type: figure.Int, Value: func(r *tuningRow) figure.Value { return list.PID(r.PID) }},
		{Name: "number", Heading: "GC", Type: figure.Int, Value: func(r *tuningRow) figure.Value { return list.Count(r.Number) }},
		{Name: "at_ms", Heading: "at ms", Rank: 2, Type: figure.Millis, Form: figure.FormMoment, Value: func(r *tuningRow) figure.Value { return list.Time(r.At) }},
		{Name: "kind", Heading: "of", Left: true, Type: figure.Text, Value: func(r *tuningRow) figure.Value { return list.Word(r.Kind.String()) }},
		{Name: "heaps", Heading: "heaps", Type: figure.Int, Value: func(r *tuningRow) figure.Value { return list.If(r.Heaps > 0, list.Count(r.Heaps)) }},
		{Name: "heaps_limit", Heading: "justified", Rank: 1, Type: figure.Int, Value: func(r *tuningRow) figure.Value {
			return list.If(size(r) && r.Considered > 0, list.Count(r.Limit))
		}},
		{Name: "cost_pct", Heading: "cost %", Type: figure.Percent, Value: func(r *tuningRow) figure.Value { return list.Percent(r.Cost) }},
		{Name: "considered_pct", Heading: "decided by %", Rank: 1, Type: figure.Percent, Value: func(r *tuningRow) figure.Value {
			return list.If(r.Considered > 0, list.Percent(r.Considered))
		}},
		{Name: "target_pct", Type: figure.Percent, Value: func(r *tuningRow) figure.Value { return list.Percent(r.Target()) }},
		{Name: "stable_bytes", Heading: "live MB", Rank: 3, Type: figure.Bytes, Value: func(r *tuningRow) figure.Value {
			return list.If(r.Stable > 0, list.Bytes(r.Stable))
		}},
		{Name: "heap_bytes", Heading: "heap MB", Rank: 2, Type: figure.Bytes, Value: func(r *tuningRow) figure.Value {
			return list.Opt(r.heap, list.Bytes)
		}},
		{Name: "since_change", Type: figure.Int, Value: func(r *tuningRow) figure.Value { return list.Count(r.SinceChange) }},
		{Name: "condition", Type: figure.Text, Value: func(r *tuningRow) figure.Value { return list.If(size(r), list.Word(r.Condition.String())) }},
		{Name: "reasons", Type: figure.List, Value: func(r *tuningRow) figure.Value { return list.If(size(r), list.Words(r.Reasons.Names())) }},
		{Name: "delays", Type: figure.List, Value: func(r *tuningRow) figure.Value { return list.If(size(r), list.Words(r.Delays.Names())) }},
		{Name: "adjusted", Type: figure.Text, Value: func(r *tuningRow) figure.Value { return list.If(size(r), list.Word(r.Adjusted.String())) }},
		{Name: "decision", Heading: "decision", Left: true, Type: figure.Text, Value: func(r *tuningRow) figure.Value {
			what, _ := r.Decision()
			return list.Word(what)
		}},
		{Name: "why", Heading: "why", Left: true, Type: figure.Text, Value: func(r *tuningRow) figure.Value {
			_, why := r.Decision()
			return list.Word(why)
		}},
	}
}

// A tuningSum is the tunings of one process.
type tuningSum struct {
	pid     uint64
	rows    []tuningRow
	changes int
	least   uint16
	most    uint16
	cost    float64 // of the tunings that look at all collections
	costs   int
}

// tune adds a tuning.
func (s *tuningSum) tune(r tuningRow) {
	s.pid, s.rows = r.PID, append(s.rows, r)
	if r.Kind != join.TuningFull {
		s.cost += r.Cost
		s.costs++
	}
	if r.Heaps == 0 {
		return
	}
	if r.Before != 0 && r.Before != r.Heaps {
		s.changes++
	}
	s.most = max(s.most, r.Heaps)
	if s.least == 0 || r.Heaps < s.least {
		s.least = r.Heaps
	}
}

func (o *joinsOptions) listTunings(ctx context.Context, std *stdio, out *output, paths []string) error {
	w := newRowWriter(&o.listing, std, out, tuningFields())
	var model join.Tunings
	type key struct {
		pid    uint64
		number uint32
	}
	heaps := map[key]gc.Opt[int64]{}
	scan, err := o.scan(ctx, std, paths, []pass.Model{o.during(&model)}, func(c *gc.Collection) {
		if len(heaps) < maxHeapRows {
			heaps[key{c.Process.PID, c.Number}] = c.HeapAfter
		}
	})
	if err != nil {
		return err
	}
	var all sums[uint64, tuningSum]
	for _, t := range model.All() {
		all.of(t.PID).tune(tuningRow{t, heaps[key{t.PID, t.Number}]})
	}
	return sections(scan, w, all.all, func(s *tuningSum) uint64 { return s.pid }, tuningsHead, func(s *tuningSum) []tuningRow { return s.rows },
		lack{what: "tunings of the number of heaps (DATAS, from .NET 8 on)", recording: report.RecordCollections, server: true})
}

func tuningsHead(p *text.Page, of *gc.Process, s *tuningSum) {
	heaps := fmt.Sprintf("%d to %d heaps", s.least, s.most)
	if s.least == s.most {
		heaps = text.Plural(int64(s.most), "heap", "heaps")
	}
	p.Heading("%s: %s, %s, changed %s", called(of), text.Plural(int64(len(s.rows)), "tuning", "tunings"), heaps,
		text.Plural(int64(s.changes), "time", "times"))
	if s.costs > 0 {
		p.Prose("Cost: ", fmt.Sprintf("pauses and waits for memory took %s of the time on average; the default target is %d %%.",
			units.Percent(s.cost/float64(s.costs)), join.TargetCost))
	}
}
