package whatif

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// A share counts budgets, and how many of them the rule gives within 2 %.
type share struct{ all, near, lacking, wholes, nearWholes int }

// TestRule recomputes the budgets of real traces: 98 % and more of them, and of the
// collections of a heap in whole, are to be within 2 % of what the runtime recorded, where
// the trace has all that they depend on. In net9-srv-datas-all, most of the others are of
// collections above the target cost of DATAS, which collections do not have.
func TestRule(t *testing.T) {
	shared := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces")
	for name, set := range map[string]struct {
		budgets, wholes int // percent
		patterns        []string
	}{
		"testdata": {98, 98, []string{"../../testdata/net10-*.nettrace.gz", "../../testdata/net9-*.nettrace.gz", "../../testdata/net8-*.nettrace.gz"}},
		"shared":   {98, 98, []string{shared + "/eventpipe/*.nettrace.gz", shared + "/lab/*.nettrace.gz", shared + "/etw/*.etl.zip"}},
	} {
		t.Run(name, func(t *testing.T) {
			var total share
			for _, pattern := range set.patterns {
				files, _ := filepath.Glob(pattern)
				for _, file := range files {
					total.add(t, file)
				}
			}
			if name == "shared" && total.all == 0 {
				t.Skipf("%s is not there; GCTRAIL_SHARED names the folder", shared)
			}
			t.Logf("%d of %d budgets, %d of %d collections of a heap in whole; %d budgets lack an input",
				total.near, total.all, total.nearWholes, total.wholes, total.lacking)
			if total.all < 1000 || total.near*100 < total.all*set.budgets || total.nearWholes*100 < total.wholes*set.wholes {
				t.Errorf("too few budgets are recomputed: %+v", total)
			}
		})
	}
}

// add recomputes the budgets of a trace.
func (s *share) add(t *testing.T, file string) {
	of := collections(t, file)
	for p, all := range of {
		var l BudgetLearner
		for _, c := range all {
			l.Add(c)
		}
		r := NewRecomputer(l.Limits(p))
		budgets := make([]Budget, 0, len(all))
		for _, c := range all {
			budgets = append(budgets, r.Next(c)...)
		}
		s.count(t, append(budgets, r.End()...))
	}
}

// count adds budgets of one process.
func (s *share) count(t *testing.T, budgets []Budget) {
	type part struct {
		number, heap uint32
	}
	whole, lacking := map[part]bool{}, map[part]bool{}
	for _, b := range budgets {
		k := part{b.Number, b.Heap}
		near := b.Close()
		switch {
		case b.Lacks != "":
			s.lacking++
			lacking[k] = true
			continue
		case near:
			s.near++
		default:
			t.Logf("GC %d, heap %d: budget of %d is %d, recomputed %.0f", b.Number, b.Heap, b.Generation, b.Recorded, b.Recomputed)
		}
		s.all++
		earlier, seen := whole[k]
		whole[k] = near && (earlier || !seen)
	}
	for k, near := range whole {
		if lacking[k] {
			continue
		}
		s.wholes++
		if near {
			s.nearWholes++
		}
	}
}

// collections reads the collections of a trace, by process.
func collections(t *testing.T, file string) map[*gc.Process][]*gc.Collection {
	t.Helper()
	in, err := open.File(file, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := gc.Model{PerHeap: true}
	of := map[*gc.Process][]*gc.Collection{}
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			break // some traces are cut on purpose
		}
		of[c.Process] = append(of[c.Process], c)
	}
	return of
}
