package diag

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestStopHeldUp: a runtime that another client blocks goes on with the trace and never
// reads the request to stop. The session gives up.
func TestStopHeldUp(t *testing.T) {
	path := filepath.Join(tempDir(t), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept() // one request, and no other
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, maxMessage)
		c.Read(b)
		c.Write(ok(fields{}.u64(42)))
		more := dotnettest.SlowWriter{W: c, Pause: 10 * time.Millisecond}
		for err == nil {
			_, err = io.WriteString(more, "more")
		}
	}()
	client := NewClient(path)
	session, err := client.Collect(context.Background(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = 200 * time.Millisecond
	go io.Copy(io.Discard, session)
	if err := session.Stop(context.Background()); !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
	session.Close()
}
