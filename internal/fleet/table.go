package fleet

import (
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/otlp"
)

// A Table describes one kind of record: its columns, and the ones that identify a record.
type Table struct {
	Name    string
	Event   string // the event name of the log records that are its rows
	Columns []Column
	Key     []string // two rows with equal keys are the same record

	index      map[string]int // of columns by name
	attributes map[string]int // of columns by attribute
	required   []bool         // the columns that are never null
}

// A Column is a figure that every record of a table has. Its name ends with the unit.
type Column struct {
	Name string
	Type figure.Type // text if unknown is empty, all else is null
	// Attribute is the key of the log record's attribute, or of its resource's;
	// the record's own takes precedence.
	Attribute string
}

// A Row is one record: a value for each column of its table.
type Row []figure.Value

// columnTime is the column with a record's own time, in Unix nanoseconds.
const columnTime = "time_ns"

var collections = sync.OnceValue(func() *Table {
	return newTable("gc", otlp.CollectionEvent, otlp.Collection(), "clr_instance", "number")
})

var ends = sync.OnceValue(func() *Table {
	return newTable("ends", otlp.EndEvent, otlp.Ended())
})

// Collections returns the table of collections, one row each. The columns of the process
// come first, then the ones of gc/figure.
func Collections() *Table { return collections() }

// Ends returns the table of processes that ended, with their last memory figures.
func Ends() *Table { return ends() }

// Tables returns all tables.
func Tables() []*Table { return []*Table{Collections(), Ends()} }

// newTable returns the table of the records of an event. They are identified by
// their process and the columns of key.
func newTable[T any](name, event string, attributes []otlp.Attribute[T], key ...string) *Table {
	t := &Table{Name: name, Event: event, Key: append([]string{columnUID}, key...)}
	t.Columns = append(t.Columns, Column{columnTime, figure.Int, ""})
	for _, a := range otlp.Resource() {
		t.Columns = append(t.Columns, Column{a.Column, a.Type, a.Key})
	}
	for _, a := range attributes {
		t.Columns = append(t.Columns, Column{a.Column, a.Type, a.Key})
	}
	return t.indexed()
}

// indexed indexes the columns by name.
func (t *Table) indexed() *Table {
	t.index, t.attributes = make(map[string]int), make(map[string]int)
	t.required = make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		t.index[c.Name] = i
		t.attributes[c.Attribute] = i
		t.required[i] = c.Name == columnTime || slices.Contains(t.Key, c.Name)
	}
	return t
}

// only returns the table with fewer columns: the named ones, the filter's, and the ones
// that identify a row.
func (t *Table) only(f *Filter, names ...string) *Table {
	few := &Table{Name: t.Name, Event: t.Event, Key: t.Key}
	for i, c := range t.Columns {
		filtered := slices.ContainsFunc(f.Where, func(term Term) bool { return term.Column == c.Name })
		if t.required[i] || filtered || slices.Contains(names, c.Name) {
			few.Columns = append(few.Columns, c)
		}
	}
	return few.indexed()
}

// columnUID identifies a process uniquely.
var columnUID = func() string {
	for _, a := range otlp.Resource() {
		if a.Key == otlp.UID {
			return a.Column
		}
	}
	return ""
}()

// Value returns a row's value in the column of that name, the unknown value if the table
// has no such column.
func (t *Table) Value(r Row, name string) figure.Value {
	i, ok := t.index[name]
	if !ok || i >= len(r) {
		return figure.Value{}
	}
	return r[i]
}

// Has reports whether the table has a column of that name.
func (t *Table) Has(name string) bool {
	_, ok := t.index[name]
	return ok
}

// Time returns the time of a row.
func (t *Table) Time(r Row) time.Time { return time.Unix(0, t.Value(r, columnTime).Int) }
