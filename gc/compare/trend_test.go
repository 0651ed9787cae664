package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTrends(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 20))
	more := ordinary
	more.allocated *= 1.2
	runs := append(ordinary.runs(random, 12), more.runs(random, 12)...)
	runs[3].samples[0].heapAfter = nan // one figure does not matter
	for i := range runs[5].samples {
		runs[5].samples[i].pause = nan
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
		if unknown := math.IsNaN(trend.Values[5]); pauses != unknown && trend.Name != "committed_peak_bytes" && trend.Name != "suspend_mean_ms" {
			t.Errorf("%s of the run without pauses is %v", trend.Name, trend.Values[5])
		}
	}
	if got := Trends(nil); len(got) != len(metrics) {
		t.Errorf("%d trends of no runs", len(got))
	}
}
