package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetTopOptions struct {
	question
	by wordList
}

func newFleetTopCmd(std *stdio) *cobra.Command {
	opts := fleetTopOptions{question: newQuestion()}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "List the services, pods or versions with the most GC pause",
		Long: `top sums up collections by service and version, or by the columns of --by, and lists
the groups with the most GC pause first. "since" is the first collection of the group in
the selected time: of a version, its deployment. p50 and p99 are estimates, to 2 %.
alloc MB is what the GCs count: bytes allocated up to the last GC of each process; >
marks a lower bound, ~ an estimate. % is the share of pauses in the time that the GCs
cover, from the end of the GC before the first one.`,
		Example: `  gctrail fleet top
  gctrail fleet top --by k8s_pod --service shop --from 1h
  gctrail fleet top --by service_name,reason --where generation=2
  gctrail fleet top --format jsonl | jq .pause_pct`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(opts.by) == 0 {
				opts.by = wordList{"service_name", "service_version"}
			}
			for _, name := range opts.by {
				if !fleet.Collections().Has(name) {
					return unknownFleetColumn("--by", name, fleet.Collections())
				}
			}
			store, err := opts.ask(cmd)
			if err != nil {
				return err
			}
			filter, err := opts.filter(cmd, fleet.Collections())
			if err != nil {
				return err
			}
			return opts.run(cmd.Context(), std, store, filter)
		},
	}
	flags := cmd.Flags()
	opts.addFlags(std, cmd)
	flags.Var(&opts.by, "by", "group by these columns, such as k8s_pod or host_name,process (default service_name,service_version)")
	flags.IntVar(&opts.top, "top", -1, "only the first `N` groups (default 20 in a table, otherwise 1000)")
	flags.Lookup("top").DefValue = "0"
	return cmd
}

// unknownFleetColumn reports a column that a table does not have, with those that may
// have been meant.
func unknownFleetColumn(flag, name string, t *fleet.Table) error {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	if kubernetes := "k8s_" + name; t.Has(kubernetes) {
		names = []string{kubernetes}
	}
	return &usageError{err: fmt.Errorf("%s: %w; list the columns with: gctrail fleet schema", flag, unknownColumn(name, names))}
}

// mostGroups is how many groups are asked for where no table is shown.
const mostGroups = 1000

func (o *fleetTopOptions) run(ctx context.Context, std *stdio, store fleet.Store, filter *fleet.Filter) error {
	limit := o.limit()
	if limit == 0 {
		limit = mostGroups
	}
	groups, err := fleet.Top(ctx, store, filter, o.by, limit)
	if err != nil {
		return storeError(err)
	}
	return answer(std, &o.question, o.fields(), groups, func(p *text.Page) {
		p.Heading("%s with the most GC pause", text.Plural(int64(len(groups)), "group", "groups"))
	})
}

func (o *fleetTopOptions) fields() []field[fleet.Group] {
	var fields []field[fleet.Group]
	for i, name := range o.by {
		fields = append(fields, field[fleet.Group]{name: name, heading: name, left: true, value: func(g *fleet.Group) column.Value { return wordOf(g.Names[i]) }})
	}
	return append(fields, []field[fleet.Group]{
		{name: "processes", heading: "procs", rank: 4, value: func(g *fleet.Group) column.Value { return countOf(g.Processes) }},
		{name: "collections", heading: "GCs", value: func(g *fleet.Group) column.Value { return countOf(g.Collections) }},
		{name: "gen2_collections", heading: "gen2", rank: 3, value: func(g *fleet.Group) column.Value { return countOf(g.Gen2) }},
		{name: "pause_ms", heading: "pause ms", value: func(g *fleet.Group) column.Value { return timeOf(g.Pause) }},
		{name: "pause_pct", heading: "%", value: func(g *fleet.Group) column.Value {
			return ifKnown(g.PauseShare(), percentOf)
		}},
		{name: "pause_p50_ms", heading: "p50", rank: 2, value: func(g *fleet.Group) column.Value { return timeOf(g.Median) }},
		{name: "pause_p99_ms", heading: "p99", value: func(g *fleet.Group) column.Value { return timeOf(g.P99) }},
		{name: "pause_max_ms", heading: "max", rank: 1, value: func(g *fleet.Group) column.Value { return timeOf(g.Longest) }},
		{name: "allocated_bytes", heading: "alloc MB", rank: 5, value: func(g *fleet.Group) column.Value { return ifKnown(g.Allocated, bytesOf) }, is: func(g *fleet.Group) gc.Certainty { return g.AllocatedIs }},
		{name: "allocated_is", value: func(g *fleet.Group) column.Value { return wordOf(g.AllocatedIs.String()) }},
		{name: "heap_after_max_bytes", heading: "heap MB", rank: 2, value: func(g *fleet.Group) column.Value { return knownIf(g.HeapAfter > 0, bytesOf(g.HeapAfter)) }},
		{name: "since", heading: "since", left: true, rank: 1, value: func(g *fleet.Group) column.Value { return clockOf(g.First) }},
		{name: "until", value: func(g *fleet.Group) column.Value { return clockOf(g.Last) }},
		{name: "affected_by_loss", value: func(g *fleet.Group) column.Value { return countOf(g.LossCanAffect) }},
	}...)
}

// clockOf is a point of time, to the second.
func clockOf(at time.Time) column.Value {
	if at.Unix() <= 0 {
		return column.Value{}
	}
	return wordOf(at.UTC().Format(time.RFC3339))
}

// answer writes the rows of an answer in the format that was asked for.
func answer[R any](std *stdio, q *question, fields []field[R], rows []R, head func(*text.Page)) error {
	q.warnDamaged(std)
	if len(rows) == 0 && q.format.value == "table" {
		return std.err.Line("gctrail: no records match; without --from, only the last 24 hours are searched: try --from all")
	}
	out, err := std.create(q.output, nil)
	if err != nil {
		return err
	}
	q.top = 0
	w := &rowWriter[R]{listing: &q.listing, std: std, out: out, fields: fields}
	return out.end(w.section(head, rows))
}
