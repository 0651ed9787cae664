package cli

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/text"
)

// helpWidth is the width of help, in cells.
const helpWidth = 80

// helpTexts are the texts of commands, each with examples at its end.
//
//go:embed help/*.txt
var helpTexts embed.FS

// helpLists replaces words in braces, which stand for lists that are made of tables.
var helpLists = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("{settings}\n", settingHelp(), "{columns}\n", columnHelp(), "{formats}\n", formatHelp(), "{profiles}\n", collect.ProfileHelp(),
		"{conditions}\n", conditionHelp(), "{schemas}\n", schemaHelp())
})

// helpName returns the name of the file with a command's text: fleet-top for gctrail fleet top.
func helpName(cmd *cobra.Command) string {
	return strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "gctrail "), " ", "-")
}

// helpOf returns a command's description and its examples: those of its file, or those that
// cobra gives its own commands. Few runs show them, so commands are made without.
func helpOf(cmd *cobra.Command) (long, examples string) {
	data, err := helpTexts.ReadFile("help/" + helpName(cmd) + ".txt")
	if err != nil {
		return cmd.Long, cmd.Example
	}
	long, examples, _ = strings.Cut(strings.TrimSuffix(string(data), "\n"), "\n\nExamples:\n")
	return fitParagraphs(helpLists().Replace(long)), examples
}

// help writes a command's description and how to use it.
func help(cmd *cobra.Command, _ []string) {
	long, _ := helpOf(cmd)
	if long == "" {
		long = cmd.Short
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", strings.TrimSpace(long), cmd.UsageString())
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
	if _, examples := helpOf(cmd); examples != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", examples)
	}
	for _, g := range cmd.Groups() {
		usageOfCommands(&b, g.Title, cmd, g.ID)
	}
	rest := "Available Commands"
	if len(cmd.Groups()) > 0 {
		rest = "Other Commands"
	}
	usageOfCommands(&b, rest, cmd, "")
	usageOfFlags(&b, "Flags", cmd.LocalFlags())
	usageOfFlags(&b, "Global Flags", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	cmd.Print(b.String())
	return nil
}

// usageOfCommands lists the commands below cmd that are in a group; an empty id stands for
// none.
func usageOfCommands(b *strings.Builder, title string, cmd *cobra.Command, group string) {
	for _, sub := range cmd.Commands() {
		if sub.GroupID != group || !sub.IsAvailableCommand() && sub.Name() != "help" {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s:\n", title)
			title = ""
		}
		indent := strings.Repeat(" ", sub.NamePadding()+3)
		short := strings.Join(text.Wrap(sub.Short, helpWidth-len(indent)), "\n"+indent)
		fmt.Fprintf(b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), short)
	}
}

func usageOfFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s:\n%s", title, flagTable(flags))
	}
}

// A flag of at most maxFlag cells has its description beside it, others below.
const maxFlag = 30

// flagParts are a flag with its value, and its description, as pflag writes them.
var flagParts = regexp.MustCompile(`^( +-.*?\S)(?: {3,}(.*))?$`)

// flagTable describes flags, wrapped.
func flagTable(flags *pflag.FlagSet) string {
	var names, descriptions []string
	width := 0
	for line := range strings.Lines(flags.FlagUsages()) {
		parts := flagParts.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil { // a description of several lines
			descriptions[len(descriptions)-1] += " " + strings.TrimSpace(line)
			continue
		}
		names, descriptions = append(names, parts[1]), append(descriptions, parts[2])
		if n := text.Width(parts[1]); n <= maxFlag {
			width = max(width, n)
		}
	}
	indent := strings.Repeat(" ", width+3)
	var b strings.Builder
	for i, name := range names {
		b.WriteString(name)
		beside := text.Width(name) <= width
		for k, line := range text.Wrap(descriptions[i], helpWidth-len(indent)) {
			switch {
			case k > 0 || !beside:
				b.WriteString("\n" + indent)
			default:
				b.WriteString(strings.Repeat(" ", len(indent)-text.Width(name)))
			}
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
