package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/symbol"
)

type handlesOptions struct {
	listing
	by      choice
	perfMap perfMapFlag
}

func newHandlesOptions() *handlesOptions {
	return &handlesOptions{
		listing: newListing("handles", list.Names((&handleSection{}).fields(true))),
		by:      choice{"kind", []string{"kind", "kind,stack"}},
	}
}

func newHandlesCmd(std *stdio) *cobra.Command {
	opts := newHandlesOptions()
	cmd := opts.newCmd(std, opts, "List the GC handles that a program creates and leaves open")
	flags := cmd.Flags()
	flags.Var(&opts.by, "by", "group by kind, or by kind,stack (where they are created)")
	opts.perfMap.addFlag(flags)
	return cmd
}

func (o *handlesOptions) run(ctx context.Context, std *stdio) error { return o.each(ctx, std, o.list) }

func (o *handlesOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	var model handle.Handles
	stacks := o.by.value == "kind,stack"
	s := &handleSection{}
	l := modelList[handle.Counts, handle.Row]{
		model: &model, fields: s.fields(stacks),
		pid:  func(c handle.Counts) uint64 { return c.PID },
		rows: func(c handle.Counts) []handle.Row { return model.Rows(c.PID, stacks) },
		none: lack{what: "handle events", recording: report.RecordHandleStacks},
	}
	if stacks {
		var err error
		if s.stacks, err = l.naming.wantStacks(&o.perfMap); err != nil {
			return err
		}
		model.Stacks = s.stacks
		l.below = func(r *handle.Row) []string { return stackLines(s.stacks, r.Stack) }
	}
	l.totals = func() []handle.Counts {
		s.end = l.scan.Info().Last
		return model.Processes()
	}
	l.head = func(p *text.Page, of *gc.Process, c handle.Counts) {
		handlesHead(p, of, &c)
		l.naming.writeUnresolved(p, "handles", report.Record(of, l.scan.Info().Format, report.RecordHandleStacks), func(tally *symbol.Tally) {
			for _, r := range model.Rows(of.PID, true) {
				tally.Add(model.Stacks, r.Stack, r.Created)
			}
		})
	}
	return l.list(ctx, &o.listing, std, out, paths)
}

// A handleSection holds the evidence for the fields of handles.
type handleSection struct {
	stacks *symbol.Stacks
	end    time.Duration
}

func (s *handleSection) fields(stacks bool) []list.Field[handle.Row] {
	fields := []list.Field[handle.Row]{
		{Name: "pid", Type: figure.Int, Value: func(r *handle.Row) figure.Value { return list.PID(r.PID) }},
		{Name: "kind", Heading: "kind", Left: true, Type: figure.Text, Value: func(r *handle.Row) figure.Value { return list.Word(r.Kind.String()) }},
		{Name: "created", Heading: "created", Type: figure.Int, Value: func(r *handle.Row) figure.Value { return list.Count(r.Created) }},
		{Name: "destroyed", Heading: "destroyed", Type: figure.Int, Value: func(r *handle.Row) figure.Value { return list.Count(r.Destroyed) }},
		{Name: "open", Heading: "open", Type: figure.Int, Value: func(r *handle.Row) figure.Value { return list.Count(r.Open) }},
		{Name: "oldest_ms", Heading: "oldest ms", Rank: 2, Type: figure.Millis, Value: func(r *handle.Row) figure.Value {
			return list.If(r.Open > 0, list.Time(s.end-r.Oldest))
		}},
		{Name: "growth_per_s", Heading: "growth/s", Rank: 1, Type: figure.Float, Value: func(r *handle.Row) figure.Value { return list.Float(r.Growth) }},
	}
	if stacks {
		fields = append(fields, list.Field[handle.Row]{Name: "stack", Type: figure.List, Value: func(r *handle.Row) figure.Value { return list.Words(stackNames(s.stacks, r.Stack)) }})
	}
	return fields
}

// handlesHead writes the number of handles, and whether the trace and the runtime agree
// on it.
func handlesHead(p *text.Page, of *gc.Process, c *handle.Counts) {
	p.Heading("%s: %s created, %s destroyed", called(of), text.Plural(c.Created, "handle", "handles"), units.Count(c.Destroyed))
	if runtime, known := c.Runtime.Get(); known {
		before, net := c.Before.Or(0), c.Open.Or(0)
		p.Prose("Check: ", fmt.Sprintf("at the last collection the runtime counted %[1]s; the events account for %[4]s: %[2]s from before the trace, and a net change of %[3]s.",
			text.Plural(runtime, "handle", "handles"), units.Count(before), units.Count(net), units.Count(before+net)))
	}
	if c.Unknown > 0 {
		p.Prose("", text.Plural(c.Unknown, "destroyed handle was", "destroyed handles were")+" created before the trace, or their creation was lost.")
	}
	if c.Lost > 0 {
		p.Prose("", text.Plural(c.Lost, "handle was", "handles were")+" created in a slot whose previous handle was not reported as destroyed.")
	}
	if c.Untracked > 0 {
		p.Prose("", text.Plural(c.Untracked, "handle was", "handles were")+" not tracked: too many were open at once.")
	}
}
