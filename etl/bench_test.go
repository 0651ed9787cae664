package etl_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// repeated returns a real trace several times over, and its size when it is not
// compressed.
func repeated(b *testing.B, compress bool) ([]byte, int64) {
	const times = 8
	src := packed(b)
	var plain, out bytes.Buffer
	if err := tracetest.RepeatETL(&plain, src, tracetest.ETLRepetition{Times: times}); err != nil {
		b.Fatal(err)
	}
	if !compress {
		return plain.Bytes(), int64(plain.Len())
	}
	if err := tracetest.RepeatETL(&out, src, tracetest.ETLRepetition{Times: times, Compress: true}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(plain.Len())/float64(out.Len()), "ratio")
	return out.Bytes(), int64(plain.Len())
}

// benchmark reads a trace; its speed is in uncompressed bytes.
func benchmark(b *testing.B, compress bool, read func(r *etl.Reader) error, opts etl.Options) {
	data, size := repeated(b, compress)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := read(etl.NewReader(bytes.NewReader(data), int64(len(data)), opts)); err != nil {
			b.Fatal(err)
		}
	}
}

func all(r *etl.Reader) error {
	for _, err := range r.Events() {
		if err != nil {
			return err
		}
	}
	return nil
}

func collections(r *etl.Reader) error {
	var m gc.Model
	for _, err := range m.Collections(r) {
		if err != nil {
			return err
		}
	}
	return nil
}

func none(*trace.Descriptor) bool { return false }

func BenchmarkHeaderWalk(b *testing.B) { benchmark(b, false, all, etl.Options{Want: none}) }

func BenchmarkEvents(b *testing.B) { benchmark(b, false, all, etl.Options{}) }

func BenchmarkEventsWithStacks(b *testing.B) { benchmark(b, false, all, etl.Options{Stacks: true}) }

func BenchmarkCollections(b *testing.B) {
	benchmark(b, false, collections, etl.Options{Want: gc.Wants})
}

// The packed ones are faster with -cpu 2 than with -cpu 1. Add -count 2: package
// testing runs the first with all processors, whatever -cpu says.

func BenchmarkPackedHeaderWalk(b *testing.B) { benchmark(b, true, all, etl.Options{Want: none}) }

func BenchmarkPackedCollections(b *testing.B) {
	benchmark(b, true, collections, etl.Options{Want: gc.Wants})
}
