package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// correlated returns a series whose neighbours are correlated by rho.
func correlated(random *rand.Rand, n int, rho float64) []float64 {
	values := make([]float64, n)
	v := random.NormFloat64()
	for i := range values {
		values[i] = v
		v = rho*v + math.Sqrt(1-rho*rho)*random.NormFloat64()
	}
	return values
}

// A first-order autoregression of n values is worth n·(1−ρ)/(1+ρ).
func TestEffective(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, rho := range []float64{0, 0.5, 0.9} {
		const n, trials = 4000, 20
		sum := 0.0
		for range trials {
			sum += effective(correlated(random, n, rho))
		}
		got, want := sum/trials, n*(1-rho)/(1+rho)
		if math.Abs(got-want) > 0.15*want {
			t.Errorf("ρ %.1f: %d values are worth %.0f, want about %.0f", rho, n, got, want)
		}
	}
	if got := effective(make([]float64, 50)); got != 50 {
		t.Errorf("50 equal values are worth %v", got)
	}
}

// The interval of a mean holds the true one about as often as it says, though
// the series is correlated; blocks of one would fail.
func TestResampleCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	const n, trials, replicas = 400, 300, 199
	inside := 0
	drawn := make([]int, n)
	for range trials {
		values := correlated(random, n, 0.5)
		length := blockLength(n, effective(values))
		means := make([]float64, replicas)
		for k := range means {
			drawBlocks(drawn, n, length, random)
			for _, i := range drawn {
				means[k] += values[i] / n
			}
		}
		if low, high := central(means, 0.05); low <= 0 && 0 <= high {
			inside++
		}
	}
	if share := float64(inside) / trials; share < 0.87 || share > 0.99 {
		t.Errorf("the 95 %% interval holds the mean in %.1f %%", 100*share)
	}
}

func TestPercentile(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[float64]float64{0: 1, 0.05: 1, 0.5: 5, 0.51: 6, 0.9: 9, 0.99: 10, 1: 10} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
}

func TestChangePoints(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	steps := func(levels ...float64) []float64 {
		var values []float64
		for _, level := range levels {
			for range 15 {
				values = append(values, level+random.NormFloat64())
			}
		}
		return values
	}
	for _, test := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"one level", steps(10, 10), nil},
		{"one step", steps(10, 15), []int{15}},
		{"up and down", steps(10, 16, 10), []int{15, 30}},
		{"too short", []float64{1, 2, 3}, nil},
		{"none", nil, nil},
		{"equal", make([]float64, 40), nil},
	} {
		got := ChangePoints(test.values, 5, 0.01)
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
			continue
		}
		for i := range got {
			if got[i] < test.want[i]-1 || got[i] > test.want[i]+1 {
				t.Errorf("%s: %v, want about %v", test.name, got, test.want)
			}
		}
		if again := ChangePoints(test.values, 5, 0.01); !slices.Equal(again, got) {
			t.Errorf("%s: %v, then %v", test.name, got, again)
		}
	}
}

// TestChangePointsFalseAlarms: series without a change are found to have one in few more
// cases than the share alpha.
func TestChangePointsFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	const trials = 100
	alarms := 0
	for range trials {
		values := make([]float64, 20)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		if len(ChangePoints(values, 4, 0.05)) > 0 {
			alarms++
		}
	}
	if alarms > 12 {
		t.Errorf("%d alarms in %d series, want about %d", alarms, trials, trials/20)
	}
}

// slowEnergy returns the definition of the energy distance of two samples,
// times nm/(n+m).
func slowEnergy(a, b []float64) float64 {
	within := func(v []float64) float64 {
		sum, pairs := 0.0, 0.0
		for i := range v {
			for j := range i {
				sum += math.Abs(v[i] - v[j])
				pairs++
			}
		}
		if pairs == 0 {
			return 0
		}
		return sum / pairs
	}
	between := 0.0
	for _, x := range a {
		for _, y := range b {
			between += math.Abs(x - y)
		}
	}
	n, m := float64(len(a)), float64(len(b))
	return n * m / (n + m) * (2*between/(n*m) - within(a) - within(b))
}

func TestDivideAgainstSlow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		values := make([]float64, 4+random.IntN(20))
		for i := range values {
			values[i] = float64(random.IntN(10))
		}
		got, want := divide(values, 2), division{}
		for at := 2; at <= len(values)-2; at++ {
			if e := slowEnergy(values[:at], values[at:]); e > want.energy+1e-9 {
				want = division{at: at, energy: e}
			}
		}
		if math.Abs(got.energy-want.energy) > 1e-9 {
			t.Fatalf("divide(%v) = %+v, want %+v", values, got, want)
		}
	}
}
