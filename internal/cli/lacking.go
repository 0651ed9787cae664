package cli

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
)

// A lack is what a command shows and a trace may not have.
type lack struct {
	what      string // "allocation events"
	recording report.Recording
	server    bool // only server GC has it
	partial   bool // sessions record such events also without it
}

// lacks warns that a trace has nothing of what a command shows, and how to record it
// where another trace would have it.
func (std *stdio) lacks(r *reading, o *selection.Selection, processes []*gc.Process, l lack) {
	if len(o.Flags()) > 0 {
		std.warn(r.in.Name, "no "+l.what+" in the selected part of this trace")
		return
	}
	words := "no " + l.what + " in this trace"
	p := onlyProcess(r, processes)
	command := report.Record(p, r.Info().Format, l.recording)
	if !l.partial {
		command = report.RecordLacking(r, p, l.recording)
	}
	switch {
	case l.server && p != nil && p.Server.Known() && !p.Server.Or(false):
		words += ": its process has workstation GC"
	case command != "":
		words += "; record them with: " + command
	}
	std.warn(r.in.Name, words)
}

// onlyProcess returns the process of a trace, nil if there are several or none.
func onlyProcess(r *reading, processes []*gc.Process) *gc.Process {
	if len(processes) == 1 {
		return processes[0]
	}
	if named := r.Info().Processes; len(processes) == 0 && len(named) == 1 {
		for pid, p := range named {
			return &gc.Process{PID: pid, Name: p.Name}
		}
	}
	return nil
}
