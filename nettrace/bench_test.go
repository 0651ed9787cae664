package nettrace_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// benchmarkRead reads a trace of 150,543 events that came from a gc-verbose
// session.
func benchmarkRead(b *testing.B, opts nettrace.Options) {
	data := tracetest.Gunzip(b, "../testdata/net10-lossy-handles.nettrace.gz")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var events uint64
	for b.Loop() {
		r := nettrace.NewReader(bytes.NewReader(data), opts)
		for _, err := range r.Events() {
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, n := range r.Counts() {
			events += n
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

func BenchmarkHeaderWalk(b *testing.B) {
	benchmarkRead(b, nettrace.Options{Want: func(*trace.Descriptor) bool { return false }})
}

func BenchmarkHeaderWalkAhead(b *testing.B) {
	benchmarkRead(b, nettrace.Options{Ahead: true, Want: func(*trace.Descriptor) bool { return false }})
}

func BenchmarkEvents(b *testing.B) { benchmarkRead(b, nettrace.Options{}) }

func BenchmarkEventsWithStacks(b *testing.B) { benchmarkRead(b, nettrace.Options{Stacks: true}) }

// BenchmarkZeros skips zeros that follow a trace which lacks its end.
func BenchmarkZeros(b *testing.B) {
	const zeros = 64 << 20
	data := tracetest.Gunzip(b, "../testdata/net10-killed-web.nettrace.gz")
	data = append(data, make([]byte, zeros)...)
	b.SetBytes(zeros)
	for b.Loop() {
		for _, err := range nettrace.NewReader(bytes.NewReader(data), nettrace.Options{}).Events() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
