package diag

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"
)

// A DialPort is a diagnostic port that a process connects to. The process waits
// at startup until it is resumed, unless NoSuspend is set.
type DialPort struct {
	Path      string
	NoSuspend bool
}

// ParsePortVariable parses the value of DOTNET_DiagnosticPorts as the runtime does
// (ds-ipc.c): ports with tags in any order and case. It ignores unknown tags, and leaves
// out ports to listen on.
func ParsePortVariable(value string) []DialPort {
	var ports []DialPort
	for config := range strings.SplitSeq(value, ";") {
		parts := strings.FieldsFunc(config, func(r rune) bool { return r == ',' })
		if len(parts) == 0 {
			continue
		}
		p := DialPort{Path: parts[0]}
		listens := false
		for _, tag := range parts[1:] {
			switch strings.ToLower(tag) {
			case "suspend":
				p.NoSuspend = false
			case "nosuspend":
				p.NoSuspend = true
			case "listen":
				listens = true
			case "connect":
				listens = false
			}
		}
		if !listens {
			ports = append(ports, p)
		}
	}
	return ports
}

// A servedPort is a port that requests arrive on. Its fields are guarded by the
// server's lock.
type servedPort struct {
	path      string
	suspended bool
}

// resume resumes the runtimes that wait for a port.
func (s *Server) resume(port *servedPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if port != nil {
		port.suspended = false
	}
	waiting := s.own.suspended
	for _, p := range s.ports {
		waiting = waiting || p.suspended
	}
	select {
	case <-s.resumed:
	default:
		if !waiting {
			close(s.resumed)
		}
	}
}

// How often a port without a listener is retried, as in ds-ipc.h.
const (
	firstRedial = 10 * time.Millisecond
	lastRedial  = 500 * time.Millisecond
)

// dial connects to a port, identifies the process, and serves a command, repeatedly
// until the server is closed.
func (s *Server) dial(port *servedPort) {
	for pause := firstRedial; ; pause = min(pause*5/4, lastRedial) {
		for s.dialOnce(port) {
			pause = firstRedial
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
	}
}

// dialOnce dials a port and waits for the command. It serves the command concurrently, so
// that the port can be dialled again.
func (s *Server) dialOnce(port *servedPort) (served bool) {
	c, err := s.advertise(port)
	if err != nil {
		return false
	}
	first, err := s.firstByte(c)
	if err != nil || !s.slot() || !s.ask(c) {
		c.Close()
		return false
	}
	s.work.Go(func() {
		defer s.free()
		s.serve(c, io.MultiReader(bytes.NewReader(first), c), port)
	})
	return true
}

// advertise connects to a port and identifies the process.
func (s *Server) advertise(port *servedPort) (conn, error) {
	limited, cancel := context.WithTimeout(s.ctx, lastRedial)
	defer cancel()
	c, err := dial(limited, port.path)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := c.Write(s.opt.Info.advertise()); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// firstByte waits for a command without a limit, because a port may be idle for hours, and
// ends with the server. The rest of the command then has to come in time.
func (s *Server) firstByte(c conn) ([]byte, error) {
	defer context.AfterFunc(s.ctx, func() { c.Close() })()
	_ = c.SetDeadline(time.Time{})
	first := make([]byte, 1)
	_, err := io.ReadFull(c, first)
	_ = c.SetDeadline(time.Now().Add(requestTimeout))
	return first, err
}
