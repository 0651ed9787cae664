package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// printResult prints a summary of the trace, its gaps, and the next commands. target are
// the flags with which collect traces the same program again, empty if there are none.
func (std *stdio) printResult(r *collect.Result, target string) {
	std.warn("gctrail", fmt.Sprintf("%s: %s, %s of events", r.Path, units.Bytes(r.Size), units.Duration(r.Trace.Info().Last)))
	std.printStop(r)
	std.printMissing(r)
	std.printLost(r, "collect fewer keywords, or set a larger --buffersize")
	p, rep := text.PageOn(std.errTerm), reportOf(r)
	if collect.AsksForCollections(r.Config) {
		writeVerdict(p, r, rep)
	}
	if r.Regular {
		p.Command("  ", "gctrail "+text.Quoted(r.Path))
		if rep.HasRequests() {
			p.Line("To see how long the GC paused its requests:")
			p.Command("  ", "gctrail requests "+text.Quoted(r.Path))
		}
		writeCulprit(p, r, rep, again(r, target))
	}
	_ = std.err.Page(p) // there is no other output
	if r.Plan.DumpAtEnd && r.Exited {
		std.warn("gctrail", "there is no snapshot of the end, because the process had exited")
	}
}

// reportOf returns the report of the file that was written, the same as gctrail report. The
// findings made while events arrived lack the events that come at the end of a trace, such
// as the GC's settings; reportOf falls back to them if there is no file.
func reportOf(r *collect.Result) *report.Report {
	if r.Regular {
		silent := &stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}
		if rep, err := newReportOptions().gather(context.Background(), silent, []string{r.Path}); err == nil && (rep.Processes() > 0 || rep.Mono()) {
			return rep
		}
	}
	return report.Of(r.Trace, r.Found)
}

// printStop prints whether the stop condition was met, and what the ring holds.
func (std *stdio) printStop(r *collect.Result) {
	if !r.Triggered && r.Plan.Waits() {
		said := waitsFor(r.Plan) + " was never met"
		if r.Joined {
			said += ": the file has the most recent events"
		}
		std.warn("gctrail", said)
	}
	if r.RingCut && r.Plan.Before > 0 {
		std.warn("gctrail", fmt.Sprintf("%[2]s is too small for the %[1]s before the end; set a larger size with --keep",
			spanText(r.Plan.Before), units.Bytes(r.Plan.Keep.Size)))
	}
}

// printMissing prints why the end of the trace is missing, or a part of it cannot be read.
func (std *stdio) printMissing(r *collect.Result) {
	loss := r.Trace.Loss()
	switch {
	case r.Failed != nil:
		if r.Regular {
			std.warn("gctrail", "writing failed: the file has everything written until then, and can be read")
		}
	case r.Stopped != nil && loss.Truncated:
		std.warn("gctrail", fmt.Sprintf("the process did not end the trace (%s): events it had not yet sent are lost", problemOf(r.Stopped)))
	case r.Broken != nil:
		std.warn("gctrail", "the connection broke: the file has everything received until then, and can be read")
	case r.Displaced && r.ETW != nil:
		std.warn("gctrail", "another tool stopped the ETW session: the file has everything written until then, and can be read")
	case r.Displaced:
		std.warn("gctrail", "another tool ended the trace; the process is still running")
	case r.ETW != nil && loss.Truncated:
		std.warn("gctrail", "the session has not ended the file: it has everything written until then, and can be read")
	case loss.Truncated:
		std.warn("gctrail", "the process exited without ending the trace: the file has everything received until then, and can be read")
	}
	if loss.Damaged > 0 {
		std.warn("gctrail", "damaged trace: "+report.Unreadable(loss)+"; whole GCs may be missing")
	}
}

// printLost prints how many events were lost, and what to do if a buffer was too small.
func (std *stdio) printLost(r *collect.Result, remedy string) {
	if r.ETW != nil {
		const named = ": some processes, or modules of native frames, may have no names"
		std.printETWLoss(r.ETW, "because the session's buffers were full: collect fewer keywords, or set a larger --buffersize",
			"of events could not be written: choose a disk with more room, or a faster one, with -o")
		std.printETWLoss(&r.Kernel, "because the buffers of the kernel session were full"+named, "of the kernel session could not be written"+named)
		return
	}
	loss := r.Trace.Loss()
	if lost := loss.Dropped(); lost > 0 {
		whose := "the runtime's buffer was"
		if r.LTTng {
			whose = "LTTng's buffers were"
		}
		std.warn("gctrail", text.Plural(int64(lost), "event was", "events were")+" lost because "+whose+" full: "+remedy)
	}
}

// printETWLoss warns of lost events and buffers; events and buffers end the sentences.
func (std *stdio) printETWLoss(l *etw.Loss, events, buffers string) {
	if l.Events > 0 {
		std.warn("gctrail", text.Plural(int64(l.Events), "event was", "events were")+" lost "+events)
	}
	if l.Buffers > 0 {
		std.warn("gctrail", text.Plural(int64(l.Buffers), "buffer", "buffers")+" "+buffers)
	}
}

// again returns the flags with which collect traces the same program again: the command
// that starts it, if that is known and a process that target selects has ended.
func again(r *collect.Result, target string) string {
	if !r.Exited || target == "" || len(r.Found) == 0 || strings.Contains(" "+target, " -- ") {
		return target
	}
	return cmp.Or(report.Start(r.Found[0].Summary.Process), target)
}

// writeCulprit writes the command that shows the code that allocates, or the one that
// records it, if the program pauses for too long.
func writeCulprit(p *text.Page, r *collect.Result, rep *report.Report, target string) {
	const indent = "  "
	switch allocates := collect.NamesAllocations(r.Config); {
	case r.Collections == 0 || !rep.OverBudget():
	case allocates:
		p.Line("To see the code that allocates:")
		p.Command(indent, "gctrail allocs --by type,stack "+text.Quoted(r.Path))
	case target != "":
		p.Line("To record the code that allocates:")
		p.Command(indent, "gctrail collect --profile gc-alloc "+target)
	}
}

// writeVerdict writes the beginning of the file's report.
func writeVerdict(p *text.Page, r *collect.Result, rep *report.Report) {
	switch kept := units.Duration(r.Trace.Info().Last); {
	case r.Collections == 0 && r.Joined && r.Followed > 0:
		p.Heading("No GC happened in the %s that are kept; %s before. Keep more with --keep.", kept,
			text.Plural(r.Followed, "GC happened", "GCs happened"))
		return
	case r.Collections == 0 && !rep.Mono():
		p.Heading("No GC happened in %s.", kept)
		return
	}
	rep.WriteVerdict(p)
}
