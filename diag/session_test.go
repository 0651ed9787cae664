package diag

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A sessionFake is a runtime with one session. It writes a piece every second, and when
// it is stopped the rest, before it answers.
type sessionFake struct {
	*fake
	rest    []string      // after Stop
	pace    time.Duration // between its pieces
	stopped chan struct{}
	closed  chan struct{} // the session's connection
}

func newSessionFake(t *testing.T, silent bool) *sessionFake {
	s := &sessionFake{stopped: make(chan struct{}), closed: make(chan struct{})}
	s.fake = &fake{t: t, respond: func(cmd command, payload []byte, c net.Conn) {
		switch {
		case cmd == cmdCollectTracing2:
			defer close(s.closed)
			c.Write(ok(fields{}.u64(42)))
			c.Write([]byte("begin "))
			if silent {
				io.Copy(io.Discard, c)
				return
			}
			<-s.stopped
			slow := dotnettest.SlowWriter{W: c, Pause: s.pace}
			for _, piece := range s.rest {
				if _, err := io.WriteString(slow, piece); err != nil {
					return
				}
			}
		case cmd == cmdStopTracing && silent:
			io.Copy(io.Discard, c)
		case cmd == cmdStopTracing:
			if string(payload) != string(fields{}.u64(42)) {
				t.Errorf("stop of %x", payload)
			}
			close(s.stopped)
			<-s.closed
			c.Write(ok(fields{}.u64(42)))
		}
	}}
	return s
}

func (s *sessionFake) collect() *Session {
	session, err := s.client().Collect(context.Background(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// TestStop: the contents of the runtime's buffer are read while it is asked to stop, for
// as long as more is coming.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionFake(t, false)
		f.rest, f.pace = []string{"a ", "b ", "c ", "end"}, defaultTimeout-3*time.Second
		session := f.collect()
		read := make(chan string)
		go func() {
			b, err := io.ReadAll(session)
			if err != nil {
				t.Error(err)
			}
			read <- string(b)
		}()
		time.Sleep(time.Hour) // an idle process
		stopped := make(chan error)
		go func() { stopped <- session.Stop(context.Background()) }()
		if got := <-read; got != "begin a b c end" {
			t.Errorf("read %q", got)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := errors.Join(session.Stop(context.Background()), session.Close()); err != nil {
			t.Error(err)
		}
		f.busy.Wait()
		if !slices.Equal(f.asked, []command{cmdCollectTracing2, cmdStopTracing}) {
			t.Errorf("asked %v", f.asked)
		}
	})
}

// TestClose: a session that its reader leaves is stopped, and the rest of its trace does
// not hold the runtime up.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionFake(t, false)
		f.rest = []string{"much", "more"}
		if err := f.collect().Close(); err != nil {
			t.Error(err)
		}
		f.busy.Wait()
		if !slices.Equal(f.asked, []command{cmdCollectTracing2, cmdStopTracing}) {
			t.Errorf("asked %v", f.asked)
		}
	})
}

// TestEndWith: a session whose context does not end is closed by the function that EndWith
// returns, which may be called again.
func TestEndWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionFake(t, false)
		end := f.collect().EndWith(t.Context(), time.Second)
		for range 2 {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		f.busy.Wait()
		if !slices.Equal(f.asked, []command{cmdCollectTracing2, cmdStopTracing}) {
			t.Errorf("asked %v", f.asked)
		}
	})
}

// TestCloseSilent: a process that is stopped delays closing a session by no more than the
// time for an answer.
func TestCloseSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionFake(t, true)
		session := f.collect()
		start := time.Now()
		if err := session.Close(); !errors.Is(err, ErrNoAnswer) {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*defaultTimeout {
			t.Errorf("took %v", took)
		}
		f.busy.Wait()
	})
}

// TestEnded: a process that has ended is not asked to stop.
func TestEnded(t *testing.T) {
	f := newFake(t, func(command, []byte) []byte { return append(ok(fields{}.u64(1)), "all"...) })
	session, err := f.client().Collect(context.Background(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(session); string(b) != "all" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := errors.Join(session.Stop(context.Background()), session.Close()); err != nil || len(f.asked) != 1 {
		t.Errorf("%v, asked %v", err, f.asked)
	}
}
