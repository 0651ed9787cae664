package findings

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// The bounds and thresholds of the rule for random long pauses. They have no source but the
// 43 traces for which they were chosen, none of which has such a pause.
const (
	maxSample      = 128 // collections of a class that the fit is made of, at least half of it once there are so many
	maxSuspects    = 8   // of a class
	fewestAlike    = 20  // collections of a class before one is odd
	fewestAsLarge  = 10  // collections that promoted about as much, so that the fit reaches there
	robustDistance = 6   // median absolute deviations
	leastDeviation = 0.1 // of the logarithm: 10 %
	normalFactor   = 2   // the neighbours of a random pause take less than twice as long as they should
	gaussian       = 1.4826
)

// A point is the working time of a collection in its pause, and its promoted bytes.
type point struct {
	promoted int64
	working  time.Duration
}

// A suspect is a collection with a long pause, with its neighbours in its class.
type suspect struct {
	point
	shownCollection
	index         int // within its class
	before, after gc.Opt[point]
}

// A pauseFit compares the pauses of one generation and kind with their promoted bytes. It
// samples every so many collections, so that its memory is bounded.
type pauseFit struct {
	thinned[point]
	suspects []suspect // with the longest pauses, the longest first
	last     gc.Opt[point]
}

// add adds a collection. It leaves out background ones, because they mark while threads
// run.
func (f *pauseFit) add(c *gc.Collection, startup bool) {
	pause, known := c.Pause().Get()
	suspend, suspendKnown := c.Suspend().Get()
	promoted, promotedKnown := c.Promoted.Get()
	if !known || !suspendKnown || !promotedKnown || c.AffectedByLoss || startup {
		f.last = gc.Opt[point]{}
		return
	}
	p := point{promoted, pause - suspend}
	for i := range f.suspects {
		if f.suspects[i].index == f.seen-1 && f.last.Known() {
			f.suspects[i].after = gc.Some(p)
		}
	}
	if p.working >= aloneLongest {
		i := len(f.suspects)
		for i > 0 && f.suspects[i-1].working < p.working {
			i--
		}
		f.suspects = slices.Insert(f.suspects, i, suspect{point: p, shownCollection: shownCollection{c.Number, pause}, index: f.seen, before: f.last})
		f.suspects = f.suspects[:min(len(f.suspects), maxSuspects)]
	}
	f.last = gc.Some(p)
	f.thinned.add(p, maxSample)
}

// A random pause is a pause that its collection's promoted bytes do not explain.
type random struct {
	*suspect
	explained time.Duration
}

// random returns the collections whose pause is far from the one expected for their
// promoted bytes, while their neighbours' are not. It measures the distance of the
// logarithm from a robust line (Theil and Sen), in median absolute deviations.
func (f *pauseFit) random() []random {
	if f.seen < fewestAlike || len(f.suspects) == 0 {
		return nil
	}
	usual := median(f.values, func(p point) float64 { return float64(p.working) })
	if float64(f.suspects[0].working) <= farFromMedian*usual {
		return nil
	}
	slope := max(0, f.slope())
	base := median(f.values, func(p point) float64 { return float64(p.working) - slope*float64(p.promoted) })
	explained := func(p point) float64 { return max(1, usual, base+slope*float64(p.promoted)) }
	ratio := func(p point) float64 { return math.Log(max(1, float64(p.working)) / explained(p)) }
	middle := median(f.values, ratio)
	deviation := max(leastDeviation, gaussian*median(f.values, func(p point) float64 { return math.Abs(ratio(p) - middle) }))
	normal := func(p gc.Opt[point]) bool {
		v, known := p.Get()
		return !known || ratio(v) <= math.Log(normalFactor)
	}
	var found []random
	for i := range f.suspects {
		s := &f.suspects[i]
		asLarge := 0
		for _, p := range f.values {
			if 3*(p.promoted/2) >= s.promoted {
				asLarge += max(1, f.every)
			}
		}
		if float64(s.working) > farFromMedian*explained(s.point) && ratio(s.point)-middle > robustDistance*deviation &&
			asLarge > fewestAsLarge && normal(s.before) && normal(s.after) {
			found = append(found, random{s, time.Duration(explained(s.point))})
		}
	}
	return found
}

// slope returns the median of the slopes between all pairs of the sample.
func (f *pauseFit) slope() float64 {
	var slopes []float64
	for i, a := range f.values {
		for _, b := range f.values[i+1:] {
			if a.promoted != b.promoted {
				slopes = append(slopes, float64(b.working-a.working)/float64(b.promoted-a.promoted))
			}
		}
	}
	return medianOf(slopes)
}

func median[T any](list []T, of func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, v := range list {
		values[i] = of(v)
	}
	return medianOf(values)
}

// medianOf sorts values and returns the median, 0 if there are none.
func medianOf[T int64 | float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// oddPauses looks for long pauses among collections with as many promoted bytes.
func oddPauses(j *judgement) (Finding, bool) {
	var t tally
	worst := random{suspect: new(suspect)}
	for i := range j.fits {
		for _, r := range j.fits[i].random() {
			t.show(r.shownCollection, j.retain)
			if r.working > worst.working {
				worst = r
			}
		}
	}
	if t.count == 0 {
		return Finding{}, false
	}
	promoted := "what they promoted"
	if t.count == 1 {
		promoted = "what it promoted"
	}
	return Finding{
		Severity: min(Warning, j.costs(j.explains(t.pause))), Confidence: Medium, weight: j.explains(t.pause), quotes: &t,
		Description: fmt.Sprintf("%s took more than %d times as long as %s explains, and GCs just before and after did not. GC %d worked for %s; from %s promoted, %s were expected.",
			gcs(t.count), farFromMedian, promoted, worst.number, units.Duration(worst.working), units.Bytes(worst.promoted), units.Duration(worst.explained)),
		Evidence: []Figure{
			{"odd_pauses", float64(t.count)},
			{"worst_ms", millis(worst.working)},
			{"expected_ms", millis(worst.explained)},
			{"promoted_bytes", float64(worst.promoted)},
		},
	}, true
}
