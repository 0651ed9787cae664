package ctf_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// benchmark reads a real trace of two runtimes again and again.
func benchmark(b *testing.B, opts ctf.Options, read func(*ctf.Reader) int) {
	opts.Resolve = clr.Tracepoint
	files := realTraces(b)["net9-lttng-discarded"]
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		r, err := ctf.Open(files, opts)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(r.Size())
		events = read(r)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}

func BenchmarkEvents(b *testing.B) {
	benchmark(b, ctf.Options{}, drain)
}

// BenchmarkHeaders reads no payloads.
func BenchmarkHeaders(b *testing.B) {
	benchmark(b, ctf.Options{Want: func(*trace.Descriptor) bool { return false }}, drain)
}

func BenchmarkCollections(b *testing.B) {
	var m gc.Model
	benchmark(b, ctf.Options{Want: pass.Wants(&m), Head: pass.Head(&m), Runs: pass.Runs(&m)}, func(r *ctf.Reader) int {
		var m gc.Model
		for _, err := range m.Collections(r) {
			if err != nil {
				b.Fatal(err)
			}
		}
		return counted(r)
	})
}

func drain(r *ctf.Reader) int {
	for range r.Events() {
	}
	return counted(r)
}

func counted(r *ctf.Reader) (n int) {
	for _, c := range r.Counts() {
		n += int(c)
	}
	return n
}

// Events cost no memory once a stream is under way.
func TestAllocations(t *testing.T) {
	files := realTraces(t)["net9-lttng-discarded"]
	var events int
	allocs := testing.AllocsPerRun(3, func() {
		r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
		if err != nil {
			t.Fatal(err)
		}
		events = drain(r)
	})
	if perEvent := allocs / float64(events); perEvent > 0.5 {
		t.Errorf("%.2f allocations an event", perEvent)
	}
}
