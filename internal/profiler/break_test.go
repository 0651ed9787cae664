package profiler_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/diagtest"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/profiler"
)

// TestBrokenSessions: a session that breaks off is counted and begun again, until the process
// is no longer profiled; whatever came instead of events is no profile.
func TestBrokenSessions(t *testing.T) {
	extent.Long(t, "waits for the pause between two sessions")
	sessions := make(chan struct{}, 100)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serveBroken(c, sessions)
		}
	}()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("there is a profile") }))
	defer receiver.Close()
	p, err := profiler.New(profiler.Options{URL: receiver.URL, Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	p.Attach(ctx, 1, &profiler.Subject{Process: &diag.Process{Address: l.Addr().String(), InnerPID: 7, Name: "web"}, Service: "web"})
	for range 2 {
		select {
		case <-sessions:
		case <-time.After(dotnettest.Patience):
			t.Fatal("no session began")
		}
	}
	p.Detach(1)
	cancel()
	<-done
	if s := p.Stats(); s.Sessions == 0 || s.Sampling != 0 || s.Sent != 0 || s.QueuedBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// serveBroken begins a session with garbage, and closes it.
func serveBroken(c net.Conn, sessions chan<- struct{}) {
	defer c.Close()
	request := make([]byte, 1<<16)
	const commandAt = 16
	n, err := c.Read(request)
	if err != nil || n < commandAt+2 {
		return
	}
	if command := binary.BigEndian.Uint16(request[commandAt:]); command == diagtest.StopTracing || command >= diagtest.ProcessInfo {
		return
	}
	diagtest.Answer(c, diagtest.OK, make([]byte, 8))
	_, _ = c.Write([]byte("Nettrace, but no trace"))
	sessions <- struct{}{}
}
