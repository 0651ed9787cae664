package agent

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDistribution checks each value's exponential bucket, that counts agree, and
// that the number of buckets stays bounded.
func TestDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := newDistribution()
	var values []float64
	for i := range 5000 {
		v := math.Pow(10, -7+9*random.Float64())
		values = append(values, v)
		d.add(exemplar{value: v, gc: uint32(i), at: int64(i + 1)})
	}
	if len(d.bucket) > maxBuckets || d.schema >= finest {
		t.Errorf("%d buckets at schema %d", len(d.bucket), d.schema)
	}
	base := math.Exp2(math.Exp2(-float64(d.schema)))
	for i, n := range d.bucket {
		upper := math.Pow(base, float64(d.first)+float64(i))
		var want uint64
		for _, v := range values {
			if v > upper/base*(1+1e-12) && v <= upper*(1+1e-12) {
				want++
			}
		}
		if n != want {
			t.Errorf("bucket up to %g has %d values, want %d", upper, n, want)
		}
	}
	var classic uint64
	for i, n := range d.classic {
		classic += n
		if i < len(bounds) && n > 0 && (d.latest[i].value > bounds[i] || i > 0 && d.latest[i].value <= bounds[i-1]) {
			t.Errorf("exemplar %g in the bucket up to %g", d.latest[i].value, bounds[i])
		}
	}
	if classic != 5000 || d.count != 5000 || math.Abs(d.sum-sum(values)) > 1e-6 {
		t.Errorf("%d values, %d in buckets, sum %g", d.count, classic, d.sum)
	}
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

func TestDistributionOfOddValues(t *testing.T) {
	d := newDistribution()
	for _, v := range []float64{0, 1e-12, -1, math.NaN(), math.Inf(1), 0.001, 1, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		d.add(exemplar{value: v, gc: 1})
	}
	if d.count != 6 || d.zero != 3 || len(d.bucket) > maxBuckets {
		t.Errorf("%d values, %d zero, %d buckets", d.count, d.zero, len(d.bucket))
	}
	if i, _ := slices.BinarySearch(bounds, 0.001); d.classic[i] != 1 {
		t.Error("a value that equals a bound is not in its bucket")
	}
}
