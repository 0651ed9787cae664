package handle

import (
	"iter"
	"math/bits"
	"math/rand/v2"
)

// A table maps the ids of handles to values; the zero value is of no handle. Ids are
// addresses: the runtime keeps handles in blocks of 64 pointers, and a table keeps them in
// pages of as many, so that handles that are used together are together in memory. Any
// number can be an id.
type table[V comparable] struct {
	slots []slot[V]          // a power of two; short of full
	pages int                // with values
	count int                // of values
	odd   uint64             // random, so that no trace can make ids collide
	near  [1 << nearBits]int // by the low bits of a page's key: the slot that was found last
	spare []*page[V]
}

// A slot is of a page, free if there is none.
type slot[V comparable] struct {
	key  uint64 // the common bits of all ids of the page
	page *page[V]
	used int // values of the page
}

// A page is nothing but values: see openHandle.
type page[V comparable] [1 << pageBits]V

const (
	pageBits = 6
	pageLow  = 3 // bits of an id below its place in the page
	// nearBits is for a few slots to be remembered, because handles that are used together
	// are in as many pages, at least one for each kind of handle.
	nearBits = 5
	maxSpare = 64
)

// split returns the key of an id's page, and its place there.
func split(id uint64) (key uint64, place int) {
	const mask = (1<<pageBits - 1) << pageLow
	return id &^ mask, int(id & mask >> pageLow)
}

// home returns the slot at which the search for a page begins.
func (t *table[V]) home(key uint64) int {
	const golden = 0x9e3779b97f4a7c15
	key *= golden
	key = (key ^ key>>32) * t.odd
	return int(key >> (64 - bits.Len(uint(len(t.slots)-1))))
}

// find returns the slot of a page, or the free one where it belongs.
func (t *table[V]) find(key uint64) *slot[V] {
	near := &t.near[key>>(pageBits+pageLow)%(1<<nearBits)]
	if *near < len(t.slots) {
		if s := &t.slots[*near]; s.key == key && s.page != nil {
			return s
		}
	}
	*near = t.index(key)
	return &t.slots[*near]
}

func (t *table[V]) index(key uint64) int {
	mask := len(t.slots) - 1
	i := t.home(key)
	for t.slots[i].page != nil && t.slots[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

// has reports whether there is a page for an id.
func (t *table[V]) has(id uint64) bool {
	key, _ := split(id)
	return t.pages > 0 && t.find(key).page != nil
}

// get returns the value of an id, zero if there is none.
func (t *table[V]) get(id uint64) (v V) {
	if t.pages == 0 {
		return v
	}
	key, place := split(id)
	if p := t.find(key).page; p != nil {
		v = p[place]
	}
	return v
}

// set sets the value of an id, which is not zero, and returns the value before it.
func (t *table[V]) set(id uint64, v V) (before V) {
	if 2*t.pages >= len(t.slots) {
		t.grow()
	}
	key, place := split(id)
	s := t.find(key)
	if s.page == nil {
		*s = slot[V]{key: key, page: t.newPage()}
		t.pages++
	}
	var none V
	if before = s.page[place]; before == none {
		t.count++
		s.used++
	}
	s.page[place] = v
	return before
}

// remove forgets an id, and returns its value, zero if there was none.
func (t *table[V]) remove(id uint64) (v V) {
	if t.pages == 0 {
		return v
	}
	var none V
	key, place := split(id)
	s := t.find(key)
	if s.page == nil || s.page[place] == none {
		return v
	}
	v, s.page[place] = s.page[place], none
	t.count--
	if s.used--; s.used == 0 {
		t.removePage(key)
	}
	return v
}

// newPage returns an empty page. A new one is written to, because memory that is read first
// costs a second fault, which interrupts all processors.
func (t *table[V]) newPage() *page[V] {
	n := len(t.spare)
	if n == 0 {
		p := new(page[V])
		clear(p[:])
		return p
	}
	p := t.spare[n-1]
	t.spare = t.spare[:n-1]
	return p
}

// removePage removes a page without values.
func (t *table[V]) removePage(key uint64) {
	i := t.index(key)
	if len(t.spare) < maxSpare {
		t.spare = append(t.spare, t.slots[i].page)
	}
	t.pages--
	// Move up the next entries, except for ones that would come before their home.
	mask := len(t.slots) - 1
	for next := (i + 1) & mask; t.slots[next].page != nil; next = (next + 1) & mask {
		if home := t.home(t.slots[next].key); (next-home)&mask >= (next-i)&mask {
			t.slots[i] = t.slots[next]
			i = next
		}
	}
	t.slots[i] = slot[V]{}
}

func (t *table[V]) grow() {
	if t.odd == 0 {
		t.odd = rand.Uint64() | 1
	}
	old := t.slots
	t.slots = make([]slot[V], max(16, 2*len(old)))
	for _, s := range old {
		if s.page != nil {
			*t.find(s.key) = s
		}
	}
}

// values yields the values of all ids.
func (t *table[V]) values() iter.Seq[V] {
	return func(yield func(V) bool) {
		var none V
		for _, s := range t.slots {
			if s.page == nil {
				continue
			}
			for _, v := range s.page {
				if v != none && !yield(v) {
					return
				}
			}
		}
	}
}
