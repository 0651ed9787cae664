package collect

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/proc"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// A capture writes a session's trace to a file as it arrives, and rebuilds its
// collections on the way.
type capture struct {
	process *diag.Process
	session *diag.Session
	in      traceInput   // the session, with events about the process's processors
	host    *proc.Stream // nil if that is not read
	awaited
	base   string           // path of the file, but for its number if there are several
	nth    int              // of the files
	path   string           // of the file
	sink   traceSink        // out, or the ring
	out    *File            // the file; nil while there is a ring in its place
	ring   *Ring            // nil if everything is written
	reader *nettrace.Reader // of the capture itself
	found  findings.Set     // in the written trace; empty if there is a ring

	pending []byte // read and not written
	passed  int64  // bytes before pending
	failed  error  // of writing, after which nothing is written any more

	abort func() // ends the trace without a snapshot

	snapshots *tallier // of heap snapshots; nil if nobody counts them

	eventful  bool // an event of the process was read
	eventless bool // the recording failed before that

	// stopped is why the runtime did not end the trace when asked to; broken is why the rest
	// of the trace cannot be read.
	stopped, broken error
	// displaced reports that another client stopped the trace: the process still runs.
	displaced bool

	received atomic.Int64 // bytes
}

// A traceInput supplies the bytes of a trace.
type traceInput interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// A filtered input reads a session's trace through another reader.
type filtered struct {
	io.Reader
	traceInput // the session
}

func (in filtered) Read(p []byte) (int, error) { return in.Reader.Read(p) }

// A traceSink stores a trace as it arrives.
type traceSink interface {
	// Write adds whole objects, which end follows. If it fails, room is how much of
	// the objects would have fitted.
	Write(objects, end []byte) (room int, err error)
	Close() error
}

const (
	// captureIdle is how long events wait for older ones before they are counted. It is
	// that long because the runtime writes every 100 ms, less often on a busy machine.
	captureIdle = time.Second
	// captureGrace is how long a runtime may take to hang up after the end of its trace.
	captureGrace = 3 * time.Second
	// captureSlow is how long the end of a trace may take before a message reports the
	// delay.
	captureSlow = 2 * time.Second
	// captureEnding is how long a process may continue to answer after the end of its
	// trace.
	captureEnding = 200 * time.Millisecond
)

// errAborted is the cause if a trace ends because there is no room for more.
var errAborted = errors.New("nothing more can be written")

// newCapture returns a capture that writes everything to out. If out is nil, the capture
// needs a ring.
func newCapture(process *diag.Process, session *diag.Session, out *File) *capture {
	c := &capture{process: process, session: session, in: session}
	c.awaited = awaited{plan: new(Plan), notify: func(Notice) {}, met: c.met}
	if out != nil {
		out.Hold() // until there is an event to read in it
		c.path, c.sink, c.out = out.Name(), out, out
	}
	c.reader = nettrace.NewReader(c, nettrace.Options{Want: c.wants, Idle: captureIdle})
	return c
}

// readHost makes the capture add events about the process's processors and limits.
func (c *capture) readHost() {
	if c.process.PID > 0 {
		c.host = proc.NewStream(c.session, c.process.PID)
		c.in = filtered{c.host, c.session}
	}
}

// keepIn makes the capture retain only the end of the trace, in a ring.
func (c *capture) keepIn(r *Ring) {
	c.path, c.sink, c.ring = r.Path(), r, r
	r.Overrun = func() { c.abort() }
}

// run reads the trace to its end, and asks the runtime to end it when ctx is done.
func (c *capture) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	c.cancel, c.abort = func() { end(nil) }, func() { end(errAborted) }
	defer c.cancel()
	if c.host != nil {
		go c.host.Run(ctx, proc.Interval)
	}
	var undumped error
	var dumping sync.WaitGroup
	if c.plan.DumpAtStart {
		dumping.Go(func() { undumped = c.dump("start") })
	}
	dismissed := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(dismissed)
		dumping.Wait()
		if c.plan.DumpAtEnd && !errors.Is(context.Cause(ctx), errAborted) {
			undumped = errors.Join(undumped, c.dump("end"))
		}
		c.dismiss()
	})
	err := c.read()
	if !running() {
		<-dismissed
	}
	dumping.Wait()
	c.session.Close()
	if c.session.Stopped() && c.process.Address != "" {
		SettleSampling(c.process.Client(), &c.session.Config)
	}
	if c.stopped == nil {
		err = cmp.Or(err, c.broken)
	}
	if err != nil {
		err = &ProcessError{Title(c.process), err}
	}
	if c.eventless = err != nil && !c.eventful; !c.eventless {
		c.release()
	}
	c.displaced = err == nil && !c.session.Stopped() && !c.reader.Loss().Truncated && goesOn(c.process)
	return errors.Join(c.failed, undumped, err, OutputFailed(c.path, c.sink.Close()))
}

// dump takes a heap snapshot to a file beside the trace. It has a session of its own,
// because the runtime would suspend the program to list survivors at every collection for as
// long as a session has the keywords of snapshots.
func (c *capture) dump(when string) error {
	ext := filepath.Ext(c.path)
	d := &Dump{
		Process: c.process, Output: strings.TrimSuffix(c.path, ext) + ".heap-" + when + ext, Repeat: 1,
		Notify: func(n Notice) {
			if _, is := n.(Retaken); is {
				c.notify(n)
			}
		},
	}
	r, err := d.Run(context.Background())
	if r != nil {
		c.notify(Snapshot{r})
	}
	return err
}

// goesOn reports whether a process answers, now and a little later: a process that is
// exiting may still answer once its trace has ended. A process that dialled is not
// asked, because it may never dial again.
func goesOn(process *diag.Process) bool {
	if process.Address == "" {
		return false
	}
	answers := func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), captureGrace)
		defer cancel()
		_, err := process.Client().Info(ctx)
		return err == nil
	}
	if !answers() {
		return false
	}
	time.Sleep(captureEnding)
	return answers()
}

// dismiss asks the runtime to end the trace. After a while it gives up.
func (c *capture) dismiss() {
	slow := time.AfterFunc(captureSlow, func() { c.notify(Ending{c.process, c.session.StopLimit()}) })
	defer slow.Stop()
	if c.host != nil {
		c.host.Sample()
	}
	if c.stopped = c.session.Stop(context.Background()); c.stopped != nil {
		c.session.Close()
	}
}

// read reads the trace to its end. It fails if the stream is not a trace.
func (c *capture) read() error {
	model := gc.Model{Live: true}
	models := c.models()
	if c.snapshots != nil {
		models = append(models, c.snapshots)
	}
	for col, err := range model.Collections(c.reader, models...) {
		if err != nil {
			return err
		}
		c.add(col)
	}
	c.pass()
	// The runtime hangs up before it answers the request to stop.
	if c.in.SetReadDeadline(time.Now().Add(captureGrace)) == nil {
		_, _ = io.Copy(io.Discard, c.in)
	}
	// Cut at the last whole block, because a process that is killed early leaves half a
	// block behind it.
	whole, _ := c.reader.Whole()
	if l := c.reader.Loss(); !c.eventful && l.Damaged > 0 && l.Damage[0].Off < whole {
		return ErrNoEvents
	}
	return nil
}

// wants reports whether events of a kind are needed.
func (c *capture) wants(d *trace.Descriptor) bool {
	return c.awaited.wants(d) || c.snapshots != nil && pass.Wants(c.snapshots)(d)
}

func (c *capture) add(col *gc.Collection) {
	if c.ring == nil {
		c.found.Add(col)
	}
	c.finished(col)
}

// met records the trigger of the trace.
func (c *capture) met(t *Trigger) {
	if c.ring != nil {
		c.ring.Hold(t.From)
	}
	c.notify(Triggered{c.process, t, c.path, c.plan})
}

// finish writes the ring's contents to the file, and removes the ring unless that fails.
// A recording that failed before its first event writes none.
func (c *capture) finish() error {
	switch {
	case c.ring == nil:
		return nil
	case c.eventless:
		return OutputFailed(c.path, c.ring.Remove())
	}
	c.reader, c.pending = nil, nil // their memory serves to read the file
	var err error
	if c.trigger != nil && c.plan.Before > 0 {
		c.out, err = c.ring.JoinFrom(c.trigger.From - c.plan.Before)
	} else {
		c.out, err = c.ring.JoinLast(c.plan.Before)
	}
	if err == nil {
		return OutputFailed(c.path, c.ring.Remove())
	}
	if left := c.ring.Left(); len(left) > 0 {
		c.notify(InPieces{left})
	}
	return OutputFailed(c.path, err)
}

// Read passes the bytes of the session to the reader, and retains them until the reader
// has found the ends of their objects.
func (c *capture) Read(p []byte) (int, error) {
	c.pass()
	n, err := c.in.Read(p)
	c.pending = append(c.pending, p[:n]...)
	c.received.Add(int64(n))
	if len(c.pending) > eventpipe.MaxHeld {
		c.broken = ErrNoTrace
		return n, io.EOF
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if !errors.Is(err, io.EOF) {
		c.broken = err
	}
	return n, io.EOF // however a trace is cut, it is
}

// SetReadDeadline limits the time of reads. It ignores a session that was closed
// meanwhile, because the next Read reports its end.
func (c *capture) SetReadDeadline(t time.Time) error {
	_ = c.in.SetReadDeadline(t)
	return nil
}

// pass writes the whole objects received so far. If that fails, it asks the runtime to
// stop.
func (c *capture) pass() {
	size, end := c.reader.Whole()
	n := int(size - c.passed)
	if n == 0 {
		return
	}
	if !c.eventful && hasEvents(c.reader) {
		c.eventful = true
		c.release()
	}
	if c.failed == nil {
		c.write(c.pending[:n], end)
	}
	c.passed = size
	c.pending = c.pending[:copy(c.pending, c.pending[n:])]
}

// release puts the file in the place of an earlier one.
func (c *capture) release() {
	if c.out == nil || c.failed != nil {
		return
	}
	if c.failed = OutputFailed(c.path, c.out.Release()); c.failed != nil {
		c.abort()
	}
}

// hasEvents reports whether a trace has an event that gctrail has not added itself.
func hasEvents(src trace.Source) bool {
	for d, n := range src.Counts() {
		if n > 0 && d.Provider != clr.GctrailProvider {
			return true
		}
	}
	return false
}

// write writes whole objects, or as many as there is room for.
func (c *capture) write(objects, end []byte) {
	if c.ring != nil && c.session.Stopped() {
		c.ring.End()
	}
	room, err := c.sink.Write(objects, end)
	if err == nil {
		return
	}
	c.failed = OutputFailed(c.path, err)
	if _, ok := errors.AsType[*trace.FormatError](err); ok {
		c.failed = &ProcessError{Title(c.process), ErrBlock}
	}
	c.abort()
	if n, end := c.reader.WholeIn(objects[:room], c.passed); n > 0 {
		_, _ = c.sink.Write(objects[:n], end) // the first failure is reported
	}
}
