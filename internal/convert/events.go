package convert

import (
	"io"

	"github.com/gctrail/gctrail/internal/redact"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/trace"
)

// EventOptions select the events to write.
type EventOptions struct {
	Selected *selection.Selection
	PIDs     map[uint64]bool  // nil for all processes
	Redact   *redact.Redactor // nil to leave names as they are; else it has learned from an earlier reading
	Lost     *trace.Loss      // of an earlier reading; nil if there was none
}

// A Written has the number of events that were written, that were left out because
// their fields are unknown or identify the program, and that the format cannot hold.
type Written struct{ Events, LeftOut, Refused uint64 }

// Events writes the events of a source as a .nettrace.
func Events(src trace.Source, w io.Writer, o EventOptions) (Written, error) {
	opts := writerOptions{Single: len(o.PIDs) == 1, Lost: o.Lost, Redact: o.Redact}
	var out *eventWriter
	for ev, err := range src.Events() {
		if err != nil {
			return Written{}, err
		}
		if out == nil {
			opts.From, opts.To = o.Selected.Span(src.Info())
			out = newEventWriter(w, src, opts)
		}
		if o.PIDs != nil && !o.PIDs[ev.PID] {
			continue
		}
		if err := out.Event(ev); err != nil {
			return Written{}, err
		}
	}
	if out == nil {
		return Written{}, ErrNothing
	}
	err := out.Close()
	if err == nil && out.Events == 0 {
		err = ErrNothing
	}
	return Written{out.Events, out.LeftOut, out.Refused}, err
}
