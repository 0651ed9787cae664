package condition

import (
	"iter"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Figure is a figure of a collection that conditions can test.
type Figure struct {
	Name    string
	Meaning string
	Values  string // how its values are written
}

// Figures yields the figures of conditions, in the order of a help text.
func Figures() iter.Seq[Figure] {
	return func(yield func(Figure) bool) {
		for i := range figures {
			if !yield(figures[i].Figure) {
				return
			}
		}
	}
}

// A figure is a Figure and how it is found: a number in a dimension, or a word.
type figure struct {
	Figure
	in     *dimension
	number func(*gc.Collection) gc.Opt[float64]
	words  func() []string
	word   func(*gc.Collection) string
}

var figures = [...]figure{
	{Figure: Figure{"pause", "how long threads were paused", "200ms"}, in: &times, number: figureOf((*gc.Collection).Pause)},
	{Figure: Figure{"suspend", "time until all threads were suspended", "50ms"}, in: &times, number: figureOf((*gc.Collection).Suspend)},
	{Figure: Figure{"duration", "time from start to end", "1.5s"}, in: &times, number: figureOf((*gc.Collection).Duration)},
	{Figure: Figure{"gen", "the collected generation", "0, 1, 2"}, in: &generations, number: figureOf(func(c *gc.Collection) gc.Opt[int] { return c.Generation })},
	{Figure: Figure{"kind", "blocking, background or foreground", "background"}, words: kinds, word: kind},
	{Figure: Figure{"reason", "why it started", "Induced, AllocSmall, ..."}, words: reasons, word: reason},
	{Figure: Figure{"number", "the runtime's number of the collection", "1000"}, in: &counts, number: number},
	{Figure: Figure{"heap", "heap size after", "1.5GB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.HeapAfter })},
	{Figure: Figure{"before", "heap size before", "2GB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.HeapBefore })},
	{Figure: Figure{"freed", "bytes freed", "10MB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.Freed })},
	{Figure: Figure{"promoted", "bytes that survived", "100MB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.Promoted })},
	{Figure: Figure{"committed", "committed memory after", "3GB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.CommittedAfter })},
	{Figure: Figure{"allocated", "allocated since the previous collection", "500MB"}, in: &sizes, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.Allocated })},
	{Figure: Figure{"rate", "allocation rate since then", "100MB/s"}, in: &rates, number: rate},
	{Figure: Figure{"load", "memory load of the machine or container", "90%"}, in: &shares, number: figureOf(func(c *gc.Collection) gc.Opt[int] { return c.MemoryLoad })},
	{Figure: Figure{"pinned", "pinned objects found", "1000"}, in: &counts, number: figureOf(func(c *gc.Collection) gc.Opt[int64] { return c.PinnedObjects })},
}

// A dimension is the notation of a figure's values.
type dimension struct {
	is      string // as in "a time"
	example string
	units   []unit
	bare    bool    // the unit may be left out
	below   float64 // upper limit of values; 0 for none
}

type unit struct {
	name string
	size float64
}

var (
	times = dimension{is: "a time", example: "200ms or 1.5s", units: []unit{
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
	}}
	sizes       = dimension{is: "a size", example: "10MB or 1.5GiB", units: bytesIn("")}
	rates       = dimension{is: "a size per second", example: "100MB/s", units: bytesIn("/s")}
	shares      = dimension{is: "a percentage", example: "90%", bare: true, units: []unit{{"%", 1}}}
	generations = dimension{is: "a generation", example: "0, 1 or 2", bare: true, below: 3}
	counts      = dimension{is: "a number", example: "2", bare: true}
)

// bytesIn returns the units of sizes, with a suffix.
func bytesIn(suffix string) (all []unit) {
	for _, u := range units.ByteUnits() {
		all = append(all, unit{u.Unit + suffix, u.One()})
	}
	return all
}

// figureOf makes a figure of a number; of a duration, in nanoseconds.
func figureOf[T ~int | ~int64](of func(*gc.Collection) gc.Opt[T]) func(*gc.Collection) gc.Opt[float64] {
	return func(c *gc.Collection) gc.Opt[float64] {
		if v, ok := of(c).Get(); ok {
			return gc.Some(float64(v))
		}
		return gc.Opt[float64]{}
	}
}

func number(c *gc.Collection) gc.Opt[float64] { return gc.Some(float64(c.Number)) }

// rate is in bytes a second of the time that threads could run.
func rate(c *gc.Collection) gc.Opt[float64] {
	since := c.SinceLast.Or(0)
	allocated, ok := c.Allocated.Get()
	if !ok || since <= 0 {
		return gc.Opt[float64]{}
	}
	return gc.Some(float64(allocated) / since.Seconds())
}

func kind(c *gc.Collection) string {
	if c.Kind == gc.KindUnknown {
		return ""
	}
	return c.Kind.String()
}

func kinds() []string {
	return []string{gc.Blocking.String(), gc.Background.String(), gc.Foreground.String()}
}

func reason(c *gc.Collection) string {
	if r, ok := c.Reason.Get(); ok {
		return r.String()
	}
	return ""
}

func reasons() []string {
	var words []string
	for r := range clr.GCReasonInducedAggressive + 1 {
		words = append(words, r.String())
	}
	return words
}
