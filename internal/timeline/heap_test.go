package timeline_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/timeline"
)

type item struct {
	time  int64
	order uint64
	index int
}

// runs returns sorted sequences with equal times within each and among them.
func runs(r *rand.Rand, n, length int) [][]item {
	all := make([][]item, n)
	for i := range all {
		for range 1 + r.IntN(length) {
			all[i] = append(all[i], item{r.Int64N(50) - 25, uint64(i), 0})
		}
		slices.SortFunc(all[i], func(a, b item) int { return cmp.Compare(a.time, b.time) })
		for j := range all[i] {
			all[i][j].index = j
		}
	}
	return all
}

// TestMerge merges runs, and compares with all items sorted.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		all := runs(r, n, 20)
		want := slices.Concat(all...)
		slices.SortFunc(want, func(a, b item) int {
			return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.order, b.order), cmp.Compare(a.index, b.index))
		})
		var h timeline.Heap[[]item]
		for _, run := range all {
			h.Push(timeline.Run[[]item]{Time: run[0].time, Order: run[0].order, Of: run})
		}
		var got []item
		for len(h) > 0 {
			second := int64(math.MaxInt64)
			for _, run := range h[1:] {
				second = min(second, run.Time)
			}
			if h.Second() != second {
				t.Fatalf("%d runs: second is %d, want %d", n, h.Second(), second)
			}
			first := &h[0]
			got = append(got, first.Of[0])
			if first.Of = first.Of[1:]; len(first.Of) > 0 {
				h.Next(first.Of[0].time)
			} else {
				h.Drop()
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d runs: got %v, want %v", n, got, want)
		}
	}
}
