package diag

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Find finds the process with a PID and queries it. The error is ErrNoProcess,
// ErrNotDotnet, or the reason why the process cannot be reached.
//
// Unlike List, Find gives a busy process as much time to answer as any command
// has. Find waits up to a second for the socket of a process that was started in
// the last few seconds, because scripts start a program and attach to it at once.
func Find(ctx context.Context, pid int) (*Process, error) {
	f := newFinder()
	return awaitSocket(ctx,
		func() (*Process, error) { return query(ctx, f, pid) },
		func() bool { return young(f.startOf(pid)) })
}

const (
	// socketTime is how long Find waits for the socket of a young process.
	socketTime = time.Second
	// youngAge is the age up to which a process is young. A runtime creates its socket after
	// a few milliseconds, but on a busy machine after seconds.
	youngAge = 5 * time.Second
	// Each rest between two looks for a socket is twice as long as the one before, up to the
	// longest, because on Linux a look goes through all processes.
	shortestRest = 10 * time.Millisecond
	longestRest  = 80 * time.Millisecond
)

// awaitSocket calls find, again and again while it finds no socket and the process is young, for at
// most socketTime.
func awaitSocket(ctx context.Context, find func() (*Process, error), young func() bool) (*Process, error) {
	p, err := find()
	rest := shortestRest
	for end := time.Now().Add(socketTime); socketless(err) && time.Now().Before(end) && young(); rest = min(2*rest, longestRest) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(rest):
		}
		p, err = find()
	}
	return p, err
}

// socketless reports whether a process that does not listen at its socket yet may cause err. Before
// its runtime has started threads, such a process looks like any other program.
func socketless(err error) bool {
	return errors.Is(err, ErrNotDotnet) || errors.Is(err, ErrNoSocket) || refused(err)
}

// young reports whether a process that was started at a time may not have its socket yet. It is
// true if the time is unknown or in the future, as a container can make it appear: to wait a
// second for another program does less harm than to refuse a .NET program.
func young(started time.Time) bool { return started.IsZero() || time.Since(started) < youngAge }

// query is Find without waiting for a socket.
func query(ctx context.Context, f *finder, pid int) (*Process, error) {
	f.forget(pid)
	p := findIn(ctx, f, pid)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p == nil:
		return nil, f.missing(pid)
	}
	if errors.Is(p.Err, ErrNoAnswer) {
		p.ask(ctx, p.Client().timeout(), make(chan struct{}, maxLarge))
	}
	if p.Err != nil {
		return nil, p.Err
	}
	return p, nil
}

// findIn queries the process with a PID; nil if there is none. If none is known by it, the
// PID may be the one inside a container, because nothing else is known of a process in
// another namespace.
func findIn(ctx context.Context, f *finder, pid int) *Process {
	candidates := find(ctx, func() []*Process { return f.candidates(pid) })
	found := ask(ctx, f, slices.DeleteFunc(candidates, func(p *Process) bool { return p.PID != pid && p.PID != 0 }))
	i := slices.IndexFunc(found, func(p *Process) bool { return p.PID == pid })
	if i < 0 {
		i = slices.IndexFunc(found, func(p *Process) bool { return p.PID == 0 && p.InnerPID == pid })
	}
	if i < 0 {
		return nil
	}
	return found[i]
}
