package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/chart"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
)

type reportOptions struct {
	inputFlags
	files   []string
	format  choice
	output  string
	explain string
	budget  report.Budget
	full    bool
	ledgers []string // as they were given
	given   []*givenLedger
	chart   drawing
	perfMap perfMapFlag
}

func newReportCmd(std *stdio) *cobra.Command {
	opts := newReportOptions()
	take := func(cmd *cobra.Command, args []string) error {
		if opts.explain != "" {
			return noArgs(cmd, args)
		}
		return someFiles(&opts.files)(cmd, args)
	}
	cmd := newCmd(std, opts, "report FILE...", "Report on the garbage collector: verdict, findings, figures", take)
	cmd.SuggestFor = []string{"stats", "analyze", "summary", "gcstats", "html", "show"}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "text, json (one line for each file), markdown, for an issue or a chat, or html, a page for a browser")
	flags.BoolVar(&opts.full, "full", false, "print all of the JSON report, which is otherwise limited to 6 kB")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	flags.StringArrayVar(&opts.ledgers, "ledger", nil, "add the memory of a process, from its `LEDGER`: a file, a PID or a name, as of gctrail ledger; repeatable")
	flags.StringVar(&opts.chart.path, "chart", "", "also draw pauses, heap and allocation rate into this .svg or .png `file`")
	flags.Var(parsed[report.Budget]{&opts.budget, "LIMIT", report.ParseBudget}, "budget", "acceptable pauses: the longest pause, the share of time paused, or both")
	flags.Lookup("budget").DefValue = opts.budget.String()
	opts.perfMap.addFlag(flags)
	flags.StringVar(&opts.explain, "explain", "", "explain the term `NAME` instead")
	opts.addFlags(flags)
	std.complete(cmd, "explain", report.FigureNames())
	return cmd
}

// newReportOptions returns the options of a path alone.
func newReportOptions() *reportOptions {
	return &reportOptions{format: choice{"text", []string{"text", "json", "markdown", "html"}}, output: "-"}
}

func (o *reportOptions) conflict() error {
	if o.explain != "" {
		return nil
	}
	return cmp.Or(o.inputFlags.conflict(o.files), o.chart.check(len(o.groups(o.files))))
}

func (o *reportOptions) run(ctx context.Context, std *stdio) error {
	if o.explain != "" {
		return o.define(std)
	}
	if err := o.openLedgers(std); err != nil {
		return err
	}
	if o.format.value == "html" {
		return o.writePage(ctx, std)
	}
	out, err := std.create(o.output, o.files)
	if err != nil {
		return err
	}
	begun := 0
	err = each(o.groups(o.files), func(paths []string) error {
		rep, err := o.gather(ctx, std, paths)
		if err != nil {
			return err
		}
		o.addLedgers(rep)
		switch {
		case o.format.value == "json" && o.full:
			return rep.WriteJSON(out)
		case o.format.value == "json":
			return rep.WriteBriefJSON(out)
		case o.format.value == "markdown":
			return writeMarkdown(out, rep.WriteMarkdown)
		}
		return std.writePage(out, func(p *text.Page) {
			if begun++; begun > 1 {
				p.Line("")
			}
			if len(o.files) > 1 {
				p.Heading("%s", rep.Name)
			}
			rep.Write(p)
		})
	})
	return out.end(errors.Join(err, o.unusedLedgers()))
}

// define prints the definition of a figure.
func (o *reportOptions) define(std *stdio) error {
	defined := report.Definitions(o.explain)
	if len(defined) == 0 {
		return misusef("unknown term %q%s", o.explain, suggestion(o.explain))
	}
	return std.writePageTo(o.output, nil, func(p *text.Page) {
		for i := range defined {
			if i > 0 {
				p.Line("")
			}
			report.WriteDefinition(p, &defined[i])
		}
	})
}

// suggestion names the figures that a word may have meant.
func suggestion(word string) string {
	like := report.FiguresLike(word)
	if len(like) == 0 {
		return "; list all terms with --explain all"
	}
	return fmt.Sprintf(", did you mean %s?", like[0])
}

// gather reads the trace at some paths.
func (o *reportOptions) gather(ctx context.Context, std *stdio, paths []string) (*report.Report, error) {
	r, err := std.read(ctx, paths, report.Options())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	details := report.NewDetails(&o.Selection, r.Info())
	r.Names = details.Names()
	if err := o.perfMap.read(r.Names); err != nil {
		return nil, err
	}
	if count := r.Count; o.chart.path != "" {
		r.Count = func(c *gc.Collection) {
			count(c)
			if o.HasCollection(r.Info(), c) {
				o.chart.draw(c)
			}
		}
	}
	rep, err := report.Gather(r, &o.Selection, o.budget, details)
	if err != nil {
		return nil, err
	}
	rep.PerfMap = o.perfMap.path
	if o.chart.path == "" {
		return rep, nil
	}
	from, to := o.Span(r.Info())
	return rep, o.chart.write(std, o, rep, from.Or(0), to.Or(r.Info().Last))
}

// writePage writes the reports of all files as one page.
func (o *reportOptions) writePage(ctx context.Context, std *stdio) error {
	if err := std.refusePage(o.output); err != nil {
		return err
	}
	limitGrowth(pageGrowth)
	var page report.Page
	err := each(o.groups(o.files), func(paths []string) error {
		rep, err := o.gatherPage(ctx, std, paths, &page)
		if err == nil && len(page.Traces) == 1 {
			page.Describe(rep, program())
		}
		return err
	})
	err = errors.Join(err, o.unusedLedgers())
	if len(page.Traces) == 0 {
		return err
	}
	out, createErr := std.create(o.output, o.files)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return out.end(errors.Join(err, page.Write(out)))
}

// refusePage returns an error for a page on a terminal.
func (std *stdio) refusePage(output string) error {
	if output == "-" && std.outTerm.Is {
		return misusef("refusing to write a page to a terminal; use -o FILE.html")
	}
	return nil
}

// gatherPage reads the trace at some paths into a page.
func (o *reportOptions) gatherPage(ctx context.Context, std *stdio, paths []string, page *report.Page) (*report.Report, error) {
	r, err := std.read(ctx, paths, report.PageOptions())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	paged := report.NewPaged(r, &o.Selection)
	r.Names = paged.Names()
	if err := o.perfMap.read(r.Names); err != nil {
		return nil, err
	}
	rep, err := page.Gather(paged, o.budget, o.addLedgers)
	if err != nil {
		return nil, err
	}
	r.finish(paged.Incomplete)
	return rep, nil
}

// program names the program that wrote a file.
func program() string { return "gctrail " + moduleVersion() }

// A givenLedger is a ledger for one of the reports.
type givenLedger struct {
	name string
	*ledger.Ledger
	used bool
	err  error // why the latest report did not use it
}

// openLedgers reads the ledgers of the command line.
func (o *reportOptions) openLedgers(std *stdio) error {
	for _, arg := range o.ledgers {
		l, err := new(ledgerOptions).find(std, arg)
		if err != nil {
			return err
		}
		o.given = append(o.given, &givenLedger{name: arg, Ledger: l})
	}
	return nil
}

// addLedgers adds the ledgers to a report that are of its processes.
func (o *reportOptions) addLedgers(rep *report.Report) {
	for _, l := range o.given {
		if l.err = rep.AddLedger(l.Ledger); l.err == nil {
			l.used = true
		}
	}
}

// unusedLedgers returns an error for the first ledger that belongs to no report.
func (o *reportOptions) unusedLedgers() error {
	for _, l := range o.given {
		if !l.used && l.err != nil {
			return &usageError{whole: true, err: fmt.Errorf("--ledger %s: %w", text.Quoted(l.name), l.err)}
		}
	}
	return nil
}

// A drawing is the flag --chart, and the chart: of the process with the longest total
// pause.
type drawing struct {
	path   string
	series sums[*gc.Process, chart.Series]
}

// maxDrawn bounds the processes whose collections are kept for a picture.
const maxDrawn = 256

// check refuses unknown formats.
func (d *drawing) check(traces int) error {
	switch ext := strings.ToLower(filepath.Ext(d.path)); {
	case d.path == "":
		return nil
	case ext != ".svg" && ext != ".png":
		return errors.New("--chart writes .svg and .png files")
	case traces > 1:
		return errors.New("--chart draws one trace; use --merge to read several as one")
	}
	return nil
}

// draw retains the picture's data of a collection.
func (d *drawing) draw(c *gc.Collection) {
	if len(d.series.all) < maxDrawn || d.series.by[c.Process] != nil {
		d.series.of(c.Process).Add(c)
	}
}

// write draws the process that is worst.
func (d *drawing) write(std *stdio, o *reportOptions, rep *report.Report, from, to time.Duration) error {
	p, _ := rep.Worst()
	s := d.series.by[p]
	if s == nil {
		return nil
	}
	title := called(p)
	if p.Runtime != "" {
		title += ", " + p.Runtime
	}
	draw := (*chart.Series).WriteSVG
	if strings.EqualFold(filepath.Ext(d.path), ".png") {
		draw = (*chart.Series).WritePNG
	}
	return std.writeTo(d.path, o.files, func(out *output) error { return draw(s, out, title, rep.Verdict(), from, to) })
}
