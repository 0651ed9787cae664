// Package figure has the one table of the figures of a collection: the key and unit of
// each, how it is read, and how lists, conditions, timelines and the page show it. Keys
// end in the unit: sizes are in bytes, times count from the trace's start.
package figure

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/gctrail/gctrail/gc"
)

// Keys of figures that other packages treat by themselves.
const (
	HeapBefore = "heap_before_bytes"
	HeapAfter  = "heap_after_bytes"
	HeapPeak   = "heap_peak_bytes"
)

// A Figure is one figure of every collection.
type Figure struct {
	Key    string
	Type   Type // of the values that are known
	Value  func(*gc.Collection) Value
	Means  *Definition
	Term   string // the name of its Definition: of Means, if it has one, otherwise of another figure's
	Always bool   // never unknown
	Form   Form   // 0 for that of the type
	Only   Output // the one kind of output that has it; 0 for all

	Names func() *[32]string                // of Words: the word for each bit; empty for bits without one
	Items Items                             // of List: its objects in JSON
	Is    func(*gc.Collection) gc.Certainty // how reliable the value is; nil if it is always exact

	Heading string     // in tables; the key makes that of most
	Listed  *Listed    // in the list of collections, unless columns are chosen
	Until   *Condition // nil if conditions do not know it
	Label   string     // in timelines, which show the figures that have one
	Page    *PageColumn
}

// Output is a kind of output.
type Output uint8

const (
	InJSON       Output = iota + 1 // objects, which may be nested
	InColumns                      // of tables and files, which are flat
	InConditions                   // on collections
)

// Listed is the place of a figure in the list of collections.
type Listed struct {
	Place  int
	Rank   int  // figures with the highest are left out first if there is no room; 0 never
	Varies bool // left out while all rows have the same value
}

// A Condition is how conditions ask for a figure.
type Condition struct {
	Place   int // in help texts
	Word    string
	Meaning string
	Example string
	Below   int             // the values are below; 0 for no limit
	Words   func() []string // that a word can be; nil of numbers
}

// A PageColumn is a column of the page's table of collections.
type PageColumn struct {
	Place int
	ID    string // the name in the page's address
	Label string
	Width int  // in characters
	Start bool // shown from the start
}

// Form is how people see a figure.
type Form uint8

const (
	FormOfType Form = iota
	FormPlain       // a number as it is: an id without separators, a percentage that is a whole number
	FormMoment      // a time since the trace's start, to the millisecond
	FormWord        // the word of a code
)

// Items are the objects of a list in JSON, such as the pauses of a collection.
type Items interface {
	// Len returns the number of items, and whether they are known.
	Len(c *gc.Collection) (n int, known bool)
	// Fields returns the figures of an item.
	Fields() []Field
	// Append appends the fields of each item, with a function that appends one.
	Append(dst []byte, c *gc.Collection, field func(dst []byte, item, field int, v Value) []byte) []byte
}

// A Field is the key of a figure of an item, and its type.
type Field struct {
	Key    string
	Type   Type
	Always bool // never unknown
	Means  *Definition
	Term   string // as of a Figure
}

// A Part is one figure of every item of a list.
type Part[T any] struct {
	Field
	Value func(*T) Value
}

type items[T any] struct {
	of    func(*gc.Collection) []T
	parts []Part[T]
	empty bool // no items are known to be none
}

func (l *items[T]) Len(c *gc.Collection) (int, bool) {
	all := l.of(c)
	return len(all), all != nil || l.empty
}

func (l *items[T]) Fields() []Field {
	fields := make([]Field, len(l.parts))
	for i := range l.parts {
		fields[i] = l.parts[i].Field
		fields[i].Term = named(fields[i].Means, fields[i].Term)
	}
	return fields
}

func (l *items[T]) Append(dst []byte, c *gc.Collection, field func([]byte, int, int, Value) []byte) []byte {
	all := l.of(c)
	for i := range all {
		for j := range l.parts {
			dst = field(dst, i, j, l.parts[j].Value(&all[i]))
		}
	}
	return dst
}

// Lines returns the figures of a JSON line, in its order.
func Lines() []Figure {
	return slices.DeleteFunc(slices.Clone(table), func(f Figure) bool { return f.Only != 0 && f.Only != InJSON })
}

// All returns the figures as columns, in the order of JSON lines; nested ones as in
// gen0_before_bytes, and Words as text.
func All() []Figure { return slices.Clone(flat()) }

var flat = sync.OnceValue(func() []Figure {
	var all []Figure
	for _, f := range table {
		switch {
		case f.Only != 0 && f.Only != InColumns:
			continue
		case f.Type == Words:
			f.Type, f.Value = Text, joined(f.Value, f.Names())
		}
		f.Heading = cmp.Or(f.Heading, heading(f.Key))
		all = append(all, f)
	}
	for i, name := range gc.GenerationNames() {
		for _, p := range ofGeneration {
			if p.Key == "name" {
				continue
			}
			key := name + "_" + p.Key
			all = append(all, Figure{Key: key, Type: p.Type, Term: named(p.Means, p.Term), Heading: heading(key), Value: func(c *gc.Collection) Value {
				if i >= len(c.Generations) {
					return Value{}
				}
				return p.Value(&c.Generations[i])
			}})
		}
	}
	return all
})

// HeadingOf returns the heading of a column, which need not be one of All.
func HeadingOf(key string) string {
	if f, found := Named(key); found {
		return f.Heading
	}
	return heading(key)
}

// heading makes a heading of a key, with its unit in tables: gen2_after_bytes is
// "gen2 after MB".
func heading(key string) string {
	for _, unit := range [][2]string{{"_bytes", " MB"}, {"_pct", " %"}} {
		if stem, ok := strings.CutSuffix(key, unit[0]); ok {
			key = stem + unit[1]
		}
	}
	return strings.ReplaceAll(key, "_", " ")
}

// joined returns the names of bits as text.
func joined(of func(*gc.Collection) Value, names *[32]string) func(*gc.Collection) Value {
	return func(c *gc.Collection) Value {
		set := of(c).Int
		var words []string
		for bit, name := range names {
			if set>>bit&1 != 0 && name != "" {
				words = append(words, name)
			}
		}
		return text(strings.Join(words, " "))
	}
}

// InList returns the columns of the list of collections, in its order.
func InList() []Figure {
	return placed(flat(), func(f *Figure) int {
		if f.Listed == nil {
			return 0
		}
		return f.Listed.Place
	})
}

// Conditions returns the figures that conditions ask for, in the order of help texts.
func Conditions() []Figure {
	return placed(table, func(f *Figure) int {
		if f.Until == nil {
			return 0
		}
		return f.Until.Place
	})
}

// OnPage returns the columns of the page's table of collections, in its order.
func OnPage() []Figure {
	return placed(table, func(f *Figure) int {
		if f.Page == nil {
			return 0
		}
		return f.Page.Place
	})
}

// placed returns the figures that have a place, in its order.
func placed(of []Figure, place func(*Figure) int) []Figure {
	all := slices.DeleteFunc(slices.Clone(of), func(f Figure) bool { return place(&f) == 0 })
	slices.SortStableFunc(all, func(a, b Figure) int { return cmp.Compare(place(&a), place(&b)) })
	return all
}

// InTimelines returns the figures of timelines.
func InTimelines() []Figure {
	return slices.DeleteFunc(slices.Clone(flat()), func(f Figure) bool { return f.Label == "" })
}

var byKey = sync.OnceValue(func() map[string]Figure {
	all := make(map[string]Figure)
	for _, f := range flat() {
		all[f.Key] = f
	}
	return all
})

// Named returns the column with a key.
func Named(key string) (Figure, bool) {
	f, found := byKey()[key]
	return f, found
}

// OfGeneration returns the figures of a generation.
func OfGeneration() []Part[gc.Generation] { return slices.Clone(ofGeneration) }

// OfPause returns the figures of a pause.
func OfPause() []Part[gc.Pause] { return slices.Clone(ofPause) }
