package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

type fleetRowsOptions struct {
	question
	columns wordList
	table   *fleet.Table
	exited  bool     // also processes that ended by themselves
	shown   []string // by default, in a table
}

func newFleetGCsCmd(std *stdio) *cobra.Command {
	opts := &fleetRowsOptions{question: newQuestion(), table: fleet.Collections(), shown: []string{
		"k8s_pod", "host_name", "process", "pid", "number", "generation", "kind", "reason", "pause_ms", "heap_after_bytes", "allocated_bytes",
	}}
	return opts.command(std, "gcs", "List collections of the fleet, the latest first")
}

func newFleetOOMCmd(std *stdio) *cobra.Command {
	opts := &fleetRowsOptions{question: newQuestion(), table: fleet.Ends(), shown: []string{
		"k8s_pod", "host_name", "process", "pid", "cause", "memory", "rss_bytes", "heap_bytes", "committed_bytes", "native_bytes", "cgroup_limit_bytes",
	}}
	cmd := opts.command(std, "oom", "List the processes that were killed, and what was in their memory")
	cmd.Flags().BoolVar(&opts.exited, "all", false, "also the processes that ended by themselves")
	return cmd
}

// command returns a command that lists the rows of a table.
func (o *fleetRowsOptions) command(std *stdio, name, short string) *cobra.Command {
	cmd := newCmd(std, o, name, short, noArgs)
	flags := cmd.Flags()
	o.addFlags(cmd)
	flags.Var(&o.columns, "columns", "the columns to show")
	flags.IntVar(&o.top, "top", -1, "only the latest `N` rows (default 20 in a table, otherwise 1000)")
	flags.Lookup("top").DefValue = "0"
	return cmd
}

// mostRows bounds the rows of an answer.
const mostRows = 1_000_000

func (o *fleetRowsOptions) conflict() error {
	for _, name := range o.columns {
		if !o.table.Has(name) {
			return unknownFleetColumn("--columns", name, o.table)
		}
	}
	return nil
}

func (o *fleetRowsOptions) run(ctx context.Context, std *stdio) error {
	store, filter, err := o.search(o.table)
	if err != nil {
		return err
	}
	if o.table.Has("cause") && !o.exited {
		filter.Where = append(filter.Where, fleet.Term{Column: "cause", Op: "!=", Pattern: "exited"})
	}
	limit := o.limit()
	switch {
	case o.top < 0 && limit == 0:
		limit = mostGroups
	case limit == 0:
		limit = mostRows
	}
	names := []string(o.columns)
	if len(names) == 0 && o.format.value == "table" {
		names = o.shown
	}
	rows, err := fleet.Latest(ctx, store, o.table, filter, limit, names...)
	if err != nil {
		return storeError(err)
	}
	return answer(std, &o.question, o.fields(names, rows), rows, func(p *text.Page) {
		if len(rows) == 1 {
			p.Heading("The latest record")
			return
		}
		p.Heading("The latest %s records", units.Count(int64(len(rows))))
	})
}

// fields returns the time and the named columns, or all if none is named. A table leaves out
// columns without values, unless they were named.
func (o *fleetRowsOptions) fields(names []string, rows []fleet.Row) []list.Field[fleet.Row] {
	table := o.format.value == list.Table
	types := map[string]figure.Type{}
	all := len(names) == 0
	for _, c := range o.table.Columns {
		types[c.Name] = c.Type
		if all {
			names = append(names, c.Name)
		}
	}
	fields := []list.Field[fleet.Row]{{Name: "time", Heading: "time", Left: true, Type: figure.Text, Value: func(r *fleet.Row) figure.Value {
		return list.Word(o.table.Time(*r).UTC().Format(time.RFC3339Nano))
	}}}
	if table {
		fields[0].Value = func(r *fleet.Row) figure.Value { return clockOf(o.table.Time(*r)) }
	}
	for rank, name := range names {
		value := func(r *fleet.Row) figure.Value { return o.table.Value(*r, name) }
		f := list.Field[fleet.Row]{Name: name, Heading: figure.HeadingOf(name), Rank: rank, Type: types[name], Value: value}
		known := false
		for i := range rows {
			v := value(&rows[i])
			known = known || v.Type != figure.Unknown
			f.Left = f.Left || v.Type == figure.Text
		}
		if known || !table || len(o.columns) > 0 {
			fields = append(fields, f)
		}
	}
	return fields
}
