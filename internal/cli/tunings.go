package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A tuningRow is a tuning with the heap after its collection.
type tuningRow struct {
	join.Tuning
	heap gc.Opt[int64]
}

func tuningFields() []field[tuningRow] {
	size := func(r *tuningRow) bool { return r.Kind == join.TuningSize }
	return []field[tuningRow]{
		{name: "pid", value: func(r *tuningRow) column.Value { return pidOf(r.PID) }},
		{name: "number", heading: "GC", value: func(r *tuningRow) column.Value { return countOf(r.Number) }},
		{name: "at_ms", heading: "at ms", rank: 2, value: func(r *tuningRow) column.Value { return timeOf(r.At) }},
		{name: "kind", heading: "of", left: true, value: func(r *tuningRow) column.Value { return wordOf(r.Kind.String()) }},
		{name: "heaps", heading: "heaps", value: func(r *tuningRow) column.Value { return knownIf(r.Heaps > 0, countOf(r.Heaps)) }},
		{name: "heaps_limit", heading: "justified", rank: 1, value: func(r *tuningRow) column.Value {
			return knownIf(size(r) && r.Considered > 0, countOf(r.Limit))
		}},
		{name: "cost_pct", heading: "cost %", value: func(r *tuningRow) column.Value { return percentOf(r.Cost) }},
		{name: "considered_pct", heading: "decided by %", rank: 1, value: func(r *tuningRow) column.Value {
			return knownIf(r.Considered > 0, percentOf(r.Considered))
		}},
		{name: "target_pct", value: func(r *tuningRow) column.Value { return percentOf(r.Target()) }},
		{name: "stable_bytes", heading: "live MB", rank: 3, value: func(r *tuningRow) column.Value {
			return knownIf(r.Stable > 0, bytesOf(r.Stable))
		}},
		{name: "heap_bytes", heading: "heap MB", rank: 2, value: func(r *tuningRow) column.Value {
			return valueOf(r.heap, bytesOf)
		}},
		{name: "since_change", value: func(r *tuningRow) column.Value { return countOf(r.SinceChange) }},
		{name: "condition", value: func(r *tuningRow) column.Value { return knownIf(size(r), wordOf(r.Condition.String())) }},
		{name: "reasons", value: func(r *tuningRow) column.Value { return knownIf(size(r), listOf(r.Reasons.Names())) }},
		{name: "delays", value: func(r *tuningRow) column.Value { return knownIf(size(r), listOf(r.Delays.Names())) }},
		{name: "adjusted", value: func(r *tuningRow) column.Value { return knownIf(size(r), wordOf(r.Adjusted.String())) }},
		{name: "decision", heading: "decision", left: true, value: func(r *tuningRow) column.Value {
			what, _ := r.Decision()
			return wordOf(what)
		}},
		{name: "why", heading: "why", left: true, value: func(r *tuningRow) column.Value {
			_, why := r.Decision()
			return wordOf(why)
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

func (s *tuningSum) add(r tuningRow) {
	s.rows = append(s.rows, r)
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
	w := &rowWriter[tuningRow]{listing: &o.listing, std: std, out: out, fields: tuningFields()}
	var model join.Tunings
	type key struct {
		pid    uint64
		number uint32
	}
	heaps := map[key]gc.Opt[int64]{}
	scan, err := o.scan(ctx, std, paths, open.Options{Want: join.WantsTunings}, func(info *trace.Info, ev *trace.Event) {
		if o.during(info, ev) {
			model.Feed(ev)
		}
	}, func(c *gc.Collection) {
		if len(heaps) < maxHeapRows {
			heaps[key{c.Process.PID, c.Number}] = c.HeapAfter
		}
	})
	if err != nil {
		return err
	}
	var sums []*tuningSum
	for _, t := range model.All() {
		i := slices.IndexFunc(sums, func(s *tuningSum) bool { return s.pid == t.PID })
		if i < 0 {
			i = len(sums)
			sums = append(sums, &tuningSum{pid: t.PID})
		}
		sums[i].add(tuningRow{t, heaps[key{t.PID, t.Number}]})
	}
	return sections(scan, std, w, sums, func(s *tuningSum) uint64 { return s.pid }, tuningsHead, func(s *tuningSum) []tuningRow { return s.rows },
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
