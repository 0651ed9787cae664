//go:build !windows

package diag

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// polledPair returns a polled stream, and its other end.
func polledPair(t *testing.T, interval time.Duration) (stream, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p := poll(near, interval, func() bool { return false })
	if _, ok := p.(*polled); !ok {
		t.Fatalf("%T is not polled", p)
	}
	t.Cleanup(func() { p.Close(); far.Close() })
	return p, far
}

// TestPolled: a polled stream has everything that its other end wrote, before and while it is
// read, up to the end.
func TestPolled(t *testing.T) {
	p, far := polledPair(t, time.Millisecond)
	if _, err := io.WriteString(far, "begin "); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 6)
	if _, err := io.ReadFull(p, first); err != nil || string(first) != "begin " {
		t.Fatalf("%q, %v", first, err)
	}
	go func() {
		_, _ = io.WriteString(far, "middle ")
		_, _ = io.WriteString(far, "end")
		far.Close()
	}()
	if rest, err := io.ReadAll(p); err != nil || string(rest) != "middle end" {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestPolledDeadline: waiting ends at the deadline, but bytes that are there are read all the
// same. Close ends waiting too.
func TestPolledDeadline(t *testing.T) {
	p, far := polledPair(t, time.Millisecond)
	_ = p.SetReadDeadline(time.Now().Add(-time.Second))
	b := make([]byte, 10)
	if n, err := p.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := io.WriteString(far, "late"); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(b); string(b[:n]) != "late" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	_ = p.SetReadDeadline(time.Time{})
	ended := make(chan error)
	go func() {
		_, err := p.Read(b)
		ended <- err
	}()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := p.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
}

// A said trace writes one text, and another when it is stopped.
type said struct {
	stopped <-chan struct{}
	stop    func()
}

func (s said) Run(w io.Writer) error {
	_, _ = io.WriteString(w, "begin ")
	<-s.stopped
	_, err := io.WriteString(w, "end")
	return err
}

func (s said) Stop() { s.stop() }

// TestPolledSession: a session that is polled every hour is read at once when it is stopped.
func TestPolledSession(t *testing.T) {
	asked, stop := context.WithCancel(t.Context())
	server, err := Serve(ServerOptions{Folder: t.TempDir(), Collect: func(Config) (Tracing, error) {
		return said{asked.Done(), stop}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	session, err := NewClient(server.Address()).Collect(t.Context(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	session.Poll(time.Hour)
	stopped := make(chan error, 1)
	go func() { stopped <- session.Stop(context.Background()) }()
	select {
	case <-asked.Done():
	case err := <-stopped:
		t.Fatal(err)
	}
	if b, err := io.ReadAll(session); string(b) != "begin end" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
