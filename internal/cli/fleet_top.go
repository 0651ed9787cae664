package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetTopOptions struct {
	question
	by wordList
}

func newFleetTopCmd(std *stdio) *cobra.Command {
	opts := &fleetTopOptions{question: newQuestion()}
	cmd := newCmd(std, opts, "top", "List the services, pods or versions with the most GC pause", noArgs)
	flags := cmd.Flags()
	opts.addFlags(cmd)
	flags.Var(&opts.by, "by", "group by these columns, such as k8s_pod or host_name,process (default service_name,service_version)")
	flags.IntVar(&opts.top, "top", -1, "only the first `N` groups (default 20 in a table, otherwise 1000)")
	flags.Lookup("top").DefValue = "0"
	return cmd
}

// unknownFleetColumn reports a column that a table does not have, with similar ones.
func unknownFleetColumn(flag, name string, t *fleet.Table) error {
	names := text.Each(t.Columns, func(c *fleet.Column) string { return c.Name })
	if kubernetes := "k8s_" + name; t.Has(kubernetes) {
		names = []string{kubernetes}
	}
	return &usageError{whole: true, err: fmt.Errorf("%s: %w; list the columns with: gctrail fleet schema", flag, unknownColumn(name, names))}
}

// mostGroups is how many groups are asked for where no table is shown.
const mostGroups = 1000

func (o *fleetTopOptions) conflict() error {
	if len(o.by) == 0 {
		o.by = wordList{"service_name", "service_version"}
	}
	for _, name := range o.by {
		if !fleet.Collections().Has(name) {
			return unknownFleetColumn("--by", name, fleet.Collections())
		}
	}
	return nil
}

func (o *fleetTopOptions) run(ctx context.Context, std *stdio) error {
	store, filter, err := o.search(fleet.Collections())
	if err != nil {
		return err
	}
	groups, err := fleet.Top(ctx, store, filter, o.by, cmp.Or(o.limit(), mostGroups))
	if err != nil {
		return storeError(err)
	}
	return answer(std, &o.question, o.fields(), groups, func(p *text.Page) {
		p.Heading("%s with the most GC pause", text.Plural(int64(len(groups)), "group", "groups"))
	})
}

func (o *fleetTopOptions) fields() []list.Field[fleet.Group] {
	var fields []list.Field[fleet.Group]
	for i, name := range o.by {
		fields = append(fields, list.Field[fleet.Group]{Name: name, Heading: name, Left: true, Type: figure.Text, Value: func(g *fleet.Group) figure.Value { return list.Word(g.Names[i]) }})
	}
	return append(fields, []list.Field[fleet.Group]{
		{Name: "processes", Heading: "procs", Rank: 4, Type: figure.Int, Value: func(g *fleet.Group) figure.Value { return list.Count(g.Processes) }},
		{Name: "collections", Heading: "GCs", Type: figure.Int, Value: func(g *fleet.Group) figure.Value { return list.Count(g.Collections) }},
		{Name: "gen2_collections", Heading: "gen2", Rank: 3, Type: figure.Int, Value: func(g *fleet.Group) figure.Value { return list.Count(g.Gen2) }},
		{Name: "pause_ms", Heading: "pause ms", Type: figure.Millis, Value: func(g *fleet.Group) figure.Value { return list.Opt(g.Pause.Opt(), list.Time) }, Is: pauseIs},
		{Name: "pause_is", Type: figure.Text, Value: func(g *fleet.Group) figure.Value { return list.Word(pauseIs(g).String()) }},
		{Name: "pause_pct", Heading: "%", Type: figure.Percent, Value: func(g *fleet.Group) figure.Value {
			return list.Opt(g.PauseShare(), list.Percent)
		}, Is: pauseIs},
		{Name: "pause_p50_ms", Heading: "p50", Rank: 2, Type: figure.Millis, Value: func(g *fleet.Group) figure.Value { return list.Time(g.Median) }},
		{Name: "pause_p99_ms", Heading: "p99", Type: figure.Millis, Value: func(g *fleet.Group) figure.Value { return list.Time(g.P99) }},
		{Name: "pause_max_ms", Heading: "max", Rank: 1, Type: figure.Millis, Value: func(g *fleet.Group) figure.Value { return list.Time(g.Longest) }},
		{Name: "allocated_bytes", Heading: "alloc MB", Rank: 5, Type: figure.Bytes, Value: func(g *fleet.Group) figure.Value { return list.Opt(g.Allocated, list.Bytes) }, Is: func(g *fleet.Group) gc.Certainty { return g.AllocatedIs }},
		{Name: "allocated_is", Type: figure.Text, Value: func(g *fleet.Group) figure.Value { return list.Word(g.AllocatedIs.String()) }},
		{Name: "heap_after_max_bytes", Heading: "heap MB", Rank: 2, Type: figure.Bytes, Value: func(g *fleet.Group) figure.Value { return list.If(g.HeapAfter > 0, list.Bytes(g.HeapAfter)) }},
		{Name: "since", Heading: "since", Left: true, Rank: 1, Type: figure.Text, Value: func(g *fleet.Group) figure.Value { return clockOf(g.First) }},
		{Name: "until", Type: figure.Text, Value: func(g *fleet.Group) figure.Value { return clockOf(g.Last) }},
		{Name: "affected_by_loss", Type: figure.Int, Value: func(g *fleet.Group) figure.Value { return list.Count(g.LossCanAffect) }},
	}...)
}

// pauseIs returns how certain the sum of a group's pauses is.
func pauseIs(g *fleet.Group) gc.Certainty {
	_, is := g.Pause.Get()
	return is
}

// clockOf is a point of time, to the second.
func clockOf(at time.Time) figure.Value {
	return list.If(at.Unix() > 0, list.Word(at.UTC().Format(time.RFC3339)))
}

// answer writes the rows of an answer in the format that was asked for.
func answer[R any](std *stdio, q *question, fields []list.Field[R], rows []R, head func(*text.Page)) error {
	q.warnDamaged(std)
	if len(rows) == 0 && q.format.value == list.Table {
		return std.err.Line("gctrail: no records match; without --from, only the last 24 hours are searched: try --from all")
	}
	out, err := q.create(std, nil)
	if err != nil {
		return err
	}
	q.top = 0
	return q.end(out, newRowWriter(&q.listing, std, out, fields).section(head, rows))
}
