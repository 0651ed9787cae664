// Package collect makes traces of running processes, of processes that a command starts, and
// of processes that dial a diagnostic port. A Request selects what a session contains: profiles
// of providers, and providers as dotnet-trace spells them. It prints nothing: events of interest
// are Notices.
package collect

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// Options configure the contents and the destination of traces.
type Options struct {
	Config   diag.Config
	Duration time.Duration // of each trace; 0 for no limit
	Resume   bool          // processes that wait at their start
	Names    Names         // of the processes that are wanted
	Output   string        // as Paths takes it; "-" is Stdout
	Plan     *Plan
	Stdout   io.Writer
	Notify   func(Notice) // is called by several goroutines
}

// A Supervisor collects from several processes at once. Each has a session, a capture and
// a file of its own, so that one that ends or fails does not end the others.
type Supervisor struct {
	opts  Options
	paths *Paths
	idle  chan struct{} // has a value when the last busy one is done

	mu      sync.Mutex
	busy    int       // processes being handled
	begun   int       // traces
	since   time.Time // the first of them
	taken   bool      // the only file
	over    int       // traces that ended because they were long enough
	running []*capture
	dialled map[uint64]bool // PIDs of runtimes
	failed  int             // errors
	etw     *ETW            // nil if there is none
}

// New returns a supervisor that has not begun.
func New(o *Options) *Supervisor {
	return &Supervisor{opts: *o, paths: NewPaths(o.Output), idle: make(chan struct{}, 1), dialled: map[uint64]bool{}}
}

// Gather collects from processes, and through etw if it is not nil, until all of them
// have ended or ctx is done. It reports failures as notices.
func (s *Supervisor) Gather(ctx context.Context, processes []*diag.Process, etw *ETW) {
	if etw != nil {
		s.mu.Lock()
		s.etw, s.since = etw, time.Now()
		s.mu.Unlock()
		s.spawn(func() { s.fail(etw.Run(ctx)) })
	}
	for _, p := range processes {
		s.spawn(func() { s.collect(ctx, p) })
	}
	s.wait()
}

// spawn runs a function in the background.
func (s *Supervisor) spawn(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	go func() {
		do()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy--; s.busy == 0 {
			wake(s.idle)
		}
	}()
}

// wait waits for all that spawn started.
func (s *Supervisor) wait() {
	for {
		s.mu.Lock()
		busy := s.busy
		s.mu.Unlock()
		if busy == 0 {
			return
		}
		<-s.idle
	}
}

// collect traces a process until it ends or ctx is done. A process that waits at its
// start is resumed once its trace is being read, because the runtime writes the head of
// the trace before it does anything else.
func (s *Supervisor) collect(ctx context.Context, process *diag.Process) {
	c, err := s.begin(ctx, process)
	if err != nil {
		s.fail(err)
		return
	}
	released, done := context.WithCancel(context.Background())
	s.spawn(func() {
		defer done()
		s.release(process.Client(), process)
	})
	ctx, stop := notBefore(ctx, released)
	defer stop()
	s.follow(ctx, c)
}

// notBefore returns a context that ends with ctx, but not before released. A runtime that
// is asked to stop a session while it waits at its start would otherwise crash when it
// continues (.NET 9 and 10, with another session).
func notBefore(ctx, released context.Context) (later context.Context, stop func()) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		<-released.Done()
		end()
	})
	return later, func() {
		unhook()
		end()
	}
}

// begin starts a session and makes its file. If that fails, the process continues.
func (s *Supervisor) begin(ctx context.Context, process *diag.Process) (*capture, error) {
	session, err := process.Client().Collect(ctx, s.opts.Config)
	if err != nil {
		s.release(process.Client(), process)
		return nil, refused(ctx, process, err)
	}
	path, err := s.paths.prepare(process)
	if err == nil {
		var c *capture
		if c, err = s.opened(process, session, path, 1); err == nil {
			return s.started(c), nil
		}
	}
	s.release(process.Client(), process)
	return nil, errors.Join(err, session.Close())
}

// opened returns a capture of a running session, to the nth file of its path.
func (s *Supervisor) opened(process *diag.Process, session *diag.Session, path string, nth int) (*capture, error) {
	var c *capture
	if name := numbered(path, nth, s.opts.Plan.Files); s.opts.Plan.Ring {
		r, err := NewRing(name, s.opts.Plan.Keep)
		if err != nil {
			return nil, OutputFailed(name, err)
		}
		r.Say = func(text string) { s.opts.Notify(Shortened{text}) }
		c = newCapture(process, session, nil)
		c.keepIn(r)
	} else {
		out, err := create(name, s.opts.Stdout)
		if err != nil {
			return nil, err
		}
		c = newCapture(process, session, out)
	}
	c.base, c.nth = path, nth
	c.readHost()
	return c, nil
}

// again begins the next session of a process after a trigger. It returns nil if no more
// files are wanted.
func (s *Supervisor) again(ctx context.Context, c *capture) (*capture, error) {
	if ctx.Err() != nil || c.trigger == nil || !c.session.Stopped() || c.nth == s.opts.Plan.Files {
		return nil, nil
	}
	session, err := c.process.Client().Collect(ctx, s.opts.Config)
	if err != nil {
		return nil, refused(ctx, c.process, err)
	}
	next, err := s.opened(c.process, session, c.base, c.nth+1)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return next, nil
}

// started returns a capture that begins.
func (s *Supervisor) started(c *capture) *capture {
	c.plan, c.notify = s.opts.Plan, s.opts.Notify
	s.mu.Lock()
	if s.begun++; s.begun == 1 {
		s.since = time.Now()
	}
	s.running = append(s.running, c)
	first := s.begun == 1
	s.mu.Unlock()
	s.opts.Notify(Started{c.process, c.path, s.opts.Plan, first})
	return c
}

// refused returns the error for a runtime that refused a session.
func refused(ctx context.Context, process *diag.Process, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &ProcessError{Title(process), err}
}

// follow reads a trace to its end, and reports on it; then the next one, if several are
// wanted. The next session begins before the file of the previous one is written, so
// that no event is missed.
func (s *Supervisor) follow(ctx context.Context, c *capture) {
	limited, cancel := s.opts.bounded(ctx)
	defer cancel()
	began, left := time.Now(), s.opts.Duration
	for c != nil {
		if s.opts.Duration > 0 {
			c.limit(left)
		}
		err := c.run(limited)
		if err != nil && c.failed == nil && c.received.Load() == 0 && c.session.Stopped() {
			err = &ProcessError{Title(c.process), ErrWaits}
		}
		var next *capture
		if err == nil {
			next, err = s.again(limited, c)
		}
		s.mu.Lock()
		s.running = slices.DeleteFunc(s.running, func(other *capture) bool { return other == c })
		if next == nil && err == nil && ctx.Err() == nil && c.session.Stopped() {
			s.over++
		}
		s.mu.Unlock()
		err = errors.Join(err, c.finish())
		s.end(c)
		s.fail(err)
		if c = next; c != nil {
			left = s.opts.Duration - time.Since(began)
			s.started(c)
		}
	}
}

// end reports a trace that has ended.
func (s *Supervisor) end(c *capture) {
	r, err := c.result()
	switch {
	case err != nil:
		s.opts.Notify(Failed{err})
	case r != nil:
		s.opts.Notify(Ended{r})
	}
}

// create makes the file of a trace; "-" is stdout.
func create(path string, stdout io.Writer) (*File, error) {
	if path == "-" {
		return StreamTo(stdout, "standard output"), nil
	}
	f, err := CreateFile(path)
	return f, OutputFailed(path, err)
}

// release resumes a process that waits at its start, also after an interruption. It does
// no harm to other processes.
func (s *Supervisor) release(runtime *diag.Client, process *diag.Process) {
	if !s.opts.Resume {
		return
	}
	err := runtime.Resume(context.Background())
	if err != nil && !TooOld(err) && !errors.Is(err, diag.ErrHungUp) {
		s.opts.Notify(NotResumed{process, err})
	}
}

// fail reports an error, if there is one, at once, because other traces may continue for
// long.
func (s *Supervisor) fail(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	s.failed++
	s.mu.Unlock()
	s.opts.Notify(Failed{err})
}

// Status returns the progress of collecting.
func (s *Supervisor) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Elapsed: time.Since(s.since)}
	for _, c := range s.running {
		status.Captures = append(status.Captures, c.status(c.process, c.received.Load()))
	}
	if s.etw != nil {
		status.Captures = append(status.Captures, s.etw.Status().Captures...)
	}
	return status
}
