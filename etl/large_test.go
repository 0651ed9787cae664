package etl_test

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestLarge writes files of 200 MB and more before they are compressed to the folder that
// GCTRAIL_LARGE names, inputs to measure the whole program with: plain.etl and
// packed.etl, and of 64 processors with buffers of 1 MiB wide.etl and widepacked.etl. If
// GCTRAIL_LARGE_FROM names a trace, they repeat it.
func TestLarge(t *testing.T) {
	dir := os.Getenv("GCTRAIL_LARGE")
	if dir == "" {
		t.Skip("GCTRAIL_LARGE names no folder")
	}
	src := packed(t)
	if from := os.Getenv("GCTRAIL_LARGE_FROM"); from != "" {
		var err error
		if src, err = os.ReadFile(from); err != nil {
			t.Fatal(err)
		}
	}
	const size = 200 << 20
	times := size/(64<<10*len(starts(src))) + 1
	const lanes, mib = 8, 1 << 20 // src has 8 processors
	wide := (times + lanes - 1) / lanes * lanes
	for name, r := range map[string]tracetest.ETLRepetition{
		"plain.etl":      {Times: times},
		"packed.etl":     {Times: times, Compress: true},
		"wide.etl":       {Times: wide, Lanes: lanes, BufferSize: mib},
		"widepacked.etl": {Times: wide, Lanes: lanes, BufferSize: mib, Compress: true},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		if err := tracetest.RepeatETL(w, src, r); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
