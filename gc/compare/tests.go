package compare

import (
	"math"
	"slices"
)

// ranks decides all metrics by tests over runs: primary metrics as one family,
// and those that explain each as another.
func (c *Comparison) ranks() {
	c.rankFamily("")
	for i := range c.Changes {
		if c.Changes[i].Explains == "" {
			c.rankFamily(c.Changes[i].Name)
		}
	}
}

// rankFamily tests the metrics that explain the named one, or the primary ones,
// adjusted for their number. Metrics without a result are left out.
func (c *Comparison) rankFamily(of string) {
	var family []*Change
	var p []float64
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Explains != of || ch.Reason != Decided {
			continue
		}
		family = append(family, ch)
		p = append(p, mannWhitney(c.table[ch.Name][0], c.table[ch.Name][1]))
	}
	for i, adjusted := range holm(p) {
		family[i].P = adjusted
		c.rank(family[i], len(family))
	}
}

func (c *Comparison) rank(ch *Change, family int) {
	before, after := c.table[ch.Name][0], c.table[ch.Name][1]
	var wide, narrow [2]float64
	shift, low, high := hodgesLehmann(before, after, 1-Alpha)
	wide = [2]float64{low, high}
	_, narrow[0], narrow[1] = hodgesLehmann(before, after, 1-2*Alpha)
	ch.decide(shift, wide, narrow, ch.P <= Alpha)
	if ch.Verdict != CannotTell {
		return
	}
	n := min(len(before), len(after))
	least := n
	for smallestP(least, least)*float64(family) > Alpha {
		least++
	}
	if least > n {
		ch.Reason = TooFewRuns
	}
	ch.RunsNeeded = max(moreRuns(n, runsFor(n, shift, narrow, ch.matters(ch.Before))), least-n)
}

// runsFor estimates how many runs would decide: an interval shrinks with the
// square root of their number, until it no longer holds zero or lies within
// what does not matter.
func runsFor(n int, shift float64, interval [2]float64, matters float64) float64 {
	half := (interval[1] - interval[0]) / 2
	room := math.Abs(math.Abs(shift) - matters)
	if math.Abs(shift) > matters {
		room = math.Abs(shift)
	}
	if math.IsInf(half, 0) || room == 0 {
		return float64(n + MaxRunsNeeded)
	}
	return float64(n) * (half / room) * (half / room)
}

func sortedCopy(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted
}
