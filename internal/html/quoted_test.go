package html

import (
	"math"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/gc/findings"
)

// TestQuoted: the numbers of the collections that a finding quotes come back as the
// page reads them.
func TestQuoted(t *testing.T) {
	for _, numbers := range [][]uint32{{1}, {0, 1, 2}, {5, 6, 9, 10, 11, 40}, {7, 8, 3, 4, 7}, {math.MaxUint32, 0, 1}} {
		runs := NewQuoted([]findings.Finding{{ID: "R03", All: numbers}, {ID: "R84"}})
		if len(runs) != 1 {
			t.Fatalf("%v", runs)
		}
		var got []uint32
		next := uint32(0)
		for run := range slices.Chunk(runs["R03"], 2) {
			next += run[0]
			for range run[1] {
				got = append(got, next)
				next++
			}
		}
		if !slices.Equal(got, numbers) {
			t.Errorf("%v, want %v", got, numbers)
		}
	}
}
