package collect

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestInbox: bytes are handed on when none has come for a while, all at once, or when many
// are held; the end is handed on after them.
func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runtime, client := net.Pipe()
		b := newInbox(client)
		began := time.Now()
		send := func(w io.Writer, n int) {
			if _, err := w.Write(make([]byte, n)); err != nil {
				t.Error(err)
			}
		}
		go func() {
			for range 10 {
				send(dotnettest.SlowWriter{W: runtime, Pause: inboxQuiet / 2}, 1000)
			}
		}()
		p := make([]byte, 1<<20)
		n, err := b.Read(p)
		if took, want := time.Since(began), 10*inboxQuiet/2+inboxQuiet; n != 10_000 || err != nil || took != want {
			t.Errorf("%d bytes after %v, %v; want 10,000 after %v", n, took, err, want)
		}
		_ = b.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := b.Read(p); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes, %v", n, err)
		}
		_ = b.SetReadDeadline(time.Time{})

		go func() {
			send(runtime, 2*inboxMost)
			send(runtime, 3)
			runtime.Close()
		}()
		began, got := time.Now(), 0
		for got < inboxMost {
			n, err := b.Read(p)
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("much was held for %v", took)
		}
		rest, err := io.ReadAll(b)
		if got += len(rest); got != 2*inboxMost+3 || err != nil {
			t.Errorf("%d bytes in all, %v", got, err)
		}
		b.close()
	})
}

// TestInboxBound: no more is received than may be held, until it is read; what nobody reads
// any more is dropped.
func TestInboxBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runtime, client := net.Pipe()
		b := newInbox(client)
		written := make(chan int64, 1)
		go func() {
			n, _ := io.Copy(runtime, io.LimitReader(zeros{}, 4*inboxMost))
			written <- n
		}()
		synctest.Wait()
		if n := b.count(); n < inboxMost || n > inboxMost+inboxPart {
			t.Errorf("%d bytes are held", n)
		}
		b.close()
		if n := <-written; n != 4*inboxMost {
			t.Errorf("%d bytes were received", n)
		}
		runtime.Close()
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestUntilMoment: a snapshot is asked for 70 or 170 ms after a pass of the sending thread,
// and at any time while that waits for an event.
func TestUntilMoment(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{0: 70, 69: 1, 70: 0, 71: 99, 140: 30, 170: 0, 171: 0, 5000: 0} {
		if got := untilMoment(since * time.Millisecond); got != want*time.Millisecond {
			t.Errorf("%v ms after a pass: %v", int64(since), got)
		}
	}
}

// TestAwaitMoment: the moment is 70 ms after the session began, or after the end of what
// came, whenever that is.
func TestAwaitMoment(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		passes []time.Duration // when something comes
		after  time.Duration   // when a snapshot is wanted
		want   time.Duration   // when it is asked for
	}{
		{nil, 0, 70 * ms},
		{nil, 50 * ms, 70 * ms},
		{nil, 80 * ms, 170 * ms},
		{nil, 3 * time.Second, 3 * time.Second},
		{[]time.Duration{0}, 0, 70 * ms},
		{[]time.Duration{0, 40 * ms}, 20 * ms, 110 * ms},
		{[]time.Duration{0, 100 * ms, 103 * ms, 106 * ms}, 104 * ms, 176 * ms},
		{[]time.Duration{0, 100 * ms, 200 * ms}, 90 * ms, 170 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			runtime, client := net.Pipe()
			b := newInbox(client)
			began := time.Now()
			go func() { _, _ = io.Copy(io.Discard, b) }()
			var passes sync.WaitGroup
			passes.Go(func() {
				for _, at := range test.passes {
					time.Sleep(time.Until(began.Add(at)))
					_, _ = runtime.Write([]byte{1})
				}
			})
			time.Sleep(test.after)
			b.awaitMoment(t.Context())
			if got := time.Since(began); got != test.want {
				t.Errorf("%v: asked after %v", test, got)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			b.awaitMoment(ended)
			passes.Wait()
			runtime.Close()
		})
	}
}

// TestAwaitMomentBound: a runtime that sends all the time is asked nevertheless.
func TestAwaitMomentBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runtime, client := net.Pipe()
		b := newInbox(client)
		go func() { _, _ = io.Copy(io.Discard, b) }()
		var sending sync.WaitGroup
		sending.Go(func() {
			slow := dotnettest.SlowWriter{W: runtime, Pause: time.Millisecond}
			for {
				if _, err := slow.Write([]byte{1}); err != nil {
					return
				}
			}
		})
		time.Sleep(inboxQuiet)
		began := time.Now()
		if b.awaitMoment(t.Context()); time.Since(began) != sendWait {
			t.Errorf("asked after %v", time.Since(began))
		}
		runtime.Close()
		sending.Wait()
	})
}
