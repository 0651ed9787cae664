package watch

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A peer listens at a port of a test. It serves each connection, and knows how many are open.
type peer struct {
	address string
	mu      sync.Mutex
	open    int
	closed  chan struct{} // one for each connection that ended
}

func newPeer(t *testing.T, serve func(net.Conn)) *peer {
	t.Helper()
	p := &peer{closed: make(chan struct{}, 1000)}
	p.address = dotnettest.Serve(t, "tcp", "127.0.0.1:0", func(c net.Conn) {
		p.count(1)
		defer func() { p.count(-1); p.closed <- struct{}{} }()
		defer c.Close()
		serve(c)
	})
	return p
}

func (p *peer) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open += n
}

// answering answers questions about a process with this command line.
func answering(commandLine string) func(net.Conn) {
	return dotnettest.Answering(commandLine, func(net.Conn) {})
}

func listOf(t *testing.T, ports ...string) func() []*diag.Process {
	t.Helper()
	var all []diag.Port
	for _, p := range ports {
		all = append(all, diag.Port{Path: p, Connect: true})
	}
	nothing := func(context.Context) []*diag.Process { return nil }
	s := Source{List: nothing}.WithPorts(all)
	return func() []*diag.Process { return s.List(t.Context()) }
}

// TestPorts: whatever listens at a port, it is one process in the list, with its name or with
// the reason, and is asked over one connection.
func TestPorts(t *testing.T) {
	random := make([]byte, 1<<20)
	noise := rand.NewChaCha8([32]byte{})
	_, _ = noise.Read(random)
	flood := func(b []byte) func(net.Conn) {
		return func(c net.Conn) {
			go func() {
				for err := error(nil); err == nil; {
					_, err = c.Write(b)
				}
			}()
			_, _ = io.Copy(io.Discard, c) // Wine does not end a Write when the other end closes
		}
	}
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		err   error
	}{
		"web":                 {answering("/app/web"), nil},
		"hangs up":            {func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, diag.ErrHungUp},
		"garbage":             {flood(random), diag.ErrProtocol},
		"zeros":               {flood(make([]byte, 1<<20)), diag.ErrProtocol},
		"half a message":      {func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)); _, _ = c.Write([]byte("DOTNET_IPC_V1\x00\xff")) }, diag.ErrHungUp},
		"an answer, and more": {func(c net.Conn) { answering("/app/web")(c); flood(random)(c) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, tt.serve)
			list := listOf(t, p.address)
			var found []*diag.Process
			for len(found) == 0 { // a busy machine answers late
				found = list()
			}
			if len(found) != 1 || found[0].Address != p.address || found[0].PID != 0 || !errors.Is(found[0].Err, tt.err) {
				t.Fatalf("%+v, want one process, and %v", found[0], tt.err)
			}
			if got := found[0].Name; tt.err == nil && got != "web" {
				t.Errorf("its name is %q", got)
			}
			<-p.closed
		})
	}
}

// TestSilentPort: a port that is silent does not keep the others out of the list, and is not
// asked again while it is silent.
func TestSilentPort(t *testing.T) {
	speak := make(chan struct{})
	silent := newPeer(t, func(c net.Conn) { <-speak; answering("/app/late")(c) })
	web := newPeer(t, answering("/app/web"))
	list := listOf(t, silent.address, web.address)
	for range 2 {
		for _, p := range list() {
			if p.Address == silent.address {
				t.Errorf("%+v is listed before it has answered", p)
			}
		}
	}
	silent.mu.Lock()
	if silent.open > 1 {
		t.Errorf("%d connections to a silent port", silent.open)
	}
	silent.mu.Unlock()
	close(speak)
	for found := 0; found < 2; {
		found = 0
		for _, p := range list() {
			if p.Info != nil {
				found++
			}
		}
	}
}

// TestPortAgain: a process that was found in another way is not listed twice, and one that
// does not answer any more keeps its name.
func TestPortAgain(t *testing.T) {
	there := answering("/app/web")
	var mu sync.Mutex
	p := newPeer(t, func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		there(c)
	})
	local, err := diag.Port{Path: p.address}.Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	only := Source{List: func(context.Context) []*diag.Process { return []*diag.Process{local} }}.WithPorts([]diag.Port{{Path: p.address, Connect: true}})
	for range 3 {
		if got := only.List(t.Context()); len(got) != 1 || got[0] != local {
			t.Fatalf("%+v", got)
		}
	}
	list := listOf(t, p.address)
	for len(list()) == 0 {
	}
	mu.Lock()
	there = func(net.Conn) {}
	mu.Unlock()
	for {
		if found := list()[0]; found.Err != nil {
			if found.Name != "web" || found.Info != nil || found.InnerPID == 0 {
				t.Errorf("%+v", found)
			}
			return
		}
	}
}
