package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

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
	var ids []string
	for _, p := range all {
		if id := fmt.Sprintf("%d\t%s", p.PID, oneWord(p.Name)); p.PID != trace.UnknownID && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func tracedNames(all []*gc.Process) []string {
	var names []string
	for _, p := range all {
		if p.Name != "" && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}
