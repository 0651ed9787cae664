package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/text"
)

// The functions in this file check the arguments of a command besides its flags, or return
// functions that do, and that store them.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "unexpected argument %q", args[0])
	}
	return nil
}

// needed are the flags that a command cannot do without, as examples.
var needed = map[string]string{"what-if": "--set GCgen0size=64M"}

func someFiles(files *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		*files = args
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
}

func anyArgs(to *[]string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		*to = args
		return nil
	}
}

// afterDash stores the command that follows --; arguments before it make it none.
func afterDash(command *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.ArgsLenAtDash() == 0 {
			*command = args
		}
		return nil
	}
}

// someIDs takes ids of processes, which are likely typed without -p.
func someIDs(pids *[]int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if !isProcessID(arg) {
				return usagef(cmd, "unexpected argument %q; to pick processes by name: %s -n %s", arg, cmd.CommandPath(), text.Quoted(arg))
			}
			if err := (*processNumbers)(pids).Set(arg); err != nil {
				return usagef(cmd, "%q: %v", arg, err)
			}
		}
		return nil
	}
}
