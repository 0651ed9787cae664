package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/text"
)

// helpWidth is how wide help is: that of the flags too.
const helpWidth = 80

// fitHelp wraps the paragraphs in the help of cmd and of the commands below it.
func fitHelp(cmd *cobra.Command) {
	cmd.Long = fitParagraphs(cmd.Long)
	for _, sub := range cmd.Commands() {
		fitHelp(sub)
	}
}

// fitParagraphs wraps consecutive lines that are not indented. Indented lines are
// tables and commands, and stay as they are.
func fitParagraphs(s string) string {
	var lines, paragraph []string
	flush := func() {
		lines = append(lines, text.Wrap(strings.Join(paragraph, " "), helpWidth)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '\t' {
			flush()
			lines = append(lines, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// usage writes how to use a command. cobra has templates for it, which would keep
// every method of every type in the binary: a tenth of its size.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	usageOfFlags(&b, "Flags", cmd.LocalFlags())
	usageOfFlags(&b, "Global Flags", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	cmd.Print(b.String())
	return nil
}

func usageOfFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s:\n%s", title, flags.FlagUsagesWrapped(helpWidth))
	}
}
