package cli

import (
	"context"
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

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
	return sections(scan, std, w, all.all, func(s *tuningSum) uint64 { return s.pid }, tuningsHead, func(s *tuningSum) []tuningRow { return s.rows },
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
