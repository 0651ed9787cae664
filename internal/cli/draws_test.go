package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

// A pool holds runs of equal programs to draw from.
type pool struct {
	runs   []*compare.Run
	random *rand.Rand
}

// readPool reads the runs of a folder; nil if there is none.
func readPool(t *testing.T, folder string) *pool {
	t.Helper()
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	var talk strings.Builder
	std := &stdio{err: text.NewPrinter(&talk)}
	runs, err := std.runs(t.Context(), new(selection.Selection), []string{folder}, nil)
	if err != nil {
		t.Fatal(err, talk.String())
	}
	return &pool{runs, rand.New(rand.NewPCG(70, uint64(len(runs))))}
}

// draw returns different runs of the pool.
func (p *pool) draw(n int) []*compare.Run {
	drawn := make([]*compare.Run, n)
	for i, at := range p.random.Perm(len(p.runs))[:n] {
		drawn[i] = p.runs[at]
	}
	return drawn
}

// withoutWork returns copies of runs that do not say how much work they did.
func withoutWork(runs []*compare.Run) []*compare.Run {
	copies := make([]*compare.Run, len(runs))
	for i, r := range runs {
		c := *r
		c.Work = 0
		copies[i] = &c
	}
	return copies
}

// bases lists the ways to compare the runs of a pool.
var bases = []struct {
	name string
	of   func([]*compare.Run) []*compare.Run
}{
	{"without work", withoutWork},
	{"by work", slices.Clone[[]*compare.Run]},
}

// TestDraws draws sides from recorded runs, as docs/compare.md describes, and prints how
// often comparisons, budgets and trends are wrong: GCTRAIL_POOLS is a folder whose folders
// 0, 5 and 10 have runs of the same program that allocates so many percent more.
func TestDraws(t *testing.T) {
	folder := os.Getenv("GCTRAIL_POOLS")
	if folder == "" {
		t.Skip("needs recorded runs: set GCTRAIL_POOLS, see docs/compare.md")
	}
	equal := readPool(t, filepath.Join(folder, "0"))
	if equal == nil || len(equal.runs) < 20 {
		t.Fatalf("no 20 runs in %s/0", folder)
	}
	t.Run("equal", func(t *testing.T) { drawEqual(t, equal) })
	for _, percent := range []string{"5", "10"} {
		if more := readPool(t, filepath.Join(folder, percent)); more != nil {
			t.Run(percent+" more", func(t *testing.T) { drawMore(t, equal, more, percent) })
		}
	}
	t.Run("init", func(t *testing.T) { drawInit(t, equal) })
	t.Run("trend", func(t *testing.T) { drawTrends(t, equal) })
}

func drawEqual(t *testing.T, equal *pool) {
	const draws = 200
	for _, basis := range bases {
		for _, n := range []int{1, 2, 3, 5, 10} {
			verdicts, units, over := map[compare.Verdict]int{}, map[compare.Basis]int{}, 0
			for range draws {
				drawn := basis.of(equal.draw(2 * n))
				c := compare.Compare(drawn[:n], drawn[n:])
				verdicts[c.Verdict]++
				units[c.Basis]++
				if allows3.Check(drawn[n:], drawn[:n]).Failed() {
					over++
				}
			}
			t.Logf("equal, %d a side, %s: %v, compared per %v; check with 3 %%: %d failed", n, basis.name, verdicts, units, over)
			if most := 2 * draws / 100; verdicts[compare.Changed] > most || over > draws/100 {
				t.Errorf("%d a side, %s: %d changed, %d failed", n, basis.name, verdicts[compare.Changed], over)
			}
		}
	}
}

// allows3 allows 3 % more than a baseline.
var allows3 = &comparison.Budget{Version: comparison.BudgetVersion, Baseline: map[string]float64{"allocated_bytes": 3}}

func drawMore(t *testing.T, equal, more *pool, percent string) {
	const draws, side = 60, 5
	for _, basis := range bases {
		found, same, over, units := 0, 0, 0, map[compare.Basis]int{}
		for range draws {
			before, after := basis.of(equal.draw(side)), basis.of(more.draw(side))
			c := compare.Compare(before, after)
			units[c.Basis]++
			switch c.Changes[0].Verdict {
			case compare.Changed:
				found++
			case compare.Same:
				same++
			}
			if allows3.Check(after, before).Status == comparison.Over {
				over++
			}
		}
		t.Logf("+%s %%, %d a side, %s: found in %d of %d, same in %d, compared per %v; check with 3 %%: %d caught",
			percent, side, basis.name, found, draws, same, units, over)
		least := map[string]int{"5": 80, "10": 95}[percent]
		if 100*found < least*draws || same > 0 {
			t.Errorf("+%s %%, %s: found in %d, same in %d of %d", percent, basis.name, found, same, draws)
		}
	}
}

// drawInit checks runs against budgets that are made from five other runs.
func drawInit(t *testing.T, equal *pool) {
	for _, basis := range bases {
		failed, all, names := 0, 0, map[string]int{}
		for range 200 {
			drawn := basis.of(equal.draw(len(equal.runs)))
			b := comparison.BudgetFromRuns(drawn[:compare.MinRuns])
			for _, run := range drawn[compare.MinRuns:] {
				result := b.Check([]*compare.Run{run}, nil)
				if all++; result.Failed() {
					failed++
					names[result.Checks[0].Name]++
				}
			}
		}
		t.Logf("check --init of 5 runs, %s: %d of %d other runs over %v", basis.name, failed, all, names)
		if 100*failed > all {
			t.Errorf("%s: %d of %d equal runs exceed their budget", basis.name, failed, all)
		}
	}
}

func drawTrends(t *testing.T, equal *pool) {
	const draws = 100
	for _, basis := range bases {
		verdicts := map[string]int{}
		for range draws {
			for _, n := range []int{10, 20} {
				verdicts[fmt.Sprintf("%d runs: %s", n, compare.TrendsVerdict(compare.Trends(basis.of(equal.draw(n)))))]++
			}
		}
		t.Logf("trend, %s: %v", basis.name, verdicts)
	}
}
