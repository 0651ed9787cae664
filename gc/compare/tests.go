package compare

// bound sets the intervals of all changes: with enough runs from their ranks, otherwise
// by resampling collections within runs.
func (c *Comparison) bound() {
	if c.runs() < minRanked {
		c.resample()
		return
	}
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Reason == Decided {
			ch.rank()
		}
	}
}

// rank sets the intervals from the differences of all pairs of runs. The lower ends come
// from the values that make the change smallest, and the upper ends from the values that
// make it largest, because the ends of all runs may hide the same amount.
func (ch *Change) rank() {
	before, after := ch.least()
	ch.shift.Low, ch.wide.Low, _ = hodgesLehmann(before, after, 1-outside)
	_, ch.narrow.Low, _ = hodgesLehmann(before, after, 1-2*outside)
	before, after = ch.most()
	ch.shift.High, _, ch.wide.High = hodgesLehmann(before, after, 1-outside)
	_, _, ch.narrow.High = hodgesLehmann(before, after, 1-2*outside)
}

// test sets the p-values of the metrics that explain the named one, or of the primary
// ones, adjusted for their number.
func (c *Comparison) test(of string) {
	if c.runs() < MinRuns {
		return
	}
	family := permuted{before: len(c.Before)}
	var tested []*Change
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Explains != of || ch.Reason != Decided {
			continue
		}
		ch.P = 1
		if before, after, differ := ch.nearest(); differ {
			family.add(before, after, ch.matters)
			tested = append(tested, ch)
		}
	}
	for i, p := range family.test() {
		tested[i].P = p
	}
}
