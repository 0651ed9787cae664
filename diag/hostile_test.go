package diag

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// flood writes without end, as fast as it is read.
func flood(c net.Conn) {
	b := make([]byte, 1<<20)
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// drip writes a byte a second without end.
func drip(c net.Conn) {
	slow := dotnettest.SlowWriter{W: c, Pause: time.Second}
	for {
		if _, err := slow.Write([]byte{0}); err != nil {
			return
		}
	}
}

func hold(c net.Conn) { io.Copy(io.Discard, c) }

// TestHostileAnswers: whatever the answer is, a request ends in time with an error that
// names the fault.
func TestHostileAnswers(t *testing.T) {
	info := func(b []byte) []byte { return append(fields{}.u32(1).u64(7), b...) }
	long := fields{}.u32(0x7fffffff)
	for _, test := range []struct {
		name   string
		answer func(net.Conn)
		is     error
		takes  time.Duration
	}{
		{"nothing, and closes", func(net.Conn) {}, ErrHungUp, 0},
		{"nothing for ever", hold, ErrNoAnswer, defaultTimeout},
		{"zeros without end", flood, ErrProtocol, 0},
		{"a byte a second", drip, ErrNoAnswer, defaultTimeout},
		{"another protocol", func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.9 and more than that\r\n") }, ErrProtocol, 0},
		{"another version", func(c net.Conn) { c.Write(append([]byte("DOTNET_IPC_V2\x00"), ok(nil)[14:]...)) }, ErrProtocol, 0},
		{"a size of 0", func(c net.Conn) { c.Write(append(fields("DOTNET_IPC_V1\x00").u16(0), 0xff, 0, 0, 0)) }, ErrProtocol, 0},
		{"a size that never comes", func(c net.Conn) {
			c.Write(append(fields("DOTNET_IPC_V1\x00").u16(0xffff), 0xff, 0, 0, 0))
			hold(c)
		}, ErrNoAnswer, defaultTimeout},
		{"a part, and closes", func(c net.Conn) { c.Write(ok(info(make([]byte, 16)))[:30]) }, ErrHungUp, 0},
		{"a long string", func(c net.Conn) { c.Write(ok(info(append(make([]byte, 16), long...)))) }, ErrProtocol, 0},
		{"a string without its end", func(c net.Conn) {
			c.Write(ok(info(append(make([]byte, 16), fields{}.u32(2).u16('a').u16('b')...))))
		}, ErrProtocol, 0},
		{"an empty payload", func(c net.Conn) { c.Write(ok(nil)) }, ErrProtocol, 0},
		{"an error", func(c net.Conn) { c.Write(refuse(Fail)) }, Fail, 0},
		{"an unknown error", func(c net.Conn) { c.Write(refuse(0xdeadbeef)) }, HRESULT(0xdeadbeef), 0},
		{"too old, whatever is asked", func(c net.Conn) { c.Write(refuse(UnknownCommand)) }, UnknownCommand, 0},
		{"a request", func(c net.Conn) { c.Write(fields{}.message(cmdResumeRuntime)) }, ErrProtocol, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, respond: func(_ command, _ []byte, c net.Conn) { test.answer(c) }}
				start := time.Now()
				if _, err := f.client().Info(context.Background()); !errors.Is(err, test.is) {
					t.Errorf("%v, want %v", err, test.is)
				}
				if took := time.Since(start); took != test.takes {
					t.Errorf("took %v, want %v", took, test.takes)
				}
				f.busy.Wait()
			})
		})
	}
}

// TestHostileSessions: once stopped, a session ends in bounded time and with bounded
// size, whatever its runtime does.
func TestHostileSessions(t *testing.T) {
	end := func(c net.Conn) { c.Write([]byte("end")) }
	config := Config{BufferMB: 1, Providers: []Provider{gcProvider}}
	const longest = stopTime + stopTimePerMB + stopAnswerTimeout
	for _, test := range []struct {
		name    string
		trace   func(c net.Conn, stopped <-chan struct{})
		stopped func(c net.Conn) // answers StopTracing; nil does when the trace has ended
		is      error
		takes   time.Duration // at most, from Stop on
	}{
		{"well behaved", func(c net.Conn, stopped <-chan struct{}) { <-stopped; end(c) }, nil, nil, 0},
		{"floods from the start", func(c net.Conn, _ <-chan struct{}) { flood(c) }, nil, ErrUnending, stopAnswerTimeout},
		{"floods when it is stopped", func(c net.Conn, stopped <-chan struct{}) { <-stopped; flood(c) }, nil, ErrUnending, stopAnswerTimeout},
		{"drips without end", func(c net.Conn, _ <-chan struct{}) { drip(c) }, nil, ErrUnending, longest},
		{
			"says that it stopped, and drips",
			func(c net.Conn, _ <-chan struct{}) { drip(c) },
			func(c net.Conn) { c.Write(ok(fields{}.u64(1))) }, ErrUnending, defaultTimeout,
		},
		{
			"says that it stopped, and is silent",
			func(c net.Conn, _ <-chan struct{}) { hold(c) },
			func(c net.Conn) { c.Write(ok(fields{}.u64(1))) }, ErrUnending, defaultTimeout,
		},
		{"is silent", func(c net.Conn, _ <-chan struct{}) { hold(c) }, hold, ErrNoAnswer, defaultTimeout},
		{"refuses to stop", func(c net.Conn, _ <-chan struct{}) { hold(c) }, func(c net.Conn) { c.Write(refuse(Fail)) }, Fail, 0},
		{"answers with garbage", func(c net.Conn, _ <-chan struct{}) { hold(c) }, func(c net.Conn) { c.Write(make([]byte, 100)) }, ErrProtocol, 0},
		{"hangs up when it is stopped", func(_ net.Conn, stopped <-chan struct{}) { <-stopped }, func(net.Conn) {}, nil, stopAnswerTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopped, over := make(chan struct{}), make(chan struct{})
				f := &fake{t: t, respond: func(cmd command, _ []byte, c net.Conn) {
					switch {
					case cmd == cmdCollectTracing2:
						defer close(over)
						c.Write(ok(fields{}.u64(1)))
						test.trace(c, stopped)
						c.Close()
					case cmd != cmdStopTracing:
						c.Write(refuse(UnknownCommand))
					default:
						close(stopped)
						if test.stopped != nil {
							test.stopped(c)
							return
						}
						<-over
						c.Write(ok(fields{}.u64(1)))
					}
				}}
				session, err := f.client().Collect(context.Background(), config)
				if err != nil {
					t.Fatal(err)
				}
				var size int64
				read := make(chan error)
				go func() {
					var err error
					size, err = io.Copy(io.Discard, session)
					read <- err
				}()
				start := time.Now()
				err = session.Stop(context.Background())
				if err != nil && !errors.Is(err, ErrUnending) {
					session.Close() // as who asks to stop in vain
				}
				readErr := <-read
				if errors.Is(test.is, ErrUnending) && !errors.Is(readErr, ErrUnending) {
					t.Errorf("read to the end with %v", readErr)
				} else if got := errors.Join(err, readErr); !errors.Is(got, test.is) {
					t.Errorf("stopped with %v, want %v", got, test.is)
				}
				if took := time.Since(start); took > test.takes {
					t.Errorf("took %v, want %v at most", took, test.takes)
				}
				if most := int64(stopBytes + 1<<20 + 1<<20); size > most {
					t.Errorf("read %d bytes, want %d at most", size, most)
				}
				session.Close()
				f.busy.Wait()
			})
		})
	}
}

// TestHostileEnvironment: reading an environment is bounded.
func TestHostileEnvironment(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(net.Conn)
		is     error
	}{
		{"4 GB", func(c net.Conn) { c.Write(ok(fields{}.u32(0xffffffff).u16(0))); flood(c) }, ErrProtocol},
		{"many empty variables", func(c net.Conn) {
			c.Write(ok(fields{}.u32(8 + 1<<20).u16(0)))
			c.Write(append(fields{}.u32(1<<30), bytes.Repeat([]byte{0}, 4+1<<20)...))
		}, ErrProtocol},
		{"one that goes on", func(c net.Conn) {
			env := fields{}.u32(1).str("A=1")
			c.Write(append(ok(fields{}.u32(uint32(len(env))).u16(0)), env...))
			flood(c)
		}, nil},
		{"one that never comes", func(c net.Conn) { c.Write(ok(fields{}.u32(1 << 20).u16(0))); hold(c) }, ErrNoAnswer},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, respond: func(_ command, _ []byte, c net.Conn) { test.answer(c) }}
				if _, err := f.client().Environment(context.Background()); !errors.Is(err, test.is) {
					t.Errorf("%v, want %v", err, test.is)
				}
				f.busy.Wait()
			})
		})
	}
}
