package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracefile"
	"github.com/gctrail/gctrail/internal/units"
)

// A gathering collects from several processes at once: each has a session, a
// capture and a file of its own. One that ends or fails does not end the others.
type gathering struct {
	std      *stdio
	config   diag.Config
	duration time.Duration // of each capture; 0 is without end
	resume   bool          // processes that wait at their start
	names    globList      // of the processes that are wanted
	paths    *tracePaths
	plan     *stopPlan
	line     *progress
	waiting  string        // what for, as long as there is nothing to show
	idle     chan struct{} // has a value when the last that was busy is done

	mu      sync.Mutex
	busy    int       // processes that are being dealt with
	begun   int       // traces
	since   time.Time // the first of them
	taken   bool      // the only file
	over    int       // traces that ended because they were long enough
	running []*capture
	dialled map[uint64]bool // PIDs of runtimes
	errs    []error
}

func (o *collectOptions) gathering(std *stdio, config diag.Config, plan *stopPlan) *gathering {
	return &gathering{
		plan: plan,
		std:  std, config: config, duration: time.Duration(o.duration), resume: o.resume.value != "false",
		names: o.names, paths: newTracePaths(o.output), line: &progress{}, idle: make(chan struct{}, 1),
		dialled: map[uint64]bool{},
	}
}

// gather collects from processes until all of them have ended or ctx is done.
func (g *gathering) gather(ctx context.Context, processes []*diag.Process) error {
	g.line = g.std.show(g.status)
	for _, p := range processes {
		g.deal(func() { g.collect(ctx, p) })
	}
	g.wait()
	g.line.stop()
	return g.worst()
}

// deal has something done in the background.
func (g *gathering) deal(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy++
	go func() {
		do()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.busy--; g.busy == 0 {
			select {
			case g.idle <- struct{}{}:
			default:
			}
		}
	}()
}

// wait waits until everything is done.
func (g *gathering) wait() {
	for {
		g.mu.Lock()
		busy := g.busy
		g.mu.Unlock()
		if busy == 0 {
			return
		}
		<-g.idle
	}
}

// collect traces a process until it ends or ctx is done. A process that waits at
// its start goes on when its trace is being read: the runtime writes the head of
// the trace before it does anything else.
func (g *gathering) collect(ctx context.Context, process *diag.Process) {
	c, err := g.begin(ctx, process)
	if err != nil {
		g.fail(err)
		return
	}
	released, done := context.WithCancel(context.Background())
	g.deal(func() {
		defer done()
		g.release(process.Client(), processTitle(process))
	})
	ctx, stop := notBefore(ctx, released)
	defer stop()
	g.follow(ctx, c)
}

// notBefore is ctx, but that it does not end before released does: a runtime that
// is asked to stop while it waits at its start may crash when it goes on (.NET 9
// and 10, with another session).
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

// begin starts a session and makes its file. If that fails, the process goes on.
func (g *gathering) begin(ctx context.Context, process *diag.Process) (*capture, error) {
	session, err := process.Client().Collect(ctx, g.config)
	if err != nil {
		g.release(process.Client(), processTitle(process))
		return nil, refused(ctx, process, err)
	}
	path, err := g.path(process)
	if err == nil {
		var c *capture
		if c, err = g.opened(process, session, path, 1); err == nil {
			return g.started(c), nil
		}
	}
	g.release(process.Client(), processTitle(process))
	return nil, errors.Join(err, session.Close())
}

// opened is a capture of a session that has begun, to the nth file of its path.
func (g *gathering) opened(process *diag.Process, session *diag.Session, path string, nth int) (*capture, error) {
	var c *capture
	if name := numbered(path, nth, g.plan.files); g.plan.ring {
		r, err := tracefile.NewRing(name, g.plan.keep)
		if err != nil {
			return nil, outputFailed(name, err)
		}
		r.Say = g.say
		c = newCapture(process, session, nil)
		c.keepIn(r)
	} else {
		out, err := g.std.createTrace(name)
		if err != nil {
			return nil, err
		}
		c = newCapture(process, session, out)
	}
	c.base, c.nth = path, nth
	return c, nil
}

// again begins the next session of a process, when a trace has had what it was
// waiting for; nil where there is to be none.
func (g *gathering) again(ctx context.Context, c *capture) (*capture, error) {
	if ctx.Err() != nil || c.occasion == nil || !c.session.Stopped() || c.nth == g.plan.files {
		return nil, nil
	}
	session, err := c.process.Client().Collect(ctx, g.config)
	if err != nil {
		return nil, refused(ctx, c.process, err)
	}
	next, err := g.opened(c.process, session, c.base, c.nth+1)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return next, nil
}

// started is a capture that begins.
func (g *gathering) started(c *capture) *capture {
	c.plan, c.say = g.plan, g.say
	g.mu.Lock()
	if g.begun++; g.begun == 1 {
		g.since = time.Now()
	}
	g.running = append(g.running, c)
	ends := ""
	if g.begun == 1 {
		ends = "; Ctrl-C ends it"
	}
	g.mu.Unlock()
	g.say(fmt.Sprintf("collecting from %s%s%s", processTitle(c.process), g.plan.aim(c.path), ends))
	return c
}

// errWaits reports a process that has written nothing, not even a trace's head.
var errWaits = errors.New("it waits at its start until another diagnostic port lets it go on")

// refused is the error of a runtime that was asked for a session.
func refused(ctx context.Context, process *diag.Process, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &processError{processTitle(process), err}
}

// path is where the trace of a process goes.
func (g *gathering) path(process *diag.Process) (string, error) {
	g.mu.Lock()
	path := g.paths.next(process, time.Now())
	g.mu.Unlock()
	return path, g.paths.makeFolder()
}

// follow reads a trace to its end, and says what was in it; then the next one, if
// there are to be several. That begins before the file of the one before it is
// made: meanwhile the runtime keeps what happens.
func (g *gathering) follow(ctx context.Context, c *capture) {
	limited := ctx
	if g.duration > 0 {
		var cancel func()
		limited, cancel = context.WithTimeout(ctx, g.duration)
		defer cancel()
	}
	for c != nil {
		err := c.run(limited)
		if err != nil && c.failed == nil && c.received.Load() == 0 && c.session.Stopped() {
			err = &processError{processTitle(c.process), errWaits}
		}
		var next *capture
		if err == nil {
			next, err = g.again(limited, c)
		}
		g.mu.Lock()
		g.running = slices.DeleteFunc(g.running, func(other *capture) bool { return other == c })
		if next == nil && err == nil && ctx.Err() == nil && c.session.Stopped() {
			g.over++
		}
		g.mu.Unlock()
		err = errors.Join(err, c.finish())
		g.line.aside(func() { c.tell(g.std) })
		g.fail(err)
		if c = next; c != nil {
			g.started(c)
		}
	}
}

// release lets a process go on that waits at its start, and does no harm to
// others. It is not kept from that by an interruption.
func (g *gathering) release(runtime *diag.Client, title string) {
	if !g.resume {
		return
	}
	err := runtime.Resume(context.Background())
	if err != nil && !tooOld(err) && !errors.Is(err, diag.ErrHungUp) {
		g.say(fmt.Sprintf("%s may still wait at its start: %s", title, problemOf(err)))
	}
}

// say writes a line beside the progress.
func (g *gathering) say(words string) {
	g.line.aside(func() { g.std.warn("gctrail", words) })
}

// fail tells of an error, if there is one, at once: what else is collected may
// go on for long.
func (g *gathering) fail(err error) {
	g.line.aside(func() { g.std.complain(err) })
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range flatten(err) {
		g.errs = append(g.errs, &saidError{e})
	}
}

// worst joins the errors that there were, the highest exit code first.
func (g *gathering) worst() error {
	slices.SortStableFunc(g.errs, func(a, b error) int { return exitCodeOf(b) - exitCodeOf(a) })
	return errors.Join(g.errs...)
}

// status is the line of progress.
func (g *gathering) status(time.Duration) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	elapsed := time.Since(g.since)
	switch len(g.running) {
	case 0:
		return g.waiting
	case 1:
		return g.running[0].line(elapsed)
	}
	var bytes, collections, longest int64
	var slowest *capture
	for _, c := range g.running {
		bytes += c.received.Load()
		collections += c.collections.Load()
		if pause := c.longest.Load(); slowest == nil || pause > longest {
			slowest, longest = c, pause
		}
	}
	words := fmt.Sprintf("%s  %d processes, %s", clock(elapsed), len(g.running), units.Bytes(bytes))
	if collections > 0 {
		words += fmt.Sprintf("  %s, longest pause %s in %s", text.Plural(collections, "collection", "collections"),
			units.Duration(time.Duration(longest)), processTitle(slowest.process))
	}
	return words
}
