package compare

import (
	"cmp"
	"math"
	"slices"
)

// midranks returns the ranks of values, from 1, doubled so that the mean rank of
// equal values is a whole number.
func midranks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks := make([]int, len(values))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && values[order[last+1]] == values[order[first]] {
			last++
		}
		for i := first; i <= last; i++ {
			ranks[order[i]] = first + last + 2
		}
		first = last + 1
	}
	return ranks
}

// rankSums returns how many of the subsets of n of the ranks have each sum.
func rankSums(ranks []int, n int) []float64 {
	largest := 0
	for _, r := range ranks {
		largest += r
	}
	ways := make([][]float64, n+1)
	for i := range ways {
		ways[i] = make([]float64, largest+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for size := n; size >= 1; size-- {
			for sum := largest; sum >= r; sum-- {
				ways[size][sum] += ways[size-1][sum-r]
			}
		}
	}
	return ways[n]
}

// hodgesLehmann returns the median of the differences b−a and the interval that
// holds the shift between the two distributions with the given confidence. The
// interval is unbounded if there are too few values for it.
func hodgesLehmann(a, b []float64, confidence float64) (shift, low, high float64) {
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	if len(differences) == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	slices.Sort(differences)
	k := criticalU(len(a), len(b), (1-confidence)/2)
	if k == 0 {
		return median(differences), math.Inf(-1), math.Inf(1)
	}
	return median(differences), differences[k-1], differences[len(differences)-k]
}

// criticalU returns the largest k with P(U < k) <= tail, where U is the number of pairs
// of n and m values of one distribution in which the second is larger.
func criticalU(n, m int, tail float64) int {
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = i + 1
	}
	ways := rankSums(ranks, n)
	all := 0.0
	for _, w := range ways {
		all += w
	}
	lowest := n * (n + 1) / 2
	below := 0.0
	for k := 0; ; k++ {
		if lowest+k >= len(ways) || below+ways[lowest+k] > tail*all {
			return k
		}
		below += ways[lowest+k]
	}
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
