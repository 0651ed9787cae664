package gc

import (
	"math"
	"slices"
)

// A ratio estimates the share of the bytes granted by the allocator that becomes objects:
// the median of the latest known shares. The rest is lost at the ends of allocation
// contexts.
type ratio struct {
	shares []float64
	next   int
	sorted []float64 // shares in ascending order, kept because each collection needs it several times
}

// maxShares is the number of shares that a ratio remembers.
const maxShares = 63

func (r *ratio) add(objects, granted int64) {
	if objects <= 0 || granted <= 0 {
		return
	}
	share := float64(objects) / float64(granted)
	if len(r.shares) < maxShares {
		r.shares = append(r.shares, share)
	} else {
		i, _ := slices.BinarySearch(r.sorted, r.shares[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
		r.shares[r.next] = share
		r.next = (r.next + 1) % maxShares
	}
	i, _ := slices.BinarySearch(r.sorted, share)
	r.sorted = slices.Insert(r.sorted, i, share)
}

func (r *ratio) known() bool { return len(r.shares) > 0 }

// of returns the bytes of objects that so many granted bytes become: all of them
// while the ratio is unknown.
func (r *ratio) of(granted int64) int64 {
	if !r.known() {
		return granted
	}
	return int64(math.Round(float64(granted) * min(1, r.sorted[len(r.sorted)/2])))
}

// Shares of different collections differ by less than leastSpread if allocation contexts
// are full, and by up to unknownSpread if many threads leave theirs half empty. The first
// two shares are off by up to firstSpread.
const (
	leastSpread   = 0.005
	firstSpread   = 0.02
	unknownSpread = 0.06
)

// margin returns how far the result of of may be off: the spread of the middle four fifths
// of the shares.
func (r *ratio) margin(granted int64) int64 {
	spread := unknownSpread
	switch n := len(r.shares); {
	case n > 2:
		spread = max(leastSpread, min(unknownSpread, r.sorted[n-1-n/10]-r.sorted[n/10]))
	case n > 0:
		spread = firstSpread
	}
	return int64(math.Round(float64(max(0, granted)) * spread))
}
