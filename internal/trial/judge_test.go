package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/extent"
)

// A simulation makes runs with noise, in which what slows a round down slows all of it.
type simulation struct {
	random  *rand.Rand
	noise   float64
	effects map[string]float64 // factors on throughput and processor time
	clock   time.Time
	round   int
	drift   float64
}

func (s *simulation) run(_ context.Context, setting *Setting, round int) Run {
	s.clock = s.clock.Add(time.Second)
	if round != s.round {
		s.round, s.drift = round, s.noise*s.random.NormFloat64()
	}
	noisy := func(v, factor float64) float64 {
		return v * factor * math.Exp(s.drift+s.noise*s.random.NormFloat64())
	}
	effect := s.effects[setting.Name]
	if effect == 0 {
		effect = 1
	}
	v := Unknown()
	v[Work], v[ProcessorPerWork] = noisy(1000, effect), noisy(2, 1/effect)
	v[Paused], v[PauseMedian], v[PauseTail] = noisy(8, 1), noisy(3, 1), noisy(20, 1)
	v[Memory] = noisy(200e6, 1)
	return Run{Values: v}
}

// quantiles saves all simulations from computing them.
var quantiles = criticals{}

// try simulates one experiment.
func try(seed uint64, candidates int, noise float64, effects map[string]float64) *Result {
	s := &simulation{random: rand.New(rand.NewPCG(seed, 7)), noise: noise, effects: effects}
	e := Experiment{Settings: []Setting{{Name: Present}}, Run: s.run, Seed: seed, Now: func() time.Time { return s.clock }, table: quantiles}
	for i := range candidates {
		e.Settings = append(e.Settings, Setting{Name: fmt.Sprintf("S%d", i)})
	}
	return e.Do(context.Background())
}

// tries returns how many experiments are simulated.
func tries() uint64 {
	return extent.Pick(uint64(100), 200, 1000)
}

// TestEqualSettingsDoNotWin holds the promise that nothing wins on noise: of experiments with
// ten settings that change nothing, at most 2 of 100 may have a winner.
func TestEqualSettingsDoNotWin(t *testing.T) {
	for _, noise := range []float64{0.02, 0.10} {
		winners := 0
		for seed := range tries() {
			if len(try(seed, 10, noise, nil).Best) > 0 {
				winners++
			}
		}
		t.Logf("noise of %v: %d of %d have a winner", noise, winners, tries())
		if most := int(tries()) * 2 / 100; winners > most {
			t.Errorf("noise of %v: %d of %d experiments have a winner, at most %d may", noise, winners, tries(), most)
		}
	}
}

// TestGainIsFound has a gain of 20 % among two settings without an effect.
func TestGainIsFound(t *testing.T) {
	for _, noise := range []float64{0.02, 0.10} {
		found, rounds := 0, 0
		for seed := range tries() {
			r := try(seed, 3, noise, map[string]float64{"S1": 1.2})
			rounds += r.Rounds
			if len(r.Best) == 1 && r.Best[0].Name == "S1" {
				found++
			}
		}
		t.Logf("noise of %v: found in %d of %d, after %.1f rounds on average", noise, found, tries(), float64(rounds)/float64(tries()))
		if least := int(tries()) * 95 / 100; found < least {
			t.Errorf("noise of %v: found in %d of %d experiments, at least %d expected", noise, found, tries(), least)
		}
	}
}

// TestNothingHelps: without noise, settings that change nothing are said to gain no more than a
// bound; with noise, how much it may hide.
func TestNothingHelps(t *testing.T) {
	for noise, want := range map[float64]string{0.001: "Nothing helps: in ", 0.1: "may be hidden by noise"} {
		for seed := range uint64(20) {
			r := try(seed, 3, noise, nil)
			gain, metric := r.hidden()
			if says := r.Says(); metric == nil || gain <= 0 || !strings.Contains(says, want) || !strings.Contains(says, gainText(gain)) {
				t.Errorf("noise of %v: %q", noise, says)
			}
		}
	}
	idle := Figure{Metric: &metrics[Paused], ChangeLow: math.NaN(), ChangeHigh: math.NaN()}
	if gain := idle.openGain(0); gain != 0 {
		t.Errorf("where nothing is paused, a gain of %v %% is open", gain)
	}
	r := try(1, 3, 0.001, map[string]float64{"S0": 0.5}) // worse
	if gain, _ := r.hidden(); gain > smallGain {
		t.Errorf("a setting that is worse leaves a gain of %v %% open", gain)
	}
}

// TestCollectorShare has a collector whose threads take a fifth of the processor time, and a
// setting without which half of it is saved.
func TestCollectorShare(t *testing.T) {
	for _, tt := range []struct {
		gc, candidate float64 // percent of threads under the present settings; factor on the processor time
		low, high     float64
	}{{20, 1, 18, 20}, {0, 0.5, 48, 50}, {0, 1, 0, 1}} {
		r := experiment(context.Background(), 0, func(s *Setting, round int) Run {
			v := Unknown()
			v[Processor] = 4 * (1 + 0.001*float64(round%3))
			v[Collector] = tt.gc
			if s.Name != Present {
				v[Processor] = 4 * tt.candidate * (1 + 0.001*float64(round%2))
				v[Collector] = 0
			}
			return Run{Values: v}
		})
		share, known := r.CollectorShare()
		if share < tt.low || share > tt.high || known != (share >= leastBound) {
			t.Errorf("%+v: %v, %t", tt, share, known)
		}
	}
}
