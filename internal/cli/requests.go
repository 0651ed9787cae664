package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A spanRow is a span of a process.
type spanRow struct {
	pid uint64
	request.Span
}

var spanFields = []list.Field[spanRow]{
	{Name: "pid", Type: figure.Int, Value: func(r *spanRow) figure.Value { return list.PID(r.pid) }},
	{Name: "start_ms", Heading: "start ms", Type: figure.Millis, Form: figure.FormMoment, Value: func(r *spanRow) figure.Value { return list.Time(r.Start) }},
	{Name: "duration_ms", Heading: "ms", Type: figure.Millis, Value: func(r *spanRow) figure.Value { return list.Opt(r.Duration, list.Time) }},
	{Name: "gc_paused_ms", Heading: "paused ms", Type: figure.Millis, Value: func(r *spanRow) figure.Value { return list.Time(r.Paused) }},
	{Name: "other_suspended_ms", Heading: "other ms", Rank: 2, Varies: true, Type: figure.Millis, Value: func(r *spanRow) figure.Value { return list.Time(r.Suspended) }},
	{Name: "pool_stalled_ms", Heading: "pool stalled ms", Rank: 2, Varies: true, Type: figure.Millis, Value: func(r *spanRow) figure.Value { return list.Time(r.Stalled) }},
	{Name: "gcs", Heading: "GCs", Left: true, Rank: 1, Type: figure.Numbers, Value: func(r *spanRow) figure.Value { return list.Numbers(r.GCs) }},
	{Name: "source", Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.Source) }},
	{Name: "name", Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.Name) }},
	{Name: "request", Heading: "request", Left: true, Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.Label()) }},
	{Name: "kind", Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.Kind) }},
	{Name: "trace_id", Heading: "trace id", Left: true, Rank: 3, Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.TraceID.String()) }},
	{Name: "span_id", Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.ID.String()) }},
	{Name: "parent_span_id", Type: figure.Text, Value: func(r *spanRow) figure.Value { return list.Word(r.Parent.String()) }},
	{Name: "nested", Type: figure.Bool, Value: func(r *spanRow) figure.Value { return list.Bool(r.Nested) }},
	{Name: "complete", Type: figure.Bool, Value: func(r *spanRow) figure.Value { return list.Bool(r.Complete) }},
}

// A routeRow sums up the requests of a route of a process.
type routeRow struct {
	pid uint64
	*request.Summary
}

var routeFields = []list.Field[routeRow]{
	{Name: "pid", Type: figure.Int, Value: func(r *routeRow) figure.Value { return list.PID(r.pid) }},
	{Name: "requests", Heading: "requests", Type: figure.Int, Value: func(r *routeRow) figure.Value { return list.Count(r.Count) }},
	{Name: "paused", Heading: "paused", Rank: 1, Type: figure.Int, Value: func(r *routeRow) figure.Value { return list.Count(r.Hit) }},
	routeTime("p50_ms", "p50 ms", 0, func(s *request.Summary) time.Duration { return s.Duration.Percentile(50) }),
	routeTime("p50_running_ms", "", 0, func(s *request.Summary) time.Duration { return s.Running.Percentile(50) }),
	routeTime("p99_ms", "p99 ms", 0, func(s *request.Summary) time.Duration { return s.Duration.Percentile(99) }),
	routeTime("p99_running_ms", "without pauses", 0, func(s *request.Summary) time.Duration { return s.Running.Percentile(99) }),
	routeTime("longest_ms", "longest ms", 2, func(s *request.Summary) time.Duration { return s.Duration.Max() }),
	{Name: "gc_paused_ms", Type: figure.Millis, Value: func(r *routeRow) figure.Value { return list.Time(r.Paused) }},
	{Name: "slowest_paused_pct", Heading: "slowest paused %", Rank: 3, Type: figure.Percent, Value: func(r *routeRow) figure.Value { return list.Percent(100 * r.Slowest.Share()) }},
	{Name: "request", Heading: "request", Left: true, Type: figure.Text, Value: func(r *routeRow) figure.Value { return list.Word(r.Label) }},
}

func routeTime(name, heading string, rank int, of func(*request.Summary) time.Duration) list.Field[routeRow] {
	return list.Field[routeRow]{Name: name, Heading: heading, Rank: rank, Type: figure.Millis, Value: func(r *routeRow) figure.Value { return list.Time(of(r.Summary)) }}
}

// requestsHelp describes the flag --requests of commands that record.
const requestsHelp = "also the program's requests: spans of ASP.NET Core and of any ActivitySource"

// The words of --by.
const bySpan, byRoute = "span", "route"

type requestsOptions struct {
	listing
	by choice
}

func newRequestsOptions() *requestsOptions {
	names := list.Names(spanFields)
	for _, name := range list.Names(routeFields) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return &requestsOptions{newListing("requests", names), choice{bySpan, []string{bySpan, byRoute}}}
}

func newRequestsCmd(std *stdio) *cobra.Command {
	opts := newRequestsOptions()
	cmd := opts.newCmd(std, opts, "Show how long the GC paused each request", "spans", "activities")
	cmd.Flags().Var(&opts.by, "by", "list every span, or sum up requests by route")
	return cmd
}

func (o *requestsOptions) run(ctx context.Context, std *stdio) error {
	return o.each(ctx, std, o.list)
}

func (o *requestsOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	var model request.Model
	o.unselected = model.Collected // a span of the selected time may begin before it
	scan, err := o.scan(ctx, std, paths, model.Models(), model.Collected)
	if err != nil {
		return err
	}
	o.rejected = model.LeftOut()
	wanted := func(s *request.Span) bool { return o.has(s.Start) }
	processes := model.Processes(scan.Loss())
	none := lack{
		what: "requests", record: report.RecordRequests,
		quiet: "it was recorded without --requests, or no span of ASP.NET Core or of an ActivitySource ended in it",
	}
	if o.by.value == byRoute {
		return sections(scan, newRowWriter(&o.listing, std, out, routeFields), processes, requestsPID, o.head(scan, wanted, false),
			func(p *request.Process) []routeRow { _, routes := p.Summaries(wanted); return routeRows(p.PID, routes) }, none)
	}
	return sections(scan, newRowWriter(&o.listing, std, out, spanFields), processes, requestsPID, o.head(scan, wanted, true),
		func(p *request.Process) []spanRow { return o.spanRows(p, wanted) }, none)
}

func requestsPID(p *request.Process) uint64 { return p.PID }

func routeRows(pid uint64, routes []*request.Summary) []routeRow {
	return text.Each(routes, func(r **request.Summary) routeRow { return routeRow{pid, *r} })
}

// spanRows returns the spans of a process; in a table the requests, the slowest first.
func (o *requestsOptions) spanRows(p *request.Process, wanted func(*request.Span) bool) []spanRow {
	inTable := o.format.value == list.Table
	var rows []spanRow
	for s := range p.Spans() {
		if !wanted(s) || inTable && !p.IsRequest(s) {
			continue
		}
		row := spanRow{p.PID, *s}
		row.GCs = slices.Clone(s.GCs)
		rows = append(rows, row)
	}
	if inTable {
		slices.SortStableFunc(rows, func(a, b spanRow) int { return cmp.Compare(b.Duration.Or(0), a.Duration.Or(0)) })
	}
	return rows
}

// maxRoutes is how many routes stand above the slowest requests.
const maxRoutes = 8

// head returns a function that writes the text above a table of a process's requests: the
// verdict, and the largest routes if there are several and routes is set.
func (o *requestsOptions) head(scan *scanned, wanted func(*request.Span) bool, routes bool) func(*text.Page, *gc.Process, *request.Process) {
	return func(page *text.Page, of *gc.Process, p *request.Process) {
		all, byLabel := p.Summaries(wanted)
		page.Heading("%s: %s", called(of), text.Plural(int64(all.Count+all.Partial), "request", "requests"))
		if all.Count > 0 {
			page.Prose("", requestsVerdict(all))
		}
		if all.Partial > 0 {
			page.Prose("", partialWords(all))
		}
		if p.Open > 0 {
			page.Prose("", text.Plural(int64(p.Open), "span", "spans")+" had not ended when the trace did.")
		}
		if p.Startless > 0 {
			page.Prose("", text.Plural(int64(p.Startless), "span", "spans")+" began before the trace, or the event of the start was lost.")
		}
		writeNextOf(page, scan, of, all)
		if !routes || len(byLabel) < 2 {
			return
		}
		page.Line("")
		cells := text.Each(routeRows(p.PID, byLabel[:min(len(byLabel), maxRoutes)]), func(r *routeRow) []string { return list.Cells(routeFields, r) })
		page.List(list.Columns(routeFields), cells, nil)
		if more := len(byLabel) - len(cells); more > 0 {
			page.Prose("", fmt.Sprintf("%s more; --by route lists them.", units.Count(more)))
		}
		page.Section("Slowest requests")
	}
}

// writeNextOf writes the command that goes on: one that looks for a setting if pauses make the
// slowest requests slow, and otherwise the report, with what else the trace shows.
func writeNextOf(page *text.Page, scan *scanned, of *gc.Process, all *request.Summary) {
	if all.Count == 0 {
		return
	}
	words, command := "What else the trace shows:", commandLine(scan.Paths())
	if all.Slowest.Share() >= request.PartlyPaused {
		words = "Why the pauses are long:"
		if try := report.Try(of, scan.Info().Format, all, nil); try != "" {
			words, command = tryWords(all), try
		}
	}
	if words := waitWords(all); words != "" {
		page.Prose("", words)
	}
	page.Line("")
	page.Prose("", words)
	page.Command("  ", command)
}

// waitWords describes whether the slowest requests waited for threads. It is empty if pauses
// explain their time.
func waitWords(all *request.Summary) string {
	t := &all.Slowest
	switch {
	case t.Stalled > 0:
		of := "of " + units.Count(t.Stalled) + " of these " + units.Count(t.Count)
		if t.Count == 1 {
			of = "of this one"
		}
		return "The thread pool lacked threads in the time " + of + ": no work in its queue began for half a second or more, and what needed a thread waited."
	case t.Share() < request.PartlyPaused:
		return "The trace does not show whether requests waited for a thread; " +
			"--clrevents gc+threading records when the thread pool began no work for half a second or more."
	}
	return ""
}

// tryWords introduces the command that tries settings.
func tryWords(all *request.Summary) string {
	if all.Path != "" {
		return "To find a setting that makes them faster, by running the server again, with a load of yours in place of hey:"
	}
	return "To find a setting that makes them faster, by running the program again:"
}

// partialWords says of how many requests the figures are not.
func partialWords(all *request.Summary) string {
	const why = "ended after the trace, or events may have been lost in their time"
	if all.Count == 0 {
		return "There are no percentiles: all of them " + why + "."
	}
	return fmt.Sprintf("Percentiles are of %s: the others %s.", units.Count(all.Count), why)
}

// requestsVerdict states how far pauses explain the slowest requests.
func requestsVerdict(all *request.Summary) string {
	words := fmt.Sprintf("p50 %s, p99 %s, longest %s; without pauses p99 %s.", units.Duration(all.Duration.Percentile(50)),
		units.Duration(all.Duration.Percentile(99)), units.Duration(all.Duration.Max()), units.Duration(all.Running.Percentile(99)))
	slowest := "the slowest request"
	if all.Slowest.Count > 1 {
		slowest = "the slowest " + units.Count(all.Slowest.Count) + " requests (1 %)"
	}
	share := all.Slowest.Share()
	words += fmt.Sprintf(" GC pauses took %s of the time of %s: ", units.Percent(100*share), slowest)
	switch {
	case share < request.PartlyPaused:
		return words + "they are not why these are slow."
	case share < request.MostlyPaused:
		return words + "they are a part of why these are slow."
	}
	return words + "they are why these are slow."
}
