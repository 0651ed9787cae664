package parquet

import (
	"io"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/figure"
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
	number := func(v uint64) figure.Value { return integer(int64(v)) }
	return []field[*trace.Event]{
		{"time", figure.Time, func(ev *trace.Event) figure.Value { return figure.Instant(e.start, ev.Time()) }},
		{"time_ms", figure.Millis, func(ev *trace.Event) figure.Value { return figure.Value{Type: figure.Millis, Int: int64(ev.Time())} }},
		// The provider is empty, not null, where the trace has none.
		{"provider", figure.Text, func(ev *trace.Event) figure.Value { return figure.Value{Type: figure.Text, Text: ev.Desc.Provider} }},
		{"id", figure.Int, func(ev *trace.Event) figure.Value { return number(uint64(ev.Desc.ID)) }},
		{"version", figure.Int, func(ev *trace.Event) figure.Value { return number(uint64(ev.Desc.Version)) }},
		{"name", figure.Text, func(ev *trace.Event) figure.Value { return text(e.decoder.Name(ev.Desc)) }},
		{"level", figure.Int, func(ev *trace.Event) figure.Value { return number(uint64(ev.Desc.Level)) }},
		{"keywords", figure.Int, func(ev *trace.Event) figure.Value { return number(ev.Desc.Keywords) }},
		{"pid", figure.Int, func(ev *trace.Event) figure.Value { return id(ev.PID) }},
		{"tid", figure.Int, func(ev *trace.Event) figure.Value { return id(ev.TID) }},
		{"cpu", figure.Int, func(ev *trace.Event) figure.Value {
			return known(ev.CPU != trace.UnknownCPU, number(uint64(ev.CPU)))
		}},
		{"data_json", figure.Text, func(ev *trace.Event) figure.Value {
			e.json = append(e.decoder.AppendFields(e.json[:0], ev), '}')
			e.json[0] = '{' // a comma
			return text(string(e.json))
		}},
		{"stack", figure.Text, func(ev *trace.Event) figure.Value {
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
