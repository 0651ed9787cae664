package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTrends(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 20))
	more := ordinary
	more.allocated *= 1.2
	runs := append(ordinary.runs(random, 12), more.runs(random, 12)...)
	runs[3].samples[0].figures[heapAfter] = nan // one figure does not matter
	for i := range runs[5].samples {
		runs[5].samples[i].figures[pause] = nan
	}
	for _, trend := range Trends(runs) {
		if len(trend.Values) != len(runs) {
			t.Fatalf("%s has %d values", trend.Name, len(trend.Values))
		}
		if trend.Name == allocatedTotal {
			if len(trend.Steps) != 1 || trend.Steps[0].Run != 12 || math.Abs(trend.Steps[0].Percent-20) > 2 {
				t.Errorf("allocated has the steps %+v, want one of 20 %% at run 12", trend.Steps)
			}
			continue
		}
		if len(trend.Steps) > 0 {
			t.Errorf("%s has the steps %+v", trend.Name, trend.Steps)
		}
		pauses := trend.quant > 0 || trend.Name == pauseShare || trend.Name == "pause_mean_ms"
		if unknown := math.IsNaN(trend.Values[5]); pauses != unknown && !slices.Contains([]string{"committed_peak_bytes", "suspend_mean_ms", gcTime}, trend.Name) {
			t.Errorf("%s of the run without pauses is %v", trend.Name, trend.Values[5])
		}
	}
	if got := TrendsVerdict(Trends(runs)); got != Changed {
		t.Errorf("verdict %s", got)
	}
	if got := Trends(nil); len(got) != len(metrics) {
		t.Errorf("%d trends of no runs", len(got))
	}
}

// TestTrendVerdicts: fewer than MinTrend runs cannot show that nothing changed, and
// MinTrend can show a change.
func TestTrendVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 21))
	more := ordinary
	more.allocated *= 1.5
	for _, test := range []struct {
		runs []*Run
		want Verdict
	}{
		{nil, CannotTell},
		{ordinary.runs(random, 1), CannotTell},
		{ordinary.runs(random, MinTrend-1), CannotTell},
		{ordinary.runs(random, MinTrend), NoChange},
		{append(ordinary.runs(random, MinTrend/2), more.runs(random, MinTrend/2)...), Changed},
	} {
		trends := Trends(test.runs)
		if got := TrendsVerdict(trends); got != test.want {
			t.Errorf("%d runs: %s, want %s", len(test.runs), got, test.want)
		}
		for i := range trends {
			if committed := &trends[i]; committed.Name == "committed_peak_bytes" && (committed.Known() != 0 || committed.Verdict() != CannotTell) {
				t.Errorf("committed bytes, recorded in %d runs: %s", committed.Known(), committed.Verdict())
			}
		}
	}
}

// TestMinTrend: too many permutations of fewer than MinTrend values have the same two
// halves.
func TestMinTrend(t *testing.T) {
	same := func(n int) float64 {
		ways := 1.0
		for i := range n / 2 {
			ways *= float64(n-i) / float64(i+1)
		}
		return 2 / ways
	}
	if same(MinTrend) > Alpha || same(MinTrend-1) <= Alpha {
		t.Errorf("of %d runs %.4f of the permutations, of %d %.4f", MinTrend-1, same(MinTrend-1), MinTrend, same(MinTrend))
	}
}
