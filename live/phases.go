package live

import (
	"iter"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// wants reports whether collections, or their phases, are made of events of a kind.
func (f *follower) wants(d *trace.Descriptor) bool {
	return gc.Wants(d) || f.opts.Phases && background.Wants(d)
}

// A phased is a trace whose background collections are followed while it is read, if
// they are wanted.
type phased struct {
	*nettrace.Reader
	wanted bool
	model  background.Model
	ended  []*background.Collection
}

// Events yields the trace's events.
func (p *phased) Events() iter.Seq2[*trace.Event, error] {
	p.model.Done = func(c *background.Collection) { p.ended = append(p.ended, c) }
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range p.Reader.Events() {
			if err == nil && p.wanted {
				p.model.Feed(ev)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// take returns the background collections that ended since it was called.
func (p *phased) take() []*background.Collection {
	ended := p.ended
	p.ended = nil
	return ended
}
