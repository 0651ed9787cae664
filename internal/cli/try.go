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
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/trial"
	"github.com/gctrail/gctrail/internal/units"
)

type tryOptions struct {
	command  []string
	sets     []string
	runtimes []string
	work     string
	load     string
	ready    string
	requests bool
	budget   time.Duration
	timeout  time.Duration
	folder   string
	format   choice
	output   string

	candidates []trial.Setting
	pattern    *regexp.Regexp // of work; nil for none
	isReady    *regexp.Regexp
}

// tryBudget is how long try takes unless --budget is given.
const tryBudget = 5 * time.Minute

// maxCandidates bounds the settings that are tried.
const maxCandidates = 20

func newTryOptions() *tryOptions {
	return &tryOptions{budget: tryBudget, format: choice{"text", []string{"text", "json", "markdown", "html"}}}
}

func newTryCmd(std *stdio) *cobra.Command {
	opts := newTryOptions()
	cmd := newCmd(std, opts, "try -- COMMAND ARG...", "Find the GC settings that help a program, by running it", afterDash(&opts.command))
	cmd.SuggestFor = []string{"tune", "experiment", "bench", "benchmark"}
	flags := cmd.Flags()
	flags.StringArrayVar(&opts.sets, "set", nil, "try this `NAME=VALUE`, or several with commas between them; repeat for more candidates")
	flags.StringArrayVar(&opts.runtimes, "runtime", nil, "try the runtime in this `folder`, as DOTNET_ROOT; repeat for more")
	flags.StringVar(&opts.work, "work", "", "find the amount of work in the output with this regular `expression`")
	flags.StringVar(&opts.load, "load", "", "run this `command` beside the program, which ends with it")
	flags.StringVar(&opts.ready, "ready", "", "start the load when a line of the program's output matches this `expression`")
	flags.BoolVar(&opts.requests, "requests", false, requestsHelp)
	flags.Var(spanFlag(&opts.budget), "budget", "spend at most this time (default 5m)")
	flags.Var(spanFlag(&opts.timeout), "timeout", "end a run that takes longer than this (default the budget)")
	flags.StringVar(&opts.folder, "output-dir", "try", "write the trace and the output of each run to this `folder`")
	flags.Var(&opts.format, "format", "text, json (one line), markdown, or html, a page for a browser")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	return cmd
}

func (o *tryOptions) conflict() (err error) {
	switch {
	case len(o.command) == 0:
		return errors.New("no command: give it after --, as in gctrail try -- dotnet app.dll")
	case o.ready != "" && o.load == "":
		return errors.New("--ready needs --load")
	case len(o.sets)+len(o.runtimes) > maxCandidates:
		return fmt.Errorf("--set and --runtime can be given %d times at most: each candidate makes it harder to tell", maxCandidates)
	}
	if o.work != "" {
		if o.pattern, err = comparison.WorkPattern(o.work); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	o.isReady = trial.DefaultReady
	if o.ready != "" {
		if o.isReady, err = regexp.Compile(o.ready); err != nil {
			return fmt.Errorf("--ready: %w", err)
		}
	}
	return o.choose()
}

// choose makes candidates of the flags.
func (o *tryOptions) choose() error {
	o.candidates = nil
	for _, given := range o.sets {
		s, err := trial.ParseSetting(given)
		if err != nil {
			return fmt.Errorf("--set: %w", err)
		}
		o.candidates = append(o.candidates, s)
	}
	for _, given := range o.runtimes {
		path, err := filepath.Abs(given)
		if err != nil {
			return fmt.Errorf("--runtime: %w", err)
		}
		if _, err := os.Stat(filepath.Join(path, "shared")); err != nil {
			return fmt.Errorf("--runtime: %s is no folder of a runtime: it has no folder shared; give the folder that DOTNET_ROOT names", text.Quoted(given))
		}
		o.candidates = append(o.candidates, trial.Setting{Name: "runtime " + given, Runtime: path})
	}
	for i := range o.candidates {
		if slices.ContainsFunc(o.candidates[:i], func(s trial.Setting) bool { return s.Name == o.candidates[i].Name }) {
			return fmt.Errorf("%s is given twice", o.candidates[i].Name)
		}
	}
	return nil
}

func (o *tryOptions) run(ctx context.Context, std *stdio) error {
	if o.format.value == "html" {
		if err := std.refusePage(o.output); err != nil {
			return err
		}
	}
	program := &trial.Program{
		Args: o.command, Work: o.pattern, Load: o.load, Ready: o.isReady, Timeout: cmp.Or(o.timeout, o.budget), Requests: o.requests, Folder: o.folder,
	}
	began := time.Now()
	if len(o.candidates) == 0 {
		if none := o.propose(ctx, std, program); none != "" {
			err := std.writePageTo("-", nil, func(p *text.Page) { p.Prose("", none) })
			return cmp.Or(err, ctx.Err())
		}
	}
	e := &trial.Experiment{
		Settings: append([]trial.Setting{{Name: trial.Present}}, o.candidates...), Run: program.Run,
		Budget: max(o.budget-time.Since(began), 1), Seed: uint64(began.UnixNano()), Now: time.Now,
	}
	round := 0
	e.Progress = func(_ *trial.Setting, n int) {
		if n == round {
			return
		}
		round = n
		begins := fmt.Sprintf("round %d", n)
		if n > 1 {
			begins += ", after " + units.Duration(time.Since(began).Round(100*time.Millisecond))
		}
		std.warn("try", begins)
	}
	// The output is opened first: if that fails, no run is in vain.
	err := std.writeTo(o.output, nil, func(out *output) error { return o.write(std, out, e.Do(ctx)) })
	return cmp.Or(err, ctx.Err())
}

// propose runs the program once and makes candidates of what its trace shows. It returns why
// there are none.
func (o *tryOptions) propose(ctx context.Context, std *stdio, program *trial.Program) (none string) {
	std.warn("try", "a first run, to see which settings may help")
	run, proposal := program.Examine(ctx)
	switch {
	case ctx.Err() != nil:
		return "Interrupted in the first run, before any setting was tried: nothing is known so far."
	case proposal == nil:
		return fmt.Sprintf("No result: the first run is not measured (%s); the output is in %s.", run.Reason, text.Quoted(run.Output))
	case proposal.None != "":
		return "Nothing to try: " + proposal.None + "."
	}
	o.candidates = proposal.Settings
	std.warn("try", "trying "+strings.Join(text.Each(o.candidates, func(s *trial.Setting) string { return s.Name }), ", "))
	return ""
}

func (o *tryOptions) write(std *stdio, out *output, r *trial.Result) error {
	switch o.format.value {
	case "json":
		return r.WriteJSON(out)
	case "html":
		return r.WritePage(out)
	case "markdown":
		return writeMarkdown(out, r.WriteMarkdown)
	}
	return std.writePage(out, r.WriteText)
}
