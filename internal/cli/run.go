package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

type runOptions struct {
	checkFlags
	command  []string
	repeat   int
	profiles choices
	requests bool
	output   string
	work     string
	pattern  *regexp.Regexp // of work, or of the budget; nil for none
}

// maxRepeat bounds --repeat.
const maxRepeat = 1000

func newRunCmd(std *stdio) *cobra.Command {
	opts := &runOptions{checkFlags: newCheckFlags(), profiles: choices{kind: "NAME", of: collect.ProfileNames()}}
	cmd := newCmd(std, opts, "run -- COMMAND ARG...", "Run a command with tracing, once or more, and check its traces", afterDash(&opts.command))
	flags := cmd.Flags()
	flags.StringVar(&opts.budget, "check", "", "check the runs against this budget `file`")
	flags.IntVar(&opts.repeat, "repeat", 1, "run the command this many times")
	flags.Var(&opts.profiles, "profile", "sets of events, as in collect (default gc-ticks)")
	flags.BoolVar(&opts.requests, "requests", false, requestsHelp)
	flags.StringVarP(&opts.output, "output", "o", "runs", "write the traces to this `folder`")
	flags.StringVar(&opts.work, "work", "", "find the amount of work in the output with this regular `expression`")
	opts.addFlags(flags)
	return cmd
}

func (o *runOptions) conflict() (err error) {
	switch {
	case len(o.command) == 0:
		return errors.New("no command: give it after --, as in gctrail run -- dotnet app.dll")
	case o.repeat < 1 || o.repeat > maxRepeat:
		return fmt.Errorf("--repeat must be from 1 to %d", maxRepeat)
	case o.budget == "" && (len(o.baseline) > 0 || len(o.outs) > 0):
		return errors.New("--baseline and --out need --check")
	case o.work == "":
		return nil
	}
	if o.pattern, err = comparison.WorkPattern(o.work); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

func (o *runOptions) run(ctx context.Context, std *stdio) error {
	var b *comparison.Budget
	var baseline []*compare.Run
	if o.budget != "" {
		var err error
		if b, err = o.readBudget(); err != nil {
			return err
		}
		// A baseline that cannot be read must not cost the runs.
		if baseline, err = std.runs(ctx, new(selection.Selection), o.baseline, nil); err != nil {
			return err
		}
		if o.pattern == nil && b.Work.Pattern != "" {
			if o.pattern, err = comparison.WorkPattern(b.Work.Pattern); err != nil {
				return err
			}
		}
	}
	runs, err := o.runAll(ctx, std)
	if err != nil {
		return chosenBy("-o", "folder", err)
	}
	if b != nil {
		return o.check(std, b, runs, baseline, []string{o.output})
	}
	std.warn("run", fmt.Sprintf("%s in %s; make a budget with: gctrail check --init gc-budget.yaml %[2]s; compare with: gctrail diff BEFORE -- %[2]s",
		text.Counted(len(runs), "run"), text.Quoted(o.output)))
	return nil
}

// runAll runs the command as often as --repeat says, and reads its traces.
func (o *runOptions) runAll(ctx context.Context, std *stdio) ([]*compare.Run, error) {
	next, err := o.next()
	if err != nil {
		return nil, err
	}
	var runs []*compare.Run
	for range o.repeat {
		path := filepath.Join(o.output, fmt.Sprintf("run-%d.nettrace", next))
		next++
		if err := o.traceWithWork(ctx, std, path); err != nil {
			return nil, err
		}
		run, err := std.run(ctx, new(selection.Selection), path, nil)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// next returns the number of the first run that the folder does not have yet.
func (o *runOptions) next() (int, error) {
	if err := os.MkdirAll(o.output, 0o777); err != nil {
		return 0, &collect.OutputError{Name: o.output, Err: err}
	}
	for n := 1; ; n++ {
		trace := filepath.Join(o.output, fmt.Sprintf("run-%d.nettrace", n))
		if _, err := os.Lstat(trace); errors.Is(err, os.ErrNotExist) {
			return n, nil
		}
	}
}

// traceWithWork runs the command once, as trace does, and keeps the amount of its work.
func (o *runOptions) traceWithWork(ctx context.Context, std *stdio, path string) error {
	launch := collect.Command{Args: o.command, Show: true, Terminal: term.IsTerminal(int(os.Stdin.Fd()))}
	if o.pattern == nil {
		return o.trace(ctx, std, &launch, path)
	}
	finder := &comparison.WorkFinder{Pattern: o.pattern}
	out, errs := finder.Stream(), finder.Stream()
	launch.Out, launch.Err = out, errs
	if err := o.trace(ctx, std, &launch, path); err != nil {
		return err
	}
	errs.End()
	out.End()
	amount, err := finder.Amount()
	if err != nil {
		return misusef("%s: %w", path, err)
	}
	return writeWork(path, amount)
}

// trace runs the command once, and leaves the trace of its busiest process at a
// path.
func (o *runOptions) trace(ctx context.Context, std *stdio, command *collect.Command, path string) error {
	folder := strings.TrimSuffix(path, ".nettrace") + string(filepath.Separator)
	request := collect.Request{Profiles: o.profiles.values, BufferMB: bufferMB, Requests: o.requests}
	if len(request.Profiles) == 0 {
		request.Profiles = []string{selection.GCTicks}
	}
	config, _ := request.Config()
	warnOfCost(std, &request)
	talk := &collectTalk{std: std, line: &progress{}}
	var mu sync.Mutex
	var results []*collect.Result
	supervisor := collect.New(&collect.Options{
		Config: config, Resume: true, Output: folder, Plan: (&collect.Stop{Files: 1}).Plan(), Stdout: std.out,
		Notify: func(n collect.Notice) {
			if ended, ok := n.(collect.Ended); ok {
				mu.Lock()
				defer mu.Unlock()
				results = append(results, ended.Result)
				return
			}
			talk.notify(n)
		},
	})
	err := supervisor.Launch(ctx, command)
	if err := cmp.Or(ctx.Err(), talk.finish(err)); err != nil {
		return err
	}
	if len(results) == 0 {
		return &collect.CommandError{Name: command.Args[0], Err: collect.ErrNotDotnet}
	}
	busiest := slices.MaxFunc(results, func(a, b *collect.Result) int { return cmp.Compare(a.Collections, b.Collections) })
	if err := os.Rename(busiest.Path, path); err != nil {
		return &collect.OutputError{Name: path, Err: err}
	}
	busiest.Path = path
	_ = os.Remove(folder) // which is not empty if other processes were traced
	std.printResult(busiest, "")
	return nil
}
