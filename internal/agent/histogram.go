package agent

import (
	"math"
	"slices"

	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/gc/request"
)

// bounds are the upper bounds of the classic buckets, in seconds.
var bounds = openmetrics.PauseBounds()

const (
	// finest is the schema that exponential buckets begin with: each is 2^(1/8), or
	// 9 %, wider than the one before.
	finest = 3
	// maxBuckets bounds the exponential buckets; beyond it, pairs of buckets are merged.
	maxBuckets = 160
	// zeroThreshold is the largest value that counts as zero, in seconds.
	zeroThreshold = 1e-9
)

// A distribution counts durations in classic and in exponential buckets.
type distribution struct {
	count   uint64
	sum     float64
	classic []uint64 // by bounds, and the rest; not cumulative
	latest  []exemplar

	// The exponential bucket of index i holds the values in (b^(i-1), b^i], where b is
	// 2^(2^-schema). These are Prometheus' indices; OTLP's are smaller by one.
	schema int32
	zero   uint64
	first  int32 // index of buckets[0]
	bucket []uint64
}

// An exemplar is a value of a classic bucket, in seconds, with its collection, and a request
// that it paused.
type exemplar struct {
	value float64
	gc    uint32
	at    int64           // Unix nanoseconds; 0 for none
	trace request.TraceID // zero for no request
	span  request.SpanID

	pushed bool // by OTLP
}

func newDistribution() *distribution {
	return &distribution{classic: make([]uint64, len(bounds)+1), latest: make([]exemplar, len(bounds)+1), schema: finest}
}

func (d *distribution) add(e exemplar) {
	seconds := e.value
	if !(seconds >= 0) || math.IsInf(seconds, 0) {
		return
	}
	d.count++
	d.sum += seconds
	i, _ := slices.BinarySearch(bounds, seconds)
	d.classic[i]++
	d.latest[i] = e
	if seconds <= zeroThreshold {
		d.zero++
		return
	}
	for {
		i := int32(math.Ceil(math.Ldexp(math.Log2(seconds), int(d.schema))))
		if d.reach(i) {
			d.bucket[i-d.first]++
			return
		}
		d.coarsen()
	}
}

// reach makes room for an index, and reports whether that was possible.
func (d *distribution) reach(i int32) bool {
	if len(d.bucket) == 0 {
		d.first, d.bucket = i, make([]uint64, 1)
	}
	first, last := min(i, d.first), max(i, d.first+int32(len(d.bucket))-1)
	if last-first >= maxBuckets {
		return false
	}
	if missing := d.first - first; missing > 0 {
		d.bucket = slices.Insert(d.bucket, 0, make([]uint64, missing)...)
		d.first = first
	}
	if missing := int(last-first) + 1 - len(d.bucket); missing > 0 {
		d.bucket = append(d.bucket, make([]uint64, missing)...)
	}
	return true
}

// coarsen makes one bucket of two.
func (d *distribution) coarsen() {
	half := func(i int32) int32 { return (i + 1) >> 1 }
	first := half(d.first)
	last := half(d.first + int32(len(d.bucket)) - 1)
	merged := make([]uint64, last-first+1)
	for i, n := range d.bucket {
		merged[half(d.first+int32(i))-first] += n
	}
	d.schema, d.first, d.bucket = d.schema-1, first, merged
}
