package stats_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// TestAllocatedAgainstTheRuntime compares the allocated bytes of processes with the
// result of GC.GetTotalAllocatedBytes at their end: exact within 0.5 %, an estimate
// within 5 %, and otherwise between the bounds.
func TestAllocatedAgainstTheRuntime(t *testing.T) {
	root := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces")
	var traces []string
	for _, folder := range []string{"eventpipe", "lab", "runs"} {
		found, err := filepath.Glob(filepath.Join(root, folder, "*.nettrace.gz"))
		if err != nil {
			t.Fatal(err)
		}
		found = found[:min(len(found), extent.Pick(4, len(found), len(found)))]
		traces = append(traces, found...)
	}
	if len(traces) == 0 {
		t.Skipf("no traces of programs with known allocations in %s", root)
	}
	compared := 0
	for _, path := range traces {
		truth := allocatedInTruth(t, strings.TrimSuffix(path, ".nettrace.gz"))
		if truth == 0 {
			continue
		}
		compared++
		sum := allocatedIn(t, path)
		off := float64(sum.Sum)/float64(truth) - 1
		wrong := false
		switch sum.Certainty() {
		case gc.Exact:
			wrong = off < -0.005 || off > 0.005
		case gc.Estimate:
			wrong = off < -0.05 || off > 0.05
		case gc.LowerBound:
			wrong = off > 0
		}
		most, bounded := sum.Max().Get()
		if wrong || bounded && most < truth && sum.Certainty() != gc.Exact {
			t.Errorf("%s: %d bytes (%v, at most %v), allocated were %d", filepath.Base(path), sum.Sum, sum.Certainty(), sum.Max(), truth)
		}
	}
	if compared == 0 {
		t.Errorf("none of %d traces has its truth beside it", len(traces))
	}
}

// allocatedIn returns the bytes allocated by the process with the most collections in a
// trace.
func allocatedIn(t *testing.T, path string) stats.Bytes {
	t.Helper()
	in, err := open.File(path, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var m gc.Model
	sums := make(map[*gc.Process]*stats.Summary)
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		if sums[c.Process] == nil {
			sums[c.Process] = &stats.Summary{SumsOnly: true}
		}
		sums[c.Process].Add(c)
	}
	var busiest stats.Summary
	for _, s := range sums {
		if s.All().Count > busiest.All().Count {
			busiest = *s
		}
	}
	return busiest.Allocated()
}

// allocatedInTruth returns the bytes allocated according to a program's own account; 0 if
// there is none beside its trace.
func allocatedInTruth(t *testing.T, name string) int64 {
	t.Helper()
	for _, suffix := range []string{".truth.json", ".json"} {
		data, err := os.ReadFile(name + suffix)
		if err != nil || len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var account struct {
			Allocated int64 `json:"allocated"`             // lab
			Total     int64 `json:"total_allocated_bytes"` // gcload
			Truth     struct {
				Total int64 `json:"total_allocated_bytes"`
			} `json:"truth"`
		}
		if err := json.Unmarshal(data, &account); err != nil {
			t.Fatalf("%s: %v", name+suffix, err)
		}
		return cmp.Or(account.Allocated, account.Total, account.Truth.Total)
	}
	return 0
}
