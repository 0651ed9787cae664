package cli

import (
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/text"
)

// BenchmarkCommands runs the most usual commands over a trace of handles, or the one that
// GCTRAIL_BENCH names: an unpacked file, because unpacking would take most of the time.
func BenchmarkCommands(b *testing.B) {
	trace := cmp.Or(os.Getenv("GCTRAIL_BENCH"), unpackedTrace(b, "net10-lossy-handles.nettrace.gz"))
	info, err := os.Stat(trace)
	if err != nil {
		b.Fatal(err)
	}
	for _, command := range []string{"report", "report --format html", "gcs --format csv", "handles", "pins", "finalizers", "events"} {
		b.Run(command, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				std := &stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}
				cmd := newRootCmd(std)
				cmd.SetArgs(append(strings.Fields(command), trace))
				if err := std.execute(b.Context(), cmd); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// unpackedTrace unpacks a trace of testdata.
func unpackedTrace(b *testing.B, name string) string {
	packed, err := os.Open(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		b.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), strings.TrimSuffix(name, ".gz"))
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}
