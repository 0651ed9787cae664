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

// columnField returns a column of collections as a field of lists.
func columnField(c figure.Figure) list.Field[gc.Collection] {
	return list.Field[gc.Collection]{Name: c.Key, Heading: c.Heading, Type: c.Type, Value: c.Value, Is: c.Is, Left: c.Type == figure.Text, Rank: 1}
}

// fields returns the fields of a row for each collection.
func (o *gcsOptions) fields(start func() time.Time) []list.Field[gc.Collection] {
	var fields []list.Field[gc.Collection]
	if o.chosen == nil && o.format.value == list.Table {
		for _, c := range figure.InList() {
			f := columnField(c)
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
