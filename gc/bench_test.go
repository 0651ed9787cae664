package gc_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// BenchmarkCollections rebuilds all collections of a trace: of a gc-verbose
// session, or of the trace that GCTRAIL_BENCH names.
func BenchmarkCollections(b *testing.B) {
	path := os.Getenv("GCTRAIL_BENCH")
	if path == "" {
		path = gunzipped(b, "../testdata/net10-lossy-handles.nettrace.gz")
	}
	b.ReportAllocs()
	var events, bytes int64
	for b.Loop() {
		in, err := open.File(path, open.Options{Want: gc.Wants})
		if err != nil {
			b.Fatal(err)
		}
		var m gc.Model
		for _, err := range m.Collections(in.Source) {
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, n := range in.Source.Counts() {
			events += int64(n)
		}
		bytes = in.Size
		in.Close()
	}
	b.SetBytes(bytes)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// gunzipped returns the path of an unpacked copy, for packing is not what is
// measured.
func gunzipped(b testing.TB, path string) string {
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		b.Fatal(err)
	}
	out, err := os.Create(filepath.Join(b.TempDir(), "trace"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Name()
}
