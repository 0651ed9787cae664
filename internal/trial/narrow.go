package trial

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// enoughRounds is how many rounds should be left for the settings that promise most. Where the
// budget has no time for as many of all, the others are not run again.
const enoughRounds = 12

// narrowings are the numbers of rounds after which half of the candidates may go.
var narrowings = [...]int{3, 6}

// narrow returns the settings that go on: all if there is time for enough rounds of them, otherwise
// the present ones, and the half of the candidates, two at least, that gained most so far. That
// chooses what to run, and not what wins: the level is divided by all candidates.
func (e *Experiment) narrow(r *Result, active []*Outcomes, began time.Time) []*Outcomes {
	if e.Budget <= 0 || !slices.Contains(narrowings[:], r.Rounds) || len(active) <= 3 {
		return active
	}
	runs := 0
	for _, o := range r.Settings {
		runs += len(o.Runs)
	}
	spent := e.Now().Sub(began)
	round := spent / time.Duration(runs) * time.Duration(len(active))
	if round <= 0 || r.Rounds+int((e.Budget-spent)/round) >= enoughRounds {
		return active
	}
	r.judge()
	kept := slices.DeleteFunc(slices.Clone(active), func(o *Outcomes) bool { return o == r.Base() })
	slices.SortStableFunc(kept, func(a, b *Outcomes) int { return cmp.Compare(b.promise(), a.promise()) })
	for _, o := range kept[max(2, (len(kept)+1)/2):] {
		o.Left = r.Rounds
	}
	return slices.DeleteFunc(active, func(o *Outcomes) bool { return o.Left > 0 })
}

// promise returns the gains of a setting less its costs, weighted, as far as its runs show, whether
// noise explains them or not.
func (o *Outcomes) promise() float64 {
	return o.gains(func(f *Figure) bool { return !math.IsNaN(f.Change) })
}
