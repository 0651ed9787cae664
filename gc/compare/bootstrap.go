package compare

import (
	"math"
	"math/rand/v2"
)

// replicates is how often runs are resampled.
const replicates = 999

// maxResampled bounds the collections that a replicate draws from one run. More would not
// help, because noise within the run no longer matters compared with noise between runs.
const maxResampled = 4096

// resample sets the intervals of all changes by resampling collections within runs, and
// by the noise that equal runs have.
func (c *Comparison) resample() {
	before, after := c.replicate(c.Before, 1), c.replicate(c.After, 2)
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Reason == Decided {
			c.resampled(ch, before[i], after[i])
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
			drawBlocks(drawn, len(r.samples), length, random)
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
	v := m.of(f).Low
	if m.Total && f.count > 0 {
		return v / float64(f.count)
	}
	return v
}

func (c *Comparison) resampled(ch *Change, before, after []float64) {
	ch.shift = Bounds{Low: medianDifference(ch.least()), High: medianDifference(ch.most())}
	random := rand.New(rand.NewPCG(seed, uint64(len(ch.Name))))
	noise := max(c.noise(ch.Metric), observedNoise(ch.before.low, ch.after.low))
	noiseBefore := noise / math.Sqrt(float64(len(c.Before)))
	noiseAfter := noise / math.Sqrt(float64(len(c.After)))
	deviations := make([]float64, replicates)
	for k := range deviations {
		b := ch.Before.Low * (before[k] + noiseBefore*random.NormFloat64())
		a := ch.After.Low * (after[k] + noiseAfter*random.NormFloat64())
		deviations[k] = a - b
	}
	interval := func(out float64) Bounds {
		low, high := central(deviations, out)
		return Bounds{Low: ch.shift.Low + low, High: ch.shift.High + high}
	}
	ch.wide, ch.narrow = interval(outside), interval(2*outside)
}

func medianDifference(before, after []float64) float64 { return medianOf(after) - medianOf(before) }

// observedNoise returns the relative deviation of the runs of both sides from the means
// of their sides.
func observedNoise(sides ...[]float64) float64 {
	squares, free := 0.0, 0
	for _, side := range sides {
		center := mean(side)
		for _, v := range side {
			squares += finite((v/center - 1) * (v/center - 1))
		}
		free += len(side) - 1
	}
	return math.Sqrt(squares / max(1, float64(free)))
}

// throughputNoise is the relative deviation of the work that equal runs do in the same
// time.
const throughputNoise = 0.15

// noise returns the relative deviation of a metric between equal runs. Per unit of work,
// totals hardly vary; per run or second, they vary with the machine's speed.
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
