package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
)

func webBytes(t *testing.T) []byte {
	t.Helper()
	return tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
}

// capturing starts a session with a runtime.
func capturing(t *testing.T, f *dotnettest.Runtime) (*diag.Process, *diag.Session) {
	t.Helper()
	process := &diag.Process{PID: 42, Name: "web", Address: f.Listen(t)}
	session, err := process.Client().Collect(context.Background(), diag.Config{
		BufferMB: 256, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 0x1, Level: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return process, session
}

// A brokenInput is a trace whose connection breaks.
type brokenInput struct{ io.Reader }

func (b *brokenInput) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = syscall.EIO
	}
	return n, err
}

func (b *brokenInput) SetReadDeadline(time.Time) error { return nil }

// TestCaptureBroken: a connection that breaks is reported with the cause.
func TestCaptureBroken(t *testing.T) {
	trace := webBytes(t)
	process, session := capturing(t, dotnettest.NewRuntime(trace, nil))
	disk := &smallDisk{room: len(trace)}
	c := newCapture(process, session, FileOn(disk, "web.nettrace"))
	c.in = &brokenInput{bytes.NewReader(trace[:len(trace)/2])}
	err := c.run(context.Background())
	if _, ok := errors.AsType[*ProcessError](err); !ok || !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	r, err := c.result()
	if len(dotnettest.MustEnd(t, disk.data)) == 0 || err != nil || !errors.Is(r.Broken, syscall.EIO) {
		t.Error(r, err)
	}
}

// A smallDisk is a file on a disk with some bytes of room. Like os.File, it counts
// nothing of a write that finds room in part.
type smallDisk struct {
	data []byte
	room int
	fail error // where there is no room; nil means that the disk is full
}

func (d *smallDisk) WriteAt(p []byte, off int64) (int, error) {
	fits := max(0, min(len(p), d.room-int(off)))
	d.data = append(d.data[:min(int(off), len(d.data))], p[:fits]...)
	if fits < len(p) {
		return 0, cmp.Or(d.fail, error(syscall.ENOSPC))
	}
	return fits, nil
}

func (d *smallDisk) Seek(int64, int) (int64, error) { return int64(len(d.data)), nil }

func (d *smallDisk) Close() error { return nil }

func (d *smallDisk) Truncate(size int64) error {
	d.data = d.data[:min(len(d.data), int(size))]
	return nil
}

// TestCaptureFull: a full disk ends the capture, and the file can be read up to the last
// object that fits.
func TestCaptureFull(t *testing.T) {
	trace := webBytes(t)
	const longestMark = 4
	for _, room := range []int{5000, len(trace) / 2, len(trace) - 1} {
		f := dotnettest.NewRuntime(trace[:len(trace)-10], trace[len(trace)-10:])
		process, session := capturing(t, f)
		disk := &smallDisk{room: room}
		out := FileOn(disk, "web.nettrace")
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-f.Began
			if room == len(trace)-1 {
				cancel()
			}
		}()
		c := newCapture(process, session, out)
		err := c.run(ctx)
		cancel()
		if _, ok := errors.AsType[*OutputError](err); !ok || !errors.Is(err, syscall.ENOSPC) || !f.Stopped() {
			t.Errorf("room for %d: %v, stopped %t", room, err, f.Stopped())
		}
		dotnettest.MustEnd(t, disk.data)
		if want := dotnettest.Whole(trace[:room-longestMark]) + 1; len(disk.data) != want {
			t.Errorf("room for %d: %d bytes are in it, want %d", room, len(disk.data), want)
		}
		if r, err := c.result(); err != nil || !errors.Is(r.Failed, syscall.ENOSPC) {
			t.Errorf("room for %d: %v, %v", room, r, err)
		}
	}
}

// TestCaptureGone: collecting ends if its file was removed while it was written, and the
// file is not offered for reading.
func TestCaptureGone(t *testing.T) {
	trace := webBytes(t)
	for _, fail := range []error{nil, ErrGone} {
		f := dotnettest.NewRuntime(trace[:len(trace)-10], trace[len(trace)-10:])
		process, session := capturing(t, f)
		c := newCapture(process, session, FileOn(&smallDisk{room: len(trace) / 2, fail: fail}, "web.nettrace"))
		if err := c.run(context.Background()); fail != nil && !errors.Is(err, fail) {
			t.Error(err)
		}
		if r, err := c.result(); err != nil || r.Regular != (fail == nil) {
			t.Errorf("failed with %v: readable is %t: %v", fail, r.Regular, err)
		}
	}
}

// TestCaptureSlowEnd checks that a slow end of a trace is announced with its limit, and
// that the trace is whole when it comes.
func TestCaptureSlowEnd(t *testing.T) {
	trace := webBytes(t)
	began, told := make(chan struct{}), make(chan struct{})
	f := dotnettest.NewRuntime(nil, nil)
	f.Write = func(c net.Conn, stop <-chan struct{}) {
		_, _ = c.Write(trace[:len(trace)/2])
		close(began)
		<-stop
		<-told
		_, _ = c.Write(trace[len(trace)/2:])
	}
	process, session := capturing(t, f)
	disk := &smallDisk{room: len(trace)}
	c := newCapture(process, session, FileOn(disk, "web.nettrace"))
	c.notify = func(n Notice) {
		if of, ok := n.(Ending); ok && of.Limit == session.StopLimit() && of.Limit == 55600*time.Millisecond {
			close(told)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		<-began
		stop()
	}()
	if err := c.run(ctx); err != nil || c.stopped != nil {
		t.Error(err, c.stopped)
	}
	if n := len(disk.data); n != len(trace) {
		t.Errorf("%d bytes, expected %d", n, len(trace))
	}
}
