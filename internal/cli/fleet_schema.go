package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/fleet"
	"github.com/gctrail/gctrail/internal/text"
)

type fleetSchemaOptions struct {
	storeFlag
	schema fleet.Schema
	apply  bool
}

func newFleetSchemaCmd(std *stdio) *cobra.Command {
	opts := fleetSchemaOptions{schema: fleet.Schema{Database: fleet.DefaultDatabase}}
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the statements that create ClickHouse's tables, or run them",
		Long: `schema prints the statements that create the tables of ClickHouse: gc has a row for
each collection, ends one for each process that ended. They change nothing where the
tables exist. With --cluster, run them on every server of the cluster.

--logs adds views that take the records from the table of logs which the OpenTelemetry
Collector's ClickHouse exporter writes, so that no gctrail fleet receive is needed.`,
		Example: `  gctrail fleet schema | clickhouse-client --multiquery
  gctrail fleet schema --cluster shards --days 30
  gctrail fleet schema --logs otel_logs --database otel
  gctrail fleet schema --apply --store http://clickhouse:8123/gctrail`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.schema.Days < 0 {
				return usagef(cmd, "--days is negative")
			}
			if !opts.apply {
				return opts.print(std)
			}
			store, err := opts.open(cmd)
			if err != nil {
				return err
			}
			server, ok := store.(*fleet.ClickHouse)
			if !ok {
				return usagef(cmd, "a folder needs no schema")
			}
			if !cmd.Flags().Changed("database") {
				opts.schema.Database = server.Database
			}
			return opts.run(cmd.Context(), std, server)
		},
	}
	flags := cmd.Flags()
	opts.addFlags(flags)
	flags.StringVar(&opts.schema.Database, "database", opts.schema.Database, "the `name` of the database")
	flags.StringVar(&opts.schema.Cluster, "cluster", "", "spread the tables over the shards of this `cluster`")
	flags.IntVar(&opts.schema.Days, "days", 0, "delete rows after this many days (ClickHouse 19.6 or later)")
	flags.StringVar(&opts.schema.Logs, "logs", "", "take records from this `table` of the Collector's exporter (ClickHouse 20.1 or later)")
	flags.BoolVar(&opts.apply, "apply", false, "run the statements on the server of --store")
	return cmd
}

func (o *fleetSchemaOptions) print(std *stdio) error {
	for _, statement := range o.schema.Statements() {
		if _, err := std.out.Write([]byte(statement + ";\n\n")); err != nil {
			return err
		}
	}
	return nil
}

func (o *fleetSchemaOptions) run(ctx context.Context, std *stdio, server *fleet.ClickHouse) error {
	if err := applySchema(ctx, server, o.schema); err != nil {
		return err
	}
	return std.err.Line("Ran %s on %s.", text.Plural(int64(len(o.schema.Statements())), "statement", "statements"), server.URL)
}

// applySchema runs the statements of a schema. The database may not exist yet, so
// that none is used.
func applySchema(ctx context.Context, server *fleet.ClickHouse, schema fleet.Schema) error {
	without := *server
	without.Database = "default"
	for _, statement := range schema.Statements() {
		if err := without.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
