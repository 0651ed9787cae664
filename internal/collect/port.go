package collect

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// A servedPort is a diagnostic port whose runtimes are collected from.
type servedPort struct {
	s        *Supervisor
	listener *diag.Listener
	cancel   func() // collecting ends
	stop     func() // accepting
	stopped  chan struct{}
}

// lastDials is how long runtimes that have just dialled have to identify themselves
// before a port is closed.
const lastDials = 100 * time.Millisecond

// Listen collects from the runtimes that dial a port, until all of them have ended, or
// ctx is done.
func (s *Supervisor) Listen(ctx context.Context, path string) error {
	p, err := s.serve(ctx, path)
	if err != nil {
		return err
	}
	s.opts.Notify(Listening{portVariable, dialled(path), diag.Port{Path: path}})
	for ctx.Err() == nil && !s.done() {
		select {
		case <-s.idle:
		case <-ctx.Done():
		}
	}
	p.close()
	if !s.tried() {
		return ctx.Err()
	}
	return nil
}

// dialled returns the address by which runtimes find a port.
func dialled(path string) string {
	if (diag.Port{Path: path}).Remote() {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil && runtime.GOOS != "windows" {
		return abs
	}
	return path
}

// serve opens a port and handles each runtime that dials it.
func (s *Supervisor) serve(ctx context.Context, path string) (*servedPort, error) {
	l, err := diag.Listen(path)
	if err != nil {
		return nil, &ProcessError{"diagnostic port " + path, err}
	}
	p := &servedPort{s: s, listener: l, stopped: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	accepting, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() {
		defer close(p.stopped)
		for {
			r, err := l.Accept(accepting)
			if err != nil {
				return
			}
			s.receive(ctx, r)
		}
	}()
	return p, nil
}

// receive handles a runtime that has dialled: it traces the process, or lets it continue
// untraced.
func (s *Supervisor) receive(ctx context.Context, r *diag.Runtime) {
	s.mu.Lock()
	s.dialled[r.PID] = true
	s.mu.Unlock()
	s.spawn(func() {
		process, err := r.Process(context.WithoutCancel(ctx))
		if err != nil {
			process = r.Advertised()
			s.fail(&ProcessError{Title(process), err})
			s.release(r.Client, process)
			return
		}
		if ctx.Err() == nil && s.wants(process) {
			s.collect(ctx, process)
			return
		}
		s.release(r.Client, process)
	})
}

// wants reports whether to collect from a process that has dialled.
func (s *Supervisor) wants(process *diag.Process) bool {
	if !s.opts.Names.Match(process) {
		s.opts.Notify(Untraced{Process: process})
		return false
	}
	s.mu.Lock()
	full := s.taken && s.paths.Single()
	s.taken = true
	s.mu.Unlock()
	if full {
		s.opts.Notify(Untraced{Process: process, NoRoom: true})
	}
	return !full
}

// done reports whether everything that was begun has ended.
func (s *Supervisor) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy == 0 && s.begun+s.failed > 0
}

// tried reports whether there was anything to collect from.
func (s *Supervisor) tried() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun+s.failed > 0
}

// close ends the traces, lets all waiting runtimes continue, and removes the port.
func (p *servedPort) close() {
	p.cancel()
	time.AfterFunc(lastDials, p.stop)
	<-p.stopped
	p.s.wait()
	p.listener.Close()
}
