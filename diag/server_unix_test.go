//go:build !windows

package diag

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOwnAddress: a server listens where clients look, even if the path must be
// shortened; it refuses a path that is too long for that.
func TestOwnAddress(t *testing.T) {
	const most = len(syscall.RawSockaddrUnix{}.Path) - 1
	name := "dotnet-diagnostic-" + strconv.Itoa(os.Getpid()) + "-" + startKey() + "-socket"
	needed := len(name) - len(startKey()+"-socket") + 1 // with a digit of the key
	for length := 1; length < 200; length++ {
		folder := "/" + strings.Repeat("x", length-1)
		address, err := ownAddress(folder)
		if room := most - length - 1; room < needed && length > 1 {
			if err == nil {
				t.Errorf("%d bytes: %s", length, address)
			}
			continue
		}
		if err != nil || len(address) > most || filepath.Dir(address) != folder || !strings.HasPrefix(name, filepath.Base(address)) ||
			!socketName.MatchString(filepath.Base(address)) {
			t.Errorf("%d bytes: %s, %v", length, address, err)
		}
	}
}

// TestOwnSocket: the socket of an earlier process with the same PID is replaced by a
// socket that only its user can open, which ends with the server. A socket in use is left
// alone.
func TestOwnSocket(t *testing.T) {
	folder := shortFolder(t)
	address, err := ownAddress(folder)
	if err != nil {
		t.Fatal(err)
	}
	staleSocket(t, address)
	s, _ := serveTest(t, ServerOptions{Folder: folder})
	info, err := os.Lstat(address)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	_, err = Serve(ServerOptions{Folder: folder})
	if _, is := errors.AsType[*ListenError](err); !is {
		t.Errorf("a second server: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(address); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

// TestAwaitHangup: a client that only stops sending has not hung up; one that has gone has.
func TestAwaitHangup(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(shortFolder(t), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := client.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	over, hung := make(chan struct{}), make(chan struct{})
	defer close(over)
	go func() {
		awaitHangup(server, over)
		close(hung)
	}()
	select {
	case <-hung:
		t.Fatal("a client that sends no more is taken for gone")
	case <-time.After(3 * hangupInterval):
	}
	client.Close()
	select {
	case <-hung:
	case <-time.After(patience):
		t.Error("it is not noticed that the client has gone")
	}
}

// TestHalfClosed: a client that shuts down its sending side gets its trace, as from a
// runtime, until it goes.
func TestHalfClosed(t *testing.T) {
	tape := newTape(time.Millisecond)
	_, c := serveTest(t, ServerOptions{Collect: func(Config) (Tracing, error) { return tape, nil }})
	session, err := c.Collect(t.Context(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.in.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < 3*hangupInterval; {
		if _, err := io.ReadFull(session, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
	}
	session.in.Close()
	if err := <-tape.ran; err == nil {
		t.Error("the trace was written to nobody")
	}
}
