package parquet

import (
	"io"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/trace"
)

// Events writes a row for each event: what is known of all events in columns, the
// fields as JSON.
type Events struct {
	table   *table[*trace.Event]
	start   time.Time
	decoder clr.Decoder
	json    []byte
	stack   []uint64
}

// NewEvents returns a writer of events to w.
func NewEvents(w io.Writer) *Events {
	e := new(Events)
	e.table = newTable(w, "events", e.fields())
	return e
}

// Add writes a row. Start is the wall-clock time of the trace's start.
func (e *Events) Add(start time.Time, ev *trace.Event) error {
	e.start = start
	return e.table.add(ev)
}

// Close ends the file. It does not close the underlying writer.
func (e *Events) Close() error { return e.table.close() }

func (e *Events) fields() []field[*trace.Event] {
	number := func(v uint64) column.Value { return column.Value{Type: column.Int, Int: int64(v)} }
	id := func(v uint64) column.Value {
		if v == trace.UnknownID {
			return column.Value{}
		}
		return number(v)
	}
	text := func(s string) column.Value { return column.Value{Type: column.Text, Text: s} }
	return []field[*trace.Event]{
		{"time", column.Time, func(ev *trace.Event) column.Value { return column.Instant(e.start, ev.Time()) }},
		{"time_ms", column.Millis, func(ev *trace.Event) column.Value { return column.Value{Type: column.Millis, Int: int64(ev.Time())} }},
		{"provider", column.Text, func(ev *trace.Event) column.Value { return text(ev.Desc.Provider) }},
		{"id", column.Int, func(ev *trace.Event) column.Value { return number(uint64(ev.Desc.ID)) }},
		{"version", column.Int, func(ev *trace.Event) column.Value { return number(uint64(ev.Desc.Version)) }},
		{"name", column.Text, func(ev *trace.Event) column.Value { return text(e.decoder.Name(ev.Desc)) }},
		{"level", column.Int, func(ev *trace.Event) column.Value { return number(uint64(ev.Desc.Level)) }},
		{"keywords", column.Int, func(ev *trace.Event) column.Value { return number(ev.Desc.Keywords) }},
		{"pid", column.Int, func(ev *trace.Event) column.Value { return id(ev.PID) }},
		{"tid", column.Int, func(ev *trace.Event) column.Value { return id(ev.TID) }},
		{"cpu", column.Int, func(ev *trace.Event) column.Value {
			if ev.CPU == trace.UnknownCPU {
				return column.Value{}
			}
			return number(uint64(ev.CPU))
		}},
		{"data_json", column.Text, func(ev *trace.Event) column.Value {
			e.json = append(e.decoder.AppendFields(e.json[:0], ev), '}')
			e.json[0] = '{' // a comma
			return text(string(e.json))
		}},
		{"stack", column.Text, func(ev *trace.Event) column.Value {
			if ev.StackLen() == 0 {
				return column.Value{}
			}
			e.stack, e.json = ev.AppendStack(e.stack[:0]), e.json[:0]
			for i, address := range e.stack {
				if i > 0 {
					e.json = append(e.json, '\n')
				}
				e.json = strconv.AppendUint(append(e.json, "0x"...), address, 16)
			}
			return text(string(e.json))
		}},
	}
}
