package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// options are the settings of a command: a plain struct, which the command's flags and
// arguments fill, and tests fill without them.
type options interface {
	// conflict returns an error for options that exclude each other.
	conflict() error
	run(ctx context.Context, std *stdio) error
}

// A rule is a combination of options that makes no sense, and what an error says of it.
type rule struct {
	broken bool
	says   string
}

// firstBroken returns an error for the first rule that is broken.
func firstBroken(rules ...rule) error {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.broken })
	if i < 0 {
		return nil
	}
	return errors.New(rules[i].says)
}

// newCmd returns the command that runs o. Its use begins with its name; take checks the arguments
// and stores them in o.
func newCmd(std *stdio, o options, use, short string, take cobra.PositionalArgs) *cobra.Command {
	run := func(cmd *cobra.Command, _ []string) error { return runWith(cmd, std, o) }
	return &cobra.Command{Use: use, Short: short, Args: take, RunE: run}
}

// runWith runs a command with the options that were filled.
func runWith(cmd *cobra.Command, std *stdio, o options) error {
	if err := asUsage(cmd, o.conflict()); err != nil {
		return err
	}
	err := o.run(cmd.Context(), std)
	for _, e := range flatten(err) {
		nameCommand(cmd, e)
	}
	return err
}

// givenFlags are the names of the flags that were given.
type givenFlags map[string]bool

// newGivenFlags returns the flags of a command that were given.
func newGivenFlags(flags *pflag.FlagSet) givenFlags {
	given := givenFlags{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	return given
}

// first returns the first of some flags that was given; empty if none was.
func (g givenFlags) first(names ...string) string {
	for _, name := range names {
		if g[name] {
			return name
		}
	}
	return ""
}
