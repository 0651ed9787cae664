package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
)

// The accounts that metrics can be computed from.
const (
	asOwn        = "gctrail"
	asTraceEvent = "traceevent"
)

// processMetrics are the metrics of one process while its trace is read.
type processMetrics struct {
	process *gc.Process
	run     perfview.Run
	metrics []perfview.Metric     // of run
	first   gc.Opt[time.Duration] // the first pause, as TraceEvent sees it

	incomplete, affected int // collections
}

// listMetrics writes the metrics of each process of a trace.
func (o *gcsOptions) listMetrics(std *stdio, out *output, a *accounts) error {
	w := list.NewWriter(o.file, o.metricFields())
	for _, p := range a.processes {
		m := &processMetrics{process: p}
		for _, row := range a.rows[p] {
			m.count(row.own)
			switch {
			case o.metricsAs.value == asOwn:
				m.run.Add(row.own, row.GC)
			case row.GC != nil:
				m.run.AddTraceEvent(row.GC)
				if !m.first.Known() {
					m.first = gc.Some(row.PauseStart)
				}
			}
		}
		from, to := o.Span(a.r.Info())
		watched := p.Watched(from, to)
		judged := watched
		if first, known := m.first.Get(); known {
			judged = a.theirs.LastStats(p.PID) - first
		}
		if 100*m.affected > len(a.rows[p]) {
			judged = 0 // as in reports, loss leaves the share of pauses in doubt
		}
		m.run.Watch(watched, judged)
		m.metrics = m.run.Metrics()
		var err error
		if o.format.value == list.Table {
			err = writeMetricTable(std, out, m)
		} else {
			err = cmp.Or(w.Head(), w.Row(m))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts the collections whose figures sums may lack.
func (m *processMetrics) count(c *gc.Collection) {
	if !c.Complete {
		m.incomplete++
	}
	if c.AffectedByLoss {
		m.affected++
	}
}

// writeMetricTable writes the metrics of a process below each other.
func writeMetricTable(std *stdio, out *output, m *processMetrics) error {
	var rows [][]string
	for _, metric := range m.metrics {
		value := units.Unknown
		if v, known := metric.Value.Get(); known {
			value = strconv.FormatFloat(v, 'f', metricDigits(metric.Unit), 64)
		}
		rows = append(rows, []string{metric.Name, value, metric.Unit})
	}
	return std.writePage(out, func(page *text.Page) {
		page.Heading("%s: run metrics by the names of GC.Infrastructure", called(m.process))
		if m.affected > 0 {
			page.Prose("", "Lost events affect "+text.Plural(int64(m.affected), "GC", "GCs")+": sums are lower bounds.")
		}
		page.Table([]text.Column{{Heading: "metric", Left: true}, {Heading: "value"}, {Heading: "unit", Left: true}}, rows)
		page.Line("")
	})
}

// metricFields returns the fields of a row with the metrics of a process.
func (o *gcsOptions) metricFields() []list.Field[processMetrics] {
	fields := []list.Field[processMetrics]{
		{Name: "pid", Type: figure.Int, Value: func(m *processMetrics) figure.Value { return list.PID(m.process.PID) }},
		{Name: "process", Type: figure.Text, Value: func(m *processMetrics) figure.Value { return list.Word(m.process.Name) }},
		{Name: "metrics_as", Type: figure.Text, Value: func(*processMetrics) figure.Value { return list.Word(o.metricsAs.value) }},
		{Name: "incomplete", Type: figure.Int, Value: func(m *processMetrics) figure.Value { return list.Count(m.incomplete) }},
		{Name: "affected_by_loss", Type: figure.Int, Value: func(m *processMetrics) figure.Value { return list.Count(m.affected) }},
	}
	for i, metric := range new(perfview.Run).Metrics() {
		fields = append(fields, list.Field[processMetrics]{Name: metric.Name, Type: figure.Float, Value: func(m *processMetrics) figure.Value {
			return list.Opt(m.metrics[i].Value, list.Float)
		}})
	}
	return fields
}

// metricDigits returns how many digits after the point a table has.
func metricDigits(unit string) int {
	if unit == "count" || unit == "bytes" {
		return 0
	}
	return 3
}

// accounts are both accounts of a trace's collections: gctrail's and TraceEvent's.
type accounts struct {
	r         *reading
	keeps     func(*gc.Collection) bool // selects collections
	theirs    perfview.Model
	seen      map[perfviewKey]*perfview.GC
	processes []*gc.Process
	rows      map[*gc.Process][]perfviewRow
	own       gc.Model
	all, kept int // collections: of the trace, and selected
	left      int // selected collections that there was no room for
}

// account reads a trace to its end, accounts for the collections that the options select, and has
// a function write the accounts.
func (o *gcsOptions) account(ctx context.Context, std *stdio, out *output, paths []string, write func(*stdio, *output, *accounts) error) error {
	thresholds, err := o.thresholds(ctx, std, paths)
	if err != nil {
		return err
	}
	r, err := std.read(ctx, paths, open.Options{Want: pass.Wants(new(gc.Model), new(perfview.Model))})
	if err != nil {
		return err
	}
	defer r.Close()
	a := &accounts{r: r, seen: make(map[perfviewKey]*perfview.GC), rows: make(map[*gc.Process][]perfviewRow)}
	a.keeps = func(c *gc.Collection) bool { return o.keeps(r, c) && o.isLong(c, thresholds) }
	if err := a.read(); err != nil {
		return err
	}
	if err := write(std, out, a); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	o.warnAccounts(a)
	return nil
}

// read reads the trace to its end.
func (a *accounts) read() error {
	a.theirs.Done = func(g *perfview.GC) {
		if len(a.seen) < maxPerfviewRows {
			a.seen[perfviewKey{g.PID, g.Number, g.Start}] = g
		}
	}
	for c, err := range a.r.Collections(&a.own, &a.theirs) {
		if err != nil {
			return err
		}
		a.all++
		if !a.keeps(c) {
			continue
		}
		if a.kept++; a.kept > maxPerfviewRows {
			a.left++
			continue
		}
		if a.rows[c.Process] == nil {
			a.processes = append(a.processes, c.Process)
		}
		a.rows[c.Process] = append(a.rows[c.Process], perfviewRow{own: c})
	}
	for _, rows := range a.rows {
		for i := range rows {
			c := rows[i].own
			if start, known := c.Start.Get(); known {
				rows[i].GC = a.seen[perfviewKey{c.Process.PID, c.Number, start}]
			}
		}
	}
	return nil
}

// complete drops the collections that are incomplete in TraceEvent.
func (a *accounts) complete() {
	for p, rows := range a.rows {
		a.rows[p] = slices.DeleteFunc(rows, func(r perfviewRow) bool { return r.GC == nil })
	}
	a.processes = slices.DeleteFunc(a.processes, func(p *gc.Process) bool { return len(a.rows[p]) == 0 })
}

// warnAccounts prints the gaps of the trace.
func (o *gcsOptions) warnAccounts(a *accounts) {
	a.r.finish(nil)
	if a.left > 0 {
		a.r.Warn("only the first " + text.Plural(maxPerfviewRows, "collection", "collections") + "; narrow them with --from and --to")
	}
	o.warnEmpty(a.r, a.own.Processes(), a.all, a.kept)
	if len(a.processes) == 0 && a.kept > 0 {
		a.r.Warn("none of " + text.Plural(int64(a.kept), "collection", "collections") + " is complete in TraceEvent's account")
	}
}
