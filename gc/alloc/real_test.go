package alloc_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/open"
)

// Ticks of real programs add up to what GC.GetTotalAllocatedBytes returned at
// their end. A tick counts whole allocation contexts, and the method only the
// used part of those that are still open, so ticks are slightly more.
func TestTicksAgreeWithTheRuntime(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "eventpipe")
	truths, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(truths) == 0 {
		t.Skipf("no traces of programs with known allocations in %s", dir)
	}
	compared := 0
	for _, path := range truths {
		allocated := readTruth(t, path)
		name := strings.TrimSuffix(path, ".truth.json")
		if _, err := os.Stat(name + ".nettrace.gz"); err != nil || allocated == 0 {
			continue
		}
		in, err := open.File(name+".nettrace.gz", open.Options{Want: alloc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var m alloc.Model
		for ev, err := range in.Source.Events() {
			if err != nil {
				t.Fatal(err)
			}
			m.Feed(ev)
		}
		loss := in.Source.Loss()
		lossy := loss.Events > 0 || loss.Truncated || loss.Damaged > 0
		for _, total := range m.Totals() {
			if total.Source != alloc.Tick {
				continue
			}
			compared++
			ratio := float64(total.Bytes) / float64(allocated)
			t.Logf("%s: ticks are %.4f of what was allocated", filepath.Base(name), ratio)
			if ratio > 1.04 || ratio < 0.999 && !lossy {
				t.Errorf("%s: ticks add up to %d, allocated was %d", filepath.Base(name), total.Bytes, allocated)
			}
		}
	}
	if compared < 5 {
		t.Errorf("%d traces were compared, expected at least 5", compared)
	}
}

// readTruth returns what a program counted itself, zero if unknown.
func readTruth(t *testing.T, path string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Truth struct {
			Allocated int64 `json:"total_allocated_bytes"`
		}
	}
	if err := json.Unmarshal(data, &of); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return of.Truth.Allocated
}
