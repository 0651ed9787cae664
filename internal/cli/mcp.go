package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/mcp"
	"github.com/gctrail/gctrail/internal/text"
)

func newMCPCmd() *cobra.Command {
	var opts mcp.Options
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the commands to a coding agent (Model Context Protocol)",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Version = moduleVersion()
			server, err := mcp.New(opts, execute)
			if err != nil {
				return usagef(cmd, "--root: %s: %s", opts.Root, reason(err))
			}
			return server.Serve(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Root, "root", ".", "the `folder` with the traces")
	flags.BoolVar(&opts.AllowCollect, "allow-collect", false, "allow the agent to trace running processes")
	return cmd
}

// execute runs a command within this process.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	std := &stdio{out: stdout, err: text.NewPrinter(stderr)}
	cmd := newRootCmd(std)
	cmd.SetArgs(args)
	return std.complain(cmd.ExecuteContext(ctx))
}
