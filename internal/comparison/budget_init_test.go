package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/extent"
)

// noisy returns runs whose pauses, sizes and work vary log-normally; noise is the standard
// deviation of the logarithm.
func noisy(random *rand.Rand, n int, noise float64) []*compare.Run {
	runs := make([]*compare.Run, n)
	for i := range runs {
		vary := func() float64 { return math.Exp(noise * random.NormFloat64()) }
		runs[i] = run("equal", time.Duration(2e6*vary()), int64(1e6*vary()))
		runs[i].Work = 100 * vary()
	}
	return runs
}

// Of later equal runs, at most one in a hundred exceeds a budget made of five, however
// much they vary; and a fixed program is held tightly.
func TestEqualRunsKeepBudget(t *testing.T) {
	random := rand.New(rand.NewPCG(60, 60))
	for _, noise := range []float64{0, 0.02, 0.2, 0.5} {
		failed, all := 0, 0
		for range extent.Pick(20, 60, 60) {
			b := BudgetFromRuns(noisy(random, compare.MinRuns, noise))
			for _, r := range noisy(random, 30, noise) {
				if all++; b.Check([]*compare.Run{r}, nil).Failed() {
					failed++
				}
			}
		}
		if limit := 0.01*float64(all) + 3*math.Sqrt(0.01*float64(all)); float64(failed) > limit {
			t.Errorf("runs that vary by %.0f %%: %d of %d equal ones exceed their budget", 100*noise, failed, all)
		}
	}
	b := BudgetFromRuns(noisy(random, compare.MinRuns, 0))
	more := run("more", 2*time.Millisecond, 1.1e6)
	more.Work = 100
	if got := b.Check([]*compare.Run{more}, nil); !got.Failed() {
		t.Errorf("10 %% more than runs that never vary: %+v", got.Checks)
	}
}

// Percentiles have a limit only where pauses are enough; totals are limited by work where
// all runs state it; a share of the time only below all of it; fewer than five runs say that
// the limits are a guess.
func TestWhatIsLimited(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 61))
	runs := noisy(random, 5, 0.01)
	b := BudgetFromRuns(runs)
	if _, limited := b.Limits["pause_p99_ms"]; limited {
		t.Error("p99 of a hundred pauses has a limit")
	}
	if _, limited := b.Limits["allocated_bytes_per_work"]; !limited || b.NeedsWork() != "allocated_bytes_per_work" {
		t.Errorf("limits are %v", b.Limits)
	}
	runs[0].Work = 0
	if b := BudgetFromRuns(runs); b.Limits["allocated_bytes"] == 0 || b.NeedsWork() != "" {
		t.Errorf("limits are %v", b.Limits)
	}
	busy := []*compare.Run{run("all pause", 98*time.Millisecond, 1e6), run("some pause", 60*time.Millisecond, 1e6)}
	if limit, limited := BudgetFromRuns(busy).Limits["pause_pct"]; limited {
		t.Errorf("pauses are limited to %g %% of the time", limit)
	}
	few, many := BudgetFromRuns(runs[:2]), BudgetFromRuns(runs)
	if few.comment == many.comment || few.Limits["pause_max_ms"] <= many.Limits["pause_max_ms"] {
		t.Errorf("two runs: %q, %v", few.comment, few.Limits)
	}
}

// A limit that runs may exceed twice over is named with the range of the runs, if it is the
// runs that vary; so is a share of the time that has no limit for that reason.
func TestLooseLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(62, 62))
	for _, n := range []int{1, 2, compare.MinRuns} {
		if loose := BudgetFromRuns(noisy(random, n, 0.02)).Loose(); len(loose) > 0 {
			t.Errorf("%d runs that vary by 2 %%: %q", n, loose)
		}
	}
	var runs []*compare.Run
	for i := range compare.MinRuns {
		runs = append(runs, run("vary", time.Duration(1+i)*8*time.Millisecond, int64(1+i)*1e7))
	}
	want := []string{
		"allocated per run varies from 1.00 GB to 5.00 GB between runs; its limit is 165 GB, 33 times the largest",
		"GC pause time varies from 8.0 % to 40.0 % between runs; it has no limit, because that would be 100 % or more",
		"longest pause varies from 8.00 ms to 40.0 ms between runs; its limit is 1.32 s, 33 times the largest",
	}
	if loose := BudgetFromRuns(runs).Loose(); !slices.Equal(loose, want) {
		t.Errorf("got  %q\nwant %q", loose, want)
	}
}

func TestBudgetReady(t *testing.T) {
	limits := map[string]float64{"pause_max_ms": 1}
	for _, test := range []struct {
		budget   Budget
		baseline bool
		ready    bool
	}{
		{Budget{}, false, false},
		{Budget{}, true, false},
		{Budget{Limits: limits}, false, true},
		{Budget{Limits: limits}, true, false},
		{Budget{Findings: []string{"R21"}}, false, true},
		{Budget{Baseline: limits}, false, false},
		{Budget{Limits: limits, Baseline: limits}, true, true},
	} {
		if err := test.budget.Ready(test.baseline); (err == nil) != test.ready {
			t.Errorf("%+v, with a baseline: %v: %v", test.budget, test.baseline, err)
		}
	}
}
