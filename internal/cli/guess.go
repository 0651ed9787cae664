package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/text"
)

// implied returns the command line that args stand for: a path alone is reported
// on, as is a trace on standard input, and a process id alone is watched.
func implied(root *cobra.Command, args []string) []string {
	isPath := func(arg string) bool { return arg == "-" || !strings.HasPrefix(arg, "-") }
	end := slices.Index(args, "--") // of flags
	pathsFollow := end >= 0 && end+1 < len(args)
	cmd, _, err := root.Find(args)
	switch {
	case err != nil || cmd != root:
		return args
	case len(args) == 0 && stdinIsFile():
		return []string{"report", "-"}
	case stdinIsFile() && onlyReportFlags(root, args):
		return append([]string{"report", "-"}, args...)
	case len(args) == 0:
		return args
	case len(args) > 1 && (args[0] == "-h" || args[0] == "--help"): // of the rest
		return implied(root, append(slices.Clone(args[1:]), args[0]))
	case !slices.ContainsFunc(args, func(arg string) bool { return !isProcessID(arg) || exists(arg) }):
		return []string{"top", "-p", strings.Join(args, ",")}
	case picksProcess(args[0]):
		return append([]string{"top"}, args...)
	case !pathsFollow && !slices.ContainsFunc(args, isPath):
		return args
	}
	switch first := args[0]; {
	case first == cobra.ShellCompRequestCmd, first == cobra.ShellCompNoDescRequestCmd:
		return args
	case first != "" && !strings.HasPrefix(first, "-") && len(root.SuggestionsFor(first)) > 0 && !exists(first):
		return append([]string{"--", first}, args[1:]...) // a command, misspelt: its flags are not the root's
	}
	return append([]string{"report"}, args...)
}

// onlyReportFlags reports whether args are flags of report, and not of gctrail itself.
func onlyReportFlags(root *cobra.Command, args []string) bool {
	report, _, err := root.Find([]string{"report"})
	if err != nil {
		return false
	}
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		f := cmp.Or(report.Flags().Lookup(name), root.PersistentFlags().Lookup(name))
		own := name == "help" || root.LocalNonPersistentFlags().Lookup(name) != nil
		if !strings.HasPrefix(args[i], "--") || own || f == nil {
			return false
		}
		if !hasValue && f.NoOptDefVal == "" {
			i++ // its value follows
		}
	}
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isProcessID(arg string) bool { return arg != "" && strings.Trim(arg, "0123456789") == "" }

// picksProcess reports whether a flag is one by which commands pick a running
// process.
func picksProcess(flag string) bool {
	for _, name := range []string{"-p", "-n"} {
		if strings.HasPrefix(flag, name) && !strings.HasPrefix(flag, "--") {
			return true
		}
	}
	name, _, _ := strings.Cut(flag, "=")
	return name == "--process-id" || name == "--name"
}

// stdinIsFile reports whether standard input is a file with something in it. A pipe does not
// count, because it may have no writer; an argument of - reads it.
func stdinIsFile() bool {
	in, err := os.Stdin.Stat()
	return err == nil && in.Mode().IsRegular() && in.Size() > 0
}

// A misspelt command is a command that does not exist.
func misspelt(root *cobra.Command, args []string) error {
	like := text.Each(root.SuggestionsFor(args[0]), func(name *string) string { return commandLine(append([]string{*name}, args[1:]...)) })
	if len(like) == 0 {
		like = []string{"gctrail report " + text.Quoted(args[0])}
	}
	return &usageError{whole: true, err: fmt.Errorf("no file or command named %q; did you mean: %s", args[0], strings.Join(like, " or "))}
}

func commandLine(args []string) string { return "gctrail " + text.QuotedWords(args) }

// meantFlags maps flags of other tools, and of other commands, to the equivalent ones.
var meantFlags = map[string][]string{
	"json": {"--format json", "--format jsonl"}, "jsonl": {"--format jsonl", "--format json"}, "ndjson": {"--format jsonl"},
	"html": {"--format html -o report.html"}, "csv": {"--format csv"}, "table": {"--format table"}, "text": {"--format text"}, "md": {"--format markdown"}, "markdown": {"--format markdown"},
	"p": {"--pid"}, "process-id": {"--pid"}, "pid": {"-p"},
	"n": {"--process"}, "name": {"--process"}, "process": {"-n"},
	"since": {"--from"}, "start": {"--from"}, "until": {"--to"}, "end": {"--to"},
	"out": {"-o"}, "file": {"-o"}, "seconds": {"--duration"}, "time": {"--duration"}, "timeout": {"--duration"},
	"colour": {"--color"}, "no-color": {"--color never"}, "no-colour": {"--color never"}, "limit": {"--top"}, "top": {"--limit"}, "generation": {"--gen"},
	"sort": {"--pause-above p99"},
}

// flagError reports an invalid flag, and suggests the command line that the user may have
// meant.
func (std *stdio) flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return asUsage(cmd, err)
	}
	name := unknown.GetSpecifiedName()
	if meant := meantFlag(flagsOf(cmd), name); meant != "" {
		return &usageError{whole: true, err: fmt.Errorf("unknown flag %s; did you mean: %s", dashed(name), std.with(cmd, name, meant))}
	}
	if other := owner(cmd.Root(), name); other != nil {
		return usagef(other, "unknown flag %s; %s has it", dashed(name), other.CommandPath())
	}
	return usagef(cmd, "unknown flag %s", dashed(name))
}

// owner returns the only command that has a flag, nil if none has it, or several.
func owner(root *cobra.Command, flag string) *cobra.Command {
	var only *cobra.Command
	for _, cmd := range root.Commands() {
		if f := cmd.Flags().Lookup(flag); f == nil || f.Hidden || !cmd.IsAvailableCommand() {
			continue
		}
		if only != nil {
			return nil
		}
		only = cmd
	}
	return only
}

// flagsOf returns the flags of a command, for gctrail itself report's.
func flagsOf(cmd *cobra.Command) *pflag.FlagSet {
	if cmd.HasParent() {
		return cmd.Flags()
	}
	report, _, err := cmd.Find([]string{"report"})
	if err != nil {
		return cmd.Flags()
	}
	return report.Flags()
}

// meantFlag returns the flag that the user may have meant by an unknown one, with its value
// if that is clear; empty if there is none.
func meantFlag(flags *pflag.FlagSet, name string) string {
	for _, meant := range meantFlags[name] {
		flag, value, _ := strings.Cut(strings.TrimLeft(meant, "-"), " ")
		f := flags.Lookup(flag)
		if len(flag) == 1 {
			f = flags.ShorthandLookup(flag)
		}
		if f == nil {
			continue
		}
		value, _, _ = strings.Cut(value, " ")
		if of, ok := f.Value.(*choice); !ok || value == "" || slices.Contains(of.of, value) {
			return meant
		}
	}
	best, nearest := 3, "" // edits
	flags.VisitAll(func(f *pflag.Flag) {
		if n := distance(name, f.Name); !f.Hidden && n < best && 2*n < len(name) {
			best, nearest = n, dashed(f.Name)
		}
	})
	return nearest
}

// with returns the command line that was given, with a flag in place of one
// that is unknown.
func (std *stdio) with(cmd *cobra.Command, unknown, flag string) string {
	line := cmd.CommandPath()
	if !cmd.HasParent() {
		line += " report"
	}
	given := std.args
	for _, word := range strings.Fields(cmd.CommandPath())[1:] {
		if len(given) > 0 && given[0] == word {
			given = given[1:]
		}
	}
	found, drop := false, false
	for _, arg := range given {
		if drop {
			drop = false
			continue
		}
		name, value, has := strings.Cut(arg, "=")
		switch {
		case !found && name == dashed(unknown) && has && !strings.Contains(flag, " "):
			line += " " + flag + "=" + text.Quoted(value)
			found = true
		case !found && (name == dashed(unknown) || len(unknown) == 1 && strings.HasPrefix(arg, "-"+unknown)):
			line += " " + flag
			if rest := strings.TrimPrefix(arg, "-"+unknown); len(unknown) == 1 && rest != "" {
				line += " " + text.Quoted(rest)
			}
			found = true
			drop = !has && strings.Contains(flag, " ") && takesValue(cmd.Root(), unknown)
		default:
			line += " " + text.Quoted(arg)
		}
	}
	if !found {
		line += " " + flag
	}
	if !cmd.HasParent() {
		line += " FILE"
	}
	return line
}

// takesValue reports whether a command has a flag with a value.
func takesValue(root *cobra.Command, flag string) bool {
	return slices.ContainsFunc(root.Commands(), func(cmd *cobra.Command) bool {
		f := cmd.Flags().Lookup(flag)
		return f != nil && f.NoOptDefVal == ""
	})
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// maxColumns is how many columns an error names.
const maxColumns = 20

// unknownColumn reports a column that does not exist. It suggests similar columns, or lists
// all of them if they are few.
func unknownColumn(name string, valid []string) error {
	var like []string
	for edits := 0; edits <= 2 && len(like) == 0; edits++ {
		for _, column := range valid {
			if unit := strings.HasPrefix(column, name+"_"); edits == 0 && unit || edits > 0 && edits < len(name)-1 && distance(name, column) == edits {
				like = append(like, column)
			}
		}
	}
	if len(like) == 0 {
		like = sharingWord(name, valid)
	}
	switch {
	case len(like) > 0:
		return fmt.Errorf("unknown column %q; did you mean %s", name, strings.Join(like, " or "))
	case len(valid) > maxColumns:
		return fmt.Errorf("unknown column %q", name)
	}
	return fmt.Errorf("unknown column %q; valid columns: %s", name, strings.Join(valid, ", "))
}

// sharingWord returns the first of the columns that have the longest words in common
// with a name.
func sharingWord(name string, valid []string) []string {
	const first, shortest = 4, 3
	name = strings.ToLower(name)
	var like []string
	most := 1
	for _, column := range valid {
		shared := 0
		for part := range strings.SplitSeq(column, "_") {
			if len(part) >= shortest && strings.Contains(name, part) {
				shared += len(part)
			}
		}
		if shared > most {
			like, most = nil, shared
		}
		if shared == most && len(like) < first {
			like = append(like, column)
		}
	}
	return like
}

// distance returns the number of letters to insert, remove, replace or swap
// with the next to make b of a.
func distance(a, b string) int {
	previous, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], previous[j-1]+1)
			}
		}
		previous, row = row, next
	}
	return row[len(b)]
}
