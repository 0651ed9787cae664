package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/internal/text"
)

// A perfviewTable is one of the tables of PerfView's GCStats.
type perfviewTable struct {
	name    string // as --columns takes it
	title   string
	columns []perfview.Column
	keeps   func(*perfview.GC) bool // nil for all
	differs bool                    // has a column that says where gctrail's figures differ
	filled  bool                    // columns without a value in any row are left out
}

const (
	perfviewAll    = "perfview"
	perfviewRollup = "perfview-rollup"
	perfviewEvents = "perfview-events"
)

// longPause is the pause above which PerfView lists a collection as long.
const longPause = 200 * time.Millisecond

func perfviewTables() []perfviewTable {
	return []perfviewTable{
		{
			name: "perfview-pauses", title: "Pause > 200 Msec GC Events", columns: perfview.Events(), differs: true,
			keeps: func(g *perfview.GC) bool { return g.Pause > longPause },
		},
		{name: perfviewEvents, title: "All GC Events", columns: perfview.Events(), differs: true},
		{
			name: "perfview-condemned", title: "Condemned reasons for GCs", columns: perfview.Condemned(), filled: true,
			keeps: func(g *perfview.GC) bool { return g.Reasons != nil },
		},
		{name: "perfview-generations", title: "Per Generation GC Events", columns: perfview.Generations()},
	}
}

// perfviewNames returns the words that --columns takes for PerfView's tables.
func perfviewNames() []string {
	return append([]string{perfviewAll, perfviewRollup}, text.Each(perfviewTables(), func(t *perfviewTable) string { return t.name })...)
}

// maxPerfviewRows bounds the collections of a trace that PerfView's tables have.
const maxPerfviewRows = 1 << 16

// A perfviewKey finds the same collection in both accounts of it.
type perfviewKey struct {
	pid    uint64
	number uint32
	start  time.Duration
}

// A perfviewRow is a collection with PerfView's figures and with gctrail's.
type perfviewRow struct {
	*perfview.GC
	own *gc.Collection
}

// listPerfview writes the collections of a trace as PerfView's GCStats shows them.
func (o *gcsOptions) listPerfview(std *stdio, out *output, a *accounts) error {
	a.complete()
	for _, p := range a.processes {
		if err := o.writePerfview(std, out, p, a.rows[p]); err != nil {
			return err
		}
	}
	return nil
}

// writePerfview writes the tables of one process.
func (o *gcsOptions) writePerfview(std *stdio, out *output, p *gc.Process, rows []perfviewRow) error {
	if o.format.value == "csv" {
		return o.perfviewCSV(rows)
	}
	return std.writePage(out, func(page *text.Page) {
		page.Heading("%s: GCStats as PerfView counts it", called(p))
		if o.perfview == perfviewAll || o.perfview == perfviewRollup {
			writeRollup(page, rows)
		}
		for _, t := range perfviewTables() {
			if o.perfview == perfviewAll || o.perfview == t.name {
				t.write(page, rows)
			}
		}
		page.Line("")
	})
}

func writeRollup(page *text.Page, rows []perfviewRow) {
	var sums perfview.Rollup
	for i := range rows {
		sums.Add(rows[i].GC)
	}
	page.Section("GC Rollup By Generation")
	figures := perfview.RollupColumns()
	columns := text.Each(figures, func(c *perfview.RollupColumn) text.Column { return text.Column{Heading: c.Name} })
	cells := text.Each(sums.Rows(), func(r *perfview.RollupRow) []string {
		return append([]string{r.Name}, text.Each(figures, func(c *perfview.RollupColumn) string { return c.Text(r) })...)
	})
	page.Table(append([]text.Column{{Heading: "Gen"}}, columns...), cells)
}

// write writes a table, and below it the figures of gctrail that differ. Figures that
// differ in every row are named only there.
func (t *perfviewTable) write(page *text.Page, rows []perfviewRow) {
	rows = t.of(rows)
	page.Section("%s", t.title)
	if len(rows) == 0 {
		page.Line("none")
		return
	}
	shown := t.shown(rows)
	times := make(map[string]int) // that a column differs
	some := false                 // a column differs in some rows
	if t.differs {
		for i := range rows {
			for _, name := range t.differences(&rows[i]) {
				times[name]++
			}
		}
		for _, n := range times {
			some = some || n < len(rows)
		}
	}
	columns := text.Each(shown, func(c *perfview.Column) text.Column {
		return text.Column{Heading: c.Name, Left: c.Word != nil && t.differs, Rank: 1}
	})
	if some {
		columns = append(columns, text.Column{Heading: "Differs", Left: true, Rank: 2})
	}
	var cells [][]string
	for i := range rows {
		row := text.Each(shown, func(c *perfview.Column) string { return c.Text(rows[i].GC) })
		if some {
			names := slices.DeleteFunc(t.differences(&rows[i]), func(name string) bool { return times[name] == len(rows) })
			row = append(row, strings.Join(names, ", "))
		}
		cells = append(cells, row)
	}
	page.Table(columns, cells)
	for i := range shown {
		switch c := &shown[i]; times[c.Name] {
		case 0:
		case len(rows):
			page.Prose("", fmt.Sprintf("%s differs in every row: gctrail's is %s.", c.Name, c.Why))
		default:
			page.Prose("", fmt.Sprintf("%s differs: gctrail's is %s.", c.Name, c.Why))
		}
	}
}

// of returns the rows that the table has.
func (t *perfviewTable) of(rows []perfviewRow) []perfviewRow {
	if t.keeps == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r perfviewRow) bool { return !t.keeps(r.GC) })
}

// shown returns the columns that the table has.
func (t *perfviewTable) shown(rows []perfviewRow) []perfview.Column {
	if !t.filled {
		return t.columns
	}
	return slices.DeleteFunc(slices.Clone(t.columns), func(c perfview.Column) bool {
		return c.Word != nil && !slices.ContainsFunc(rows, func(r perfviewRow) bool { return c.Word(r.GC) != "" })
	})
}

// differences returns the columns in which gctrail's own figure is another one.
func (t *perfviewTable) differences(r *perfviewRow) []string {
	var names []string
	for i := range t.columns {
		if c := &t.columns[i]; c.Differs(r.GC, r.own) {
			names = append(names, c.Name)
		}
	}
	return names
}

// csvFields returns the fields of a table in csv. It has a column for the process,
// because PerfView writes a file for each process. Our own columns follow PerfView's, so
// that PerfView's are where its readers look for them.
func (t *perfviewTable) csvFields() []list.Field[perfviewRow] {
	var fields []list.Field[perfviewRow]
	add := func(name string, typ figure.Type, value func(*perfviewRow) figure.Value) {
		fields = append(fields, list.Field[perfviewRow]{Name: name, Type: typ, Value: value})
	}
	for i := range t.columns {
		add(t.columns[i].Name, figure.Text, func(r *perfviewRow) figure.Value {
			shown := t.columns[i].Text(r.GC)
			return list.If(shown != "-", list.Word(shown))
		})
	}
	if t.differs {
		add("Differs", figure.Text, func(r *perfviewRow) figure.Value { return list.Word(strings.Join(t.differences(r), ", ")) })
	}
	add("pid", figure.Int, func(r *perfviewRow) figure.Value { return list.PID(r.own.Process.PID) })
	add("process", figure.Text, func(r *perfviewRow) figure.Value { return list.Word(r.own.Process.Name) })
	return fields
}

// perfviewCSV writes the rows of one table.
func (o *gcsOptions) perfviewCSV(rows []perfviewRow) error {
	name := o.perfview
	if name == perfviewAll {
		name = perfviewEvents
	}
	tables := perfviewTables()
	t := &tables[slices.IndexFunc(tables, func(t perfviewTable) bool { return t.name == name })]
	return list.NewWriter(o.file, t.csvFields()).Rows(t.of(rows))
}

// choosePerfview takes the name of one of PerfView's tables for columns.
func (o *gcsOptions) choosePerfview() (bool, error) {
	if len(o.columns) != 1 || !slices.Contains(perfviewNames(), o.columns[0]) {
		return false, nil
	}
	o.perfview = o.columns[0]
	if o.format.value == list.Parquet {
		return true, errors.New("--format parquet is for collections; leave out --columns perfview")
	}
	if o.perfview == perfviewRollup && o.format.value == "csv" {
		return true, errors.New("--columns perfview-rollup needs --format table")
	}
	return true, nil
}
