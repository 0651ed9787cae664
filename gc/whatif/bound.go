package whatif

import (
	"cmp"
	"math"
	"slices"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// A change is how another budget of gen 0 bounds what there is of collections. Counts are of
// a minute.
type change struct {
	smaller, larger      float64 // how many times the budget becomes, at least and at most
	filled, other        [2]float64
	shortest, longest    float64 // factors of a pause
	leastShare, topShare float64 // of the time paused, 0 to 1
}

// change returns the bounds for a budget between e.least and e.most in place of usual.
func (p *Program) change(usual float64, e *effect) *change {
	c := &change{smaller: 1, larger: 1}
	if usual > 0 {
		c.smaller, c.larger = e.least/usual, e.most/usual
	}
	c.shortest, c.longest = min(1, c.smaller)/slackPause, max(1, c.larger)*slackPause

	// All survivors together are as many as now if each lives on until the next collection, and
	// fewer by as much as there are fewer collections otherwise. Collections for other reasons
	// find less in a smaller gen 0.
	filled, other := p.part(&p.filled), p.part(&p.other)
	c.leastShare = (filled/max(1, c.larger) + other*min(1, c.smaller)) / slackShare
	c.topShare = min(1, (filled+other)/min(1, c.smaller)*slackShare)

	minutes := p.watched().Minutes()
	now, others := float64(p.filled.Count())/minutes, float64(p.other.Count())/minutes
	most := now
	if usual > 0 && p.allocated > 0 {
		most = max(most, float64(p.allocated)/usual/minutes)
	}
	faster := 1 / max(0.25, 1-p.share()) // where pauses vanish, the program allocates in their time
	slack := slackCount * (1 + 1/math.Sqrt(float64(p.pauses.Count())))
	c.filled = [2]float64{p.slowest(now, c.larger) / slack, most / c.smaller * slack * faster}
	c.other = [2]float64{others / 2 / slack, others * slackCount * slack * faster}
	return c
}

// slowest returns how many collections a minute there are at least because gen 0's budget is used
// up, of now many: pauses may stay as long as now however small gen 0 is, because each
// also suspends the threads, and marks from roots and from older generations.
func (p *Program) slowest(now, larger float64) float64 {
	if now == 0 {
		return 0
	}
	paused := min(1, p.part(&p.filled))
	return now / (larger*(1-paused) + max(1, larger)*paused)
}

// part returns the part of the time, 0 to 1, that some pauses took.
func (p *Program) part(d *stats.Distribution) float64 {
	return min(1, float64(d.Sum())/float64(p.watched()))
}

// bound sets the intervals of metrics for a budget between e.least and e.most in place of
// usual.
func (p *Program) bound(metrics []Metric, usual float64, e *effect) {
	c := p.change(usual, e)
	set := func(i int, low, high float64) {
		if metrics[i].Now.Known() && !math.IsNaN(low) && !math.IsInf(high, 0) && !math.IsNaN(high) {
			low = max(0, low)
			high = max(low, high)
			metrics[i].Low, metrics[i].High = gc.Some(low), gc.Some(high)
		}
	}
	now := func(i int) float64 { return metrics[i].Now.Or(0) }

	set(0, max(c.filled[0], c.other[0]), c.filled[1]+c.other[1])
	set(1, 100*c.leastShare, 100*c.topShare)
	for i, percent := range []float64{50, 99} {
		low, high := p.percentile(c, percent)
		set(2+i, low, high)
	}
	set(4, now(4)*c.shortest*slackPause/slackMax, now(4)*c.longest/slackPause*slackMax)
	low := max(float64(p.kept.Or(0))/2, now(5)-1.25*max(0, usual-e.least)) / slackBytes
	high := (now(5) + 1.5*max(0, e.most-usual)) * slackBytes
	set(5, min(low, now(5)/slackBytes), high)
	if e.limit > 0 {
		set(5, min(low, e.limit), min(high, e.limit))
	}
}

// percentile bounds a percentile of the pauses, in milliseconds. With a smaller gen 0, more of
// the collections are such of gen 0, whose pauses are shorter, or shorter than any in the trace
// if that has none of them; with a larger one, more are others.
func (p *Program) percentile(c *change, percent float64) (low, high float64) {
	now := p.pauses.Percentile(percent).Seconds() * 1e3
	n := float64(p.pauses.Count())
	uncertain := 2 * math.Sqrt(percent*(100-percent)/n) // of the percentile of few pauses, in percent
	var many, few []weighed
	if c.smaller < 1 && p.young.Count() == 0 {
		many = append(many, weighed{0, c.filled[1]})
	} else if c.smaller < 1 {
		many = weigh(many, &p.young, c.filled[1], c.shortest)
	} else {
		many = weigh(many, &p.filled, c.filled[1], c.shortest)
	}
	many = weigh(many, &p.other, c.other[0], c.shortest)
	few = weigh(few, &p.filled, c.filled[0], c.longest)
	few = weigh(few, &p.other, c.other[1], c.longest)
	low, high = min(now*c.shortest, quantile(many, percent-uncertain)), max(now*c.longest, quantile(few, percent+uncertain))
	if n < 100 && percent > 50 { // the longest pauses decide
		high *= slackMax / slackPause
	}
	return low, high
}

// A weighed value, in milliseconds, stands for a number of pauses.
type weighed struct{ value, count float64 }

// weigh adds pauses, multiplied with a factor, of which there are count.
func weigh(to []weighed, d *stats.Distribution, count, factor float64) []weighed {
	if d.Count() == 0 {
		return to
	}
	const points = 200
	for i := range points {
		v := d.Percentile((float64(i) + 0.5) * 100 / points)
		to = append(to, weighed{v.Seconds() * 1e3 * factor, count / points})
	}
	return to
}

// quantile returns the least value that percent of the pauses do not exceed; 0 if there is none.
func quantile(all []weighed, percent float64) float64 {
	total := 0.0
	for _, w := range all {
		total += w.count
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Compare(a.value, b.value) })
	rest := total * min(max(percent, 0), 100) / 100
	for _, w := range all {
		if rest -= w.count; rest <= 0 {
			return w.value
		}
	}
	if len(all) > 0 {
		return all[len(all)-1].value // by rounding
	}
	return 0
}
