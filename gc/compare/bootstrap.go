package compare

import (
	"math"
	"math/rand/v2"
)

// replicates is how often runs are resampled.
const replicates = 999

// maxResampled bounds the collections that a replicate draws from one run: of
// more, noise within the run no longer matters beside that between runs.
const maxResampled = 4096

// bootstrap decides all metrics by resampling collections within runs, and by
// the noise that equal runs were seen to have.
func (c *Comparison) bootstrap() {
	before, after := c.replicate(c.Before, 1), c.replicate(c.After, 2)
	primaries := 0
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Explains == "" && ch.Reason == Decided {
			primaries++
		}
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Reason == Decided {
			c.resampled(ch, before[i], after[i], max(1, primaries))
		}
	}
}

// replicate returns, for each metric, the relative deviations of resampled runs
// from their mean.
func (c *Comparison) replicate(runs []*Run, stream uint64) [][]float64 {
	random := rand.New(rand.NewPCG(seed, stream))
	deviations := make([][]float64, len(metrics))
	for i := range deviations {
		deviations[i] = make([]float64, replicates)
	}
	scratch := make([]float64, 0, maxResampled)
	for _, r := range runs {
		if len(r.samples) == 0 {
			continue
		}
		drawn := make([]int, min(len(r.samples), maxResampled))
		length := blockLength(len(r.samples), max(1, c.worth[r]))
		values := make([][replicates]float64, len(metrics))
		for k := range replicates {
			resample(drawn, len(r.samples), length, random)
			f := r.figures(drawn, scratch)
			for i := range metrics {
				values[i][k] = intensive(&metrics[i], &f)
			}
		}
		for i := range metrics {
			center := mean(values[i][:])
			for k, v := range values[i] {
				deviations[i][k] += finite(v/center-1) / float64(len(runs))
			}
		}
	}
	return deviations
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// intensive returns a metric's value in a form that does not grow with the
// number of collections, so that a replicate's can be compared with the run's:
// totals are divided by the number of collections.
func intensive(m *Metric, f *figures) float64 {
	v := m.of(f)
	if m.Total && f.count > 0 {
		return v / float64(f.count)
	}
	return v
}

func (c *Comparison) resampled(ch *Change, before, after []float64, primaries int) {
	shift := ch.After - ch.Before
	random := rand.New(rand.NewPCG(seed, uint64(len(ch.Name))))
	noise := c.noise(ch.Metric)
	noiseBefore := noise / math.Sqrt(float64(len(c.Before)))
	noiseAfter := noise / math.Sqrt(float64(len(c.After)))
	shifts := make([]float64, replicates)
	for k := range shifts {
		b := ch.Before * (before[k] + noiseBefore*random.NormFloat64())
		a := ch.After * (after[k] + noiseAfter*random.NormFloat64())
		shifts[k] = shift + a - b
	}
	interval := func(out float64) [2]float64 {
		low, high := central(shifts, out)
		return [2]float64{low, high}
	}
	wide, narrow := interval(Alpha), interval(2*Alpha)
	strict := interval(Alpha / float64(primaries))
	ch.decide(shift, wide, narrow, strict[0] > 0 || strict[1] < 0)
	if ch.Verdict == CannotTell {
		n := min(len(c.Before), len(c.After))
		ch.RunsNeeded = max(moreRuns(n, runsFor(n, shift, narrow, ch.matters(ch.Before))), MinRuns-n)
	}
}

// throughputNoise is the relative deviation of how much equal runs get done in the
// same time.
const throughputNoise = 0.15

// noise returns the relative deviation of a metric between equal runs. Totals
// hardly vary by unit of work, but as much as the machine's speed by run or
// second.
func (c *Comparison) noise(m *Metric) float64 {
	if m.Total && c.Basis != PerWork {
		return max(m.noise, throughputNoise)
	}
	return m.noise
}

// finite takes a deviation that is not known for none.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
