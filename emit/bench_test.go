package emit_test

import (
	"io"
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

// One session listens, and keeps up or makes the program wait.
func BenchmarkEnabled(b *testing.B) { benchmarkEnabled(b, 1) }

func BenchmarkEnabled16(b *testing.B) { benchmarkEnabled(b, 16) }

func benchmarkEnabled(b *testing.B, goroutines int) {
	p := newProvider(b, emit.ProviderOptions{})
	s, err := p.Start(io.Discard, emit.SessionOptions{Providers: emit.GCVerbose, Block: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetParallelism(goroutines)
	b.RunParallel(func(pb *testing.PB) {
		tick := &clr.GCAllocationTick{AllocationAmount64: 102400, TypeName: clr.NewUTF16("System.String")}
		for pb.Next() {
			if p.Enabled(clr.KindGCAllocationTick) {
				p.Raise(tick)
			}
		}
	})
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s.Dropped())/float64(b.N), "dropped/op")
}

func newProvider(tb testing.TB, opt emit.ProviderOptions) *emit.Provider {
	tb.Helper()
	p, err := emit.NewProvider(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}
