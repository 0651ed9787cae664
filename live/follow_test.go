//go:build !windows

package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/live"
	"github.com/gctrail/gctrail/trace"
)

// replay has a made-up runtime listen, which sends a trace to whoever wants
// one, and says so when it was asked to stop.
type replay struct {
	trace   []byte
	endless bool // it does not end before it is asked to stop
	stopped chan struct{}
}

const (
	header = 20
	stop   = 0x01
)

func (r *replay) start(t *testing.T) *diag.Process {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	r.stopped = make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return &diag.Process{PID: 4711, Name: "web", Address: path, Info: &diag.Info{CommandLine: "/app/web", RuntimeVersion: "10.0.12"}}
}

func (r *replay) serve(c net.Conn) {
	defer c.Close()
	request := make([]byte, 1<<16)
	if n, err := c.Read(request); err != nil || n < header {
		return
	}
	answer := append([]byte("DOTNET_IPC_V1\x00"), header+8, 0, 0xff, 0, 0, 0)
	c.Write(binary.LittleEndian.AppendUint64(answer, 1))
	if request[17] == stop {
		close(r.stopped)
		return
	}
	for b := r.trace; len(b) > 0; {
		n, err := c.Write(b[:min(len(b), 1000)])
		if err != nil {
			return
		}
		b = b[n:]
	}
	if r.endless {
		<-r.stopped
	}
}

const (
	webTrace       = "../testdata/net10-wks-web-collect.nettrace.gz"
	webCollections = 94
)

func TestFollow(t *testing.T) {
	whole := tracetest.Gunzip(t, webTrace)
	for _, test := range []struct {
		name     string
		trace    []byte
		least    int
		most     int
		endsWith error
		poll     time.Duration
	}{
		{"whole", whole, webCollections, webCollections, nil, 0},
		{"polled", whole, webCollections, webCollections, nil, 10 * time.Millisecond},
		{"killed", whole[:50_000], 10, webCollections - 10, live.ErrTruncated, 0},
		{"killed when polled", whole[:50_000], 10, webCollections - 10, live.ErrTruncated, 10 * time.Millisecond},
		{"nothing", nil, 0, 0, trace.ErrNotTrace, 0},
		{"no trace", bytes.Repeat([]byte("no trace "), 1000), 0, 0, trace.ErrNotTrace, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var kinds []live.Kind
			var copied bytes.Buffer
			collections := 0
			opts := live.Options{Poll: test.poll, Tap: func(*diag.Process) io.Writer { return &copied }}
			for u, err := range live.Follow(context.Background(), (&replay{trace: test.trace}).start(t), opts) {
				if err != nil {
					t.Fatal(err)
				}
				if u.Dropped != 0 {
					t.Errorf("%d dropped", u.Dropped)
				}
				if u.Kind != live.Collected {
					kinds = append(kinds, u.Kind)
				}
				switch u.Kind {
				case live.Collected:
					collections++
					p := u.Collection.Process
					if p.PID != 4711 || p.Runtime != ".NET 10.0.12" || p.Name == "" || u.Start.Year() < 2020 {
						t.Fatalf("process %+v, start %v", p, u.Start)
					}
				case live.Ended:
					if !errors.Is(u.Err, test.endsWith) {
						t.Errorf("ended by %v, want %v", u.Err, test.endsWith)
					}
				}
			}
			if collections < test.least || collections > test.most || len(kinds) != 2 || kinds[0] != live.Attached || kinds[1] != live.Ended {
				t.Errorf("%d collections, %v", collections, kinds)
			}
			if !bytes.HasPrefix(test.trace, copied.Bytes()) || collections > 0 && copied.Len() < len(test.trace) {
				t.Errorf("%d bytes were copied, of %d", copied.Len(), len(test.trace))
			}
		})
	}
}

// TestSlowCaller: the trace is read to its end whatever the caller does.
func TestSlowCaller(t *testing.T) {
	const queue = 10
	read := make(chan struct{})
	var once sync.Once
	opts := live.Options{Queue: queue, Tap: func(*diag.Process) io.Writer {
		return writerFunc(func(b []byte) {
			if len(b) > 0 && b[len(b)-1] == 1 {
				once.Do(func() { time.AfterFunc(200*time.Millisecond, func() { close(read) }) })
			}
		})
	}}
	seen, dropped := 0, 0
	for u, err := range live.Follow(context.Background(), (&replay{trace: tracetest.Gunzip(t, webTrace)}).start(t), opts) {
		if err != nil {
			t.Fatal(err)
		}
		<-read
		dropped += u.Dropped
		if u.Kind == live.Collected {
			seen++
		}
	}
	if seen+dropped != webCollections || seen > queue {
		t.Errorf("%d seen, %d dropped, of %d", seen, dropped, webCollections)
	}
}

type writerFunc func([]byte)

func (w writerFunc) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// TestStop: a runtime is asked to end its trace when the caller has enough, or
// its context ends.
func TestStop(t *testing.T) {
	whole := tracetest.Gunzip(t, webTrace)
	t.Run("break", func(t *testing.T) {
		r := &replay{trace: whole, endless: true}
		for u, err := range live.Follow(context.Background(), r.start(t), live.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Kind == live.Collected {
				break
			}
		}
		<-r.stopped
	})
	t.Run("context", func(t *testing.T) {
		r := &replay{trace: whole, endless: true}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var last *live.Update
		seen := 0
		for u, err := range live.Follow(ctx, r.start(t), live.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if last = u; u.Kind == live.Collected {
				seen++
				cancel()
			}
		}
		<-r.stopped
		if last.Kind != live.Ended || last.Err != nil || seen != webCollections {
			t.Errorf("%d collections, at last %+v", seen, last)
		}
	})
}

// TestPanic: a panic of the goroutine that reads can be recovered by the caller.
func TestPanic(t *testing.T) {
	opts := live.Options{Tap: func(*diag.Process) io.Writer { panic("no") }}
	defer func() {
		if err, ok := recover().(error); !ok || !strings.HasPrefix(err.Error(), "no\n") {
			t.Errorf("recovered %v", err)
		}
	}()
	for range live.Follow(t.Context(), (&replay{trace: tracetest.Gunzip(t, webTrace)}).start(t), opts) {
	}
}

// TestUnreachable: a process that cannot be attached to is an error.
func TestUnreachable(t *testing.T) {
	p := &diag.Process{Address: filepath.Join(t.TempDir(), "none")}
	n := 0
	for u, err := range live.Follow(context.Background(), p, live.Options{}) {
		n++
		if _, ok := errors.AsType[*diag.ConnectError](err); u != nil || !ok {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if n != 1 {
		t.Errorf("%d updates", n)
	}
}
