package collect

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/text"
)

// exitPoll is how often the processes of a system's session are checked for their end.
const exitPoll = time.Second

// pidsOf returns the ids of processes.
func pidsOf(processes []*diag.Process) []int {
	return text.Each(processes, func(p **diag.Process) int { return (*p).PID })
}

// titleOf returns the name of a recording without its time: the process's name, if it has
// one process with a name.
func titleOf(processes []*diag.Process, otherwise string) string {
	if len(processes) == 1 {
		return cmp.Or(processes[0].Name, otherwise)
	}
	return otherwise
}

// path returns the path of a recording that has a name, and no process of its own.
func (o *Options) path(name, ext string) (string, error) {
	paths := NewPaths(o.Output)
	paths.ext = ext
	return paths.prepare(&diag.Process{Name: name, PID: os.Getpid()})
}

// bounded returns a context that also ends when the duration of the recording is over.
func (o *Options) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Duration > 0 {
		return context.WithTimeout(ctx, o.Duration)
	}
	return context.WithCancel(ctx)
}

// awaitExit calls stop when all processes have ended. Without any, it does nothing.
func awaitExit(ctx context.Context, stop func(), pids []int, runs func(int) bool) {
	for len(pids) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(exitPoll):
		}
		if !slices.ContainsFunc(pids, runs) {
			stop()
			return
		}
	}
}
