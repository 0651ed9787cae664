package collect

import (
	"context"
	"errors"

	"github.com/gctrail/gctrail/internal/lttng"
)

// An LTTngLive receives a session, recorded on any machine, from an LTTng relay daemon.
// It stores the events in a folder, which it reads at the end.
type LTTngLive struct {
	Address lttng.Address
	Options *Options // as for LTTng

	lttngFolder
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
	path, err := l.Options.path(l.Address.Session, "")
	if err != nil {
		return err
	}
	r, err := lttng.Attach(ctx, l.Address, path)
	if err != nil {
		return &RelayError{l.Address, err}
	}
	l.begin(path)
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
func (l *LTTngLive) Status() Status { return l.status(l.Address.Session, l.Options.Plan) }
