package fleet

import (
	"maps"
	"math"
	"slices"
	"time"
)

// A histogram counts durations in buckets whose bounds grow by 2 %, so that a
// quantile is right to 1 %.
type histogram struct {
	counts map[int]int64
	total  int64
}

const growth = 1.02

func (h *histogram) add(d time.Duration) {
	if h.counts == nil {
		h.counts = make(map[int]int64)
	}
	h.counts[bucket(d)]++
	h.total++
}

func bucket(d time.Duration) int {
	return int(math.Floor(math.Log(float64(max(d, 1))) / math.Log(growth)))
}

// quantile returns the duration that a share q of all durations does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(h.total)))
	for _, b := range slices.Sorted(maps.Keys(h.counts)) {
		if rank -= h.counts[b]; rank <= 0 {
			return time.Duration(math.Pow(growth, float64(b)+0.5))
		}
	}
	return 0
}
