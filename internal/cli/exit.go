package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/lttng"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// Exit codes, as the help of gctrail lists them.
const (
	exitDone        = 0
	exitOverBudget  = 1
	exitUsage       = 2
	exitUnreadable  = 3
	exitNoProcess   = 4
	exitUnsupported = 5
	exitInterrupted = 130 // as a shell reports SIGINT
)

// A usageError reports an invalid command line.
type usageError struct {
	err     error
	command string // whose help has more; empty until the command returns the error
	whole   bool   // the error itself names the command to run
}

func (e *usageError) Error() string {
	if e.whole || e.command == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("%v; see %s --help", e.err, e.command)
}

func (e *usageError) Unwrap() error { return e.err }

// usagef returns a usageError of cmd.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), command: cmd.CommandPath()}
}

// misusef returns a usageError of the command that returns it from its options.
func misusef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// asUsage returns the usageError of cmd for err, if there is one.
func asUsage(cmd *cobra.Command, err error) error {
	if err == nil || nameCommand(cmd, err) {
		return err
	}
	return &usageError{err: err, command: cmd.CommandPath()}
}

// nameCommand adds the command to an error that is a usageError, and reports whether it is.
func nameCommand(cmd *cobra.Command, err error) bool {
	e, ok := errors.AsType[*usageError](err)
	if ok && e.command == "" {
		e.command = cmd.CommandPath()
	}
	return ok
}

// An inputError describes a fault of an input file.
type inputError struct {
	name string
	err  error
}

func (e *inputError) Error() string {
	if unknown, ok := errors.AsType[*open.UnknownError](e.err); ok {
		if len(unknown.Traces) > 0 {
			return fmt.Sprintf("%s: a folder with %s, not one; report on the newest with: gctrail %s",
				unknown.Name, text.Counted(len(unknown.Traces), "trace"), text.Quoted(filepath.Join(unknown.Name, unknown.Traces[0].Name)))
		}
		return unknown.Error()
	}
	if errors.Is(e.err, fs.ErrNotExist) && !strings.ContainsAny(e.name, `./\ `) && !strings.HasPrefix(e.name, "-") {
		if isProcessID(e.name) {
			return fmt.Sprintf("%s: no such file; if it is a process, watch it with: gctrail top %[1]s, or record it with: gctrail collect -p %[1]s", e.name)
		}
		return fmt.Sprintf("%s: no file or command of this name; list the commands with: gctrail --help, or watch processes with: gctrail top -n %[1]s", text.Quoted(e.name))
	}
	f, ok := errors.AsType[*trace.FormatError](e.err)
	switch {
	case ok && errors.Is(f, io.ErrUnexpectedEOF):
		return fmt.Sprintf("%s: the file ends at byte %s, within the %s; %s", e.name, units.Count(f.Off), f.Section, hint(e.err))
	case ok:
		return fmt.Sprintf("%s: %s at byte %s: %v; %s", e.name, f.Section, units.Count(f.Off), f.Err, hint(e.err))
	}
	return fmt.Sprintf("%s: %s; %s", e.name, reason(e.err), hint(e.err))
}

func (e *inputError) Unwrap() error { return e.err }

// A fileError describes a fault of a file beside traces, and what to do about it.
type fileError struct {
	name   string
	err    error
	remedy string
}

func (e *fileError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.name, reason(e.err), e.remedy)
}

func (e *fileError) Unwrap() error { return e.err }

// stdoutName is the name of standard output in messages.
const stdoutName = "standard output"

// sentence returns the message for an error: what failed, why, and what to do.
func sentence(err error) string {
	if e, ok := errors.AsType[*collect.ProcessError](err); ok {
		if refused, ok := errors.AsType[*etw.Error](e.Err); ok {
			return e.Name + ": " + etwErrorText(refused)
		}
		remedy := cmp.Or(diag.Remedy(e.Err), "list the .NET processes with: gctrail ps")
		if errors.Is(e.Err, collect.ErrSilent) {
			remedy = "a background collection may be running; try again"
		}
		return fmt.Sprintf("%s: %s; %s", e.Name, problemOf(e.Err), remedy)
	}
	if errors.Is(err, collect.ErrNoETW) {
		return "ETW is part of 64-bit Windows, which this is not: record without --etw, as in gctrail collect -p PID"
	}
	if e, ok := errors.AsType[*etw.Error](err); ok {
		return etwErrorText(e)
	}
	if ofLTTng(err) {
		return lttngErrorText(err)
	}
	if e, ok := errors.AsType[*collect.OutputError](err); ok {
		return fmt.Sprintf("%s: %s; %s", e.Name, reason(e.Err), instead(e))
	}
	if e, ok := errors.AsType[*collect.ReviewError](err); ok {
		return (&inputError{e.Path, e.Err}).Error()
	}
	if e, ok := errors.AsType[*collect.ChildError](err); ok && e.Hidden {
		return e.Error() + "; to see its output, run without --hide-child-io and with -o FILE"
	}
	if e, ok := errors.AsType[*collect.CommandError](err); ok {
		switch {
		case errors.Is(e.Err, collect.ErrNotDotnet):
			return e.Error() + ": " + noDotnet
		case errors.Is(e.Err, exec.ErrNotFound):
			return e.Name + ": no command of this name; give its path, as in ./" + e.Name
		}
		if _, ok := errors.AsType[*fs.PathError](e.Err); ok {
			return e.Name + ": " + reason(e.Err)
		}
	}
	return err.Error()
}

// instead returns what to do about an output that failed.
func instead(e *collect.OutputError) string {
	switch option := cmp.Or(e.Option, "-o"); {
	case e.Name == stdoutName:
		return "redirect it elsewhere"
	case outfile.IsFull(e.Err), errors.Is(e.Err, etw.ErrDiskFull):
		return "make room, or choose another disk with " + option
	default:
		return "choose another " + cmp.Or(e.Kind, "file") + " with " + option
	}
}

// chosenBy notes, in the errors of outputs in err, their kind and the option that chooses
// them, which is not that of a file with -o.
func chosenBy(option, kind string, err error) error {
	for _, e := range flatten(err) {
		if out, ok := errors.AsType[*collect.OutputError](e); ok {
			out.Option, out.Kind = option, kind
		}
	}
	return err
}

// A saidError is an error that was printed when it happened.
type saidError struct{ error }

func (e *saidError) Unwrap() error { return e.error }

// reason returns the innermost cause of err, without the path, which the message has
// already. A missing file has the same reason on every system.
func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or directory"
	}
	return strings.TrimSuffix(err.Error(), ".") // as sentences of Windows end
}

// hint returns the remedy for a file that cannot be read.
func hint(err error) string {
	path, _ := errors.AsType[*fs.PathError](err)
	_, refused := errors.AsType[syscall.Errno](err) // by the system
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "you have no permission to read it: ask its owner for access"
	case errors.Is(err, fs.ErrNotExist), refused && path != nil && path.Op == "open": // such as a name that is too long
		return "check the path"
	case errors.Is(err, trace.ErrUnsupported):
		return "list the supported formats with: gctrail version"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the file is incomplete: copy it again"
	default:
		return "the file is damaged: copy it again"
	}
}

// complain prints a line for each error, and returns the exit code of the first.
func (std *stdio) complain(err error) int {
	code, last := exitDone, ""
	for _, e := range flatten(err) {
		c := exitCodeOf(e)
		words := strings.ReplaceAll(sentence(e), "\n", " ")
		_, said := errors.AsType[*saidError](e)
		if c != exitDone && c != exitOverBudget && c != exitInterrupted && words != last && !said {
			_ = std.err.Line("gctrail: %s", words) // there is no other output
			std.listTraces(e)
		}
		last = words
		if code == exitDone {
			code = c
		}
	}
	return code
}

// listTraces lists the traces in a folder, the newest first, where one trace was expected.
func (std *stdio) listTraces(err error) {
	unknown, ok := errors.AsType[*open.UnknownError](err)
	if !ok || len(unknown.Traces) == 0 {
		return
	}
	const most = 20
	p := text.PageOn(std.errTerm)
	rows := text.Each(unknown.Traces[:min(len(unknown.Traces), most)], func(t *open.FolderTrace) []string {
		return []string{t.Modified.Format("2006-01-02 15:04:05"), units.Bytes(t.Size), filepath.Join(unknown.Name, t.Name)}
	})
	p.Table([]text.Column{{Heading: "modified", Left: true}, {Heading: "size"}, {Heading: "trace", Left: true}}, rows)
	if more := len(unknown.Traces) - most; more > 0 {
		p.Line("and %d more", more)
	}
	_ = std.err.Page(p) // there is no other output
}

// flatten lists the errors that errors.Join joined.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return []error{err}
}

// ofLTTng reports whether a recording failed because of LTTng.
func ofLTTng(err error) bool {
	_, ok := errors.AsType[*lttng.Error](err)
	_, ofRelay := errors.AsType[*collect.RelayError](err)
	return ok || ofRelay || errors.Is(err, lttng.ErrNotInstalled) || errors.Is(err, collect.ErrNoTracer)
}

func exitCodeOf(err error) int {
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if child, ok := errors.AsType[*collect.ChildError](err); ok {
		return child.Code
	}
	_, ofProcess := errors.AsType[*collect.ProcessError](err)
	_, ofLedger := errors.AsType[*noLedgerError](err)
	_, ofCommand := errors.AsType[*collect.CommandError](err)
	switch {
	case errors.Is(err, errOverBudget):
		return exitOverBudget
	case errors.Is(err, syscall.EPIPE):
		return exitDone // whoever read the output has enough
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, trace.ErrUnsupported), errors.Is(err, collect.ErrNoETW), errors.Is(err, etw.ErrNoFile),
		errors.Is(err, lttng.ErrNotInstalled), collect.TooOld(err):
		return exitUnsupported
	case ofProcess, ofCommand, ofLedger, ofLTTng(err), errors.Is(err, etw.StatusDenied):
		return exitNoProcess
	default:
		return exitUnreadable
	}
}
