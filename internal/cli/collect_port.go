package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// A servedPort is a diagnostic port whose runtimes are collected from.
type servedPort struct {
	g        *gathering
	listener *diag.Listener
	cancel   func() // what is collected
	stop     func() // accepting
	stopped  chan struct{}
}

// lastDials is how long runtimes that have just dialled have to say so, before a
// port is closed.
const lastDials = 100 * time.Millisecond

// listen collects from the runtimes that dial a port, until all that did have
// ended, or ctx is done.
func (g *gathering) listen(ctx context.Context, path string) error {
	g.waiting = "waiting for a program"
	g.line = g.std.show(g.status)
	defer g.line.stop()
	p, err := g.serve(ctx, path)
	if err != nil {
		return err
	}
	g.say(fmt.Sprintf("waiting for .NET programs that are started with %s=%s; Ctrl-C ends it", portVariable, dialled(path)))
	for ctx.Err() == nil && !g.done() {
		select {
		case <-g.idle:
		case <-ctx.Done():
		}
	}
	p.close()
	if !g.tried() {
		return ctx.Err()
	}
	return g.worst()
}

// dialled is the path by which runtimes find a port.
func dialled(path string) string {
	if abs, err := filepath.Abs(path); err == nil && runtime.GOOS != "windows" {
		return abs
	}
	return path
}

// serve makes a port and deals with each runtime that dials it.
func (g *gathering) serve(ctx context.Context, path string) (*servedPort, error) {
	l, err := diag.Listen(path)
	if err != nil {
		return nil, &processError{"diagnostic port " + path, err}
	}
	p := &servedPort{g: g, listener: l, stopped: make(chan struct{})}
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
			g.receive(ctx, r)
		}
	}()
	return p, nil
}

// receive deals with a runtime that has dialled: it is collected from, or goes on
// without.
func (g *gathering) receive(ctx context.Context, r *diag.Runtime) {
	g.mu.Lock()
	g.dialled[r.PID] = true
	g.mu.Unlock()
	g.deal(func() {
		process, err := r.Process(context.WithoutCancel(ctx))
		if err != nil {
			process = &diag.Process{PID: int(r.PID)}
			g.fail(&processError{processTitle(process), err})
			g.release(r.Client, processTitle(process))
			return
		}
		if ctx.Err() == nil && g.wants(process) {
			g.collect(ctx, process)
			return
		}
		g.release(r.Client, processTitle(process))
	})
}

// wants says whether a process that has dialled is to be collected from.
func (g *gathering) wants(process *diag.Process) bool {
	if !g.names.matches(process.Name) {
		g.say(processTitle(process) + " goes on without being traced: -n asks for others")
		return false
	}
	g.mu.Lock()
	full := g.taken && g.paths.single()
	g.taken = true
	g.mu.Unlock()
	if full {
		g.say(processTitle(process) + " goes on without being traced: -o is one file, a folder has room for several")
	}
	return !full
}

// done says whether everything that was begun has ended.
func (g *gathering) done() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy == 0 && g.begun+len(g.errs) > 0
}

// tried says whether there was anything to collect from.
func (g *gathering) tried() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun+len(g.errs) > 0
}

// close ends what is collected, lets all runtimes go on that wait, and removes
// the port.
func (p *servedPort) close() {
	p.cancel()
	time.AfterFunc(lastDials, p.stop)
	<-p.stopped
	p.g.wait()
	p.listener.Close()
}
