// Package cli is gctrail's command line. Each command is one file with its
// options, its constructor and its run function.
package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/collect"
)

// Main runs gctrail with the given arguments and returns its exit code.
func Main(args []string) int {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away shows as EPIPE
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	std := newStdio()
	cmd := newRootCmd(std)
	std.args = implied(cmd, args)
	cmd.SetArgs(std.args)
	return std.complain(std.execute(ctx, cmd))
}

// execute runs a command, and waits for the pager that it may have started.
func (std *stdio) execute(ctx context.Context, cmd *cobra.Command) error {
	err := cmd.ExecuteContext(ctx)
	return cmp.Or(err, std.endPaging())
}

// newRootCmd returns the command gctrail with all its commands, from which the
// documentation is generated too.
func newRootCmd(std *stdio) *cobra.Command {
	var printVersion bool
	cmd := &cobra.Command{
		Use:   "gctrail",
		Short: "Analyze the garbage collections of .NET programs",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files, next to commands
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if printVersion {
				_, err := io.WriteString(std.out, version())
				return collect.OutputFailed(stdoutName, err)
			}
			if len(args) == 0 {
				return runBare(cmd.Context(), std)
			}
			return misspelt(cmd, args)
		},
	}
	cmd.SetOut(std.out)
	cmd.SetErr(std.err.Help())
	cmd.SetFlagErrorFunc(std.flagError)
	cmd.SetHelpFunc(help)
	cmd.SetUsageFunc(usage)
	cmd.SuggestionsMinimumDistance = 2
	cmd.Flags().BoolVarP(&printVersion, "version", "v", false, "print the versions of gctrail and of the formats it reads")
	std.addFlags(cmd.PersistentFlags())
	std.complete(cmd, "color", colourWords)
	addGroup(
		cmd, "look", "Look at a trace",
		newReportCmd(std), newGCsCmd(std), newEventsCmd(std),
		newAllocsCmd(std), newPinsCmd(std), newHandlesCmd(std), newFinalizersCmd(std), newJoinsCmd(std), newHeapCmd(std), newObjectsCmd(std), newPausesCmd(std), newRequestsCmd(std), newPhasesCmd(std),
	)
	addGroup(cmd, "record", "Record and watch processes", newPsCmd(std), newTopCmd(std), newCollectCmd(std), newDumpCmd(std), newLedgerCmd(std))
	addGroup(cmd, "compare", "Compare runs", newDiffCmd(std), newCheckCmd(std), newRunCmd(std), newTryCmd(std), newTrendCmd(std), newWhatIfCmd(std))
	addGroup(cmd, "share", "Share what a trace shows", newConvertCmd(std), newServeCmd(std), newMCPCmd(), newSchemaCmd(std))
	addGroup(cmd, "many", "Watch many processes", newAgentCmd(std), newFleetCmd(std))
	cmd.AddCommand(newDemoCmd(std), newVersionCmd(std), newManCmd())
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	refuseUnknown(cmd)
	std.completeWords(cmd)
	std.completeTraced(cmd)
	return cmd
}

// addGroup adds commands that help lists under a title.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	root.AddCommand(commands...)
}

// refuseUnknown makes the commands that cobra adds refuse unknown topics and shells, for
// which they would print help and succeed.
func refuseUnknown(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(cmd *cobra.Command, topic []string) error {
				if _, unknown, _ := root.Find(topic); len(unknown) > 0 {
					return usagef(cmd, "unknown command %q", unknown[0])
				}
				return nil
			}
		case "completion":
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			cmd.Args = func(cmd *cobra.Command, shell []string) error {
				if len(shell) > 0 {
					return usagef(cmd, "no completions for %q; shells: bash, zsh, fish, powershell", shell[0])
				}
				return nil
			}
			cmd.Short = "Print a script that completes commands and flags in a shell"
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
				shell.Short = "Print the completion script for " + shell.Name()
			}
		}
	}
}

// runBare watches the processes of the machine on a terminal, and lists them otherwise.
func runBare(ctx context.Context, std *stdio) error {
	if std.interactive() {
		return newTopOptions().run(ctx, std)
	}
	return newPsOptions().run(ctx, std)
}
