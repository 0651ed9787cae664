package stats

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// A Distribution holds durations for their percentiles. The zero Distribution
// is empty. Durations are at least zero.
//
// Up to maxExact durations percentiles are exact. Beyond that, durations are
// counted in buckets, whose width is at most 1/512 of what they hold.
type Distribution struct {
	count  int
	sum    time.Duration
	max    time.Duration
	values []time.Duration // nil once counted in buckets
	counts []int           // by bucket, nil while values are kept
}

const (
	maxExact = 1 << 15

	// A bucket is told by the highest bits of its durations.
	bucketBits = 9
	maxBuckets = (64 - bucketBits) << bucketBits
)

// Add takes in a duration.
func (d *Distribution) Add(v time.Duration) {
	v = max(0, v)
	d.count++
	d.sum = saturate(d.sum, v)
	d.max = max(d.max, v)
	if d.counts == nil && len(d.values) < maxExact {
		d.values = append(d.values, v)
		return
	}
	d.fold()
	d.counts[bucket(v)]++
}

// fold counts the values in buckets.
func (d *Distribution) fold() {
	if d.counts != nil {
		return
	}
	d.counts = make([]int, maxBuckets)
	for _, v := range d.values {
		d.counts[bucket(v)]++
	}
	d.values = nil
}

// Merge takes in all that o holds.
func (d *Distribution) Merge(o *Distribution) {
	d.count += o.count
	d.sum = saturate(d.sum, o.sum)
	d.max = max(d.max, o.max)
	if d.counts == nil && o.counts == nil && len(d.values)+len(o.values) <= maxExact {
		d.values = append(d.values, o.values...)
		return
	}
	d.fold()
	for _, v := range o.values {
		d.counts[bucket(v)]++
	}
	for i, n := range o.counts {
		d.counts[i] += n
	}
}

// Count is the number of durations.
func (d *Distribution) Count() int { return d.count }

// Sum is that of all durations.
func (d *Distribution) Sum() time.Duration { return d.sum }

// Max is the longest duration, zero where there is none.
func (d *Distribution) Max() time.Duration { return d.max }

// Mean is the sum over the count, zero where there is none.
func (d *Distribution) Mean() time.Duration {
	if d.count == 0 {
		return 0
	}
	return d.sum / time.Duration(d.count)
}

// Exact says whether percentiles are those of the durations themselves.
func (d *Distribution) Exact() bool { return d.counts == nil }

// Percentile is the shortest of the durations that p percent of them do not
// exceed, zero where there is none.
func (d *Distribution) Percentile(p float64) time.Duration {
	if d.count == 0 {
		return 0
	}
	rank := min(max(int(math.Ceil(p/100*float64(d.count))), 1), d.count)
	if d.counts == nil {
		slices.Sort(d.values)
		return d.values[rank-1]
	}
	for i, n := range d.counts {
		if rank -= n; rank <= 0 {
			return min(top(i), d.max)
		}
	}
	return d.max
}

// bucket is the index of the bucket that v is counted in: v itself while it has
// no more than bucketBits+1 bits, else its highest bits below its length.
func bucket(v time.Duration) int {
	shift := max(0, bits.Len64(uint64(v))-bucketBits-1)
	return shift<<bucketBits + int(uint64(v)>>shift)
}

// top is the longest duration that bucket i holds.
func top(i int) time.Duration {
	shift := max(0, i>>bucketBits-1)
	high := uint64(i - shift<<bucketBits)
	return time.Duration((high+1)<<shift - 1)
}

// saturate adds what may be more than an int64 holds; both are at least zero.
func saturate[T ~int64](a, b T) T {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
