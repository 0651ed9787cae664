package gc_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// counted are numbers of samples: of a process, and of its threads that pause the others for
// collections, from SuspendEEBegin to RestartEEEnd.
type counted struct{ samples, pausing uint64 }

// TestRealSamples counts the samples of real traces as a script did that shares no code with
// gctrail, and reads the bytes itself. They have no background collection.
func TestRealSamples(t *testing.T) {
	shared := cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../shared")
	for path, want := range map[string]map[uint64]counted{
		"../testdata/netfx452-win-x64-head.etl.zip":                     {3676: {871, 3}},
		filepath.Join(shared, "traces", "etw", "net.4.5.2.x64.etl.zip"): {3676: {5126, 33}, 3988: {348, 10}},
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, err := os.Stat(path); err != nil {
				t.Skipf("%s is not there; GCTRAIL_SHARED names the folder", path)
			}
			m := new(gc.Model)
			in, err := open.File(path, open.Options{Want: pass.Wants(m, m.Processors())})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			for _, err := range m.Collections(in.Source, m.Processors()) {
				if err != nil {
					t.Fatal(err)
				}
			}
			found := 0
			for _, p := range m.Processes() {
				want, paused := want[p.PID]
				if !paused {
					continue
				}
				found++
				k, known := p.Kernel.Get()
				if got := (counted{k.Samples, k.GCSamples}); !known || got != want || k.Source != gc.CPUSamples || k.Interval != time.Millisecond || k.Assumed {
					t.Errorf("process %d: %+v, want %+v", p.PID, k, want)
				}
			}
			if found != len(want) {
				t.Errorf("%d processes, want %d", found, len(want))
			}
		})
	}
}
