package pass

import "iter"

// A Table holds a model's state for each process, or each runtime, by its Index. The zero
// Table is empty.
type Table[S any] struct {
	at    []*S
	order []*S
}

// At returns the state of an index, which is zero at first, and whether it is new.
func (t *Table[S]) At(index int) (s *S, isNew bool) {
	if index < len(t.at) && t.at[index] != nil { // small, to be inlined
		return t.at[index], false
	}
	return t.add(index), true
}

func (t *Table[S]) add(index int) *S {
	for len(t.at) <= index {
		t.at = append(t.at, nil)
	}
	s := new(S)
	t.at[index] = s
	t.order = append(t.order, s)
	return s
}

// Get returns the state of an index, nil if there is none.
func (t *Table[S]) Get(index int) *S {
	if index < len(t.at) {
		return t.at[index]
	}
	return nil
}

// Find returns the first state for which meant is true, nil if there is none.
func (t *Table[S]) Find(meant func(*S) bool) *S {
	for _, s := range t.order {
		if meant(s) {
			return s
		}
	}
	return nil
}

// All yields the states in the order in which they were made.
func (t *Table[S]) All() iter.Seq[*S] {
	return func(yield func(*S) bool) {
		for _, s := range t.order {
			if !yield(s) {
				return
			}
		}
	}
}
