package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A reading is a trace that a command is reading. It stops when the user interrupts, and
// shows its progress.
type reading struct {
	*report.Reading
	progress *progress
}

// reading returns a reading of an open trace.
func (std *stdio) reading(ctx context.Context, in *open.Input, paths []string) *reading {
	std.showing = std.progress(in)
	r := &reading{report.NewReading(ctx, in, in.Name, paths), std.showing}
	r.Once = slices.Contains(paths, "-")
	r.Warn = func(what string) { std.warn(in.Name, what) }
	r.Fail = func(err error) error { return &inputError{in.Name, err} }
	r.Count = func(*gc.Collection) { r.progress.collections.Add(1) }
	return r
}

// read opens the trace at a path, or the traces at several paths as one.
func (std *stdio) read(ctx context.Context, paths []string, opts open.Options) (*reading, error) {
	if slices.Contains(paths, "-") {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, &usageError{err: errors.New("- is standard input, which is a terminal: pipe or redirect a trace into it"), command: "gctrail"}
		}
		ctx = throughPipe(ctx)
	}
	in, err := open.Files(paths, opts)
	if err != nil {
		return nil, &inputError{strings.Join(paths, " + "), err}
	}
	std.warn(in.Name, report.Beside(in))
	return std.reading(ctx, in, paths), nil
}

// throughPipe is ctx for reading standard input. Where that is a pipe, Ctrl-C
// reaches the program that writes to it too, which then ends the trace: what it
// still writes is read. A second Ctrl-C, and SIGTERM, end this program at once, also
// while it waits for the other.
func throughPipe(ctx context.Context) context.Context {
	in, err := os.Stdin.Stat()
	if err != nil || in.Mode()&fs.ModeNamedPipe == 0 {
		return ctx
	}
	signal.Reset(syscall.SIGTERM)
	return context.WithoutCancel(ctx)
}

// extent names the part of the trace that was read, for messages on what it lacks: the rest may
// have it.
func (r *reading) extent() string {
	if loss := r.Loss(); loss.Truncated || loss.Damaged > 0 {
		return "the part of this trace that could be read"
	}
	return "this trace"
}

// Close ends the reading.
func (r *reading) Close() {
	r.progress.stop()
	r.Reading.Close()
}

// finish closes the reading, and warns of what is missing of the trace.
func (r *reading) finish(incomplete []uint32) {
	r.Close()
	if r.In.HeapDump != nil { // which lacks no events
		return
	}
	r.Warn(report.Missing(r.In, incomplete))
	r.Warn(report.Unmerged(r.Merged()))
}

// lossAhead reads the whole trace in advance, feeds it to models, and returns its loss. The
// loss is nil for standard input, which cannot be read twice.
func (r *reading) lossAhead(ctx context.Context, models ...pass.Model) (*trace.Loss, error) {
	if r.Once {
		return nil, nil
	}
	src, err := r.Again(nil) // a loss at the end reaches to the last event that is read
	if err != nil {
		return nil, r.Fail(err)
	}
	if err := pass.Run(ctx, src, models...); err != nil {
		return nil, err
	}
	return src.Loss(), nil
}

// each reads traces one after the other. It continues after a trace that cannot be read,
// but not after output that cannot be written.
func each(groups [][]string, one func(paths []string) error) error {
	var failed []error
	for _, paths := range groups {
		err := one(paths)
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if _, ok := errors.AsType[*inputError](err); !ok {
			break
		}
	}
	return errors.Join(failed...)
}

// A lack is data that a command shows and a trace may not have.
type lack struct {
	what      string // "allocation events"
	recording report.Recording
	server    bool   // only server GC has it
	partial   bool   // sessions record such events also without it
	command   string // that records it; empty for that of the recording, or of record
	record    func(p *gc.Process, format string) string
	quiet     string // why a trace may lack it that was recorded so
}

// lacks warns that a trace has no data for a command, and says how to record it where another
// trace would have it. processes are the ones with data of any kind.
func (r *reading) lacks(o *selection.Selection, processes []*gc.Process, l lack) {
	r.Warn(l.of(r, o, processes))
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
	var command string
	switch {
	case l.record != nil:
		command = l.record(p, r.Info().Format)
	case l.partial:
		command = report.Record(p, r.Info().Format, l.recording)
	default:
		command = report.RecordLacking(r, p, l.recording)
	}
	if l.quiet != "" {
		words += ": " + l.quiet
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
func (r *reading) nothingSelected(o *selection.Selection, processes []*gc.Process, words string) {
	r.Warn(outside(r, o, processes, words))
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
