package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/outfile"
)

func newManCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages of all commands to a folder",
		Hidden: true, // for packages
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return collect.OutputFailed(args[0], err)
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

// writeManPages writes the pages of a command and of its subcommands.
func writeManPages(cmd *cobra.Command, folder string) error {
	path := filepath.Join(folder, manName(cmd)+".1")
	errs := []error{collect.OutputFailed(path, outfile.WriteFile(path, manPage(cmd), 0o666))}
	for _, part := range cmd.Commands() {
		if !part.Hidden && part.Name() != "help" {
			errs = append(errs, writeManPages(part, folder))
		}
	}
	return errors.Join(errs...)
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command in the language of man(7). Help is laid out for
// a terminal, and stays as it is.
func manPage(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"gctrail\" \"User Commands\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	manSection(&b, "SYNOPSIS", cmd.UseLine())
	long, examples := helpOf(cmd)
	manSection(&b, "DESCRIPTION", long)
	manSection(&b, "EXAMPLES", examples)
	manSection(&b, "OPTIONS", cmd.LocalFlags().FlagUsages())
	manSection(&b, "GLOBAL OPTIONS", cmd.InheritedFlags().FlagUsages())
	var parts []string
	for _, part := range cmd.Commands() {
		if !part.Hidden && part.Name() != "help" {
			parts = append(parts, fmt.Sprintf("%-12s %s", part.Name(), part.Short))
		}
	}
	manSection(&b, "COMMANDS", strings.Join(parts, "\n"))
	if cmd.HasParent() {
		manSection(&b, "SEE ALSO", manName(cmd.Parent())+"(1)")
	}
	return b.Bytes()
}

func manSection(b *bytes.Buffer, heading, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(b, ".SH %s\n.nf\n%s\n.fi\n", heading, roff(text))
	}
}

// roff escapes text, so that no line begins with a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
