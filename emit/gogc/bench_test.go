package gogc_test

import (
	"io"
	"testing"

	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/emit/gogc"
)

// The benchmarks compare a program alone with one whose collections are raised,
// without and with exact pauses.

// BenchmarkAllocating allocates, with 64 MiB of live objects; an operation is 1 MiB.
func BenchmarkAllocating(b *testing.B) {
	kept := make([][]byte, 1<<14)
	next := 0
	raising(b, func() {
		for range 256 {
			kept[next%len(kept)] = make([]byte, 4096)
			next++
		}
	})
}

// BenchmarkSwitching hands a value to another goroutine and back, which the
// execution trace records.
func BenchmarkSwitching(b *testing.B) {
	to, from := make(chan []byte), make(chan []byte)
	go func() {
		for v := range to {
			from <- append([]byte(nil), v...)
		}
		close(from)
	}()
	v := make([]byte, 1024)
	raising(b, func() {
		to <- v
		v = <-from
	})
	close(to)
}

func raising(b *testing.B, work func()) {
	run := func(b *testing.B) {
		for b.Loop() {
			work()
		}
	}
	b.Run("alone", run)
	for _, opt := range []gogc.Options{{}, {ExactPauses: true}} {
		b.Run(map[bool]string{false: "raised", true: "exact"}[opt.ExactPauses], func(b *testing.B) {
			p, err := gogc.NewProvider(opt)
			if err != nil {
				b.Fatal(err)
			}
			session, err := p.Start(io.Discard, emit.SessionOptions{Providers: gogc.Wanted()})
			if err != nil {
				b.Fatal(err)
			}
			source, err := gogc.Start(p, opt)
			if err != nil {
				b.Fatal(err)
			}
			run(b)
			source.Stop()
			if err := session.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
