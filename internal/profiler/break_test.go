package profiler_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/profiler"
)

// TestBrokenSessions: a session that breaks off is counted and begun again, until the process
// is no longer profiled; whatever came instead of events is no profile.
func TestBrokenSessions(t *testing.T) {
	extent.Long(t, "waits for the pause between two sessions")
	sessions := make(chan struct{}, 100)
	address := dotnettest.Serve(t, "tcp", "127.0.0.1:0", dotnettest.Answering("web", func(c net.Conn) {
		_, _ = c.Write([]byte("Nettrace, but no trace"))
		sessions <- struct{}{}
	}))
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("there is a profile") }))
	defer receiver.Close()
	p, ctx, end := started(t, receiver.URL, time.Second)
	p.Attach(ctx, 1, &profiler.Subject{Process: &diag.Process{Address: address, InnerPID: 7, Name: "web"}, Service: "web"})
	for range 3 { // the second one settles the first
		select {
		case <-sessions:
		case <-time.After(dotnettest.Patience):
			t.Fatal("no session began")
		}
	}
	p.Detach(1)
	end()
	if s := p.Stats(); s.Sessions == 0 || s.Sampling != 0 || s.Sent != 0 || s.QueuedBytes != 0 {
		t.Errorf("%+v", s)
	}
}
