package gc

import (
	"slices"
	"testing"
)

// TestRatioSorted: the shares in ascending order are the latest ones, also after old ones were
// replaced and where several are equal.
func TestRatioSorted(t *testing.T) {
	var r ratio
	var latest []float64
	for i := range int64(3 * maxShares) {
		objects := 1 + i*i%17
		r.add(objects, 100)
		latest = append(latest, float64(objects)/100)
		latest = latest[max(0, len(latest)-maxShares):]
		if want := slices.Sorted(slices.Values(latest)); !slices.Equal(r.sorted, want) {
			t.Fatalf("after %d: %v, want %v", i, r.sorted, want)
		}
	}
}
