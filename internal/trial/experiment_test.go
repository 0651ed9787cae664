package trial

import (
	"context"
	"math"
	"testing"
	"time"
)

// experiment runs two settings, whose runs take a second each.
func experiment(ctx context.Context, budget time.Duration, run func(s *Setting, round int) Run) *Result {
	var clock time.Time
	e := Experiment{
		Settings: []Setting{{Name: Present}, {Name: "A"}}, Budget: budget, Now: func() time.Time { return clock }, table: quantiles,
		Run: func(_ context.Context, s *Setting, round int) Run {
			clock = clock.Add(time.Second)
			return run(s, round)
		},
	}
	return e.Do(ctx)
}

// steady returns a run whose values hardly vary.
func steady(round int, work, memory float64) Run {
	v := Unknown()
	wobble := 1 + 0.001*float64(round%3)
	v[Work], v[Memory] = work*wobble, memory*wobble
	return Run{Values: v}
}

func TestEndings(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	for name, tt := range map[string]struct {
		ctx    context.Context
		budget time.Duration
		run    func(s *Setting, round int) Run
		ending Ending
		rounds int
	}{
		"no effect": {run: func(_ *Setting, round int) Run { return steady(round, 100, 1e8) }, ending: Decided, rounds: 5},
		"budget":    {budget: 7 * time.Second, run: func(_ *Setting, round int) Run { return steady(round, 100, 1e8) }, ending: Spent, rounds: 3},
		"base fails": {run: func(s *Setting, round int) Run {
			if s.Name == Present {
				return Run{Outcome: Failed, Code: 3}
			}
			return steady(round, 100, 1e8)
		}, ending: BaseFailing, rounds: patience},
		"candidate fails": {run: func(s *Setting, round int) Run {
			if s.Name != Present {
				return Run{Outcome: TimedOut}
			}
			return steady(round, 100, 1e8)
		}, ending: OthersFailing, rounds: patience},
		"cancelled in the third round": {ctx: cancelled, run: func(_ *Setting, round int) Run {
			if round == 3 {
				cancel()
			}
			return steady(round, 100, 1e8)
		}, ending: Cancelled, rounds: 2},
	} {
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		r := experiment(tt.ctx, tt.budget, tt.run)
		if r.Ending != tt.ending || r.Rounds != tt.rounds {
			t.Errorf("%s: %v after %d rounds, want %v after %d", name, r.Ending, r.Rounds, tt.ending, tt.rounds)
		}
		if len(r.Best) > 0 {
			t.Errorf("%s: %s wins", name, r.Best[0].Name)
		}
	}
}

// TestVerdicts has a setting that gains work and costs memory, and one for which the cost is
// larger than the gain.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		work, memory float64
		best         bool
	}{{150, 1.5e8, true}, {105, 1e9, false}} {
		r := experiment(context.Background(), 0, func(s *Setting, round int) Run {
			if s.Name == Present {
				return steady(round, 100, 1e8)
			}
			return steady(round+1, tt.work, tt.memory)
		})
		a := r.Candidates()[0]
		if work, memory := a.Figures[Work].Against, a.Figures[Memory].Against; work != Better || memory != Worse {
			t.Errorf("work is %v, memory %v", work, memory)
		}
		if wins := len(r.Best) > 0; wins != tt.best || !a.Front || !r.Base().Front {
			t.Errorf("wins: %t, in front: %t, present settings in front: %t", wins, a.Front, r.Base().Front)
		}
		if f := &a.Figures[Work]; !(f.ChangeLow < tt.work-100 && tt.work-100 < f.ChangeHigh) {
			t.Errorf("the change of %v %% is outside of %v to %v", tt.work-100, f.ChangeLow, f.ChangeHigh)
		}
	}
}

// TestFailuresDoNotWin has a faster setting under which some runs fail.
func TestFailuresDoNotWin(t *testing.T) {
	r := experiment(context.Background(), 0, func(s *Setting, round int) Run {
		switch {
		case s.Name == Present:
			return steady(round, 100, 1e8)
		case round == 4:
			return Run{Outcome: Failed, Code: 134}
		}
		return steady(round, 200, 1e8)
	})
	if a := r.Candidates()[0]; a.Bad() != 1 || a.Figures[Work].Against != Better || len(r.Best) > 0 {
		t.Errorf("%d runs failed, work is %v, %d settings win", a.Bad(), a.Figures[Work].Against, len(r.Best))
	}
}

// TestFromZero has a setting with pauses, which the present settings do not have.
func TestFromZero(t *testing.T) {
	r := experiment(context.Background(), 0, func(s *Setting, round int) Run {
		run := steady(round, 100, 1e8)
		run.Values[Paused] = 0
		if s.Name != Present {
			run.Values[Paused] = 5
		}
		return run
	})
	f := &r.Candidates()[0].Figures[Paused]
	if f.Against != Worse || !math.IsNaN(f.Change) || f.words() != "time paused 5.0 %" {
		t.Errorf("%v, %v, %q", f.Against, f.Change, f.words())
	}
}

// TestTooWide has two rounds, whose interval has no end that says anything.
func TestTooWide(t *testing.T) {
	f := criticals{}.figure(&metrics[PauseTail], []float64{0.1, 1000})
	if got := f.text(f.High); got != "-" {
		t.Errorf("the interval ends at %s", got)
	}
	if got := changes(9.5, math.Inf(1)); got != "+9.5 % or more" {
		t.Errorf("an open interval: %s", got)
	}
}

// TestIntervals: ends that read the same are printed once, times below the microsecond differ,
// and large changes are factors.
func TestIntervals(t *testing.T) {
	perWork := &metrics[ProcessorPerWork]
	for got, want := range map[string]string{
		(&Figure{Metric: perWork, Low: 1.2e-6, High: 1.4e-6}).interval(): "1.2 ns to 1.4 ns",
		(&Figure{Metric: perWork, Low: 1.2e-6, High: 1.2e-6}).interval(): "1.2 ns",
		(&Figure{Metric: perWork, Low: 0, High: 1.5e-3}).interval():      "0 ms to 1.50 µs",
		change(3604.8):       "37 times",
		changes(100, 3604.8): "2 to 37 times",
		changes(-12.3, 4.56): "-12 to +4.6 %",
		change(math.NaN()):   "-",
		changes(-100, 0.01):  "-100 to +0.0 %",
		changes(0.01, 0.02):  "+0.0 %",
		(&Figure{Metric: perWork, Value: 1, Change: 3604.8}).words(): "processor time per unit of work 37 times",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
