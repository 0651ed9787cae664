package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// effective returns how many independent values the series is worth: n divided
// by 1 + 2·Σρ, ρ being the rank autocorrelations up to the lag at which the sum
// of two neighbours is no longer positive. See Geyer, Practical Markov Chain
// Monte Carlo, 1992 (initial positive sequence).
func effective(values []float64) float64 {
	n := len(values)
	if n < 4 {
		return float64(n)
	}
	ranks := midranks(values)
	mean := float64(n + 1)
	autocovariance := func(lag int) float64 {
		sum := 0.0
		for i := lag; i < n; i++ {
			sum += (float64(ranks[i]) - mean) * (float64(ranks[i-lag]) - mean)
		}
		return sum
	}
	variance := autocovariance(0)
	if variance == 0 {
		return float64(n)
	}
	time := -1.0
	for lag := 0; lag+1 < min(n, maxLag); lag += 2 {
		pair := (autocovariance(lag) + autocovariance(lag+1)) / variance
		if pair <= 0 {
			break
		}
		time += 2 * pair
	}
	return float64(n) / max(1, time)
}

// maxLag bounds the lags in effective, because each takes n operations.
const maxLag = 1000

// blockLength returns the length of the blocks that a series is resampled in:
// at least its correlation time, and at least the cube root of its length, which
// the bootstrap needs to converge. See Künsch, The jackknife and the bootstrap
// for general stationary observations, 1989.
func blockLength(n int, worth float64) int {
	if n == 0 {
		return 0
	}
	length := max(math.Cbrt(float64(n)), 2*float64(n)/worth)
	return max(1, min(int(math.Ceil(length)), (n+3)/4))
}

// drawBlocks fills drawn with positions of a series of n values, in blocks of the
// given length that start anywhere.
func drawBlocks(drawn []int, n, length int, random *rand.Rand) {
	for i := 0; i < len(drawn); {
		start := random.IntN(n - length + 1)
		for j := 0; j < length && i < len(drawn); j++ {
			drawn[i] = start + j
			i++
		}
	}
}

// percentile returns the smallest of the sorted values that the share p of them
// do not exceed.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// central returns the interval that leaves out the given share of the values,
// half at each end.
func central(values []float64, out float64) (low, high float64) {
	slices.Sort(values)
	return percentile(values, out/2), percentile(values, 1-out/2)
}
