package collect

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/lttng"
)

// An LTTngLive receives a session, recorded on any machine, from an LTTng relay daemon.
// It stores the events in a folder, which it reads at the end.
type LTTngLive struct {
	Address lttng.Address
	Options *Options // as for LTTng

	path  atomic.Pointer[string]
	since time.Time
}

// A RelayError reports why nothing can be received from a relay daemon.
type RelayError struct {
	Address lttng.Address
	Err     error
}

func (e *RelayError) Error() string { return e.Address.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RelayError) Unwrap() error { return e.Err }

// Run stores events until ctx is done, the duration is over, or the session has ended.
func (l *LTTngLive) Run(ctx context.Context) error {
	paths := NewPaths(l.Options.Output)
	paths.ext = ""
	if err := paths.makeFolder(); err != nil {
		return err
	}
	path := paths.Next(&diag.Process{Name: l.Address.Session, PID: os.Getpid()}, time.Now())
	r, err := lttng.Attach(ctx, l.Address, path)
	if err != nil {
		return &RelayError{l.Address, err}
	}
	l.since = time.Now()
	l.path.Store(&path)
	l.Options.Notify(Recording{Tracer: "LTTng", Relay: l.Address.String(), Path: path, Plan: l.Options.Plan})
	ctx, stop := l.Options.bounded(ctx)
	defer stop()
	err = errors.Join(r.Receive(ctx), r.Close())
	if err != nil { // earlier events can be read
		err = &RelayError{l.Address, err}
	}
	return errors.Join(err, reviewFolder(path, l.Options))
}

// Status returns the progress of receiving.
func (l *LTTngLive) Status() Status {
	return folderStatus(l.path.Load(), l.Address.Session, l.since, l.Options.Plan)
}
