package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

type diffOptions struct {
	selection.Selection
	args          []string
	dash          int // the arguments before --; below 0 for none
	before, after []string
	format        choice
	work          amounts
	output        string
	page          *report.Page // of all runs; nil for the other formats
}

func newDiffCmd(std *stdio) *cobra.Command {
	opts := &diffOptions{format: choice{"text", []string{"text", "json", "markdown", "html"}}}
	take := func(cmd *cobra.Command, args []string) error {
		opts.args, opts.dash = args, cmd.ArgsLenAtDash()
		return nil
	}
	cmd := newCmd(std, opts, "diff BEFORE... -- AFTER...", "Compare runs, and separate change from noise", take)
	cmd.SuggestFor = []string{"compare"}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "text, json (one line), markdown, or html, a page for a browser")
	opts.work.addFlags(flags, "of the runs")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	addSelection(flags, &opts.Selection)
	return cmd
}

func (o *diffOptions) conflict() error { return cmp.Or(timesConflict(&o.Selection), o.divide()) }

// divide makes two sides of the arguments.
func (o *diffOptions) divide() error {
	switch {
	case o.dash < 0 && len(o.args) == 2:
		o.dash = 1
	case o.dash < 0:
		return fmt.Errorf("expected two traces, or several on each side of --, got %d: gctrail diff BEFORE AFTER", len(o.args))
	}
	o.before, o.after = o.args[:o.dash], o.args[o.dash:]
	if len(o.before) == 0 || len(o.after) == 0 {
		return errors.New("no trace on one side of --: gctrail diff BEFORE BEFORE -- AFTER AFTER")
	}
	return nil
}

func (o *diffOptions) run(ctx context.Context, std *stdio) error {
	if o.format.value == "html" {
		if err := std.refusePage(o.output); err != nil {
			return err
		}
		o.page = new(report.Page)
	}
	runs, err := o.work.read(ctx, std, &o.Selection, o.page, o.before, o.after)
	if err != nil {
		return err
	}
	c := compare.Compare(runs[0], runs[1])
	return std.writeTo(o.output, slices.Concat(o.before, o.after), func(out *output) error {
		if o.page != nil {
			return o.writePage(out, c)
		}
		return std.writeComparison(out, o.format.value, c)
	})
}

// writeComparison writes a comparison as text, json or markdown.
func (std *stdio) writeComparison(out *output, format string, c *compare.Comparison) error {
	switch format {
	case "json":
		return comparison.WriteJSON(out, c)
	case "markdown":
		return writeMarkdown(out, func(p *text.Page) { comparison.WriteMarkdown(p, c) })
	}
	return std.writePage(out, func(p *text.Page) { comparison.WriteText(p, c) })
}

// writePage writes the comparison as a page, with the collections of all runs.
func (o *diffOptions) writePage(out *output, c *compare.Comparison) error {
	if err := comparison.Describe(o.page, c, program()); err != nil {
		return err
	}
	return o.page.Write(out)
}
