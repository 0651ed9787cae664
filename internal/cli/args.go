package cli

import "github.com/spf13/cobra"

// noArgs and someFiles say what a command takes besides its flags.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "no arguments are taken, got %q", args[0])
	}
	return nil
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(cmd, "no file is given")
	}
	return nil
}
