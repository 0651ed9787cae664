package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/nettrace"
)

// A capture writes a session's trace to a file as it comes, and rebuilds on the
// way the collections that it tells of.
type capture struct {
	process *diag.Process
	session *diag.Session
	in      traceInput // the session
	out     *traceOutput
	reader  *nettrace.Reader // of the capture itself
	found   findings.Case

	pending []byte // read and not written
	passed  int64  // bytes before pending
	failed  error  // of writing, after which nothing is written any more
	cancel  func()

	// stopped is why the runtime did not end the trace though it was asked to,
	// broken why no more of it can be read.
	stopped, broken error
	// usurped says that the process goes on though the trace has ended: another
	// client has stopped it.
	usurped bool

	received    atomic.Int64 // bytes
	collections atomic.Int64
	longest     atomic.Int64 // pause, in nanoseconds
}

// A traceInput is where the bytes of a trace come from.
type traceInput interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

const (
	// captureIdle is when events are counted that wait for older ones: the runtime
	// writes every 100 ms, on a busy machine less often.
	captureIdle = time.Second
	// captureFarewell is how long a runtime may take to hang up after its trace's
	// end.
	captureFarewell = 3 * time.Second
	// captureEnding is how long a process may go on to answer after the end of its
	// trace.
	captureEnding = 200 * time.Millisecond
)

func newCapture(process *diag.Process, session *diag.Session, out *traceOutput) *capture {
	c := &capture{process: process, session: session, in: session, out: out}
	c.reader = nettrace.NewReader(c, nettrace.Options{Want: gc.Wants, Idle: captureIdle})
	return c
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
		err = &processError{processTitle(c.process), err}
	}
	c.usurped = err == nil && !c.session.Stopped() && !c.reader.Loss().Cut && goesOn(c.process)
	return errors.Join(c.failed, err, c.out.close())
}

// goesOn says whether a process can be asked something, now and a little later: one
// that ends may still answer when it has ended its trace. Who dialled us is not
// asked: it may never dial again.
func goesOn(process *diag.Process) bool {
	if process.Address == "" {
		return false
	}
	answers := func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), captureFarewell)
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
	if c.stopped = c.session.Stop(context.Background()); c.stopped != nil {
		c.session.Close()
	}
}

// read reads the trace to its end. The error is that of a stream that is no
// trace.
func (c *capture) read() error {
	model := gc.Model{Live: true}
	for col, err := range model.Collections(c.reader) {
		if err != nil {
			return err
		}
		c.add(col)
	}
	c.pass()
	// The runtime hangs up, and only then answers who asked it to stop.
	if c.in.SetReadDeadline(time.Now().Add(captureFarewell)) == nil {
		_, _ = io.Copy(io.Discard, c.in)
	}
	return nil
}

func (c *capture) add(col *gc.Collection) {
	c.found.Add(col)
	c.collections.Add(1)
	if pause := col.Pause(); pause.Known {
		c.longest.Store(max(c.longest.Load(), int64(pause.V)))
	}
}

// Read hands the bytes of the session to the reader, and keeps them until it has
// found where their objects end.
func (c *capture) Read(p []byte) (int, error) {
	c.pass()
	n, err := c.in.Read(p)
	c.pending = append(c.pending, p[:n]...)
	c.received.Add(int64(n))
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

// write writes whole objects; where there is no room for all of them, as many
// as there is.
func (c *capture) write(objects, end []byte) {
	room, err := c.out.write(objects, end)
	if err == nil {
		return
	}
	c.failed = err
	c.cancel()
	if n, end := c.reader.WholeIn(objects[:room], c.passed); n > 0 {
		_, _ = c.out.write(objects[:n], end) // the first failure is told
	}
}

// line tells how far the capture has come.
func (c *capture) line(elapsed time.Duration) string {
	text := clock(elapsed) + "  " + units.Bytes(c.received.Load())
	if n := c.collections.Load(); n > 0 {
		text += fmt.Sprintf("  %s, longest pause %s", plural(n, "collection", "collections"), units.Duration(time.Duration(c.longest.Load())))
	}
	return text
}

// clock writes a time as hours, minutes and seconds.
func clock(d time.Duration) string {
	seconds := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
