package report

import (
	"context"
	"errors"
	"iter"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// A Reading is an Input: a trace while it is read, until a context is done. It opens the
// trace once more where a gc.Model has to read ahead.
type Reading struct {
	trace.Source
	In   *open.Input
	Once bool // it cannot be opened again

	// Open opens the trace once more, where it has no paths; nil opens Paths.
	Open func(open.Options) (*open.Input, error)

	Names *symbol.Table        // is given the perf maps that came with the trace, at its end; nil for none
	Warn  func(string)         // is given warnings about the trace, also empty ones; nil for nobody
	Fail  func(error) error    // makes an error of the trace one of the caller's; nil to leave it
	Count func(*gc.Collection) // is called with each collection; nil for nobody

	ctx   context.Context
	name  string
	paths []string
	ahead []*Reading
}

// NewReading returns a Reading of an open trace, which it closes. Name is the name of the
// trace as it was given, and paths are those of its files.
func NewReading(ctx context.Context, in *open.Input, name string, paths []string) *Reading {
	return &Reading{Source: in.Source, In: in, ctx: ctx, name: name, paths: paths}
}

// Close closes the trace.
func (r *Reading) Close() {
	r.In.Close()
	for _, a := range r.ahead {
		a.Close()
	}
}

// Events yields the trace's events. The error is what Fail returns, or the context's.
func (r *Reading) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range pass.Until(r.ctx, r.Source).Events() {
			if err != nil && r.Fail != nil && !errors.Is(err, r.ctx.Err()) {
				err = r.Fail(err)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
		if r.Names == nil {
			return
		}
		if err := r.Names.ReadPerfMaps(r.In.PerfMap); err != nil && r.Warn != nil {
			r.Warn(err.Error())
		}
	}
}

// Collections yields the trace's collections, and hands its events to other models too.
func (r *Reading) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	if !r.Once {
		m.Ahead = func() (trace.Source, error) { return r.Again(gc.Identifies) }
	}
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range m.Collections(r, models...) {
			if r.Count != nil && err == nil {
				r.Count(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Again opens the trace once more, for some kinds of its events. It is closed with r.
func (r *Reading) Again(want func(*trace.Descriptor) bool) (trace.Source, error) {
	openTrace := r.Open
	if openTrace == nil {
		openTrace = func(o open.Options) (*open.Input, error) { return open.Files(r.paths, o) }
	}
	in, err := openTrace(open.Options{Want: want})
	if err != nil {
		return nil, err
	}
	a := NewReading(r.ctx, in, r.name, r.paths)
	a.Fail = r.Fail
	r.ahead = append(r.ahead, a)
	return a, nil
}

// Name returns the name of the trace, as it was given.
func (r *Reading) Name() string { return r.name }

// Paths returns the paths of the trace's files.
func (r *Reading) Paths() []string { return r.paths }

// Beside returns which files beside the trace are read with it.
func (r *Reading) Beside() string { return Beside(r.In) }

// Merged returns the trace as several that are read as one, else nil.
func (r *Reading) Merged() *trace.Merged {
	m, _ := r.Source.(*trace.Merged)
	return m
}
