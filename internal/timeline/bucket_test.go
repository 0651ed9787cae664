package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/timeline"
)

// TestHalve checks that the later one of two elements joins the other, and an odd one stays.
func TestHalve(t *testing.T) {
	for n, want := range [][]string{{}, {"a"}, {"ab"}, {"ab", "c"}, {"ab", "cd"}, {"ab", "cd", "e"}} {
		all := []string{"a", "b", "c", "d", "e"}[:n]
		if got := timeline.Halve(all, func(into, later *string) { *into += *later }); !slices.Equal(got, want) {
			t.Errorf("half of %d: %v, want %v", n, got, want)
		}
	}
}

// TestBucket checks that buckets widen when a time is beyond them, and that nothing is lost.
func TestBucket(t *testing.T) {
	width, all := time.Second, []int(nil)
	count := func(at time.Duration) {
		all[timeline.Bucket(at, &width, &all, 4, func(into, later *int) { *into += *later })]++
	}
	for _, tt := range []struct {
		at    time.Duration
		width time.Duration
		all   []int
	}{
		{-time.Hour, time.Second, []int{1}},
		{2500 * time.Millisecond, time.Second, []int{1, 0, 1}},
		{3 * time.Second, time.Second, []int{1, 0, 1, 1}},
		{4 * time.Second, 2 * time.Second, []int{1, 2, 1}},
		{8 * time.Second, 4 * time.Second, []int{3, 1, 1}},
		{63 * time.Second, 16 * time.Second, []int{5, 0, 0, 1}},
	} {
		if count(tt.at); width != tt.width || !slices.Equal(all, tt.all) {
			t.Errorf("after %v: %v wide, %v; want %v, %v", tt.at, width, all, tt.width, tt.all)
		}
	}
}
