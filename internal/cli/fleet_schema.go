package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetSchemaOptions struct {
	storeFlag
	schema fleet.Schema
	move   bool
	apply  bool
	given  givenFlags
}

func newFleetSchemaCmd(std *stdio) *cobra.Command {
	opts := &fleetSchemaOptions{schema: fleet.Schema{Database: fleet.DefaultDatabase}}
	take := func(cmd *cobra.Command, args []string) error {
		opts.given = newGivenFlags(cmd.Flags())
		return noArgs(cmd, args)
	}
	cmd := newCmd(std, opts, "schema", "Print the statements that create ClickHouse's tables, or run them", take)
	flags := cmd.Flags()
	opts.addFlags(flags)
	flags.StringVar(&opts.schema.Database, "database", opts.schema.Database, "the `name` of the database")
	flags.StringVar(&opts.schema.Cluster, "cluster", "", "spread the tables over the shards of this `cluster`")
	flags.IntVar(&opts.schema.Days, "days", 0, "delete rows after this many days; 0 keeps them")
	flags.StringVar(&opts.schema.Logs, "logs", "", "take records from this `table` of the Collector's exporter")
	flags.BoolVar(&opts.schema.Replicated, "replicated", false, "make servers with the same macro shard replicas of each other")
	flags.BoolVar(&opts.move, "move", false, "replace the tables of an earlier gctrail, and copy their rows")
	flags.BoolVar(&opts.apply, "apply", false, "run the statements on the server of --store")
	return cmd
}

func (o *fleetSchemaOptions) statements() []string {
	if o.move {
		return o.schema.Moves()
	}
	return o.schema.Statements()
}

func (o *fleetSchemaOptions) print(std *stdio) error {
	for _, statement := range o.statements() {
		if _, err := std.out.Write([]byte(statement + ";\n\n")); err != nil {
			return err
		}
	}
	return nil
}

func (o *fleetSchemaOptions) conflict() error {
	if o.schema.Days < 0 {
		return errors.New("--days is negative")
	}
	return nil
}

func (o *fleetSchemaOptions) run(ctx context.Context, std *stdio) error {
	if !o.apply {
		return o.print(std)
	}
	store, err := o.open()
	if err != nil {
		return err
	}
	server, ok := store.(*fleet.ClickHouse)
	if !ok {
		return misusef("a folder needs no schema")
	}
	if !o.given["database"] {
		o.schema.Database = server.Database
	}
	err = applySchema(ctx, server, o.statements())
	if err != nil && o.move {
		return fmt.Errorf("%w; all rows are still there: without --apply, this command prints the statements; run those that are left (all but the renames can be repeated)", err)
	}
	if err != nil {
		return err
	}
	return std.err.Line("Ran %s on %s.", text.Plural(int64(len(o.statements())), "statement", "statements"), server.URL)
}

// applySchema runs the statements of a schema. The database may not exist yet, so
// that none is used.
func applySchema(ctx context.Context, server *fleet.ClickHouse, statements []string) error {
	without := *server
	without.Database = "default"
	for i, statement := range statements {
		if err := without.Exec(ctx, statement); err != nil {
			return fmt.Errorf("statement %d of %d: %w", i+1, len(statements), err)
		}
	}
	return nil
}
