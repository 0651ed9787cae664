package collect

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A ProcessError reports why a process cannot be reached, or refused a command.
type ProcessError struct {
	Name string // and its id
	Err  error
}

func (e *ProcessError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ProcessError) Unwrap() error { return e.Err }

// Unreachable returns the error of a process that was found but cannot be queried.
func Unreachable(p *diag.Process) error { return &ProcessError{Title(p), p.Err} }

// An OutputError reports a fault of an output.
type OutputError struct {
	Name   string
	Err    error
	Kind   string // such as "folder"; empty for a file
	Option string // that chooses it; empty for -o
}

func (e *OutputError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// OutputFailed returns the *OutputError for err, if there is one.
func OutputFailed(name string, err error) error {
	if err == nil {
		return nil
	}
	return &OutputError{Name: name, Err: err}
}

// A ReviewError reports that a trace that was written cannot be read back.
type ReviewError struct {
	Path string
	Err  error
}

func (e *ReviewError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ReviewError) Unwrap() error { return e.Err }

// A ChildError reports the exit code of a command that was started, if it is not
// 0.
type ChildError struct {
	Name   string
	Code   int
	Hidden bool // its output was not shown
}

func (e *ChildError) Error() string { return fmt.Sprintf("%s: exit code %d", e.Name, e.Code) }

// A CommandError reports why a command could not be started, or traced.
type CommandError struct {
	Name string
	Err  error
}

func (e *CommandError) Error() string {
	err := e.Err
	if start, ok := errors.AsType[*exec.Error](err); ok {
		err = start.Err
	}
	return e.Name + ": " + err.Error()
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

var (
	// ErrWaits reports a process that has written nothing, not even a trace's head.
	ErrWaits = errors.New("it is suspended at startup until another diagnostic port resumes it")
	// ErrNoTrace reports a runtime that sends something other than a trace, or blocks
	// that are larger than any runtime writes.
	ErrNoTrace = fmt.Errorf("it does not send a trace: %d MiB came without a complete block", eventpipe.MaxHeld>>20)
	// ErrNoEvents reports a runtime that sends blocks without a readable event.
	ErrNoEvents = errors.New("it does not send a trace: nothing in what came can be read as an event")
	// ErrBlock reports a runtime that sends a block which a ring cannot read. It ends the
	// recording, because a ring must read blocks to drop the oldest events.
	ErrBlock = errors.New("it sends a block that cannot be read, so that no more of its trace can be kept")
	// ErrUntraced reports a command none of whose processes matched -n.
	ErrUntraced = errors.New("it ended, and none of its .NET processes matched -n")
	// ErrNotDotnet reports a command that did not connect for tracing.
	ErrNotDotnet = errors.New("it ended without connecting for tracing")
)

// TooOld reports whether a runtime refused a request because it does not know it.
func TooOld(err error) bool {
	return errors.Is(err, diag.UnknownCommand) || errors.Is(err, diag.NotSupported)
}
