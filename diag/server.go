package diag

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// ServerOptions configure a Server.
type ServerOptions struct {
	// Info describes the process to clients. A zero PID means this process, a zero Cookie
	// a random one.
	Info Info
	// Environment lists the variables of the process, as "name=value".
	Environment []string
	// Collect accepts a session, or refuses it with an error: an HRESULT, or any
	// other, which clients receive as Fail. It is called concurrently, with a valid
	// Config. Nil refuses all sessions as NotSupported.
	Collect func(Config) (Tracing, error)

	// Ports are the diagnostic ports that the server connects to. If Suspended is set,
	// Resumed waits for a client of its own socket, too.
	Ports     []DialPort
	Suspended bool
	// Folder is the folder of the socket, on systems that use one; empty means
	// TMPDIR, or /tmp.
	Folder string
}

// A Tracing is a session that a Collect function has accepted.
type Tracing interface {
	// Run writes the trace until Stop is called, then its end. It returns early
	// if w fails: the client has gone. It is called once.
	Run(w io.Writer) error
	// Stop may be called several times, also before Run.
	Stop()
}

// A Server answers diagnostics clients as the .NET runtime of a process does (ds-server.c
// and ds-*-protocol.c in dotnet/runtime's src/native/eventpipe): it describes the process
// and streams traces. It refuses to write dumps, load profilers or change the process,
// like runtimes that do not support these.
//
// Unlike the runtime, it serves connections concurrently, so that a client that sends
// nothing, or half a request, does not delay others. Such a client is disconnected after
// 10 s, or as soon as 128 newer connections are waiting.
type Server struct {
	opt   ServerOptions
	in    acceptor
	own   servedPort // the socket
	ports []*servedPort

	ctx   context.Context // until Close
	close context.CancelFunc
	slots chan struct{} // one for each connection that a request is read from or answered on
	work  sync.WaitGroup

	mu       sync.Mutex // of the fields below
	asking   []conn     // connections that a request is awaited from, the oldest first
	sessions map[uint64]*tracingSession
	last     uint64        // session
	resumed  chan struct{} // closed when no port is suspended any more
	closed   bool
}

const (
	// requestTimeout is how long a request may take to come, and an answer to be
	// taken.
	requestTimeout = 10 * time.Second
	// maxConnections is how many requests are served at once, not counting the streams of
	// sessions.
	maxConnections = 128
	// closeTimeout is how long the clients of sessions may take to read the end
	// of their traces when the server is closed.
	closeTimeout = 3 * time.Second
	// stopTimeout is how long the client of a session that was stopped may take.
	stopTimeout = 30 * time.Second
)

// Serve answers clients until Close. On Unix it listens at a socket that only
// the same user can connect to, where clients look for it; on Windows at a
// named pipe of the same kind. A socket left by an earlier process with the
// same PID is replaced.
func Serve(opt ServerOptions) (*Server, error) {
	opt.Info.PID = cmp.Or(opt.Info.PID, uint64(os.Getpid()))
	if opt.Info.Cookie == (Cookie{}) {
		rand.Read(opt.Info.Cookie[:])
	}
	if opt.Collect == nil {
		opt.Collect = func(Config) (Tracing, error) { return nil, NotSupported }
	}
	address, err := ownAddress(opt.Folder)
	if err != nil {
		return nil, err
	}
	in, err := listenLocal(address)
	if err != nil {
		return nil, &ListenError{address, err}
	}
	s := &Server{
		opt: opt, in: in, own: servedPort{path: address, suspended: opt.Suspended},
		slots:    make(chan struct{}, maxConnections),
		sessions: map[uint64]*tracingSession{}, resumed: make(chan struct{}),
	}
	s.ctx, s.close = context.WithCancel(context.Background())
	for _, p := range opt.Ports {
		s.ports = append(s.ports, &servedPort{path: p.Path, suspended: !p.NoSuspend})
	}
	s.resume(nil)
	s.work.Go(s.accept)
	for _, p := range s.ports {
		s.work.Go(func() { s.dial(p) })
	}
	return s, nil
}

// Address returns the path of the socket, or the name of the pipe.
func (s *Server) Address() string { return s.own.path }

// Resumed waits until every port that suspends the process has resumed it. It
// returns ctx's error if ctx ends first.
func (s *Server) Resumed(ctx context.Context) error {
	select {
	case <-s.resumed:
		return nil
	default:
	}
	select {
	case <-s.resumed:
		return nil
	case <-s.ctx.Done():
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close removes the socket and stops all sessions. Clients get the ends of
// their traces if they read them within 3 s.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	err := s.in.close()
	s.close()
	for _, c := range s.asking {
		c.Close()
	}
	for _, t := range s.sessions {
		_ = t.client.SetDeadline(time.Now().Add(closeTimeout))
		t.Stop()
	}
	s.mu.Unlock()
	s.work.Wait()
	return err
}

// accept serves the clients that connect to the socket.
func (s *Server) accept() {
	_ = acceptAll(s.ctx, s.in, func(c conn) {
		_ = c.SetDeadline(time.Now().Add(requestTimeout))
		if !s.makeRoom() || !s.ask(c) {
			c.Close()
			return // the server closes: accept fails next
		}
		s.work.Go(func() {
			defer s.free()
			s.serve(c, c, &s.own)
		})
	})
}

// makeRoom waits for the place of a connection. If all are taken, it closes the
// connection that has been awaiting a request for the longest, because an honest client
// sends its request at once. It returns false when the server closes.
func (s *Server) makeRoom() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	s.mu.Lock()
	if len(s.asking) > 0 {
		s.asking[0].Close()
		s.asking = s.asking[1:]
	}
	s.mu.Unlock()
	return s.slot()
}

// slot waits for the place of a connection. It returns false when the server closes.
func (s *Server) slot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *Server) free() { <-s.slots }

// serve reads a request from r, for which the connection has a time limit, and
// answers it.
func (s *Server) serve(c conn, r io.Reader, port *servedPort) {
	in, err := readMessage(r)
	s.asked(c)
	x := &exchange{s: s, port: port, c: c, in: in}
	if err == nil {
		err = x.serve()
	}
	if err != nil {
		x.refuse(err)
	}
	if !x.retained {
		c.Close()
	}
}

// ask notes that a request is awaited from c, so that Close ends that. It is
// false if the server is closed.
func (s *Server) ask(c conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.asking = append(s.asking, c)
	}
	return !s.closed
}

// asked notes that no request is awaited from c any more.
func (s *Server) asked(c conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = slices.DeleteFunc(s.asking, func(other conn) bool { return other == c })
}
