package collect

import (
	"context"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// maxHeap limits the memory for collecting from a hostile runtime. All of the test's
// runtimes write twice as much.
const maxHeap = 256 << 20

// TestHostileRuntimes: whatever a runtime writes, collecting from it ends in time and in
// bounded memory, and keeps the valid part of the trace.
func TestHostileRuntimes(t *testing.T) {
	extent.Long(t, "receives gigabytes")
	trace := webBytes(t)
	want := len(dotnettest.MustEnd(t, trace))
	trace = trace[:len(trace)-1]
	for _, h := range dotnettest.HostileRuntimes(trace) {
		t.Run(h.Name, func(t *testing.T) {
			client := diag.NewClient(h.Listen(t))
			client.Timeout = time.Second
			session, err := client.Collect(t.Context(), diag.Config{
				BufferMB: 1, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 0x1, Level: 4}},
			})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "a.nettrace")
			out, err := CreateFile(path)
			if err != nil {
				t.Fatal(err)
			}
			heap := watchHeap(t)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-h.Enough
				cancel()
			}()
			c := newCapture(&diag.Process{PID: 42, Name: h.Name}, session, out)
			err = c.run(ctx)
			cancel()
			most := heap.Load()
			t.Logf("%v; stopped: %v; broken: %v; %d bytes, heap of %d MB", err, c.stopped, c.broken, c.received.Load(), most>>20)
			if h.Keeps {
				if got := len(dotnettest.MustEndFile(t, path)); got < want {
					t.Errorf("%d collections are kept, want %d", got, want)
				}
			}
			if most > maxHeap {
				t.Errorf("the heap had %d bytes", most)
			}
		})
	}
}

// watchHeap returns the largest size of the heap from now on.
func watchHeap(t *testing.T) *atomic.Uint64 {
	runtime.GC()
	var most atomic.Uint64
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			metrics.Read(sample)
			most.Store(max(most.Load(), sample[0].Value.Uint64()))
		}
	}()
	return &most
}
