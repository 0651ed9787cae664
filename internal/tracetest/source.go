package tracetest

import (
	"iter"

	"github.com/gctrail/gctrail/trace"
)

// A Source yields events as they are, then an error unless that is nil. Info and Counts need
// a source within it.
type Source struct {
	trace.Source
	List []*trace.Event
	Err  error
	Lost trace.Loss

	Yielded int // events
}

// Loss returns Lost; see trace.Source.
func (s *Source) Loss() *trace.Loss { return &s.Lost }

// Events yields the events; see trace.Source.
func (s *Source) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for _, ev := range s.List {
			if s.Yielded++; !yield(ev, nil) {
				return
			}
		}
		if s.Err != nil {
			yield(nil, s.Err)
		}
	}
}
