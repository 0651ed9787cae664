package stats

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// A Distribution holds durations for their percentiles. The zero Distribution
// is empty. Durations are at least zero.
//
// Up to 32,768 durations, percentiles are exact. Beyond that, durations are
// counted in buckets, whose width is at most 1/512 of the durations in them. In a
// Summary with SumsOnly, durations are not even counted in buckets: the longest one
// stands for all percentiles.
type Distribution struct {
	count    int
	sum      time.Duration
	max      time.Duration
	sumsOnly bool
	runs     [][]time.Duration // all durations in order, in runs of at most maxRun; nil once counted in buckets
	groups   *[numGroups]group // nil while durations are kept
}

const (
	maxExact = 1 << 15
	maxRun   = 512

	// The highest bits of a duration select its bucket, the number of its bits
	// selects the group of buckets.
	bucketBits = 9
	numGroups  = 64 - bucketBits
)

// A group counts durations in the buckets of one width.
type group struct {
	count   int
	buckets []int // nil while the group is empty
}

// Add adds a duration.
func (d *Distribution) Add(v time.Duration) {
	v = max(0, v)
	d.count++
	d.sum = units.AddCapped(d.sum, v)
	d.max = max(d.max, v)
	if !d.sumsOnly {
		d.put(v)
	}
}

func (d *Distribution) put(v time.Duration) {
	if d.groups == nil && d.count > maxExact {
		d.fold()
	}
	if d.groups == nil {
		d.keep(v)
		return
	}
	g, i := bucket(v)
	d.groups[g].add(i, 1)
}

// keep inserts v into the sorted durations.
func (d *Distribution) keep(v time.Duration) {
	at, _ := slices.BinarySearchFunc(d.runs, v, func(run []time.Duration, v time.Duration) int {
		if run[len(run)-1] < v {
			return -1
		}
		return 1
	})
	if at == len(d.runs) {
		if at == 0 {
			d.runs = [][]time.Duration{{v}}
			return
		}
		at--
	}
	run := d.runs[at]
	if len(run) == maxRun {
		half := slices.Clone(run[maxRun/2:])
		d.runs = slices.Insert(d.runs, at+1, half)
		run = run[:maxRun/2]
		d.runs[at] = run
		if v > run[len(run)-1] {
			at, run = at+1, half
		}
	}
	i, _ := slices.BinarySearch(run, v)
	d.runs[at] = slices.Insert(run, i, v)
}

// fold counts the durations in buckets.
func (d *Distribution) fold() {
	d.groups = new([numGroups]group)
	for _, run := range d.runs {
		for _, v := range run {
			g, i := bucket(v)
			d.groups[g].add(i, 1)
		}
	}
	d.runs = nil
}

// Merge adds all of o.
func (d *Distribution) Merge(o *Distribution) {
	d.count += o.count
	d.sum = units.AddCapped(d.sum, o.sum)
	d.max = max(d.max, o.max)
	if d.sumsOnly = d.sumsOnly || o.sumsOnly; d.sumsOnly {
		d.runs, d.groups = nil, nil
		return
	}
	for _, run := range o.runs {
		for _, v := range run {
			d.put(v)
		}
	}
	if o.groups == nil {
		return
	}
	if d.groups == nil {
		d.fold()
	}
	for g := range o.groups {
		for i, n := range o.groups[g].buckets {
			if n > 0 {
				d.groups[g].add(i, n)
			}
		}
	}
}

func (g *group) add(i, n int) {
	if g.buckets == nil {
		g.buckets = make([]int, 1<<bucketBits)
	}
	g.buckets[i] += n
	g.count += n
}

// Count returns the number of durations.
func (d *Distribution) Count() int { return d.count }

// Sum returns the sum of all durations.
func (d *Distribution) Sum() time.Duration { return d.sum }

// Max returns the longest duration, zero if there is none.
func (d *Distribution) Max() time.Duration { return d.max }

// Mean returns the sum over the count, zero if there is none.
func (d *Distribution) Mean() time.Duration {
	if d.count == 0 {
		return 0
	}
	return d.sum / time.Duration(d.count)
}

// Exact reports whether percentiles are exact.
func (d *Distribution) Exact() bool { return d.groups == nil && !d.sumsOnly }

// Percentile returns the shortest duration that p percent of the durations do
// not exceed, zero if there is none.
func (d *Distribution) Percentile(p float64) time.Duration {
	if d.count == 0 {
		return 0
	}
	rank := min(max(int(math.Ceil(p/100*float64(d.count))), 1), d.count)
	if d.groups != nil {
		return d.counted(rank)
	}
	for _, run := range d.runs {
		if rank <= len(run) {
			return run[rank-1]
		}
		rank -= len(run)
	}
	return d.max
}

// counted returns the longest duration of the bucket that the rankth one is in.
func (d *Distribution) counted(rank int) time.Duration {
	for g := range d.groups {
		if rank > d.groups[g].count {
			rank -= d.groups[g].count
			continue
		}
		for i, n := range d.groups[g].buckets {
			if rank -= n; rank <= 0 {
				return min(top(g, i), d.max)
			}
		}
	}
	return d.max
}

// bucket returns the group and bucket that v is counted in. The first two
// groups hold durations of up to bucketBits+1 bits in buckets of one
// nanosecond; in each further group, buckets are twice as wide.
func bucket(v time.Duration) (g, i int) {
	shift := max(0, bits.Len64(uint64(v))-bucketBits-1)
	i = int(uint64(v) >> shift)
	return shift + i>>bucketBits, i & (1<<bucketBits - 1)
}

// top returns the longest duration that a bucket holds.
func top(g, i int) time.Duration {
	if g == 0 {
		return time.Duration(i)
	}
	return time.Duration((uint64(i)+1<<bucketBits+1)<<(g-1) - 1)
}
