package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
)

// columnField returns a column of collections as a field of rows that have one.
func columnField[R any](c figure.Figure, of func(*R) *gc.Collection) list.Field[R] {
	f := list.Field[R]{Name: c.Key, Heading: c.Heading, Type: c.Type, Left: c.Type == figure.Text, Rank: 1}
	f.Value = func(r *R) figure.Value { return c.Value(of(r)) }
	if c.Is != nil {
		f.Is = func(r *R) gc.Certainty { return c.Is(of(r)) }
	}
	return f
}

// identity returns the fields that say which collection a row is of, and how it was, from
// the table of figures. Lists have a heading for each process, and no column.
func identity[R any](of func(*R) *gc.Collection, ranks map[string]int, keys ...string) []list.Field[R] {
	fields := make([]list.Field[R], len(keys))
	for i, key := range keys {
		c, _ := figure.Named(key)
		fields[i] = columnField(c, of)
		fields[i].Rank = ranks[key]
		if key == "pid" {
			fields[i].Heading = ""
		}
	}
	return fields
}

// itself returns the collection that is the row.
func itself(c *gc.Collection) *gc.Collection { return c }

// fields returns the fields of a row for each collection.
func (o *gcsOptions) fields(start func() time.Time) []list.Field[gc.Collection] {
	var fields []list.Field[gc.Collection]
	if o.chosen == nil && o.format.value == list.Table {
		for _, c := range figure.InList() {
			f := columnField(c, itself)
			f.Rank, f.Varies = c.Listed.Rank, c.Listed.Varies
			fields = append(fields, f)
		}
		return fields
	}
	if o.format.value == list.Parquet { // a file of collections of several traces
		fields = append(fields, list.Field[gc.Collection]{Name: "start_time", Type: figure.Time, Value: func(c *gc.Collection) figure.Value {
			return list.Opt(c.Start, func(at time.Duration) figure.Value { return figure.Instant(start(), at) })
		}})
	}
	columns := o.chosen
	if columns == nil {
		columns = figure.All()
	}
	for _, c := range columns {
		fields = append(fields, columnField(c, itself))
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

// columnCalled returns the column of a name, as it is called in files, in --until,
// in headings, or by report --explain.
func columnCalled(name string) (figure.Figure, error) {
	candidates := []string{name}
	for _, c := range figure.All() {
		if c.Until != nil && strings.EqualFold(c.Until.Word, name) {
			candidates = append(candidates, c.Key)
		}
	}
	candidates = append(candidates, report.Key(name))
	for _, c := range figure.All() {
		if strings.EqualFold(c.Heading, name) {
			candidates = append(candidates, c.Key)
		}
	}
	for _, f := range report.Definitions(name) {
		candidates = append(candidates, f.Keys...)
	}
	for _, candidate := range candidates {
		if c, ok := figure.Named(candidate); ok {
			return c, nil
		}
	}
	return figure.Figure{}, unknownColumn(name, columnWords())
}

// columnWords returns the words that --columns takes, the short ones first.
func columnWords() []string {
	var words, keys []string
	for _, c := range figure.All() {
		if c.Until != nil && c.Until.Word != c.Key {
			words = append(words, c.Until.Word)
		}
		keys = append(keys, c.Key)
	}
	slices.Sort(words)
	return append(words, keys...)
}
