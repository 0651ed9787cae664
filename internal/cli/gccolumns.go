package cli

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
)

// defaultColumns are the columns of gcs --format table, with the order in which they are
// left out if the terminal is narrow.
var defaultColumns = []struct {
	name   string
	rank   int
	varies bool // only where there are several processes
}{
	{"pid", 0, true},
	{"process", 4, true},
	{"number", 0, false},
	{"start_ms", 0, false},
	{"generation", 0, false},
	{"kind", 2, false},
	{"reason", 1, false},
	{"pause_ms", 0, false},
	{"suspend_ms", 8, false},
	{"allocated_bytes", 6, false},
	{"heap_before_bytes", 5, false},
	{"heap_after_bytes", 3, false},
	{"freed_bytes", 4, false},
	{"promoted_bytes", 7, false},
	{"pinned_objects", 9, false},
	{"memory_load_pct", 10, false},
}

// shortHeadings are the headings that are not the column's name.
var shortHeadings = map[string]string{
	"number":            "GC",
	"generation":        "gen",
	"heap_before_bytes": "before MB",
	"heap_after_bytes":  "after MB",
	"allocated_bytes":   "alloc MB",
	"pinned_objects":    "pinned",
	"memory_load_pct":   "load %",
}

// heading returns the heading of a column, with its unit.
func heading(name string) string {
	if h, ok := shortHeadings[name]; ok {
		return h
	}
	for _, unit := range [][2]string{{"_bytes", " MB"}, {"_pct", " %"}} {
		if stem, ok := strings.CutSuffix(name, unit[0]); ok {
			name = stem + unit[1]
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// leftAligned are the columns of words.
var leftAligned = map[string]bool{
	"kind": true, "requested_kind": true, "reason": true, "condemned": true, "mechanisms": true,
	"process": true, "runtime": true, "freed_is": true, "allocated_is": true, "Trigger Reason": true, "Gen": true,
}

// columnField returns a column of collections as a field of lists.
func columnField(c column.Column) list.Field[gc.Collection] {
	f := list.Field[gc.Collection]{Name: c.Name, Heading: heading(c.Name), Type: c.Type(), Value: c.Value, Left: leftAligned[c.Name], Rank: 1}
	switch c.Name {
	case "freed_bytes":
		f.Is = func(c *gc.Collection) gc.Certainty { return c.FreedQuality }
	case "allocated_bytes":
		f.Is = func(c *gc.Collection) gc.Certainty { return c.AllocatedQuality }
	}
	return f
}

// fields returns the fields of a row for each collection.
func (o *gcsOptions) fields(start func() time.Time) []list.Field[gc.Collection] {
	var fields []list.Field[gc.Collection]
	if o.chosen == nil && o.format.value == list.Table {
		for _, d := range defaultColumns {
			c, _ := column.Named(d.name)
			f := columnField(c)
			f.Rank, f.Varies = d.rank, d.varies
			fields = append(fields, f)
		}
		return fields
	}
	if o.format.value == list.Parquet { // a file of collections of several traces
		fields = append(fields, list.Field[gc.Collection]{Name: "start_time", Type: column.Time, Value: func(c *gc.Collection) column.Value {
			return list.Opt(c.Start, func(at time.Duration) column.Value { return column.Instant(start(), at) })
		}})
	}
	columns := o.chosen
	if columns == nil {
		columns = column.All()
	}
	for _, c := range columns {
		fields = append(fields, columnField(c))
	}
	return fields
}

// reasons returns the names that a collection's reason can have.
func reasons() []string {
	var names []string
	for r := clr.GCReason(0); ; r++ {
		name := r.String()
		if strings.HasSuffix(name, ")") { // GCReason(18)
			return names
		}
		names = append(names, name)
	}
}

// conditionColumns are the columns of the figures that --until asks for, if
// they have other names.
var conditionColumns = map[string]string{
	"pause": "pause_ms", "suspend": "suspend_ms", "duration": "duration_ms", "gen": "generation", "heap": "heap_after_bytes", "before": "heap_before_bytes",
	"freed": "freed_bytes", "promoted": "promoted_bytes", "committed": "committed_after_bytes", "allocated": "allocated_bytes",
	"load": "memory_load_pct", "pinned": "pinned_objects",
}

// columnCalled returns the column of a name, as it is called in files, in --until,
// in headings, or by report --explain.
func columnCalled(name string) (column.Column, error) {
	candidates := []string{name, conditionColumns[strings.ToLower(name)], report.Key(name)}
	for column, short := range shortHeadings {
		if strings.EqualFold(short, name) {
			candidates = append(candidates, column)
		}
	}
	for _, f := range report.Definitions(name) {
		candidates = append(candidates, f.Keys...)
	}
	for _, candidate := range candidates {
		if c, ok := column.Named(candidate); ok {
			return c, nil
		}
	}
	return column.Column{}, unknownColumn(name, columnWords())
}

// columnWords returns the words that --columns takes, the short ones first.
func columnWords() []string {
	words := slices.Sorted(maps.Keys(conditionColumns))
	for _, c := range column.All() {
		words = append(words, c.Name)
	}
	return words
}
