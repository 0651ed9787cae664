package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// noArgs and someFiles check the arguments of a command besides its flags.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "unexpected argument %q", args[0])
	}
	return nil
}

// needed are the flags that a command cannot do without, as examples.
var needed = map[string]string{"what-if": "--set GCgen0size=64M"}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(cmd, "no file given: %s FILE, or - for standard input", strings.TrimSuffix(cmd.CommandPath()+" "+needed[cmd.Name()], " "))
	}
	if slices.Contains(args, "") {
		return usagef(cmd, "a path is empty: give the path of a trace, or - for standard input")
	}
	isStdin := func(arg string) bool { return arg == "-" }
	if first := slices.IndexFunc(args, isStdin); first >= 0 && slices.ContainsFunc(args[first+1:], isStdin) {
		return usagef(cmd, "- is given twice; standard input can be read only once")
	}
	return nil
}
