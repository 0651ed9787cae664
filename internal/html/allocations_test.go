package html

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
)

// TestParts: the bytes of each type lie before the collections that follow them, in
// groups of as many as there is room for.
func TestParts(t *testing.T) {
	for _, c := range []struct{ types, collections, group int }{{3, 10, 1}, {200, 299, 1}, {200, 301, 2}, {300, 1001, 8}, {maxTypes + 10, 40, 2}} {
		var begins []time.Duration
		for i := range c.collections {
			begins = append(begins, time.Duration(10*i+10)*time.Millisecond)
		}
		// Before each collection, and after the last, each type is allocated once.
		var all []alloc.Timed
		rows := make([]alloc.Row, c.types)
		for g := range c.collections + 1 {
			for i := range c.types {
				timed := alloc.Timed{Time: time.Duration(10*g+5) * time.Millisecond, Type: fmt.Sprintf("T%d", i), Heap: alloc.Small, Bytes: int64(1000*i + g)}
				all = append(all, timed)
				rows[i].Type, rows[i].Heap = timed.Type, timed.Heap
				rows[i].Bytes += timed.Bytes
			}
		}
		slices.SortFunc(rows, func(a, b alloc.Row) int { return int(b.Bytes - a.Bytes) })
		page := NewAllocations(&export.Allocations{Process: &gc.Process{}, Rows: rows, Timeline: slices.Values(all)}, alloc.Total{}, gc.Opt[int64]{}, rows, begins).data.(*allocations)
		if page.Group != c.group {
			t.Errorf("%v: groups of %d", c, page.Group)
		}
		last := (c.collections + page.Group - 1) / page.Group
		for i, s := range page.Stacks {
			var sum, after int64
			group := -1
			for part := range slices.Chunk(page.Parts[i], 2) {
				group += int(part[0]) + 1
				sum += part[1]
				if group == last {
					after = part[1]
				}
			}
			if sum != s[2] || group != last {
				t.Fatalf("%v: stack %d: %d bytes in groups up to %d, want %d up to %d", c, i, sum, group, s[2], last)
			}
			if s[0] >= 0 {
				var number int64
				if _, err := fmt.Sscanf(page.Types[s[0]].Type, "T%d", &number); err != nil {
					t.Fatal(err)
				}
				if want := 1000*number + int64(c.collections); after != want {
					t.Fatalf("%v: %d bytes of T%d after the last collection, want %d", c, after, number, want)
				}
			}
		}
	}
}
