package html

import (
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
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
var columns = slices.Concat(predicted, unpredicted(predicted))

// predicted are the columns that others predict, that predict others, or that only the page has.
var predicted = slices.Concat([]column{
	of("number", before("number")),
	of("clr_instance", before("clr_instance")),
	of("generation", nil),
	of("kind", nil),
	of("requested_kind", same("kind")),
	of("reason", before("reason")),
	of("condemned", before("condemned")),
	of("mechanisms", before("mechanisms")),
	of("compacted", nil),
	of("complete", nil),
	of("affected_by_loss", nil),
	of("heaps", before("heaps")),
	of("pauses", nil),

	of("pause_start_ms", before("pause_start_us")),
	of("suspend_ms", nil),
	of("pause_ms", nil),
	{"mostly", func(c *gc.Collection) gc.Opt[int64] {
		part, _, timed := stats.Mostly(c)
		return gc.SomeIf(int64(part), timed)
	}, before("mostly")},
	{"mostly_centipct", func(c *gc.Collection) gc.Opt[int64] {
		_, share, timed := stats.Mostly(c)
		return gc.SomeIf(int64(share*100+0.5), timed)
	}, before("mostly_centipct")},
	of("start_ms", []term{{"pause_start_us", 0, 1}, {"suspend_us", 0, 1}}),
	of("duration_ms", []term{{"pause_us", 0, 1}, {"suspend_us", 0, -1}}),
	of("since_last_ms", []term{{"pause_start_us", 0, 1}, {"pause_start_us", 1, -1}, {"pause_us", 1, -1}}),
	// The second pause of a background collection.
	{"final_start_us", final(func(p *gc.Pause) time.Duration { return p.Start }), []term{{"start_us", 0, 1}, {"duration_us", 0, 1}}},
	{"final_pause_us", final(func(p *gc.Pause) time.Duration { return p.Duration }), nil},
}, ofGenerations(), []column{
	of(figure.HeapBefore, sum("before_bytes")),
	of(figure.HeapAfter, sum("after_bytes")),
	of("freed_bytes", []term{{figure.HeapBefore, 0, 1}, {figure.HeapAfter, 0, -1}}),
	of("freed_is", nil),
	{"freed_low_bytes", func(c *gc.Collection) gc.Opt[int64] { return low(c.Freed, c.FreedLow, c.FreedQuality) }, same("freed_bytes")},
	of("allocated_bytes", []term{{figure.HeapBefore, 0, 1}, {figure.HeapAfter, 1, -1}}),
	of("allocated_is", nil),
	{"allocated_low_bytes", func(c *gc.Collection) gc.Opt[int64] { return low(c.Allocated, c.AllocatedLow, c.AllocatedQuality) }, same("allocated_bytes")},
	of("promoted_bytes", nil),
	of("committed_after_bytes", before("committed_after_bytes")),
	of("memory_load_pct", before("memory_load_pct")),
	of("pinned_objects", before("pinned_objects")),
})

// unpredicted returns the columns of figures that the page shows or has conditions on, and that
// are not among the given ones.
func unpredicted(given []column) []column {
	var more []column
	for _, f := range slices.Concat(figure.OnPage(), figure.Conditions()) {
		has := func(c column) bool { return c.name == stored(f.Key) }
		if f.Only != figure.InConditions && !slices.ContainsFunc(given, has) && !slices.ContainsFunc(more, has) {
			more = append(more, of(f.Key, nil))
		}
	}
	return more
}

// stored returns the name of a figure's column: times are in microseconds.
func stored(key string) string {
	if stem, isTime := strings.CutSuffix(key, "_ms"); isTime {
		return stem + "_us"
	}
	return key
}

// of returns the column of the figure with a key. Words are stored as their numbers, sets
// of words as bits.
func of(key string, from []term) column {
	f, known := figure.Named(key)
	if !known {
		panic("no figure " + key)
	}
	if i := slices.IndexFunc(bits, func(f figure.Figure) bool { return f.Key == key }); i >= 0 {
		f = bits[i]
	}
	return column{stored(key), func(c *gc.Collection) gc.Opt[int64] {
		switch v := f.Value(c); v.Type {
		case figure.Unknown:
			return gc.Opt[int64]{}
		case figure.Millis:
			return micros(gc.Some(time.Duration(v.Int)))
		case figure.Percent:
			return gc.Some(int64(v.Float()))
		default:
			return gc.Some(v.Int)
		}
	}, from}
}

// bits are the figures that are sets of words.
var bits = slices.DeleteFunc(figure.Lines(), func(f figure.Figure) bool { return f.Type != figure.Words })

// ofGenerations returns the columns of the sizes of each generation. Before, one is mostly
// as large as it was after the collection before.
func ofGenerations() []column {
	var all []column
	for _, name := range gc.GenerationNames() {
		all = append(all,
			of(name+"_before_bytes", before(name+"_after_bytes")),
			of(name+"_after_bytes", same(name+"_before_bytes")),
		)
	}
	return all
}

func same(name string) []term   { return []term{{name, 0, 1}} }
func before(name string) []term { return []term{{name, 1, 1}} }

// sum returns the terms of a figure of all generations.
func sum(figure string) []term {
	var terms []term
	for _, name := range gc.GenerationNames() {
		terms = append(terms, term{name + "_" + figure, 0, 1})
	}
	return terms
}

// low returns the lower bound of a size. An estimate without one may be larger by any amount.
func low(size, bound gc.Opt[int64], is gc.Certainty) gc.Opt[int64] {
	switch {
	case bound.Known():
		return bound
	case is == gc.Estimate && size.Known():
		return gc.Some[int64](0)
	default:
		return size
	}
}

// final returns a time of the second pause.
func final(of func(*gc.Pause) time.Duration) func(*gc.Collection) gc.Opt[int64] {
	return func(c *gc.Collection) gc.Opt[int64] {
		if len(c.Pauses) < 2 {
			return gc.Opt[int64]{}
		}
		return micros(gc.Some(of(&c.Pauses[len(c.Pauses)-1])))
	}
}

// micros rounds a time to microseconds.
func micros(o gc.Opt[time.Duration]) gc.Opt[int64] {
	v, known := o.Get()
	return gc.SomeIf(v.Round(time.Microsecond).Microseconds(), known)
}
