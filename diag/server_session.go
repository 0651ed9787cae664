package diag

import (
	"io"
	"time"
)

// A tracingSession is a session and the client that gets its trace.
type tracingSession struct {
	Tracing
	client conn
	over   chan struct{} // closed when the stream is
}

// begin gives a session its id.
func (s *Server) begin(t Tracing, client conn) (id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.sessions[s.last] = &tracingSession{t, client, make(chan struct{})}
	return s.last
}

// stream writes a session's trace to its client.
func (s *Server) stream(id uint64) {
	s.mu.Lock()
	t := s.sessions[id]
	if s.closed {
		_ = t.client.SetDeadline(time.Now().Add(closeTimeout))
		t.Stop()
	} else {
		_ = t.client.SetDeadline(time.Time{})
	}
	s.mu.Unlock()
	s.work.Go(func() {
		_, _ = io.Copy(io.Discard, t.client) // a client has no more to say
		awaitHangup(t.client, t.over)
		t.Stop()
	})
	_ = t.Run(t.client) // its client has gone, so its error matters to nobody
	t.client.Close()
	s.mu.Lock()
	delete(s.sessions, id)
	s.mu.Unlock()
	close(t.over)
}

// stop stops a session and waits until its stream is closed, because its client has
// read all or takes too long.
func (s *Server) stop(id uint64) {
	s.mu.Lock()
	t := s.sessions[id]
	s.mu.Unlock()
	if t != nil {
		_ = t.client.SetDeadline(time.Now().Add(stopTimeout))
		t.Stop()
		<-t.over
	}
}
