package symbol

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// A span is a range of addresses during a part of the trace.
type span struct {
	start, end uint64
	from, to   time.Duration // loaded, unloaded; bounds of time where unknown
}

// The times of code loaded before the trace, and of code that was never unloaded.
const (
	always time.Duration = -1 << 63
	never  time.Duration = 1<<63 - 1
)

func (s *span) where() *span { return s }

// spans are things with spans, to be found by address and time.
type spans[T any, P interface {
	*T
	where() *span
}] struct {
	all    []T
	latest map[uint64]int32 // the latest one at a start
	reach  []uint64         // the highest end of all[:i+1]
}

// add adds v.
func (s *spans[T, P]) add(v T) {
	if s.latest == nil {
		s.latest = make(map[uint64]int32)
	}
	s.latest[P(&v).where().start] = int32(len(s.all))
	s.all = append(s.all, v)
}

// last returns the latest span at a start, if it was not unloaded; otherwise nil.
func (s *spans[T, P]) last(start uint64) P {
	i, ok := s.latest[start]
	if !ok || P(&s.all[i]).where().to != never {
		return nil
	}
	return &s.all[i]
}

// sort orders by address. It is stable, so that the order at the same address is kept.
func (s *spans[T, P]) sort() {
	slices.SortStableFunc(s.all, func(a, b T) int { return cmp.Compare(P(&a).where().start, P(&b).where().start) })
	for i := range s.all {
		s.latest[P(&s.all[i]).where().start] = int32(i)
	}
}

// measure computes how far the spans before an address reach.
func (s *spans[T, P]) measure() {
	s.reach = slices.Grow(s.reach[:0], len(s.all))
	var far uint64
	for i := range s.all {
		far = max(far, P(&s.all[i]).where().end)
		s.reach = append(s.reach, far)
	}
}

// maxOverlap is how many spans are compared for one address.
const maxOverlap = 4096

// find returns the span at an address at a time; nil for none.
func (s *spans[T, P]) find(address uint64, at time.Duration) P {
	if i := s.index(address, at); i >= 0 {
		return &s.all[i]
	}
	return nil
}

// index returns the index in all of what was at an address at a time: the last that
// was loaded by then and not unloaded, else the first that was loaded later; -1 for
// none. Damaged or hostile input in which very many overlap is searched in part.
func (s *spans[T, P]) index(address uint64, at time.Duration) int {
	then, later := -1, -1
	of := func(i int) *span { return P(&s.all[i]).where() }
	i := sort.Search(len(s.all), func(i int) bool { return of(i).start > address })
	for n := 0; i > 0 && s.reach[i-1] > address && n < maxOverlap; n++ {
		i--
		w := of(i)
		switch {
		case w.end <= address || w.to <= at:
		case w.from <= at:
			if then < 0 || w.from > of(then).from || w.from == of(then).from && w.to < of(then).to {
				then = i
			}
		case later < 0 || w.from < of(later).from:
			later = i
		}
	}
	if then < 0 {
		return later
	}
	return then
}
