package handle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
)

// BenchmarkHandles follows all handles of a trace of a gc-verbose session, or of the trace
// that GCTRAIL_BENCH names.
func BenchmarkHandles(b *testing.B) {
	benchmark(b, func() pass.Model { return new(handle.Handles) })
}

// BenchmarkPins sums up the pinned objects of the same trace.
func BenchmarkPins(b *testing.B) { benchmark(b, func() pass.Model { return new(handle.Pins) }) }

func benchmark(b *testing.B, newModel func() pass.Model) {
	path := os.Getenv("GCTRAIL_BENCH")
	if path == "" {
		path = filepath.Join(b.TempDir(), "trace")
		if err := os.WriteFile(path, tracetest.Gunzip(b, "../../testdata/net10-lossy-handles.nettrace.gz"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	var events uint64
	for b.Loop() {
		m := newModel()
		in, err := open.File(path, open.Options{Want: pass.Wants(m), Runs: pass.Runs(m)})
		if err != nil {
			b.Fatal(err)
		}
		if err := pass.Run(b.Context(), in.Source, m); err != nil {
			b.Fatal(err)
		}
		for _, n := range in.Source.Counts() {
			events += n
		}
		b.SetBytes(in.Size)
		in.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
