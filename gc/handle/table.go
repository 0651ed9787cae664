package handle

import (
	"iter"
	"math/bits"
	"math/rand/v2"
)

// A table maps the ids of handles to values; the zero value is of no handle. Its
// slots have no pointers. Reports of a trace with 1.4 million handle events take 0.33 s
// with a map in its place, and 0.28 s with it.
type table[V comparable] struct {
	slots []slot[V] // a power of two
	count int
	odd   uint64 // random, so that no trace can make ids collide
}

type slot[V comparable] struct {
	id    uint64
	value V // zero if the slot is free
}

// home returns the slot at which the search for an id begins.
func (t *table[V]) home(id uint64) int {
	const golden = 0x9e3779b97f4a7c15
	id *= golden
	id = (id ^ id>>32) * t.odd
	return int(id >> (64 - bits.Len(uint(len(t.slots)-1))))
}

// find returns the slot with an id, or the free one where it belongs.
func (t *table[V]) find(id uint64) (int, bool) {
	var none V
	mask := len(t.slots) - 1
	for i := t.home(id); ; i = (i + 1) & mask {
		switch s := &t.slots[i]; {
		case s.value == none:
			return i, false
		case s.id == id:
			return i, true
		}
	}
}

// get returns the value of an id, zero if there is none.
func (t *table[V]) get(id uint64) (v V) {
	if t.count == 0 {
		return v
	}
	i, _ := t.find(id)
	return t.slots[i].value
}

// set sets the value of an id, which is not zero, and returns the value before it.
func (t *table[V]) set(id uint64, v V) (before V) {
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	i, known := t.find(id)
	if !known {
		t.count++
	}
	before = t.slots[i].value
	t.slots[i] = slot[V]{id, v}
	return before
}

// remove forgets an id, and returns its value, zero if there was none.
func (t *table[V]) remove(id uint64) (v V) {
	if t.count == 0 {
		return v
	}
	i, known := t.find(id)
	if !known {
		return v
	}
	v = t.slots[i].value
	t.count--
	// What follows moves up, unless it would come before its home.
	mask := len(t.slots) - 1
	var none V
	for next := (i + 1) & mask; t.slots[next].value != none; next = (next + 1) & mask {
		if home := t.home(t.slots[next].id); (next-home)&mask >= (next-i)&mask {
			t.slots[i] = t.slots[next]
			i = next
		}
	}
	t.slots[i] = slot[V]{}
	return v
}

func (t *table[V]) grow() {
	if t.odd == 0 {
		t.odd = rand.Uint64() | 1
	}
	old := t.slots
	t.slots, t.count = make([]slot[V], max(16, 2*len(old))), 0
	var none V
	for i := range old {
		if old[i].value != none {
			j, _ := t.find(old[i].id)
			t.slots[j] = old[i]
			t.count++
		}
	}
}

// values yields the values of all ids.
func (t *table[V]) values() iter.Seq[V] {
	return func(yield func(V) bool) {
		var none V
		for i := range t.slots {
			if v := t.slots[i].value; v != none && !yield(v) {
				return
			}
		}
	}
}
