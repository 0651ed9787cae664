package stats

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A Ranked is a collection in a Ranking.
type Ranked struct {
	Number uint32
	Start  gc.Opt[time.Duration] // GCStart
	Pause  time.Duration
	Reason gc.Opt[clr.GCReason]
}

// A Ranking holds collections by the lengths of their pauses, so that each
// percentile is a collection. The zero Ranking is empty.
//
// Up to 32,768 collections, percentiles are exact, as in a Distribution. Beyond
// that, a percentile is the longest pause in its bucket, at most 1/512 too
// long.
type Ranking struct {
	count   int
	all     []Ranked           // in the order of Add; nil once counted in buckets
	buckets map[int]*rankedSet // by group, then bucket; nil while all is kept
}

// A rankedSet are the collections of one bucket.
type rankedSet struct {
	count   int
	longest Ranked
}

// Add adds a collection, unless its pause is unknown.
func (r *Ranking) Add(c *gc.Collection) {
	pause, known := c.Pause().Get()
	if !known {
		return
	}
	r.count++
	of := Ranked{Number: c.Number, Start: c.Start, Pause: max(0, pause), Reason: c.Reason}
	if r.buckets == nil && r.count > maxExact {
		r.buckets = make(map[int]*rankedSet)
		for _, old := range r.all {
			r.put(old)
		}
		r.all = nil
	}
	if r.buckets != nil {
		r.put(of)
		return
	}
	r.all = append(r.all, of)
}

func (r *Ranking) put(of Ranked) {
	g, i := bucket(of.Pause)
	at := g<<bucketBits | i
	s := r.buckets[at]
	if s == nil {
		s = new(rankedSet)
		r.buckets[at] = s
	}
	if s.count++; s.count == 1 || of.Pause > s.longest.Pause {
		s.longest = of
	}
}

// Count returns the number of collections whose pause is known.
func (r *Ranking) Count() int { return r.count }

// Exact reports whether percentiles are exact.
func (r *Ranking) Exact() bool { return r.buckets == nil }

// Percentile returns the collection with the shortest pause that p percent of
// the pauses do not exceed (the earliest such collection), and how many pauses
// are at least as long. ok is false if there is none. It takes time that grows
// with the number of collections.
func (r *Ranking) Percentile(p float64) (of Ranked, longer int, ok bool) {
	if r.count == 0 {
		return Ranked{}, 0, false
	}
	rank := min(max(int(math.Ceil(p/100*float64(r.count))), 1), r.count)
	if r.buckets != nil {
		return r.counted(rank)
	}
	pauses := make([]time.Duration, len(r.all))
	for i := range r.all {
		pauses[i] = r.all[i].Pause
	}
	slices.Sort(pauses)
	pause := pauses[rank-1]
	shorter, _ := slices.BinarySearch(pauses, pause)
	first := slices.IndexFunc(r.all, func(a Ranked) bool { return a.Pause == pause })
	return r.all[first], r.count - shorter, true
}

// counted returns the longest pause of the bucket that the rankth one is in.
func (r *Ranking) counted(rank int) (of Ranked, longer int, ok bool) {
	shorter := 0
	for _, at := range slices.Sorted(maps.Keys(r.buckets)) {
		s := r.buckets[at]
		if rank <= shorter+s.count {
			// Of its bucket, only the longest pause itself is known to be as long.
			return s.longest, r.count - shorter - s.count + 1, true
		}
		shorter += s.count
	}
	return Ranked{}, 0, false
}
