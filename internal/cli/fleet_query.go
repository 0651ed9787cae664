package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetQueryOptions struct {
	question
	sql []string // one query
}

func newFleetQueryCmd(std *stdio) *cobra.Command {
	opts := &fleetQueryOptions{question: newQuestion()}
	opts.format.of = []string{list.Table, list.JSONL, list.CSV} // the types of columns are unknown
	cmd := newCmd(std, opts, "query SQL", "Query ClickHouse in SQL", anyArgs(&opts.sql))
	opts.storeFlag.addFlags(cmd.Flags())
	opts.addOutputFlags(cmd.Flags(), "table, jsonl (JSON lines) or csv")
	return cmd
}

func (o *fleetQueryOptions) conflict() error {
	if len(o.sql) != 1 {
		return errors.New("expected one query in quotes: gctrail fleet query 'SELECT ...'")
	}
	return nil
}

func (o *fleetQueryOptions) run(ctx context.Context, std *stdio) error {
	store, err := o.ask()
	if err != nil {
		return err
	}
	result, err := fleet.Query(ctx, store, strings.TrimRight(strings.TrimSpace(o.sql[0]), ";"))
	if err != nil {
		return storeError(err)
	}
	fields := make([]list.Field[[]any], len(result.Names))
	for i, name := range result.Names {
		fields[i] = list.Field[[]any]{Name: name, Heading: name, Left: true, Value: func(r *[]any) figure.Value { return o.value(*r, i) }}
	}
	return answer(std, &o.question, fields, result.Rows, func(p *text.Page) {
		p.Heading("%s", text.Plural(int64(len(result.Rows)), "row", "rows"))
	})
}

// value is a value of an answer. Tables show it as it came.
func (o *fleetQueryOptions) value(row []any, i int) figure.Value {
	if i >= len(row) || row[i] == nil {
		return figure.Value{}
	}
	switch v := row[i].(type) {
	case string:
		return list.Word(v)
	case json.Number:
		if n, err := v.Int64(); err == nil && o.format.value != "table" {
			return list.Count(n)
		}
		if f, err := v.Float64(); err == nil && o.format.value != "table" {
			return list.Float(f)
		}
		return list.Word(v.String())
	}
	nested, err := json.Marshal(row[i])
	if err != nil {
		return figure.Value{}
	}
	return list.Word(string(nested))
}
