package html

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
)

// A detail holds the figures of a collection that have no column, as whole numbers: first
// the scalars, then for each of lists the number of items, and the fields of each item.
// Times are in microseconds, sizes in bytes.
type detail []int64

// A scalar is one figure of a detail. It is likely to be what it was in the detail
// before.
type scalar struct {
	name  string
	value func(*gc.Collection) gc.Opt[int64]
}

var scalars = []scalar{
	{"committed_before_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.CommittedBefore }},
	{"finalization_promoted_bytes", func(c *gc.Collection) gc.Opt[int64] { return c.FinalizationPromoted }},
	{"finalization_promoted_count", func(c *gc.Collection) gc.Opt[int64] { return c.FinalizationPromotedObjs }},
	{"gc_handles", func(c *gc.Collection) gc.Opt[int64] { return c.Handles }},
	{"sync_blocks", func(c *gc.Collection) gc.Opt[int64] { return c.SyncBlocks }},
}

// A list is a part of a detail of which a collection has any number.
type list struct {
	name   string
	fields []field
	// add appends the fields of all items, and returns how many items there are.
	add func(detail, *gc.Collection) (detail, int)
}

// A field is a figure of the items of a list, and what it is likely to be.
type field struct {
	name  string
	guess guess
	// columns are those that the guess adds up: for the first item, for the second.
	columns [][]place
}

// A guess is how a figure is predicted.
type guess uint8

const (
	zero     guess = iota
	previous       // as in the item at this place in the detail before
	above          // as the field before, in the item before
	rest           // a column's rest after the items before
	last           // for the last item a column's rest; for others as previous
	exact          // a sum of columns, for each item another
)

var guessNames = [...]string{"zero", "previous", "above", "rest", "last", "exact"}

// sums returns the columns of some items.
func sums(items ...[]term) [][]place {
	all := make([][]place, len(items))
	for i, terms := range items {
		all[i] = placesOf(terms)
	}
	return all
}

var lists = []list{
	{"pauses", []field{
		{"kind", previous, nil},
		{"start_us", exact, sums(same("pause_start_us"), same("final_start_us"))},
		{"duration_us", exact, sums([]term{{"pause_us", 0, 1}, {"final_pause_us", 0, -1}}, same("final_pause_us"))},
		{"suspend_us", exact, sums(same("suspend_us"))},
		{"restart_us", previous, nil},
	}, addPauses},
	{"generations", []field{
		{"out_bytes", rest, sums(same("promoted_bytes"))},
		{"in_bytes", above, nil},
		{"survival_centipct", zero, nil},
		{"fragmentation_bytes", previous, nil},
		{"budget_bytes", previous, nil},
		{"pinned_bytes", previous, nil},
	}, addGenerations},
	{"phase_times", []field{{"phase", previous, nil}, {"us", zero, nil}}, addPhaseTimes},
	{"marks", []field{{"heap", previous, nil}, {"root", previous, nil}, {"us", zero, nil}, {"bytes", zero, nil}}, addMarks},
	{"heaps", []field{
		{"heap", previous, nil},
		{"before_bytes", last, sums(same("heap_before_bytes"))},
		{"after_bytes", last, sums(same("heap_after_bytes"))},
		{"out_bytes", last, sums(same("promoted_bytes"))},
	}, addHeaps},
}

func addPauses(d detail, c *gc.Collection) (detail, int) {
	for i := range c.Pauses {
		p := &c.Pauses[i]
		d = d.add(int64(p.Kind), p.Start.Round(time.Microsecond).Microseconds(), p.Duration.Round(time.Microsecond).Microseconds()).
			opt(micros(p.Suspend)).opt(micros(p.Restart))
	}
	return d, len(c.Pauses)
}

func addGenerations(d detail, c *gc.Collection) (detail, int) {
	for i := range c.Generations {
		g := &c.Generations[i]
		survival := gc.Opt[int64]{}
		if v, known := g.Survival.Get(); known {
			survival = gc.Some(int64(v*100 + 0.5))
		}
		d = d.add(g.Out, g.In).opt(survival).opt(g.Fragmentation).add(g.Budget).opt(g.Pinned)
	}
	return d, len(c.Generations)
}

func addPhaseTimes(d detail, c *gc.Collection) (detail, int) {
	for _, t := range c.PhaseTimes {
		d = d.add(int64(slices.Index(timeNames, t.Phase))).opt(micros(t.Duration))
	}
	return d, len(c.PhaseTimes)
}

// timeNames are the phases that pauses have.
var timeNames = func() []string {
	const sweeping, compacting = 7, 8
	names := clr.TimeNames(compacting)
	for _, name := range clr.TimeNames(sweeping) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}()

func addMarks(d detail, c *gc.Collection) (detail, int) {
	for _, m := range c.Marks {
		d = d.add(int64(m.Heap), int64(m.Root), m.Duration.Round(time.Microsecond).Microseconds()).opt(m.Bytes)
	}
	return d, len(c.Marks)
}

// addHeaps adds the sums of each heap, where there are several.
func addHeaps(d detail, c *gc.Collection) (detail, int) {
	if len(c.PerHeap) < 2 {
		return d, 0
	}
	for i := range c.PerHeap {
		h := &c.PerHeap[i]
		var before, out int64
		after := gc.Some[int64](0)
		for j := range h.Generations {
			g := &h.Generations[j]
			before, out = before+g.Before, out+g.Out
			if v, known := g.After.Get(); known && after.Known() {
				after = gc.Some(after.Or(0) + v)
			} else {
				after = gc.Opt[int64]{}
			}
		}
		d = d.add(int64(h.Heap), before).opt(after).add(out)
	}
	return d, len(c.PerHeap)
}

// add appends known figures.
func (d detail) add(values ...int64) detail { return append(d, values...) }

// opt appends a figure.
func (d detail) opt(o gc.Opt[int64]) detail {
	v, known := o.Get()
	if !known {
		v = unknown
	}
	return append(d, v)
}

// appendCollection appends the details of a collection.
func (d detail) appendCollection(c *gc.Collection) detail {
	for i := range scalars {
		d = d.opt(scalars[i].value(c))
	}
	for i := range lists {
		at := len(d)
		d = append(d, 0)
		var n int
		d, n = lists[i].add(d, c)
		d[at] = int64(n)
	}
	return d
}

// appendBytes appends a detail in few bytes.
func (d detail) appendBytes(dst []byte) []byte {
	for _, v := range d {
		dst = appendFigure(dst, v)
	}
	return dst
}

// appendFigure appends a figure as a varint: 0 if it is unknown, else one more than
// its zigzag form.
func appendFigure(dst []byte, v int64) []byte {
	if v == unknown {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, uint64(v<<1^v>>63)+1)
}

// readFigure is the inverse of appendFigure.
func readFigure(src []byte) (v int64, rest []byte) {
	code, n := binary.Uvarint(src)
	if code == 0 {
		return unknown, src[n:]
	}
	code--
	return int64(code>>1) ^ -int64(code&1), src[n:]
}

// readDetail is the inverse of appendBytes.
func (d detail) readBytes(src []byte) detail {
	for len(src) > 0 {
		var v int64
		v, src = readFigure(src)
		d = append(d, v)
	}
	return d
}

// appendJSON appends a detail as a JSON array.
func (d detail) appendJSON(dst []byte) []byte { return row(d).appendJSON(dst) }

// A headerDetails describes to a page how details are stored.
type headerDetails struct {
	Scalars []string     `json:"scalars"`
	Lists   []headerList `json:"lists"`
}

type headerList struct {
	Name   string        `json:"name"`
	Fields []headerField `json:"fields"`
}

type headerField struct {
	Name    string     `json:"name"`
	Guess   string     `json:"guess"`
	Columns [][][2]int `json:"columns"` // of each item: columns with their signs
}

func detailsOfPage() headerDetails {
	h := headerDetails{Scalars: text.Each(scalars, func(s *scalar) string { return s.name })}
	for _, l := range lists {
		of := headerList{Name: l.name}
		for _, f := range l.fields {
			columns := [][][2]int{}
			for _, item := range f.columns {
				columns = append(columns, text.Each(item, func(p *place) [2]int { return [2]int{p.column, int(p.sign)} }))
			}
			of.Fields = append(of.Fields, headerField{f.name, guessNames[f.guess], columns})
		}
		h.Lists = append(h.Lists, of)
	}
	return h
}

// guessColumns are the columns that fields are predicted from.
var guessColumns = func() []int {
	var all []int
	for _, l := range lists {
		for _, f := range l.fields {
			for _, p := range slices.Concat(f.columns...) {
				all = append(all, p.column)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}()
