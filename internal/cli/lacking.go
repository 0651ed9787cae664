package cli

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
)

// A lack is data that a command shows and a trace may not have.
type lack struct {
	what      string // "allocation events"
	recording report.Recording
	server    bool   // only server GC has it
	partial   bool   // sessions record such events also without it
	command   string // that records it; empty for that of the recording
}

// lacks warns that a trace has no data for a command, and says how to record it where another
// trace would have it. processes are the ones with data of any kind.
func (std *stdio) lacks(r *reading, o *selection.Selection, processes []*gc.Process, l lack) {
	std.warn(r.in.Name, l.of(r, o, processes))
}

// of describes the lack of a trace.
func (l *lack) of(r *reading, o *selection.Selection, processes []*gc.Process) string {
	if len(o.Flags()) > 0 {
		return outside(r, o, processes, "no "+l.what+" in the selected part of this trace")
	}
	words := "no " + l.what + " in " + r.extent()
	if l.command != "" {
		return words + "; record one with: " + l.command
	}
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
	return words
}

// nothingSelected warns that a selection has nothing of a trace, and which processes or
// which time the trace has instead.
func (std *stdio) nothingSelected(r *reading, o *selection.Selection, processes []*gc.Process, words string) {
	std.warn(r.in.Name, outside(r, o, processes, words))
}

// outside adds to words which processes or which time the trace has.
func outside(r *reading, o *selection.Selection, processes []*gc.Process, words string) string {
	if has := report.Outside(o, r.Info(), processesOf(r, processes)); has != "" {
		words += ": " + has
	}
	return words
}

// onlyProcess returns the process of a trace, nil if there are several or none.
func onlyProcess(r *reading, processes []*gc.Process) *gc.Process {
	if processes = processesOf(r, processes); len(processes) == 1 {
		return processes[0]
	}
	return nil
}

// processesOf returns the processes that a command found in a trace. If it found none, they
// are the processes that the trace names.
func processesOf(r *reading, found []*gc.Process) []*gc.Process {
	if len(found) > 0 {
		return found
	}
	return report.Named(r.Info())
}
