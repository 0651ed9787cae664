package handle

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable compares a table with a map.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var got table[int]
	if got.has(8) {
		t.Error("an empty table has a page")
	}
	want := map[uint64]int{}
	for i := range 200_000 {
		id := r.Uint64N(4096) * 8
		if i%20_000 > 10_000 {
			id *= 64 // most have a page of their own, which comes and goes
		}
		if i%1000 == 0 {
			id = ^uint64(0) - id%2*^uint64(0) // both ends of the range of ids
		}
		switch r.IntN(5) {
		case 0, 1:
			if v := got.set(id, i+1); v != want[id] {
				t.Fatalf("set(%d) replaced %d, expected %d", id, v, want[id])
			}
			want[id] = i + 1
		case 2, 3:
			if v := got.remove(id); v != want[id] {
				t.Fatalf("remove(%d) is %d, expected %d", id, v, want[id])
			}
			delete(want, id)
		default:
			if v := got.get(id); v != want[id] {
				t.Fatalf("get(%d) is %d, expected %d", id, v, want[id])
			}
		}
		if got.count != len(want) {
			t.Fatalf("%d handles, expected %d", got.count, len(want))
		}
	}
	if !slices.Equal(slices.Sorted(got.values()), slices.Sorted(maps.Values(want))) {
		t.Error("values differ from those that were set")
	}
}
