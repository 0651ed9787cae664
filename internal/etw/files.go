package etw

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/etl"
)

const (
	// lag is how much older than the latest written buffer a future event can be: the
	// flush timer, and the time for writing.
	lag = 1200 * time.Millisecond
	// pollTime is how often the sizes of files are queried.
	pollTime = 100 * time.Millisecond
	// idleTime is how long a session with waiting events writes nothing at most.
	idleTime = lag
	// firstTime is how long a session may take to write the first bytes of its file.
	firstTime = 2 * time.Second
	// The rundown of a process counts as ended when nothing has been written for some
	// time, which is long because a busy machine is slow.
	rundownQuiet   = 2500 * time.Millisecond
	longestRundown = 30 * time.Second
	// queryTime is how often a session is queried whether it still runs.
	queryTime = time.Second
)

// A FileFollower follows the files of sessions until they have been stopped.
type FileFollower struct {
	sessions []*Session
	chains   []*chain
	ctx      context.Context
	bytes    atomic.Int64
	grown    time.Time
	idle     bool      // was reported
	first    int64     // up to where the first chain was read
	settled  time.Time // when all earlier events could be emitted
	queried  time.Time
	err      error
	end      error // why the sessions have ended though nobody asked for it
	broken   bool  // a session cannot go on in another file

	// Rundown is enabled when ctx is done, to describe the methods behind the trace's
	// addresses; nil for none.
	Rundown *Provider
	listing time.Time // since when it is
}

// FollowFiles opens the files of sessions as soon as they exist. When ctx is done, the
// sessions are stopped, and the rest of the files is read. The error is ErrNoFile if a
// session writes none, or ErrDiskFull; all sessions are then stopped, and their files
// removed.
func FollowFiles(ctx context.Context, sessions ...*Session) (*FileFollower, error) {
	f := &FileFollower{sessions: sessions, ctx: ctx}
	limit := time.Now().Add(firstTime)
	for _, s := range sessions {
		c := newChain(s)
		if err := c.await(limit); err != nil {
			if s.full() {
				err = ErrDiskFull
			}
			return nil, errors.Join(&Error{"StartTrace", s.name, err}, f.abandon())
		}
		f.chains = append(f.chains, c)
	}
	f.grown, f.queried = time.Now(), time.Now()
	return f, nil
}

// abandon stops the sessions, and removes their files.
func (f *FileFollower) abandon() error {
	return errors.Join(each(f.chains, (*chain).close), each(f.sessions, (*Session).abandon))
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
func (f *FileFollower) Reader(opts etl.Options) *etl.Reader {
	opts.Tail = &etl.Tail{Wait: f.wait, Lag: lag}
	files := make([]etl.File, len(f.chains))
	for i, c := range f.chains {
		files[i] = etl.File{ReaderAt: c, Name: c.session.trace}
	}
	return etl.NewMergedReader(files, opts)
}

// Bytes returns the size written so far. It may be called by any goroutine.
func (f *FileFollower) Bytes() int64 { return f.bytes.Load() }

// Err returns the reason why the sessions could not be stopped, once the reader has
// ended.
func (f *FileFollower) Err() error { return f.err }

// End returns the reason why the sessions have ended by themselves, ErrDiskFull or
// ErrStopped, once the reader has ended; nil if they have not.
func (f *FileFollower) End() error { return f.end }

// Loss returns the first session's loss according to its latest query.
func (f *FileFollower) Loss() Loss { return f.sessions[0].Loss() }

// OtherLoss returns the other sessions' losses according to their latest queries.
func (f *FileFollower) OtherLoss() Loss {
	var sum Loss
	for _, s := range f.sessions[1:] {
		sum.Events += s.Loss().Events
		sum.Buffers += s.Loss().Buffers
	}
	return sum
}

// Say sets a function to be called with a message if a full disk shortens the trace.
func (f *FileFollower) Say(say func(string)) {
	for _, c := range f.chains {
		c.say = say
	}
}

// Close closes the files. The sessions must have ended.
func (f *FileFollower) Close() error { return each(f.chains, (*chain).close) }

// Hold protects events since a time from removal, whatever the limits of the sessions.
func (f *FileFollower) Hold(since time.Time) {
	for _, c := range f.chains {
		c.hold(since)
	}
}

// Cut reports whether something was dropped that the limits of time would have kept.
func (f *FileFollower) Cut() bool {
	return slices.ContainsFunc(f.chains, func(c *chain) bool { return c.cut })
}

// Join gives the traces their names, when the reader has ended. A session with limits has
// segments: its trace is made of the segments that ended after a time. After an error, Left names the
// files that were not joined.
func (f *FileFollower) Join(since time.Time) error {
	return each(f.chains, func(c *chain) error {
		if !c.joins() {
			return nil
		}
		return c.join(c.session.trace, since)
	})
}

// Left returns the paths of files that could not be joined.
func (f *FileFollower) Left() (paths []string) {
	for _, c := range f.chains {
		if c.joins() {
			paths = append(paths, c.left()...)
		}
	}
	return paths
}

// discard removes all files of the sessions, when the reader has ended.
func (f *FileFollower) discard() {
	for _, c := range f.chains {
		c.discard()
	}
}

// wait waits until one of the files has grown, nothing has been written for some time,
// or the sessions have ended.
func (f *FileFollower) wait() etl.Growth {
	for {
		f.tend()
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
			if idle || sizes[0] > f.first {
				f.settled = now
			}
			f.first = sizes[0]
			if done { // add the final state of the sessions to their files
				f.err = errors.Join(f.err, each(f.chains, (*chain).finish))
			}
			return etl.Growth{Sizes: sizes, Idle: idle, Done: done}
		}
		time.Sleep(pollTime)
	}
}

// ended stops the sessions when ctx is done, the disk is full, or another tool has stopped the
// first. It reports whether they have ended.
func (f *FileFollower) ended() bool {
	stopping := f.broken || f.ctx.Err() != nil && !f.lists()
	if !stopping && !f.exhausted() {
		return false
	}
	lost := f.Loss().Buffers
	err := f.Stop()
	if f.end == nil && (errors.Is(err, StatusDiskFull) || f.Loss().Buffers > lost && f.sessions[0].full()) {
		f.end = ErrDiskFull // for its last buffers
	}
	if !errors.Is(err, StatusDiskFull) {
		f.err = errors.Join(f.err, err)
	}
	return true
}

// exhausted queries the first session now and then, and sets end if it writes no more. It
// checks both the session and its lost buffers, because Windows either stops a session
// that cannot write or counts the unwritten buffers as lost, and does not document which
// for all of its versions.
func (f *FileFollower) exhausted() bool {
	if time.Since(f.queried) < queryTime {
		return false
	}
	f.queried = time.Now()
	for _, other := range f.sessions[1:] {
		_, _ = other.Query() // one that has ended leaves the first as it is
	}
	s := f.sessions[0]
	lost := s.Loss().Buffers
	loss, err := s.Query()
	gone := errors.Is(err, StatusNoSession)
	switch {
	case errors.Is(err, StatusDiskFull), gone && s.full():
		f.end = ErrDiskFull
	case gone:
		f.end = ErrStopped
	case loss.Buffers > lost && s.full() && !f.chains[0].shrink(f.settled.Add(-2*lag)):
		f.end = ErrDiskFull
	}
	return f.end != nil
}

// lists reports whether the rundown is still being written. It starts the rundown first.
func (f *FileFollower) lists() bool {
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
func (f *FileFollower) Stop() error { return each(f.sessions, (*Session).Stop) }

// sizes returns the readable size of each chain, and the written size of all.
func (f *FileFollower) sizes() (sizes []int64, total int64) {
	sizes = make([]int64, len(f.chains))
	for i, c := range f.chains {
		sizes[i] = c.grow()
		total += sizes[i]
	}
	return sizes, total
}

// tend begins and removes files of sessions with limits.
func (f *FileFollower) tend() {
	if f.ctx.Err() != nil {
		return // the session writes no more
	}
	for _, c := range f.chains {
		err := c.tend(time.Now(), f.settled)
		switch {
		case err == nil || f.broken:
			continue
		case c.session.full():
			f.end = ErrDiskFull
		case errors.Is(err, StatusNoSession):
			f.end = ErrStopped
		default:
			f.err = errors.Join(f.err, err)
		}
		f.broken = true
	}
}
