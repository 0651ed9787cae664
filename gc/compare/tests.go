package compare

import (
	"math"
	"slices"
)

// ranks decides all metrics by tests over runs: primary metrics first, then
// those that explain the changed ones.
func (c *Comparison) ranks() {
	c.rankFamily(func(ch *Change) bool { return ch.Of == "" })
	for i := range c.Changes {
		primary := &c.Changes[i]
		if primary.Of != "" {
			continue
		}
		c.rankFamily(func(ch *Change) bool { return ch.Of == primary.Name })
		if primary.Verdict == Changed {
			continue
		}
		for j := range c.Changes {
			if ch := &c.Changes[j]; ch.Of == primary.Name && ch.Verdict == Changed {
				ch.Verdict, ch.Reason = CannotTell, ParentDecides
			}
		}
	}
}

// rankFamily tests the metrics of a family that can be told, adjusted for their
// number.
func (c *Comparison) rankFamily(in func(*Change) bool) {
	var family []*Change
	var p []float64
	for i := range c.Changes {
		ch := &c.Changes[i]
		if !in(ch) || ch.Reason != Decided {
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
