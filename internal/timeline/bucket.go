package timeline

import "time"

// Halve joins each pair of neighbours, and keeps an odd last element. It overwrites all, and
// returns its first half, rounded up.
func Halve[T any](all []T, join func(into, later *T)) []T {
	half := (len(all) + 1) / 2
	for i := range half {
		all[i] = all[2*i]
		if 2*i+1 < len(all) {
			join(&all[i], &all[2*i+1])
		}
	}
	return all[:half]
}

// Bucket returns the index in all of the bucket that has a time, which counts as 0 if it is
// negative. Buckets divide time into intervals of equal length. There are at most limit buckets
// of the given width, above 0: where the time needs more of them, the width doubles, and join
// adds the later one of two buckets to the other.
func Bucket[T any](at time.Duration, width *time.Duration, all *[]T, limit int, join func(into, later *T)) int {
	at = max(0, at)
	for at / *width >= time.Duration(limit) {
		*all = Halve(*all, join)
		*width *= 2
	}
	i := int(at / *width)
	for len(*all) <= i {
		var empty T
		*all = append(*all, empty)
	}
	return i
}
