package alloc_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// TestTicksAgreeWithTheRuntime: ticks of real programs add up to GC.GetTotalAllocatedBytes at
// their end, plus the unused ends of allocation contexts. A thread gets a context of up to 256 KB
// (gc.cpp, limit_from_size), and every collection takes the rest of it away. Few threads of the
// programs allocate.
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
		var m alloc.Model
		var starts starts
		in, err := open.File(name+".nettrace.gz", open.Options{Want: pass.Wants(&m, &starts)})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := pass.Run(t.Context(), in.Source, &m, &starts); err != nil {
			t.Fatal(err)
		}
		collections := int64(starts)
		loss := in.Source.Loss()
		lossy := loss.Events > 0 || loss.Truncated || loss.Damaged > 0
		for _, total := range m.Totals() {
			if total.Source != alloc.Tick {
				continue
			}
			compared++
			const unused = 6 * 256 << 10 // in a collection
			more := total.Bytes - allocated
			t.Logf("%s: ticks are %.4f of what was allocated, %d more for each of %d collections",
				filepath.Base(name), float64(total.Bytes)/float64(allocated), more/max(1, collections), collections)
			if more > (collections+1)*unused || more < -allocated/1000 && !lossy {
				t.Errorf("%s: ticks add up to %d, allocated was %d, in %d collections", filepath.Base(name), total.Bytes, allocated, collections)
			}
		}
	}
	if compared < 5 {
		t.Errorf("%d traces were compared, expected at least 5", compared)
	}
}

// starts counts collections.
type starts int64

func (*starts) Kinds() []clr.Kind   { return []clr.Kind{clr.KindGCStart} }
func (s *starts) Event(*pass.Event) { *s++ }

// readTruth returns the program's own count, zero if unknown.
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
