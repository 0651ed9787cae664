package cli

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

type trendOptions struct {
	selection.Selection
	traces []string
	format choice
	label  string
	work   amounts
	output string
}

func newTrendCmd(std *stdio) *cobra.Command {
	opts := &trendOptions{format: choice{"text", []string{"text", "json"}}}
	cmd := newCmd(std, opts, "trend TRACE...", "Find the runs at which a metric changed, in a history of runs", someFiles(&opts.traces))
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "text or json (one line)")
	flags.StringVar(&opts.label, "label", "", "take the name of a run from its file name with this regular `expression`")
	opts.work.addFlags(flags, "of the runs")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	addSelection(flags, &opts.Selection)
	return cmd
}

func (o *trendOptions) conflict() error { return timesConflict(&o.Selection) }

func (o *trendOptions) run(ctx context.Context, std *stdio) error {
	label, err := regexp.Compile(o.label)
	if err != nil {
		return misusef("--label: %v", err)
	}
	runs, err := o.work.read(ctx, std, &o.Selection, nil, o.traces)
	if err != nil {
		return err
	}
	labels := text.Each(runs[0], func(run **compare.Run) string { return labelOf(label, (*run).Name) })
	trends := compare.Trends(runs[0])
	if o.format.value == "json" {
		return std.writeTo(o.output, o.traces, func(out *output) error { return comparison.WriteTrendsJSON(out, labels, trends) })
	}
	return std.writePageTo(o.output, o.traces, func(p *text.Page) { comparison.WriteTrends(p, labels, trends) })
}

func labelOf(label *regexp.Regexp, name string) string {
	m := label.FindStringSubmatch(name)
	switch {
	case len(m) > 1 && m[1] != "":
		return m[1]
	case len(m) > 0 && m[0] != "":
		return m[0]
	}
	return name
}
