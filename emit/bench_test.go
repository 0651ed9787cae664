package emit_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

// Nobody listens: no allocation, and next to no time.
func BenchmarkDisabled(b *testing.B) {
	p := newProvider(b, emit.ProviderOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if p.Enabled(clr.KindGCAllocationTick) {
			p.Raise(&clr.GCAllocationTick{})
		}
	}
}

// BenchmarkEnabled measures the whole cost of an event, including the writing of the
// trace: a session listens, and makes the program wait if it cannot keep up.
func BenchmarkEnabled(b *testing.B) { benchmarkEnabled(b, runtime.GOMAXPROCS(0)) }

func BenchmarkEnabled16(b *testing.B) { benchmarkEnabled(b, 16) }

func benchmarkEnabled(b *testing.B, goroutines int) {
	p := newProvider(b, emit.ProviderOptions{})
	s := start(b, p, io.Discard, emit.SessionOptions{Providers: emit.GCVerbose(), Block: true})
	b.ReportAllocs()
	b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		tick := &clr.GCAllocationTick{AllocationAmount64: 102400, TypeName: clr.NewUTF16("System.String")}
		for pb.Next() {
			if p.Enabled(clr.KindGCAllocationTick) {
				p.Raise(tick)
			}
		}
	})
	if err := s.Close(); err != nil || s.Dropped() > 0 {
		b.Fatalf("%v, %d events dropped", err, s.Dropped())
	}
}

func newProvider(tb testing.TB, opt emit.ProviderOptions) *emit.Provider {
	tb.Helper()
	p, err := emit.NewProvider(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func start(tb testing.TB, p *emit.Provider, w io.Writer, opt emit.SessionOptions) *emit.Session {
	tb.Helper()
	s, err := p.Start(w, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
