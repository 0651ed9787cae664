package collect

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/tracefile"
	"github.com/gctrail/gctrail/nettrace"
)

// A capture writes a session's trace to a file as it arrives, and rebuilds its
// collections on the way.
type capture struct {
	process *diag.Process
	session *diag.Session
	in      traceInput // the session
	awaited
	base   string           // path of the file, but for its number if there are several
	nth    int              // of the files
	path   string           // of the file
	sink   traceSink        // out, or the ring
	out    *tracefile.File  // the file; nil while there is a ring in its place
	ring   *tracefile.Ring  // nil if everything is written
	reader *nettrace.Reader // of the capture itself
	found  findings.Set     // of what is written; empty if there is a ring

	pending []byte // read and not written
	passed  int64  // bytes before pending
	failed  error  // of writing, after which nothing is written any more

	// stopped is why the runtime did not end the trace though it was asked to,
	// broken why no more of it can be read.
	stopped, broken error
	// displaced reports that the process continues though the trace has ended: another
	// client has stopped it.
	displaced bool

	received    atomic.Int64 // bytes
	collections atomic.Int64
	longest     atomic.Int64 // pause, in nanoseconds
}

// A traceInput is where the bytes of a trace come from.
type traceInput interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// A traceSink takes a trace as it comes.
type traceSink interface {
	// Write adds whole objects, behind which end belongs. When it fails, room is
	// for how much of the objects there would have been room.
	Write(objects, end []byte) (room int, err error)
	Close() error
}

const (
	// captureIdle is when events are counted that wait for older ones: the runtime
	// writes every 100 ms, on a busy machine less often.
	captureIdle = time.Second
	// captureGrace is how long a runtime may take to hang up after its trace's
	// end.
	captureGrace = 3 * time.Second
	// captureSlow is when who waits for the end of a trace is told so.
	captureSlow = 2 * time.Second
	// maxPending bounds what is received without a whole object of a trace among it:
	// none has more than the reader's 16 MiB.
	maxPending = 32 << 20
	// captureEnding is how long a process may continue to answer after the end of its
	// trace.
	captureEnding = 200 * time.Millisecond
)

// newCapture returns a capture that writes everything to out; where out is nil, it
// needs a ring.
func newCapture(process *diag.Process, session *diag.Session, out *tracefile.File) *capture {
	c := &capture{process: process, session: session, in: session}
	c.awaited = awaited{plan: new(Plan), notify: func(Notice) {}, met: c.met}
	if out != nil {
		c.path, c.sink, c.out = out.Name(), out, out
	}
	c.reader = nettrace.NewReader(c, nettrace.Options{Want: c.wants, Idle: captureIdle})
	return c
}

// keepIn has the capture keep the end of the trace in a ring.
func (c *capture) keepIn(r *tracefile.Ring) {
	c.path, c.sink, c.ring = r.Path(), r, r
	r.Overrun = func() { c.cancel() }
}

// run reads the trace to its end, which the runtime is asked for when ctx is
// done.
func (c *capture) run(ctx context.Context) error {
	ctx, c.cancel = context.WithCancel(ctx)
	defer c.cancel()
	dismissed := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(dismissed)
		c.dismiss()
	})
	err := c.read()
	if !running() {
		<-dismissed
	}
	c.session.Close()
	if c.stopped == nil {
		err = cmp.Or(err, c.broken)
	}
	if err != nil {
		err = &ProcessError{Title(c.process), err}
	}
	c.displaced = err == nil && !c.session.Stopped() && !c.reader.Loss().Truncated && goesOn(c.process)
	return errors.Join(c.failed, err, outputFailed(c.path, c.sink.Close()))
}

// goesOn reports whether a process can be asked something, now and a little later: one
// that ends may still answer when it has ended its trace. Who dialled us is not
// asked: it may never dial again.
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

// dismiss has the runtime end the trace. A runtime that does not is left.
func (c *capture) dismiss() {
	slow := time.AfterFunc(captureSlow, func() { c.notify(Ending{c.process, c.session.StopLimit()}) })
	defer slow.Stop()
	if c.stopped = c.session.Stop(context.Background()); c.stopped != nil {
		c.session.Close()
	}
}

// read reads the trace to its end. The error is that of a stream that is not a
// trace.
func (c *capture) read() error {
	model := gc.Model{Live: true}
	for col, err := range model.Collections(watched{c.reader, c.see}) {
		if err != nil {
			return err
		}
		c.add(col)
	}
	c.pass()
	// The runtime hangs up, and only then answers who asked it to stop.
	if c.in.SetReadDeadline(time.Now().Add(captureGrace)) == nil {
		_, _ = io.Copy(io.Discard, c.in)
	}
	return nil
}

func (c *capture) add(col *gc.Collection) {
	if c.ring == nil {
		c.found.Add(col)
	}
	c.collections.Add(1)
	if pause := col.Pause(); pause.Known() {
		c.longest.Store(max(c.longest.Load(), int64(pause.Or(0))))
	}
	c.finished(col)
}

// met notes that what the trace was waiting for has come.
func (c *capture) met(t *Trigger) {
	if c.ring != nil {
		c.ring.Hold(t.From)
	}
	c.notify(Triggered{c.process, t, c.path, c.plan})
}

// finish makes the file of what a ring keeps. The ring is gone then, unless the
// file could not be made.
func (c *capture) finish() error {
	if c.ring == nil {
		return nil
	}
	c.reader, c.pending = nil, nil // their memory serves to read the file
	var err error
	if c.trigger != nil && c.plan.Before > 0 {
		c.out, err = c.ring.JoinFrom(c.trigger.From - c.plan.Before)
	} else {
		c.out, err = c.ring.JoinLast(c.plan.Before)
	}
	if err == nil {
		return outputFailed(c.path, c.ring.Remove())
	}
	if left := c.ring.Left(); len(left) > 0 {
		c.notify(InPieces{left})
	}
	return outputFailed(c.path, err)
}

// Read hands the bytes of the session to the reader, and keeps them until it has
// found where their objects end.
func (c *capture) Read(p []byte) (int, error) {
	c.pass()
	n, err := c.in.Read(p)
	c.pending = append(c.pending, p[:n]...)
	c.received.Add(int64(n))
	if len(c.pending) > maxPending {
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

// SetReadDeadline limits the time of reads. A session that was closed meanwhile
// is at its end, which Read tells.
func (c *capture) SetReadDeadline(t time.Time) error {
	_ = c.in.SetReadDeadline(t)
	return nil
}

// pass writes the whole objects that were read. When that fails, the runtime is
// asked to stop.
func (c *capture) pass() {
	size, end := c.reader.Whole()
	n := int(size - c.passed)
	if n == 0 {
		return
	}
	if c.failed == nil {
		c.write(c.pending[:n], end)
	}
	c.passed = size
	c.pending = c.pending[:copy(c.pending, c.pending[n:])]
}

// write writes whole objects; if there is no room for all of them, as many as
// there is.
func (c *capture) write(objects, end []byte) {
	if c.ring != nil && c.session.Stopped() {
		c.ring.End()
	}
	room, err := c.sink.Write(objects, end)
	if err == nil {
		return
	}
	c.failed = outputFailed(c.path, err)
	c.cancel()
	if n, end := c.reader.WholeIn(objects[:room], c.passed); n > 0 {
		_, _ = c.sink.Write(objects[:n], end) // the first failure is told
	}
}

// status returns how far the capture has come.
func (c *capture) status() CaptureStatus {
	s := CaptureStatus{
		Process: c.process, Plan: c.plan, Bytes: c.received.Load(), Collections: c.collections.Load(),
		Longest: time.Duration(c.longest.Load()),
	}
	s.Ends = c.end()
	return s
}
