package lttng

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A System runs LTTng's command, and knows which processes run.
type System struct {
	// Run runs lttng with arguments. The error is an *Error.
	Run func(args ...string) (stdout []byte, err error)
	// Runs reports whether a process runs.
	Runs func(pid int) bool
}

// ErrNotInstalled reports a system without the command lttng.
var ErrNotInstalled = errors.New("the command lttng is not installed")

// An Error reports a command of lttng that failed.
type Error struct {
	Command string // "enable-event"
	Said    string // on standard error
	Err     error
}

func (e *Error) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("lttng %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("lttng %s: %s", e.Command, e.Said)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// commandTime is how long a command may take. Stopping a session waits until its
// buffers have been written.
const commandTime = time.Minute

// Native returns the LTTng of this system. The error is ErrNotInstalled if there is none.
func Native() (*System, error) {
	path, err := exec.LookPath("lttng")
	if err != nil {
		return nil, ErrNotInstalled
	}
	return &System{Run: func(args ...string) ([]byte, error) { return run(path, args) }, Runs: runs}, nil
}

// run runs a command in a way that Ctrl-C does not end it, because gctrail ends the
// session in its own order.
func run(path string, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	detach(cmd)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The session daemon that lttng may start inherits the pipes, and would hold them
	// open.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.Bytes(), nil
	}
	return nil, &Error{commandOf(args), lastLine(stderr.String()), err}
}

// commandOf returns the lttng subcommand of a command line, after any options.
func commandOf(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// lastLine returns the reason in lttng's output.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "Error: ")
}

// runs reports whether a process runs. A process of another user counts, although it may
// not be signalled.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
