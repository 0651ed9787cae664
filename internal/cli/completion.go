package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// complete makes the shell offer words for a flag.
func (std *stdio) complete(cmd *cobra.Command, flag string, words []string) {
	std.completeBy(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeWords makes the shell offer the words of all flags that take only a few.
func (std *stdio) completeWords(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch v := f.Value.(type) {
		case *choice:
			std.complete(cmd, f.Name, v.of)
		case *choices:
			std.complete(cmd, f.Name, v.of)
		}
	})
	for _, sub := range cmd.Commands() {
		std.completeWords(sub)
	}
}

// completeBy makes the shell offer words for a flag. cobra keeps each function in a global map
// to the end of the process, and with it the command's stdio and all that it has written. A
// process that runs many command lines, as the server of mcp and the tests do, registers none.
func (std *stdio) completeBy(cmd *cobra.Command, flag string, offer cobra.CompletionFunc) {
	if !std.shell {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // the flag does not exist
	}
}

// completeList makes the shell offer words for a flag that takes several, with
// commas between them.
func (std *stdio) completeList(cmd *cobra.Command, flag string, words func() []string) {
	std.completeBy(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return continued(typed, words()), cobra.ShellCompDirectiveNoFileComp
	})
}

// continued returns the words with which a list can continue, each after the part that
// is typed already.
func continued(typed string, words []string) []string {
	before := typed[:strings.LastIndex(typed, ",")+1]
	given := strings.Split(before, ",")
	var offers []string
	for _, word := range words {
		if plain, _, _ := strings.Cut(word, "\t"); !slices.Contains(given, plain) {
			offers = append(offers, before+word)
		}
	}
	return offers
}

// runningProcesses looks for processes no longer than a user waits after pressing a key.
func runningProcesses() []*diag.Process {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return diag.List(ctx)
}

// processIDs returns the ids of processes, with their names as descriptions.
func processIDs(all []*diag.Process) []string {
	return distinct(all, func(p *diag.Process) string {
		if p.PID <= 0 {
			return ""
		}
		return strconv.Itoa(p.PID) + "\t" + oneWord(p.Name)
	})
}

func processNames(all []*diag.Process) []string {
	return distinct(all, func(p *diag.Process) string { return p.Name })
}

// distinct returns the words for some processes, each once, and none for an empty one.
func distinct[P any](all []*P, word func(*P) string) []string {
	var words []string
	for _, p := range all {
		if w := word(p); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// completeCondition makes the shell offer the figures that a condition can ask for.
func (std *stdio) completeCondition(cmd *cobra.Command, flag string) {
	std.completeBy(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return conditions(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// conditions returns the comparisons with which a condition can continue.
func conditions(typed string) []string {
	before := typed[:strings.LastIndexAny(typed, " (")+1]
	var offers []string
	for _, f := range selection.ConditionWords() {
		operator := ">"
		if f.Until.Words != nil || f.Until.Below > 0 {
			operator = "="
		}
		offers = append(offers, before+f.Until.Word+operator+"\t"+f.Until.Meaning+", as in "+f.Until.Example)
	}
	return offers
}

// completeTraced makes the shell offer, for --pid and --process of all commands that
// read traces, the processes of the traces on the command line.
func (std *stdio) completeTraced(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("pid") == nil || cmd.Flags().Lookup("process") == nil {
			continue
		}
		std.completeBy(cmd, "pid", func(_ *cobra.Command, paths []string, typed string) ([]string, cobra.ShellCompDirective) {
			return continued(typed, tracedIDs(tracedProcesses(paths))), cobra.ShellCompDirectiveNoFileComp
		})
		std.completeBy(cmd, "process", func(_ *cobra.Command, paths []string, _ string) ([]string, cobra.ShellCompDirective) {
			return tracedNames(tracedProcesses(paths)), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// completionTime limits how long traces are read for a completion.
const completionTime = 2 * time.Second

// tracedProcesses returns the processes with collections in traces, as far as they
// are found in a short time. Standard input is not read.
func tracedProcesses(paths []string) []*gc.Process {
	var all []*gc.Process
	until := time.Now().Add(completionTime)
	for _, path := range paths {
		if path == "-" || time.Now().After(until) {
			continue
		}
		in, err := open.File(path, open.Options{Want: gc.Wants, Head: gc.Head})
		if err != nil {
			continue
		}
		var m gc.Model
		for _, err := range m.Collections(in.Source) {
			if err != nil || time.Now().After(until) {
				break // with the processes found so far
			}
		}
		all = append(all, m.Processes()...)
		_ = in.Close()
	}
	return all
}

func tracedIDs(all []*gc.Process) []string {
	return distinct(all, func(p *gc.Process) string {
		if p.PID == trace.UnknownID {
			return ""
		}
		return fmt.Sprintf("%d\t%s", p.PID, oneWord(p.Name))
	})
}

func tracedNames(all []*gc.Process) []string {
	return distinct(all, func(p *gc.Process) string { return p.Name })
}
