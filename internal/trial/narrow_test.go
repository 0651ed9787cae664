package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/extent"
)

// narrowed tries settings whose runs take a second each, and gain by factors of work.
func narrowed(seed uint64, budget time.Duration, noise float64, gains ...float64) *Result {
	var clock time.Time
	random := rand.New(rand.NewPCG(seed, 1))
	e := Experiment{Settings: []Setting{{Name: Present}}, Budget: budget, Seed: seed, Now: func() time.Time { return clock }, table: quantiles}
	factors := map[string]float64{Present: 1}
	for i, gain := range gains {
		name := fmt.Sprint("S", i)
		factors[name] = gain
		e.Settings = append(e.Settings, Setting{Name: name})
	}
	e.Run = func(_ context.Context, s *Setting, round int) Run {
		clock = clock.Add(time.Second)
		run := steady(round, 100, 1e8)
		run.Values[Work] *= factors[s.Name] * (1 + noise*random.NormFloat64())
		return run
	}
	return e.Do(context.Background())
}

// TestNarrow: where time is short, it goes to the settings that promise most, and one that gains
// is found.
func TestNarrow(t *testing.T) {
	gains := []float64{1, 1, 1, 1.8, 1, 1.1}
	short := narrowed(1, time.Minute, 0.1, gains...)
	if len(short.Best) != 1 || short.Best[0].Name != "S3" {
		t.Errorf("%v: %s", short.Best, short.Says())
	}
	if left := len(short.Candidates()[3].Runs); left < 8 || len(short.Candidates()[0].Runs) >= left {
		t.Errorf("%d runs of the one that gains, %d of another", left, len(short.Candidates()[0].Runs))
	}
	if notes := strings.Join(short.Notes(), " "); !strings.Contains(notes, "promised more") {
		t.Error(notes)
	}
	long := narrowed(1, time.Hour, 0.1, gains...)
	if slices.ContainsFunc(long.Candidates(), func(o *Outcomes) bool { return o.Left > 0 }) {
		t.Error("settings are left although there is time for all")
	}
}

// TestNarrowedDoNotWin: choosing the settings that look best makes none win that is equal.
func TestNarrowedDoNotWin(t *testing.T) {
	winners, trials := 0, extent.Pick(50, 200, 2000)
	for seed := range uint64(trials) {
		if r := narrowed(seed, time.Minute, 0.1, 1, 1, 1, 1, 1, 1); len(r.Best) > 0 {
			winners++
		}
	}
	t.Logf("%d of %d trials have a winner", winners, trials)
	if winners*100 > 2*trials {
		t.Errorf("%d of %d trials of equal settings have a winner", winners, trials)
	}
}
