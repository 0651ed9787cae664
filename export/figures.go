package export

import (
	"fmt"
	"iter"

	"github.com/gctrail/gctrail/gc"
)

// Kind returns the generation and kind of a collection, as in "gen 1 blocking".
func Kind(c *gc.Collection) string {
	generation := "gen ?"
	if g, known := c.Generation.Get(); known {
		generation = fmt.Sprintf("gen %d", g)
	}
	if c.Kind == gc.KindUnknown {
		return generation
	}
	return generation + " " + c.Kind.String()
}

// figures are a timeline's figures of a collection. Names end in the unit.
var figures = []struct {
	name, label string
	value       func(*gc.Collection) gc.Opt[int64]
}{
	{"heap_before_bytes", "Heap before", func(c *gc.Collection) gc.Opt[int64] { return c.HeapBefore }},
	{"heap_after_bytes", "Heap after", func(c *gc.Collection) gc.Opt[int64] { return c.HeapAfter }},
	{"promoted_bytes", "Promoted", func(c *gc.Collection) gc.Opt[int64] { return c.Promoted }},
	{"freed_bytes", "Freed", func(c *gc.Collection) gc.Opt[int64] { return c.Freed }},
	{"allocated_bytes", "Allocated since the previous GC", func(c *gc.Collection) gc.Opt[int64] { return c.Allocated }},
	{"pinned_objects", "Pinned objects", func(c *gc.Collection) gc.Opt[int64] { return c.PinnedObjects }},
}

// Figures yields the known figures of a collection for a timeline, by name.
func Figures(c *gc.Collection) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, f := range figures {
			if v, known := f.value(c).Get(); known && !yield(f.name, v) {
				return
			}
		}
	}
}

// FigureLabels yields the names of all figures that Figures can yield, with
// their labels.
func FigureLabels() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range figures {
			if !yield(f.name, f.label) {
				return
			}
		}
	}
}
