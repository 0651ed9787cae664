package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/schema"
)

func newSchemaCmd(std *stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of what a command writes as JSON",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return schema.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprint(std.out, schemaHelp())
				return collect.OutputFailed(stdoutName, err)
			}
			if !slices.Contains(schema.Names(), args[0]) {
				return usagef(cmd, "unknown schema %q; valid names: %s", args[0], strings.Join(schema.Names(), ", "))
			}
			b, err := schemaOf(args[0])
			if err != nil {
				return err
			}
			_, err = std.out.Write(b)
			return collect.OutputFailed(stdoutName, err)
		},
	}
}

// schemaHelp lists the schemas.
func schemaHelp() string {
	var b strings.Builder
	for _, name := range schema.Names() {
		command, _, _ := strings.Cut(schema.Title(name), ":")
		fmt.Fprintf(&b, "  %-20s %s\n", name, command)
	}
	return b.String()
}

// schemaOf returns a schema. The figures of collections have their definitions.
func schemaOf(name string) ([]byte, error) {
	return schema.Of(name, func(key string) string {
		for _, d := range figure.Definitions() {
			if name == "gcs" && strings.TrimPrefix(d.Keys[0], "GEN_") == key {
				return d.Text
			}
		}
		return ""
	})
}
