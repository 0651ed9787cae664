package watch_test

import (
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/watch"
)

// TestMemory checks that the memory of a process is read repeatedly, and only on request.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of processes is read on Linux only")
	}
	for _, asked := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var m machine
			m.start(os.Getpid(), "test")
			w := watching(t, &m, watch.Options{Memory: asked})
			before, known := only(t, after(w, 3*time.Second)).Memory.RSS.Get()
			if known != asked || asked && before == 0 {
				t.Fatalf("asked for: %v; known: %v, %d bytes", asked, known, before)
			}
			if !asked {
				return
			}
			const added = 64 << 20
			b := make([]byte, added)
			for i := range b {
				b[i] = 1
			}
			grown := only(t, after(w, 3*time.Second)).Memory.RSS.Or(0) - before
			runtime.KeepAlive(b)
			if grown < added/2 {
				t.Errorf("grew by %d bytes, expected about %d", grown, added)
			}
		})
	}
}
