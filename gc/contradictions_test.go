package gc

import (
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
)

// TestContradictsItself: a part may be larger than the whole by a margin, and no more.
func TestContradictsItself(t *testing.T) {
	const (
		whole = 100 << 20
		most  = whole + whole/4 + 4<<20
	)
	of := func(change func(c *Collection, g *Generation, size int64), kind Kind) func(int64) bool {
		return func(size int64) bool {
			c := &Collection{
				Kind: kind, HeapBefore: Some[int64](whole), HeapPeak: Some[int64](whole), Promoted: Some[int64](whole), HeapAfter: Some[int64](2 * whole),
				Generations: []Generation{
					{Before: whole, After: Some[int64](whole), Out: whole, In: whole}, {Before: whole, After: Some[int64](whole)},
				},
			}
			change(c, &c.Generations[0], size)
			return c.contradictsItself()
		}
	}
	for _, c := range []struct {
		name       string
		change     func(c *Collection, g *Generation, size int64)
		most       int64
		background bool // also in background collections
	}{
		{"free space", func(_ *Collection, g *Generation, size int64) { g.Fragmentation = Some(size) }, most, true},
		{"free list", func(_ *Collection, g *Generation, size int64) { g.FreeList = Some(size) }, most, true},
		{"free space before", func(_ *Collection, g *Generation, size int64) { g.FreeBefore = size }, most, true},
		{"pinned", func(_ *Collection, g *Generation, size int64) { g.Pinned = Some(size) }, most, true},
		{"promoted", func(c *Collection, g *Generation, size int64) { g.In, c.HeapPeak = size, Opt[int64]{} }, most, false},
		{"more than the peak", func(c *Collection, g *Generation, size int64) { g.In, c.Promoted = size, Opt[int64]{} }, most, true},
		{"a generation", func(c *Collection, g *Generation, size int64) {
			g.After, c.HeapAfter = Some(size), Some[int64](whole)
			c.Generations[1].After = Opt[int64]{} // so that the sum is unknown
		}, most, true},
		{"all generations", func(c *Collection, _ *Generation, size int64) { c.HeapAfter = Some(size) }, 2*most - 4<<20, false},
		{"marked", func(c *Collection, _ *Generation, size int64) {
			c.Marks = []Mark{{Bytes: Some(size - 1)}, {}, {Bytes: Some[int64](1)}}
		}, most, false},
		{"pinned objects", func(c *Collection, _ *Generation, size int64) { c.PinnedObjects = Some(size / clr.MinObject) }, most, false},
	} {
		for _, kind := range []Kind{Blocking, Background} {
			contradicts := of(c.change, kind)
			if got := contradicts(c.most); got {
				t.Errorf("%s of a %v collection: %d bytes contradict", c.name, kind, c.most)
			}
			if got, want := contradicts(c.most+24), c.background || kind == Blocking; got != want {
				t.Errorf("%s of a %v collection: %d bytes contradict: %v", c.name, kind, c.most+24, got)
			}
		}
	}
}

// TestBudgetsBeyondUse: budgets may be many times the heap, and some gigabytes on each heap.
func TestBudgetsBeyondUse(t *testing.T) {
	for _, heaps := range []int64{0, 1, 4} {
		c := &Collection{HeapPeak: Some[int64](1000)}
		if heaps > 0 {
			c.Heaps = Some(int(heaps))
		}
		n := max(1, heaps)
		for i, most := range []int64{64*1000 + n<<33, 16*1000 + n<<31, 16*1000 + n<<31} {
			c.Generations = slices.Repeat([]Generation{{Budget: 5}}, 3)
			c.Generations[i].Budget = most
			if c.budgetsBeyondUse() {
				t.Errorf("%d heaps: %d bytes of generation %d are too many", heaps, most, i)
			}
			if c.Generations[i].Budget++; !c.budgetsBeyondUse() {
				t.Errorf("%d heaps: one more than %d bytes of generation %d is not too many", heaps, most, i)
			}
		}
		if c.HeapPeak = (Opt[int64]{}); c.budgetsBeyondUse() {
			t.Error("of a heap of unknown size")
		}
	}
}
