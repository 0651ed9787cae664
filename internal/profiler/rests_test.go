package profiler_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/internal/diagtest"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/profiler"
)

// A raiser is a runtime that raises a known number of samples, each of an object of 1 MiB, at a
// steady rate.
type raiser struct {
	address string
	raised  atomic.Int64
	longest atomic.Int64 // time between two pieces of samples
}

// steady is the longest time between two pieces of samples that makes a steady rate of them.
const steady = 50 * time.Millisecond

// startRaiser starts a runtime that raises so many samples a second until the test ends.
func startRaiser(t *testing.T, perSecond int) *raiser {
	t.Helper()
	p, err := emit.NewProvider(emit.ProviderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := emit.Serve(t.Context(), p, emit.ServeOptions{Folder: t.TempDir(), Environment: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	r := &raiser{address: server.Address()}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		thread, began := p.NewThread(), time.Now()
		latest := began
		sample := &clr.AllocationSampled{ObjectSize: 1 << 20, TypeName: clr.NewUTF16("A")}
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			r.longest.Store(max(r.longest.Load(), int64(time.Since(latest))))
			latest = time.Now()
			for due := int64(time.Since(began).Seconds() * float64(perSecond)); r.raised.Load() < due; r.raised.Add(1) {
				thread.Raise(sample)
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		<-ended
		server.Close()
		p.Close()
	})
	return r
}

// A recorder passes requests on to a runtime, and notes whether the sessions that it was asked for
// sample allocations.
type recorder struct {
	address string
	mu      sync.Mutex
	sample  []bool
}

func startRecorder(t *testing.T, to string) *recorder {
	t.Helper()
	r := &recorder{}
	r.address = diagtest.Serve(t, "unix", filepath.Join(t.TempDir(), "socket"), func(c net.Conn) {
		request := make([]byte, 1<<16)
		n, err := c.Read(request)
		if err != nil {
			return
		}
		r.note(request[:n])
		runtime, err := net.Dial("unix", to)
		if err != nil {
			return
		}
		defer runtime.Close()
		if _, err := runtime.Write(request[:n]); err != nil {
			return
		}
		gone := context.AfterFunc(t.Context(), func() { runtime.Close() })
		defer gone()
		_, _ = io.Copy(c, runtime)
	})
	return r
}

func (r *recorder) note(request []byte) {
	const eventPipe, set = 2, 16 // of commands
	if request[set] != eventPipe || request[set+1] == diagtest.StopTracing&0xFF {
		return
	}
	keywords := binary.LittleEndian.AppendUint64(nil, clr.KeywordAllocationSampling|clr.KeywordJit)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sample = append(r.sample, bytes.Contains(request, keywords))
}

// sampled returns whether each session sampled allocations.
func (r *recorder) sampled() []bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sample)
}

// TestRests: of a process that raises four times as many samples as it may, and rests three
// quarters of the time, the profiles have the bytes of all samples. In each rest, a session is
// asked for that does not sample, so that a runtime with other sessions rests, too.
func TestRests(t *testing.T) {
	extent.Long(t, "waits for several rests")
	if runtime.GOOS == "windows" {
		t.Skip("the runtime of the test is reached through a Unix socket")
	}
	r := startRaiser(t, 4*profiler.MaxEvents)
	recorder := startRecorder(t, r.address)
	var allocated atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		_, p, err := pushed(request)
		if err != nil {
			t.Error(err)
			return
		}
		for _, s := range p.Sample {
			allocated.Add(s.Value[1])
		}
	}))
	defer receiver.Close()
	p, err := profiler.New(profiler.Options{URL: receiver.URL, Interval: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); p.Run(ctx) }()
	before := r.raised.Load()
	p.Attach(ctx, 1, &profiler.Subject{Process: &diag.Process{
		PID: os.Getpid(), InnerPID: os.Getpid(), Name: "raiser", Address: recorder.address, Info: &diag.Info{RuntimeVersion: "10.0.0"},
	}, Service: "raiser"})
	const enough = 8
	for deadline := time.Now().Add(dotnettest.Patience); p.Stats().Rests < enough || p.Stats().Sampling == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", p.Stats())
		}
	}
	raised := r.raised.Load() - before
	p.Detach(1)
	cancel()
	<-done
	sessions := recorder.sampled()
	for i, sampled := range sessions {
		if sampled != (i%2 == 0) {
			t.Fatalf("sessions that sample: %v, want every second one", sessions)
		}
	}
	if len(sessions) < 2*enough {
		t.Errorf("only %d sessions", len(sessions))
	}
	got := float64(allocated.Load()>>20) / float64(raised)
	if longest := time.Duration(r.longest.Load()); longest > steady {
		t.Skipf("on this busy machine, the runtime of the test raised nothing for %v, so that its rate was not steady: %.2f of the bytes", longest, got)
	}
	t.Logf("the profiles have %.3f of %d MB: %+v", got, raised, p.Stats())
	if got < 0.75 || got > 1.25 {
		t.Errorf("the profiles have %.3f of the bytes", got)
	}
}
