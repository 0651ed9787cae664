//go:build !windows

package diag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

func TestParsePort(t *testing.T) {
	for _, test := range []struct {
		text string
		want Port
		err  string
	}{
		{"/tmp/x.sock", Port{Path: "/tmp/x.sock"}, ""},
		{"/tmp/x.sock,listen", Port{Path: "/tmp/x.sock"}, ""},
		{"x,connect", Port{Path: "x", Connect: true}, ""},
		{"", Port{}, `diagnostic port "" has no path: give one, as in /tmp/app.sock,connect`},
		{",connect", Port{}, `diagnostic port ",connect" has no path: give one, as in /tmp/app.sock,connect`},
		{"x,suspend", Port{}, `diagnostic port "x,suspend" has an unknown mode: end it with ,listen or ,connect`},
	} {
		got, err := ParsePort(test.text)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%q: %+v, %v", test.text, got, err)
		}
	}
	if v, err := PortVariable("/tmp/x", true); v != "DOTNET_DiagnosticPorts=/tmp/x,suspend,connect" || err != nil {
		t.Error(v, err)
	}
	if v, err := PortVariable("/tmp/x", false); v != "DOTNET_DiagnosticPorts=/tmp/x,nosuspend,connect" || err != nil {
		t.Error(v, err)
	}
	if _, err := PortVariable("/tmp/a;b", true); err == nil {
		t.Error("a path with ; was taken")
	}
}

// tempDir returns a folder with a short path, because the paths of sockets are limited.
func tempDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "diag")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// advertise dials a port as a runtime does.
func advertise(t *testing.T, path string, cookie byte, pid uint64) net.Conn {
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	id := Cookie{cookie, 15: 1}
	c.Write(append(fields("ADVR_V1\x00"), id[:]...).u64(pid).u16(0))
	return c
}

func newListener(t *testing.T) (*Listener, string) {
	path := filepath.Join(tempDir(t), "port")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

// TestListener: a runtime dials, takes one command, and dials again.
func TestListener(t *testing.T) {
	l, path := newListener(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	garbage, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer garbage.Close()
	garbage.Write(make([]byte, advertiseSize))
	silent, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()

	served := make(chan command, 2)
	go func() {
		f := newFake(t, func(cmd command, _ []byte) []byte {
			served <- cmd
			return ok(fields{}.u32(0))
		})
		for range 2 {
			f.serve(advertise(t, path, 1, 77))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := l.Accept(ctx)
	if err != nil || r.PID != 77 || r.Cookie != (Cookie{1, 15: 1}) {
		t.Fatalf("%+v, %v", r, err)
	}
	for range 2 {
		if err := r.Resume(ctx); err != nil || <-served != cmdResumeRuntime {
			t.Fatal(err)
		}
	}
	r.Timeout = 20 * time.Millisecond
	if err := r.Resume(ctx); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a runtime that has not dialled again: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(ctx); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept from a closed port: %v", err)
	}
}

// TestDeadRuntimes: a port that runs for long does not keep the connections of ended
// runtimes.
func TestDeadRuntimes(t *testing.T) {
	l, path := newListener(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for n := range byte(5) {
		c := advertise(t, path, n, uint64(n))
		if _, err := l.Accept(ctx); err != nil {
			t.Fatal(err)
		}
		if n < 4 {
			c.Close()
		} else {
			defer c.Close()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runtimes) != 1 {
		t.Errorf("%d runtimes, want the one that is there", len(l.runtimes))
	}
}

// TestRuntimes: the runtimes of a port are the ones that are connected, or between two commands;
// one that has gone is another one when it comes back.
func TestRuntimes(t *testing.T) {
	l, path := newListener(t)
	present := func(n int) (all []*Runtime) {
		t.Helper()
		dotnettest.Until(t.Context(), t, fmt.Sprintf("%d runtimes", n), func() bool {
			all = l.Runtimes()
			return len(all) == n
		})
		return all
	}
	first := advertise(t, path, 1, 11)
	second := advertise(t, path, 2, 22)
	defer second.Close()
	if all := present(2); all[0].PID != 11 || all[1].PID != 22 {
		t.Errorf("%v", all)
	}
	first.Close()
	rest := present(1)
	if rest[0].PID != 22 {
		t.Errorf("%v", rest)
	}
	if _, err := rest[0].take(t.Context()); err != nil {
		t.Fatal(err)
	}
	present(1) // a command is under way
	rest[0].taken.Store(time.Now().Add(-2 * absence).UnixNano())
	present(0)
	defer advertise(t, path, 2, 22).Close()
	if again := present(1); again[0] == rest[0] {
		t.Error("a runtime that had gone is the same one")
	}
	for len(l.arrived) < maxArrived { // so many came over time
		l.arrived <- rest[0]
	}
	present(1)
	defer advertise(t, path, 3, 33).Close()
	present(2)
}

// TestListenTwice: a socket in use is left alone, one without a listener is replaced, and
// any other file stays.
func TestListenTwice(t *testing.T) {
	_, path := newListener(t)
	if _, err := Listen(path); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("taken: %v", err)
	}
	stale := staleSocket(t, filepath.Join(filepath.Dir(path), "stale"))
	l, err := Listen(stale)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	file := filepath.Join(filepath.Dir(path), "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	if _, err := Listen(file); err == nil {
		t.Error("a file was replaced by a socket")
	}
	if b, _ := os.ReadFile(file); string(b) != "precious" {
		t.Error("a file was lost")
	}
}

// TestListenError: the error names the fault of a path and the remedy.
func TestListenError(t *testing.T) {
	_, taken := newListener(t)
	for path, want := range map[string]string{
		taken:                              "listen at " + taken + ": address already in use",
		filepath.Join(taken, "x"):          "listen at " + filepath.Join(taken, "x") + ": not a directory",
		"/tmp/" + strings.Repeat("x", 200): "listen at /tmp/" + strings.Repeat("x", 200) + ": the path takes 205 bytes, and a socket's at most 10",
	} {
		_, err := Listen(path)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(Remedy(err), "choose another path") {
			t.Errorf("%v, %s", err, Remedy(err))
		}
	}
}

// TestStopGone: a runtime that ended when it was asked to stop is not waited for, because
// it will not dial again.
func TestStopGone(t *testing.T) {
	l, path := newListener(t)
	began := make(chan net.Conn)
	go func() {
		c := advertise(t, path, 1, 77)
		c.Read(make([]byte, 1000))
		c.Write(append(ok(fields{}.u64(1)), "trace"...))
		began <- c
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	session, err := r.Collect(ctx, Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	c := <-began
	stopped := make(chan error)
	go func() { stopped <- session.Stop(ctx) }()
	dotnettest.Until(ctx, t, "the session is asked to stop", session.Stopped)
	c.Close()
	if b, err := io.ReadAll(session); string(b) != "trace" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-stopped; err != nil || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
}

// TestPortProcess queries the process that listens at a port.
func TestPortProcess(t *testing.T) {
	path := filepath.Join(tempDir(t), "there")
	info := fields{}.u64(5).u64(1).u64(2).str("/app/web --x").str("Linux").str("x64")
	f := newFake(t, func(cmd command, _ []byte) []byte {
		if cmd != cmdProcessInfo {
			return refuse(UnknownCommand)
		}
		return ok(info)
	})
	serveAt(t, path, f)
	p, err := Port{Path: path, Connect: true}.Process(context.Background())
	if err != nil || p.Name != "web" || p.PID != 0 || p.InnerPID != 5 || p.Address != path {
		t.Errorf("%+v, %v", p, err)
	}
}

// staleSocket makes a socket that nobody listens at.
func staleSocket(t *testing.T, path string) string {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	return path
}

// serveAt has a fake listen at a socket.
func serveAt(t *testing.T, path string, f *fake) {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, f)
}

func TestConnect(t *testing.T) {
	dir := tempDir(t)
	for _, test := range []struct {
		path string
		is   error
	}{
		{filepath.Join(dir, "none"), syscall.ENOENT},
		{staleSocket(t, filepath.Join(dir, "stale")), syscall.ECONNREFUSED},
	} {
		err := NewClient(test.path).Resume(context.Background())
		connect, ok := errors.AsType[*ConnectError](err)
		if !ok || connect.Address != test.path || !errors.Is(err, test.is) || !refused(err) {
			t.Errorf("%s: %v", test.path, err)
		}
	}
	f := newFake(t, func(command, []byte) []byte { return ok(fields{}.u32(0)) })
	serveAt(t, filepath.Join(dir, "there"), f)
	if err := NewClient(filepath.Join(dir, "there")).Resume(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestReset: a reset connection counts as the end of the trace, because a killed process
// can leave one.
func TestReset(t *testing.T) {
	path := filepath.Join(tempDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Read(make([]byte, 10)) // unread bytes reset the connection
		c.Write(append(ok(fields{}.u64(1)), strings.Repeat("x", 100)...))
		c.Close()
	}()
	session, err := NewClient(path).Collect(context.Background(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(session); len(b) != 100 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
