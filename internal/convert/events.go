package convert

import (
	"io"

	"github.com/gctrail/gctrail/internal/redact"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/trace"
)

// EventOptions select the events to write.
type EventOptions struct {
	// Selected limits the time: the new trace begins and ends there. Events outside that name
	// processes, settings, types and methods are also written, at the nearest time inside.
	Selected *selection.Selection
	// PIDs are the processes, nil for all. A trace of one process is written in version 4 of the
	// format, which all tools read. Otherwise it is version 6, unless the source itself has only
	// one process.
	PIDs   map[uint64]bool
	Redact *redact.Redactor // nil to leave names as they are; else it has learned from an earlier reading
	Lost   *trace.Loss      // of an earlier reading, which the new trace reports too; nil if there was none
}

// A Written has the number of events that were written, that were left out because
// their fields are unknown or identify the program, and that the format cannot hold.
type Written struct{ Events, LeftOut, Refused uint64 }

// Events writes the events of a source as a .nettrace.
func Events(src trace.Source, w io.Writer, o EventOptions) (Written, error) {
	var out *eventWriter
	for ev, err := range src.Events() {
		if err != nil {
			return Written{}, err
		}
		if out == nil {
			out = newEventWriter(w, src, o)
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
	return out.Written, err
}
