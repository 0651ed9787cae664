package heap_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// A golden holds the figures that another program found in a snapshot: see golden.py among the
// traces.
type golden struct {
	Number  uint32         `json:"gc"`
	Nodes   int64          `json:"nodes"`
	Live    int64          `json:"live_nodes"`
	Missing int64          `json:"edges_missing"`
	Largest [][]any        `json:"top_retained_objects"` // address, type, size, retained
	Depths  map[string]any `json:"dominator_depth_histogram"`
}

// TestGoldens: an independent program, which uses another algorithm, finds the same dominator
// trees of real heaps.
func TestGoldens(t *testing.T) {
	folder := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "heap")
	files, err := filepath.Glob(filepath.Join(folder, "*.golden.json"))
	if err != nil || len(files) == 0 {
		t.Skip("needs the reference traces")
	}
	compared := 0
	for _, file := range files {
		name := strings.TrimSuffix(file, ".golden.json")
		if _, err := os.Stat(name + ".nettrace.xz"); err != nil {
			continue
		}
		var document struct {
			Snapshots []golden `json:"snapshots"`
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &document); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			all := dotnettest.Snapshots(t, name+".nettrace.xz")
			if len(all) != len(document.Snapshots) {
				t.Fatalf("%d snapshots, want %d", len(all), len(document.Snapshots))
			}
			for i, want := range document.Snapshots {
				s := all[i]
				if s.Graph == nil {
					if want.Missing == 0 {
						t.Errorf("GC %d: missing %+v", s.Number, s.Missing)
					}
					continue
				}
				want.compare(t, s)
				compared++
			}
		})
	}
	if compared == 0 {
		t.Error("no snapshot was compared")
	}
}

func (want *golden) compare(t *testing.T, s *heap.Snapshot) {
	d := s.Graph.Dominators()
	if s.Number != want.Number || s.Objects != want.Nodes || d.Live() != want.Live {
		t.Errorf("GC %d: %d objects, %d alive", s.Number, s.Objects, d.Live())
	}
	free := map[string]int64{}
	for _, gap := range s.Graph.Gaps() {
		free[gap.Generation] += gap.Bytes
	}
	for _, g := range s.Generations {
		if free[g.Name] != g.Free.Or(0) {
			t.Errorf("GC %d: gaps of %d bytes in %s, which has %v free", s.Number, free[g.Name], g.Name, g.Free)
		}
	}
	var largest [][]any
	for _, p := range d.Largest(len(want.Largest)) {
		o := d.Object(p)
		name := cmp.Or(s.Graph.Type(o).Name, "?")
		largest = append(largest, []any{fmt.Sprintf("0x%x", s.Graph.Address(o)), name, float64(s.Graph.Size(o)), float64(d.Retained(p))})
	}
	if diff := gocmp.Diff(want.Largest, largest); diff != "" {
		t.Errorf("GC %d: %s", s.Number, diff)
	}
	if want.Depths["levels"] != nil {
		return // too many to be in the golden
	}
	depth := make([]int, d.Live()+1)
	depths := map[string]any{}
	for p := uint32(1); int64(p) <= d.Live(); p++ {
		depth[p] = depth[d.Holder(p)] + 1
		key := fmt.Sprint(depth[p])
		n, _ := depths[key].(float64)
		depths[key] = n + 1
	}
	if diff := gocmp.Diff(want.Depths, depths); diff != "" {
		t.Errorf("GC %d: objects by depth: %s", s.Number, diff)
	}
}

// TestGrowing: three snapshots of a program that grows by 3,000 objects and as many arrays.
func TestGrowing(t *testing.T) {
	var counts []string
	for _, s := range dotnettest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz") {
		d := s.Graph.Dominators()
		for of, retained := range d.ByType() {
			if of.Name == "Shop.Leak" {
				for _, u := range s.Types {
					if u.Type == of {
						counts = append(counts, fmt.Sprintf("GC %d: %d of %d bytes retain %d", s.Number, u.Objects, u.Bytes, retained))
					}
				}
			}
		}
	}
	want := []string{"GC 6: 3000 of 96000 bytes retain 936000", "GC 7: 6000 of 192000 bytes retain 1872000"}
	if diff := gocmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkSnapshots reads the snapshots of a trace, or of the one that GCTRAIL_BENCH
// names, and finds what retains what.
func BenchmarkSnapshots(b *testing.B) {
	path := os.Getenv("GCTRAIL_BENCH")
	if path == "" {
		path = filepath.Join(b.TempDir(), "leak.nettrace")
		if err := os.WriteFile(path, tracetest.Gunzip(b, "../../testdata/net10-wks-leak.nettrace.gz"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	of, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(of.Size())
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range dotnettest.Snapshots(b, path) {
			s.Graph.Dominators().ByType()
		}
	}
}
