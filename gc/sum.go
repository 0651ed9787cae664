package gc

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/units"
)

// A Sum adds up figures that are never negative and of which some may be unknown. A plain total
// of v.Or(0) would be too small without any sign of it; a Sum records how certain it is. The
// zero Sum is unknown, because no figure is known.
type Sum[T ~int64] struct {
	total   T
	known   int  // figures
	atLeast bool // a part is unknown
}

// SumOf returns the sum of known figures that were added up already; atLeast if others may be
// missing.
func SumOf[T ~int64](total T, known int, atLeast bool) Sum[T] { return Sum[T]{total, known, atLeast} }

// Add adds a figure.
func (s *Sum[T]) Add(v Opt[T]) {
	figure, known := v.Get()
	if !known {
		s.atLeast = true
		return
	}
	s.known++
	s.total = units.AddCapped(s.total, figure)
}

// Merge adds another sum.
func (s *Sum[T]) Merge(o Sum[T]) {
	s.total = units.AddCapped(s.total, o.total)
	s.known += o.known
	s.atLeast = s.atLeast || o.atLeast
}

// AtLeast returns the sum as a lower bound: further figures may be missing.
func (s Sum[T]) AtLeast() Sum[T] {
	s.atLeast = true
	return s
}

// Get returns the total of the known figures, and its certainty: exact if all are known, a
// lower bound if some are not, and uncertain if none is.
func (s Sum[T]) Get() (T, Certainty) {
	switch {
	case s.known == 0:
		return 0, Uncertain
	case s.atLeast:
		return s.total, LowerBound
	default:
		return s.total, Exact
	}
}

// Opt returns the total of the known figures, unknown if none is.
func (s Sum[T]) Opt() Opt[T] {
	return SomeIf(s.total, s.known > 0)
}

// String returns the total behind the mark of its certainty, or "-" if it is unknown.
func (s Sum[T]) String() string {
	total, is := s.Get()
	if is == Uncertain {
		return "-"
	}
	return is.Mark() + fmt.Sprint(total)
}
