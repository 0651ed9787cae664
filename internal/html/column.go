package html

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// A column is one figure of every collection, a whole number. Times are in
// microseconds, sizes in bytes, as the name's end says.
type column struct {
	name  string
	value func(*gc.Collection) gc.Opt[int64]
	// from predicts the figure: a sum of figures of this collection, in columns further
	// up, and of the one before it. Only the difference is stored.
	from []term
}

// A term is a figure of the same collection, or of the back-th before it.
type term struct {
	name string
	back int
	sign int64
}

// columns are the columns of every process, in the order of storage.
var columns = append([]column{
	{"number", func(c *gc.Collection) gc.Opt[int64] { return gc.Some(int64(c.Number)) }, before("number")},
	{"instance", func(c *gc.Collection) gc.Opt[int64] { return gc.Some(int64(c.ClrInstance)) }, before("instance")},
	{"generation", func(c *gc.Collection) gc.Opt[int64] { return whole(c.Generation) }, nil},
	{"kind", func(c *gc.Collection) gc.Opt[int64] { return named(int64(c.Kind)) }, nil},
	{"requested_kind", func(c *gc.Collection) gc.Opt[int64] { return named(int64(c.Requested)) }, same("kind")},
	{"reason", func(c *gc.Collection) gc.Opt[int64] { return whole(c.Reason) }, before("reason")},
	{"condemned", func(c *gc.Collection) gc.Opt[int64] { return whole(c.Condemned) }, before("condemned")},
	{"mechanisms", func(c *gc.Collection) gc.Opt[int64] { return whole(c.Mechanisms) }, before("mechanisms")},
	{"compacted", func(c *gc.Collection) gc.Opt[int64] { return truth(c.Compacted) }, nil},
	{"complete", func(c *gc.Collection) gc.Opt[int64] { return truth(gc.Some(c.Complete)) }, nil},
	{"affected_by_loss", func(c *gc.Collection) gc.Opt[int64] { return truth(gc.Some(c.AffectedByLoss)) }, nil},
	{"heaps", func(c *gc.Collection) gc.Opt[int64] { return whole(c.Heaps) }, before("heaps")},
	{"pauses", func(c *gc.Collection) gc.Opt[int64] { return gc.Some(int64(len(c.Pauses))) }, nil},

	{"pause_start_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.PauseStart) }, before("pause_start_us")},
	{"suspend_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.Suspend()) }, nil},
	{"pause_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.Pause()) }, nil},
	{"mostly", func(c *gc.Collection) gc.Opt[int64] {
		part, _, timed := stats.Mostly(c)
		return knownIf(timed, int64(part))
	}, before("mostly")},
	{"mostly_centipct", func(c *gc.Collection) gc.Opt[int64] {
		_, share, timed := stats.Mostly(c)
		return knownIf(timed, int64(share*100+0.5))
	}, before("mostly_centipct")},
	{"start_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.Start) }, []term{{"pause_start_us", 0, 1}, {"suspend_us", 0, 1}}},
	{"duration_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.Duration()) }, []term{{"pause_us", 0, 1}, {"suspend_us", 0, -1}}},
	{"since_last_us", func(c *gc.Collection) gc.Opt[int64] { return micros(c.SinceLast) }, []term{
		{"pause_start_us", 0, 1}, {"pause_start_us", 1, -1}, {"pause_us", 1, -1},
	}},
	// The second pause of a background collection.
	{"final_start_us", final(func(p *gc.Pause) gc.Opt[time.Duration] { return gc.Some(p.Start) }), []term{{"start_us", 0, 1}, {"duration_us", 0, 1}}},
	{"final_pause_us", final(func(p *gc.Pause) gc.Opt[time.Duration] { return gc.Some(p.Duration) }), nil},
}, append(ofGenerations(), []column{
	{"heap_before_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.HeapBefore }, sum("before_bytes", 0, 1)},
	{"heap_after_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.HeapAfter }, sum("after_bytes", 0, 1)},
	{"freed_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.Freed }, []term{{"heap_before_bytes", 0, 1}, {"heap_after_bytes", 0, -1}}},
	{"freed_is", func(c *gc.Collection) gc.Opt[int64] { return named(int64(c.FreedQuality)) }, nil},
	{"allocated_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.Allocated }, []term{{"heap_before_bytes", 0, 1}, {"heap_after_bytes", 1, -1}}},
	{"allocated_is", func(c *gc.Collection) gc.Opt[int64] { return named(int64(c.AllocatedQuality)) }, nil},
	{"promoted_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.Promoted }, nil},
	{"committed_after_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.CommittedAfter }, before("committed_after_bytes")},
	{"memory_load_pct", func(c *gc.Collection) gc.Opt[int64] { return whole(c.MemoryLoad) }, before("memory_load_pct")},
	{"pinned_objects", func(c *gc.Collection) gc.Opt[int64] { return c.PinnedObjects }, before("pinned_objects")},
}...)...)

// ofGenerations are the sizes of each generation. Before, one is mostly as large as
// it was after the collection before.
func ofGenerations() []column {
	var all []column
	for i, name := range gc.GenerationNames() {
		of := func(figure func(*gc.Generation) gc.Opt[int64]) func(*gc.Collection) gc.Opt[int64] {
			return func(c *gc.Collection) gc.Opt[int64] {
				if i >= len(c.Generations) {
					return gc.Opt[int64]{}
				}
				return figure(&c.Generations[i])
			}
		}
		all = append(all,
			column{name + "_before_bytes", of(func(g *gc.Generation) gc.Opt[int64] { return gc.Some(g.Before) }), before(name + "_after_bytes")},
			column{name + "_after_bytes", of(func(g *gc.Generation) gc.Opt[int64] { return g.After }), same(name + "_before_bytes")},
		)
	}
	return all
}

func same(name string) []term   { return []term{{name, 0, 1}} }
func before(name string) []term { return []term{{name, 1, 1}} }

// sum is a figure of all generations.
func sum(figure string, back int, sign int64) []term {
	var terms []term
	for _, name := range gc.GenerationNames() {
		terms = append(terms, term{name + "_" + figure, back, sign})
	}
	return terms
}

// final is a figure of the second pause.
func final(figure func(*gc.Pause) gc.Opt[time.Duration]) func(*gc.Collection) gc.Opt[int64] {
	return func(c *gc.Collection) gc.Opt[int64] {
		if len(c.Pauses) < 2 {
			return gc.Opt[int64]{}
		}
		return micros(figure(&c.Pauses[len(c.Pauses)-1]))
	}
}

func whole[T ~int | ~uint32](o gc.Opt[T]) gc.Opt[int64] {
	v, known := o.Get()
	if !known {
		return gc.Opt[int64]{}
	}
	return gc.Some(int64(v))
}

func knownIf(known bool, v int64) gc.Opt[int64] {
	if !known {
		return gc.Opt[int64]{}
	}
	return gc.Some(v)
}

// micros rounds a time to microseconds.
func micros(o gc.Opt[time.Duration]) gc.Opt[int64] {
	v, known := o.Get()
	if !known {
		return gc.Opt[int64]{}
	}
	return gc.Some(v.Round(time.Microsecond).Microseconds())
}

// named is unknown for the zero value of an enumeration.
func named(v int64) gc.Opt[int64] {
	if v == 0 {
		return gc.Opt[int64]{}
	}
	return gc.Some(v)
}

func truth(o gc.Opt[bool]) gc.Opt[int64] {
	v, known := o.Get()
	if !known {
		return gc.Opt[int64]{}
	}
	if v {
		return gc.Some[int64](1)
	}
	return gc.Some[int64](0)
}
