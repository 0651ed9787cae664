package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

// checkFlags select the baseline and the budget of a check, and the destinations of the
// results.
type checkFlags struct {
	budget   string
	baseline []string
	format   choice
	outs     reports
}

func newCheckFlags() checkFlags {
	return checkFlags{format: choice{"text", comparison.CheckFormats()}}
}

func (c *checkFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.baseline, "baseline", nil, "compare with this `trace`, or with all traces of a folder; repeat for more")
	flags.Var(&c.format, "format", strings.Join(comparison.CheckFormats(), ", ")+", on standard output")
	flags.Var(&c.outs, "out", "also write the results to a file, in this format; repeat for more")
}

type checkOptions struct {
	selection.Selection
	checkFlags
	traces []string
	init   string
	work   amounts
}

func newCheckCmd(std *stdio) *cobra.Command {
	opts := &checkOptions{checkFlags: newCheckFlags()}
	cmd := newCmd(std, opts, "check TRACE... --budget FILE", "Check runs against a GC budget, for continuous integration", someFiles(&opts.traces))
	flags := cmd.Flags()
	flags.StringVar(&opts.budget, "budget", "", "the budget `file`")
	flags.StringVar(&opts.init, "init", "", "write a budget `file` that these traces meet with headroom, and check nothing")
	opts.work.addFlags(flags, "of the traces, then of the baseline")
	opts.addFlags(flags)
	addSelection(flags, &opts.Selection)
	return cmd
}

func (o *checkOptions) conflict() error {
	if err := timesConflict(&o.Selection); err != nil {
		return err
	}
	if (o.budget == "") == (o.init == "") {
		return errors.New("--budget or --init is required; to write a budget that these traces meet: gctrail check --init gc-budget.yaml FILE")
	}
	return nil
}

func (o *checkOptions) run(ctx context.Context, std *stdio) error {
	if o.init != "" {
		return o.write(ctx, std)
	}
	b, err := o.readBudget()
	if err != nil {
		return err
	}
	runs, err := o.work.read(ctx, std, &o.Selection, nil, o.traces, o.baseline)
	if err != nil {
		return err
	}
	return o.check(std, b, runs[0], runs[1], o.traces)
}

// write makes a budget of the traces that lack nothing.
func (o *checkOptions) write(ctx context.Context, std *stdio) error {
	read, err := o.work.read(ctx, std, &o.Selection, nil, o.traces)
	if err != nil {
		return err
	}
	runs := slices.DeleteFunc(read[0], func(r *compare.Run) bool {
		if r.Incomplete() {
			std.warn(r.Name, "left out of the budget: events are missing, so equal runs may cost more than it shows")
		}
		return r.Incomplete()
	})
	b := comparison.BudgetFromRuns(runs)
	if len(b.Limits) == 0 {
		return misusef("%s: not written: the traces show nothing to limit", o.init)
	}
	if n := len(runs); n < compare.MinRuns {
		std.warn(o.init, fmt.Sprintf("made from %s, so equal runs may exceed it; %d show how much they vary: gctrail run --repeat %[2]d -- COMMAND",
			text.Counted(n, "run"), compare.MinRuns))
	}
	for _, line := range b.Loose() {
		std.warn(o.init, line)
	}
	if len(b.Loose()) > 0 {
		std.warn(o.init, fmt.Sprintf("limits so far above all runs catch little; record longer runs that all do the same work (or give --work), or more of them: gctrail run --repeat %d -- COMMAND",
			2*max(compare.MinRuns, len(runs))))
	}
	yaml, err := b.YAML()
	if err != nil {
		return err
	}
	return chosenBy("--init", "file", std.writeTo(o.init, o.traces, func(out *output) error {
		_, err := out.Write(yaml)
		return err
	}))
}

// check compares runs with the budget and writes the result.
func (c *checkFlags) check(std *stdio, b *comparison.Budget, runs, baseline []*compare.Run, inputs []string) error {
	for _, run := range slices.Concat(runs, baseline) {
		run.Work = cmp.Or(run.Work, b.Work.Amount)
		if limit := b.NeedsWork(); limit != "" && run.Work == 0 {
			return &usageError{whole: true, err: fmt.Errorf("%s: %s needs the amount of work of each run, and %s has none: give --work, or write work: into the budget", c.budget, limit, run.Name)}
		}
	}
	result := b.Check(runs, baseline)
	for _, to := range slices.Concat(reports{{c.format.value, "-"}}, c.outs) {
		err := std.writeTo(to.path, slices.Concat(inputs, c.baseline, []string{c.budget}), func(out *output) error {
			return comparison.WriteCheck(out, to.format, result)
		})
		if err != nil {
			return chosenBy("--out", "file", err)
		}
	}
	if result.Failed() {
		return errOverBudget
	}
	return nil
}

// errOverBudget is the exit code 1; the result was shown.
var errOverBudget = errors.New("over the budget")

// readBudget reads the budget, and returns an error unless it fits the baseline, or its
// absence.
func (c *checkFlags) readBudget() (*comparison.Budget, error) {
	failed := func(err error) error {
		return &fileError{c.budget, err, "gctrail check --init FILE TRACE writes a budget"}
	}
	f, err := os.Open(c.budget)
	if err != nil {
		return nil, failed(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, comparison.MaxBudgetSize+1))
	if err != nil {
		return nil, failed(err)
	}
	b, err := comparison.ParseBudget(data)
	if err != nil {
		return nil, failed(err)
	}
	if err := b.Ready(len(c.baseline) > 0); err != nil {
		return nil, misusef("%s: %w", c.budget, err)
	}
	return b, nil
}

// reports is a flag that takes formats with files: junit=gc.xml.
type reports []struct{ format, path string }

func (r *reports) Type() string { return "FORMAT=FILE" }

func (r *reports) String() string { return "" }

func (r *reports) Set(s string) error {
	format, path, ok := strings.Cut(s, "=")
	if !ok || path == "" {
		return errors.New("use FORMAT=FILE, as in junit=gc.xml")
	}
	if !slices.Contains(comparison.CheckFormats(), format) {
		return fmt.Errorf("%q is not one of %s", format, strings.Join(comparison.CheckFormats(), ", "))
	}
	*r = append(*r, struct{ format, path string }{format, path})
	return nil
}
