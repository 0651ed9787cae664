package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// The tables of pauses.
const (
	percentileTable = "percentiles"
	windowTable     = "windows"
	bottleneckTable = "bottlenecks"
)

type pausesOptions struct {
	listing
	tables    choices
	below     percent
	minLength selection.Duration
}

func newPausesOptions() *pausesOptions {
	names := slices.Concat(list.Names(percentileFields), list.Names(windowFields), list.Names(bottleneckFields))
	slices.Sort(names)
	return &pausesOptions{
		listing:   newListing("pauses", slices.Compact(names)),
		tables:    choices{kind: "TABLE", of: []string{percentileTable, windowTable, bottleneckTable}},
		below:     90,
		minLength: selection.Duration(100 * time.Millisecond),
	}
}

func newPausesCmd(std *stdio) *cobra.Command {
	opts := newPausesOptions()
	cmd := opts.newCmd(std, opts, "Show how pauses are distributed: percentiles, worst windows")
	flags := cmd.Flags()
	flags.Var(&opts.tables, "show", "only these tables: percentiles, windows, bottlenecks; jsonl, csv and parquet take one, by default percentiles")
	flags.Var(&opts.below, "below", "the program's share of the time below which an interval is a bottleneck")
	flags.Var(&opts.minLength, "min-length", "only bottlenecks of at least this length: 1s, or a number of milliseconds")
	return cmd
}

func (o *pausesOptions) conflict() error {
	if o.format.value != list.Table && len(o.tables.values) > 1 {
		return fmt.Errorf("--format %s takes one table: give one name to --show", o.format.value)
	}
	return o.listing.conflict()
}

func (o *pausesOptions) run(ctx context.Context, std *stdio) error { return o.each(ctx, std, o.list) }

// A percent is a flag that takes a share: 90% or 90.
type percent float64

func (p *percent) Type() string { return "PERCENT" }

func (p *percent) String() string { return strconv.FormatFloat(float64(*p), 'f', -1, 64) + "%" }

func (p *percent) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || !(v > 0 && v <= 100) {
		return errors.New("must be a share above 0% and up to 100%")
	}
	*p = percent(v)
	return nil
}

// A percentileRow is one percentile of the pauses of a generation and kind.
type percentileRow struct {
	pid uint64
	report.Percentile
	command string
}

var percentileFields = []list.Field[percentileRow]{
	{Name: "pid", Type: figure.Int, Value: func(r *percentileRow) figure.Value { return list.PID(r.pid) }},
	{Name: "gcs", Heading: "GCs", Left: true, Type: figure.Text, Value: func(r *percentileRow) figure.Value { return list.Word(r.Class()) }},
	{Name: "generation", Type: figure.Int, Value: func(r *percentileRow) figure.Value { return list.Opt(r.Generation, list.Count[int]) }},
	{Name: "kind", Type: figure.Text, Value: func(r *percentileRow) figure.Value {
		return list.If(!r.All && r.Kind != gc.KindUnknown, list.Word(r.Kind.String()))
	}},
	{Name: "percentile", Heading: "percentile", Left: true, Type: figure.Text, Value: func(r *percentileRow) figure.Value { return list.Word(r.Name) }},
	{Name: "pause_ms", Heading: "pause ms", Type: figure.Millis, Value: func(r *percentileRow) figure.Value { return list.Time(r.Pause) }},
	{Name: "number", Heading: "GC", Type: figure.Int, Value: func(r *percentileRow) figure.Value { return list.Count(r.Number) }},
	{Name: "start_ms", Heading: "start ms", Rank: 1, Type: figure.Millis, Value: func(r *percentileRow) figure.Value { return list.Opt(r.Start, list.Time) }},
	{Name: "reason", Heading: "reason", Left: true, Rank: 2, Type: figure.Text, Value: func(r *percentileRow) figure.Value {
		return list.Opt(r.Reason, func(v clr.GCReason) figure.Value { return list.Word(v.String()) })
	}},
	{Name: "as_long", Heading: "as long", Type: figure.Int, Value: func(r *percentileRow) figure.Value { return list.Count(r.AsLong) }},
	{Name: "command", Type: figure.Text, Value: func(r *percentileRow) figure.Value { return list.Word(r.command) }},
}

// An intervalRow is an interval in which pauses took much of the time: one of the
// bottlenecks, or the worst of all windows of one length.
type intervalRow struct {
	pid uint64
	report.Bottleneck
	command string
}

var windowFields = []list.Field[intervalRow]{
	{Name: "pid", Type: figure.Int, Value: func(r *intervalRow) figure.Value { return list.PID(r.pid) }},
	{Name: "window_ms", Heading: "window ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Length()) }},
	{Name: "pause_ms", Heading: "paused ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Pause) }},
	{Name: otherField, Heading: "other ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Other) }},
	{Name: "mutator_utilization_min_pct", Heading: "program %", Type: figure.Float, Value: func(r *intervalRow) figure.Value { return list.Float(r.MutatorUtilization()) }},
	{Name: "from_ms", Heading: "from ms", Type: figure.Millis, Form: figure.FormMoment, Value: func(r *intervalRow) figure.Value { return list.Time(r.From) }},
	{Name: "command", Type: figure.Text, Value: func(r *intervalRow) figure.Value { return list.Word(r.command) }},
}

var bottleneckFields = []list.Field[intervalRow]{
	{Name: "pid", Type: figure.Int, Value: func(r *intervalRow) figure.Value { return list.PID(r.pid) }},
	{Name: "from_ms", Heading: "from ms", Type: figure.Millis, Form: figure.FormMoment, Value: func(r *intervalRow) figure.Value { return list.Time(r.From) }},
	{Name: "to_ms", Heading: "to ms", Type: figure.Millis, Form: figure.FormMoment, Value: func(r *intervalRow) figure.Value { return list.Time(r.To) }},
	{Name: "length_ms", Heading: "length ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Length()) }},
	{Name: "pause_ms", Heading: "paused ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Pause) }},
	{Name: otherField, Heading: "other ms", Type: figure.Millis, Value: func(r *intervalRow) figure.Value { return list.Time(r.Other) }},
	{Name: "mutator_utilization_pct", Heading: "program %", Type: figure.Float, Value: func(r *intervalRow) figure.Value { return list.Float(r.MutatorUtilization()) }},
	{Name: "pauses", Heading: "pauses", Type: figure.Int, Value: func(r *intervalRow) figure.Value { return list.Count(r.Pauses) }},
	{Name: "command", Type: figure.Text, Value: func(r *intervalRow) figure.Value { return list.Word(r.command) }},
}

func (o *pausesOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	sums := sums[*gc.Process, report.Pauses]{begin: func() *report.Pauses {
		from, to := o.Span(o.info)
		return report.NewPauses(float64(o.below), time.Duration(o.minLength), from, to)
	}}
	o.unselected = func(c *gc.Collection) {
		if p := sums.by[c.Process]; p != nil { // threads may have been suspended before it, in the selected time
			p.AddOutside(c.Outside)
		}
	}
	scan, err := o.scan(ctx, std, paths, nil, func(c *gc.Collection) {
		sums.of(c.Process).Add(c)
	})
	if err != nil {
		return err
	}
	pauses := slices.DeleteFunc(sums.all, func(p *report.Pauses) bool { return p.Known() == 0 })
	w := pauseTables{pausesOptions: o, std: std, out: out, paths: paths, several: len(pauses) > 1}
	if w.format.value == list.Parquet {
		w.declare()
	}
	for _, p := range pauses {
		if err := w.write(p); err != nil {
			return err
		}
	}
	return o.finish(scan, out, len(pauses), lack{what: "collections with a known pause", recording: report.RecordCollections, partial: true})
}

// pauseTables writes the tables of one process after the other.
type pauseTables struct {
	*pausesOptions
	std     *stdio
	out     *output
	paths   []string
	several bool // processes
	begun   int  // tables
}

// shows reports whether a table is selected.
func (w *pauseTables) shows(table string) bool {
	if len(w.tables.values) == 0 {
		return w.format.value == list.Table || table == percentileTable
	}
	return w.tables.allows(table)
}

// declare states the fields of a file, which has them even without rows.
func (w *pauseTables) declare() {
	switch {
	case w.shows(windowTable):
		list.NewWriter(w.file, windowFields)
	case w.shows(bottleneckTable):
		list.NewWriter(w.file, bottleneckFields)
	default:
		list.NewWriter(w.file, percentileFields)
	}
}

func (w *pauseTables) write(p *report.Pauses) error {
	if w.shows(percentileTable) {
		rows := text.Each(p.Percentiles(), func(of *report.Percentile) percentileRow { return percentileRow{p.Process.PID, *of, w.above(p, of)} })
		if err := writeTable(w, true, percentileFields, rows, func(page *text.Page) { w.percentilesHead(page, p) }, func(page *text.Page) {
			page.Prose("", "To list the GCs of a row, for example the last:")
			page.Command("", rows[len(rows)-1].command)
		}); err != nil {
			return err
		}
	}
	if w.shows(windowTable) && len(p.Suspended()) > 0 {
		worst := text.Each(p.Suspended(), func(s *report.Window) report.Bottleneck {
			return report.Bottleneck{From: s.From, To: s.From + s.Window, Pause: s.Pause, Other: s.Other}
		})
		if err := w.writeIntervals(true, windowFields, p, worst, func(page *text.Page) {
			page.Heading("%s: the worst windows", called(p.Process))
		}, nil); err != nil {
			return err
		}
	}
	if !w.shows(bottleneckTable) {
		return nil
	}
	found, count := p.Bottlenecks()
	return w.writeIntervals(false, bottleneckFields, p, found, func(page *text.Page) {
		page.Heading("%s: %s of %s or more in which the program had less than %s of the time", called(p.Process),
			text.Plural(int64(count), "interval", "intervals"), units.Duration(time.Duration(w.minLength)), units.Percent(float64(w.below)))
	}, func(page *text.Page) {
		page.Prose("", "To list the GCs of the first:")
		page.Command("", w.during(p, &found[0]))
	})
}

// writeIntervals writes a table of intervals, without suspensions outside GCs if there were
// none.
func (w *pauseTables) writeIntervals(whole bool, fields []list.Field[intervalRow], p *report.Pauses, found []report.Bottleneck, head, foot func(*text.Page)) error {
	rows := make([]intervalRow, len(found))
	suspended := false
	for i, b := range found {
		rows[i] = intervalRow{p.Process.PID, b, w.during(p, &b)}
		suspended = suspended || b.Other > 0
	}
	if !suspended {
		fields = slices.Clone(fields)
		fields[slices.IndexFunc(fields, func(f list.Field[intervalRow]) bool { return f.Name == otherField })].Heading = ""
	}
	return writeTable(w, whole, fields, rows, head, foot)
}

// otherField is the field of suspensions outside GCs.
const otherField = "other_suspension_ms"

// writeTable writes one table, with head's text above it and foot's below.
func writeTable[R any](w *pauseTables, whole bool, fields []list.Field[R], rows []R, head, foot func(*text.Page)) error {
	writer := newRowWriter(&w.listing, w.std, w.out, fields)
	writer.begun, writer.whole = w.begun, whole
	w.begun++
	if err := writer.section(head, rows); err != nil || len(rows) == 0 || foot == nil || w.format.value != list.Table {
		return err
	}
	return w.std.writePage(w.out, func(page *text.Page) {
		page.Line("")
		foot(page)
	})
}

// percentilesHead writes how many pauses the percentiles are computed from.
func (w *pauseTables) percentilesHead(page *text.Page, p *report.Pauses) {
	all := p.All()
	page.Heading("%s: %s paused in %s", called(p.Process), units.Duration(all.Pause.Sum()), text.Plural(int64(all.Pause.Count()), "GC", "GCs"))
	if n := all.PausesUnknown(); n > 0 {
		page.Prose("", text.Plural(int64(n), "GC is left out: its pause is unknown.", "GCs are left out: their pauses are unknown."))
	}
	if all.Affected > 0 {
		page.Prose("", "Lost events affect "+text.Plural(int64(all.Affected), "GC", "GCs")+": pauses may be missing.")
	}
	if !p.Exact() {
		page.Prose("", "Percentiles are up to 0.2 % too long.")
	}
}

// above returns the command that lists the GCs of a row.
func (w *pauseTables) above(p *report.Pauses, r *report.Percentile) string {
	words := []string{"gcs"}
	if generation, known := r.Generation.Get(); known {
		words = append(words, "--gen", strconv.Itoa(generation))
	}
	if !r.All && r.Kind != gc.KindUnknown {
		words = append(words, "--kind", r.Kind.String())
	}
	words = append(words, "--pause-above", "p"+strconv.FormatFloat(r.Percent, 'f', -1, 64))
	if from, known := p.From.Get(); known {
		words = append(words, "--from", seconds(from))
	}
	if to, known := p.To.Get(); known {
		words = append(words, "--to", seconds(to))
	}
	return w.command(p, words)
}

// during returns the command that lists the GCs of an interval.
func (w *pauseTables) during(p *report.Pauses, b *report.Bottleneck) string {
	return w.command(p, []string{"gcs", "--from", seconds(b.From), "--to", seconds(b.To)})
}

func (w *pauseTables) command(p *report.Pauses, words []string) string {
	if pid := p.Process.PID; w.several && pid != trace.UnknownID {
		words = append(words, "--pid", strconv.FormatUint(pid, 10))
	}
	if len(w.paths) > 1 {
		words = append(words, "--merge")
	}
	return commandLine(append(words, w.paths...))
}

// seconds writes a time so that --from and --to take it, to the nanosecond.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
