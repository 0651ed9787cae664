package diag

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Port is a value of --diagnostic-port: address[,tag]. The tag "listen", the default, is
// for a port that runtimes connect to; "connect" is for a socket that a runtime or a
// router listens on.
type Port struct {
	Path    string // or HOST:PORT, of a port that is reached over TCP
	Connect bool
}

// ParsePort parses a diagnostic port.
func ParsePort(s string) (Port, error) {
	path, tag, tagged := strings.Cut(s, ",")
	p := Port{Path: path, Connect: strings.EqualFold(tag, "connect")}
	switch {
	case path == "":
		return Port{}, fmt.Errorf("diagnostic port %q has no path: give one, as in /tmp/app.sock,connect", s)
	case tagged && !p.Connect && !strings.EqualFold(tag, "listen"):
		return Port{}, fmt.Errorf("diagnostic port %q has an unknown mode: end it with ,listen or ,connect", s)
	}
	if a, ok := parseTCP(path); ok {
		if err := a.check(p.Connect); err != nil {
			return Port{}, fmt.Errorf("diagnostic port %q: %w", s, err)
		}
	}
	return p, nil
}

// Remote reports whether the port is reached over TCP, so that the processes there may run
// on another system.
func (p Port) Remote() bool {
	_, remote := parseTCP(p.Path)
	return remote
}

// Exposed reports whether other machines may be able to connect to the port, which asks
// nobody who they are.
func (p Port) Exposed() bool {
	a, remote := parseTCP(p.Path)
	return remote && !p.Connect && a.exposed()
}

// PortVariable returns the environment variable, as "name=value", that makes a
// runtime connect to the port at an absolute path. If suspend is set, the
// runtime waits at startup until it is resumed.
func PortVariable(path string, suspend bool) (string, error) {
	if path == "" || strings.ContainsAny(path, ",;\x00") {
		return "", fmt.Errorf("diagnostic port %q: the path is empty or contains , or ;: choose another path", path)
	}
	wait := "nosuspend"
	if suspend {
		wait = "suspend"
	}
	return "DOTNET_DiagnosticPorts=" + path + "," + wait + ",connect", nil
}

// A Listener is a diagnostic port that runtimes connect to. The Listener keeps each
// connection for the next command, because a runtime connects again after every one.
type Listener struct {
	in      acceptor
	address string
	remote  bool // runtimes connect over TCP
	arrived chan *Runtime
	open    context.Context // ends when the port is closed
	close   func()
	done    chan struct{} // closed when nothing more is accepted

	mu       sync.Mutex
	greeting []conn // that have not identified themselves, the oldest first
	runtimes map[Cookie]*Runtime
	failed   error // why nothing more is accepted
}

// A Runtime is a runtime that has connected to a Listener.
type Runtime struct {
	*Client
	Cookie Cookie
	PID    uint64 // in the PID namespace of the process; always known

	dialled chan conn    // at most one: the latest
	taken   atomic.Int64 // when its latest connection was taken for a command, in Unix nanoseconds
	remote  bool         // it may run on another system
}

// Process queries the runtime about its process. The PID of a runtime that has connected
// over TCP may belong to another system.
func (r *Runtime) Process(ctx context.Context) (*Process, error) {
	p := r.Advertised()
	p.Started, p.client = time.Now(), r.Client
	return p.introduced(ctx)
}

// Advertised returns the process by all that its runtime has said when it connected.
func (r *Runtime) Advertised() *Process {
	p := &Process{PID: int(r.PID), InnerPID: int(r.PID)}
	if r.remote {
		p.PID = 0
	}
	return p
}

// Process queries the runtime that listens on a port about its process. Behind a router,
// the PID may belong to another system.
func (p Port) Process(ctx context.Context) (*Process, error) {
	return (&Process{Address: p.Path}).introduced(ctx)
}

// introduced returns p completed by the answer of its runtime.
func (p *Process) introduced(ctx context.Context) (*Process, error) {
	info, err := p.Client().Info(ctx)
	if err != nil {
		return nil, err
	}
	p.Info, p.Name, p.InnerPID = info, info.Name(), int(info.PID)
	return p, nil
}

const (
	// maxArrived bounds how many runtimes can have dialled before they are accepted, and how
	// many a port knows.
	maxArrived = 1024
	// maxGreeting bounds how many connections may be about to identify themselves. Each
	// further one replaces the oldest, because a runtime says who it is at once.
	maxGreeting = 128
)

// Listen creates a diagnostic port at path, a socket that only its owner can connect to,
// or on Windows a named pipe. A stale socket is replaced; for a socket in use, or another
// file, Listen returns a *ListenError. An address HOST:PORT is listened at over TCP, where
// everybody who can reach it can connect; port 0 is a free one, which Address names.
func Listen(path string) (*Listener, error) {
	in, err := listen(path)
	if err != nil {
		return nil, &ListenError{path, err}
	}
	l := &Listener{in: in, address: path, arrived: make(chan *Runtime, maxArrived), done: make(chan struct{}), runtimes: map[Cookie]*Runtime{}}
	if _, l.remote = parseTCP(path); l.remote {
		l.address = in.(netAcceptor).Addr().String()
	}
	l.open, l.close = context.WithCancel(context.Background())
	go l.serve()
	return l, nil
}

// Address returns the path of the socket, the name of the pipe, or HOST:PORT.
func (l *Listener) Address() string { return l.address }

// Accept waits for a runtime that has not connected before. The runtime may be waiting at
// startup: to record this, start the session and read from it before calling Resume.
func (l *Listener) Accept(ctx context.Context) (*Runtime, error) {
	select {
	case r := <-l.arrived:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, l.failed
	}
}

// Close closes the port. Sessions continue.
func (l *Listener) Close() error {
	err := l.in.close()
	l.close()
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runtimes {
		r.hold(nil)
	}
	return err
}

// serve accepts until the port is closed.
func (l *Listener) serve() {
	var greeting sync.WaitGroup
	l.failed = acceptAll(l.open, l.in, func(c conn) {
		l.makeRoom(c)
		greeting.Go(func() { l.greet(c) })
	})
	greeting.Wait()
	close(l.done)
}

// makeRoom adds a connection that is about to identify itself, and disconnects the oldest
// if there are too many.
func (l *Listener) makeRoom(c conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.greeting = append(l.greeting, c); len(l.greeting) > maxGreeting {
		interrupt(l.greeting[0])
		l.greeting = l.greeting[1:]
	}
}

// The message with which a connecting runtime identifies itself.
const (
	advertiseMagic = "ADVR_V1\x00"
	advertiseSize  = 34
)

// greet reads the identity of a runtime that has dialled, and keeps the connection for
// the next command.
func (l *Listener) greet(c conn) {
	limited, cancel := context.WithTimeout(l.open, defaultTimeout)
	defer cancel()
	hurry := context.AfterFunc(limited, func() { interrupt(c) })
	var b [advertiseSize]byte
	_, err := io.ReadFull(c, b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := len(l.greeting)
	l.greeting = slices.DeleteFunc(l.greeting, func(other conn) bool { return other == c })
	if !hurry() || err != nil || string(b[:8]) != advertiseMagic || len(l.greeting) == waiting {
		c.Close()
		return
	}
	cookie := Cookie(b[8:24])
	r := l.runtimes[cookie]
	if r != nil {
		r.hold(c)
		return
	}
	l.forgetDead()
	if len(l.runtimes) >= maxArrived {
		c.Close()
		return
	}
	r = &Runtime{Cookie: cookie, PID: binary.LittleEndian.Uint64(b[24:]), dialled: make(chan conn, 1), remote: l.remote}
	r.Client = &Client{connect: r.take}
	r.hold(c)
	select {
	case l.arrived <- r:
		l.runtimes[cookie] = r
	default:
		c.Close()
	}
}

// forgetDead drops the runtimes that have gone since they dialled.
func (l *Listener) forgetDead() {
	for cookie, r := range l.runtimes {
		select {
		case c := <-r.dialled:
			if alive(c) {
				r.dialled <- c
			} else {
				c.Close()
				delete(l.runtimes, cookie)
			}
		default: // a command is under way
		}
	}
}

// alive reports whether a runtime that awaits a command is still there.
func alive(c conn) bool {
	if c.SetReadDeadline(time.Now().Add(time.Millisecond)) != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return timedOut(err) && c.SetReadDeadline(time.Time{}) == nil
}

// hold keeps c, if not nil, for the next command instead of the previous connection.
func (r *Runtime) hold(c conn) {
	select {
	case old := <-r.dialled:
		old.Close()
	default:
	}
	if c != nil {
		r.dialled <- c
	}
}

// take waits until the runtime has dialled.
func (r *Runtime) take(ctx context.Context) (conn, error) {
	select {
	case c := <-r.dialled:
		r.taken.Store(time.Now().UnixNano())
		return c, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the runtime did not reconnect: %w", ctx.Err())
	}
}

// absence is for how long a runtime may be without a connection, as it is between two commands,
// until it counts as gone.
const absence = time.Minute

// Runtimes returns the runtimes that have connected and are still there, as far as their
// connections show. It forgets the others, so that a port can stay open for as long as
// programs come and go. It takes the place of Accept.
func (l *Listener) Runtimes() []*Runtime {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.arrived) > 0 {
		select {
		case <-l.arrived:
		default:
		}
	}
	l.forgetDead()
	for cookie, r := range l.runtimes {
		if len(r.dialled) == 0 && time.Since(time.Unix(0, r.taken.Load())) > absence {
			delete(l.runtimes, cookie)
		}
	}
	return slices.SortedFunc(maps.Values(l.runtimes), func(a, b *Runtime) int { return bytes.Compare(a.Cookie[:], b.Cookie[:]) })
}
