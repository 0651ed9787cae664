package etwsession

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/etl"
)

const (
	// Lag is how much older than the latest written buffer an event still to come can
	// be: the flush timer, and the time that writing takes.
	Lag = 1200 * time.Millisecond
	// pollTime is how often the sizes of files are queried.
	pollTime = 100 * time.Millisecond
	// idleTime is how long a session that has events waiting writes nothing at most.
	idleTime = Lag
	// firstTime is how long a session may take to write the first bytes of its file.
	firstTime = 2 * time.Second
	// The rundown of a process has ended when nothing has been written for some time;
	// that of a busy machine takes long.
	rundownQuiet   = 2500 * time.Millisecond
	longestRundown = 30 * time.Second
	// queryTime is how often a session is asked whether it still runs.
	queryTime = time.Second
)

// A Follower follows the files of sessions until they have been stopped.
type Follower struct {
	sessions []*Session
	files    []*os.File
	ctx      context.Context
	bytes    atomic.Int64
	grown    time.Time
	idle     bool // was reported
	queried  time.Time
	err      error

	// Rundown is enabled when ctx is done, to describe what the trace has addresses
	// of; nil for none.
	Rundown *Provider
	listing time.Time // since when it is
}

// Follow opens the files of sessions as soon as they are there. When ctx is done, the
// sessions are stopped, and the rest of the files is read. The error is ErrNoFile if a
// session writes none; all sessions are then stopped.
func Follow(ctx context.Context, sessions ...*Session) (*Follower, error) {
	f := &Follower{sessions: sessions, ctx: ctx}
	limit := time.Now().Add(firstTime)
	for _, s := range sessions {
		file, err := awaitFile(s.path, limit)
		if err != nil {
			return nil, errors.Join(&Error{"StartTrace", s.name, err}, f.Stop(), f.Close())
		}
		f.files = append(f.files, file)
	}
	f.grown, f.queried = time.Now(), time.Now()
	return f, nil
}

// awaitFile opens a file once something was written to it.
func awaitFile(path string, limit time.Time) (*os.File, error) {
	for {
		if f, err := os.Open(path); err == nil {
			if info, err := f.Stat(); err == nil && info.Size() > 0 {
				return f, nil
			}
			if err := f.Close(); err != nil {
				return nil, err
			}
		}
		if time.Now().After(limit) {
			return nil, ErrNoFile
		}
		time.Sleep(pollTime)
	}
}

// Reader returns a reader of the events, in order, a second or two after they were
// raised. It ends when the sessions have.
func (f *Follower) Reader(opts etl.Options) *etl.Reader {
	opts.Tail = &etl.Tail{Wait: f.wait, Lag: Lag}
	files := make([]etl.File, len(f.files))
	for i, file := range f.files {
		files[i] = etl.File{ReaderAt: file, Name: f.sessions[i].path}
	}
	return etl.NewMergedReader(files, opts)
}

// Bytes returns how much was written. It may be called by any goroutine.
func (f *Follower) Bytes() int64 { return f.bytes.Load() }

// Err returns why the sessions could not be stopped, once the reader has ended.
func (f *Follower) Err() error { return f.err }

// Close closes the files. The sessions must have ended.
func (f *Follower) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// wait waits until one of the files has grown, nothing has been written for some time,
// or the sessions have ended.
func (f *Follower) wait() etl.Growth {
	for {
		done := f.ended()
		sizes, total := f.sizes()
		now := time.Now()
		grew := total > f.bytes.Load()
		if grew {
			f.bytes.Store(total)
			f.grown = now
		}
		idle := now.Sub(f.grown) >= idleTime
		if grew || idle && !f.idle || done {
			f.idle = idle
			return etl.Growth{Sizes: sizes, Idle: idle, Done: done}
		}
		time.Sleep(pollTime)
	}
}

// ended stops the sessions when ctx is done. It reports whether they have ended.
func (f *Follower) ended() bool {
	if f.ctx.Err() != nil && !f.lists() {
		f.err = f.Stop()
		return true
	}
	if time.Since(f.queried) < queryTime {
		return false
	}
	f.queried = time.Now()
	_, err := f.sessions[0].Query()
	if !errors.Is(err, StatusNoSession) {
		return false
	}
	f.err = f.Stop() // the others
	return true
}

// lists reports whether the rundown is still being written. It starts it first.
func (f *Follower) lists() bool {
	switch {
	case f.Rundown == nil:
		return false
	case f.listing.IsZero():
		f.listing, f.grown = time.Now(), time.Now()
		s := f.sessions[0]
		return s.enable(f.Rundown, s.pids) == nil
	default:
		return time.Since(f.listing) < longestRundown && time.Since(f.grown) < rundownQuiet
	}
}

// Stop ends the sessions.
func (f *Follower) Stop() error {
	var errs []error
	for _, s := range f.sessions {
		errs = append(errs, s.Stop())
	}
	return errors.Join(errs...)
}

func (f *Follower) sizes() (sizes []int64, total int64) {
	sizes = make([]int64, len(f.files))
	for i, file := range f.files {
		if info, err := file.Stat(); err == nil { // of the open file: a folder has sizes late
			sizes[i] = info.Size()
			total += sizes[i]
		}
	}
	return sizes, total
}
