package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	permutations = 499
	seed         = 20140101 // the order of permutations is always the same
)

// ChangePoints returns the positions at which the level or the spread of values
// changes: position i means that values[i] begins a new segment. A segment has
// at least minSize values. A position counts if less than the share alpha of
// 499 permutations of its segment divide as well. The same values always give
// the same answer.
//
// See Matteson and James, A Nonparametric Approach for Multiple Change Point
// Analysis of Multivariate Data, 2014 (E-divisive, exponent 1).
func ChangePoints(values []float64, minSize int, alpha float64) []int {
	minSize = max(2, minSize)
	random := rand.New(rand.NewPCG(seed, uint64(len(values))))
	bounds := []int{0, len(values)}
	for {
		best := division{}
		for i := 1; i < len(bounds); i++ {
			if d := divide(values[bounds[i-1]:bounds[i]], minSize); d.energy > best.energy {
				best = division{at: bounds[i-1] + d.at, energy: d.energy, stretch: i}
			}
		}
		if best.stretch == 0 || !significant(values, bounds, best, minSize, alpha, random) {
			return bounds[1 : len(bounds)-1]
		}
		bounds = slices.Insert(bounds, best.stretch, best.at)
	}
}

// A division is the best place to divide a stretch, with the distance between the two
// parts. An empty stretch has none.
type division struct {
	at      int
	energy  float64
	stretch int
}

// significant reports whether permuted stretches rarely divide as well. It permutes all
// stretches within themselves, because any of them could have been divided next.
func significant(values []float64, bounds []int, best division, minSize int, alpha float64, random *rand.Rand) bool {
	shuffled := slices.Clone(values)
	as := 1
	for range permutations {
		largest := 0.0
		for i := 1; i < len(bounds); i++ {
			stretch := shuffled[bounds[i-1]:bounds[i]]
			random.Shuffle(len(stretch), func(a, b int) { stretch[a], stretch[b] = stretch[b], stretch[a] })
			largest = max(largest, divide(stretch, minSize).energy)
		}
		if largest >= best.energy {
			as++
		}
	}
	return float64(as)/(permutations+1) <= alpha
}

// divide finds where the two parts of a stretch are furthest apart, by the energy
// distance of their values times nm/(n+m).
func divide(values []float64, minSize int) division {
	n := len(values)
	best := division{}
	if n < 2*minSize {
		return best
	}
	// Sums of distances: within the left part, within the right, and between.
	var left, right, between float64
	for i := range values {
		for j := i + 1; j < n; j++ {
			right += math.Abs(values[i] - values[j])
		}
	}
	for at := 1; at <= n-minSize; at++ {
		moved := values[at-1]
		for i := range at - 1 {
			d := math.Abs(values[i] - moved)
			left += d
			between -= d
		}
		for _, v := range values[at:] {
			d := math.Abs(v - moved)
			right -= d
			between += d
		}
		if at < minSize {
			continue
		}
		l, r := float64(at), float64(n-at)
		energy := l * r / (l + r) * (2*between/(l*r) - meanDistance(left, l) - meanDistance(right, r))
		if energy > best.energy {
			best = division{at: at, energy: energy}
		}
	}
	return best
}

// meanDistance returns the mean distance of n values whose pairs' distances add
// up to sum.
func meanDistance(sum, n float64) float64 {
	if n < 2 {
		return 0
	}
	return sum / (n * (n - 1) / 2)
}
