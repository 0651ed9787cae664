package pass

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A Model answers a question from the events of some kinds. It may have more methods:
//
//   - Runs() []clr.Kind and Events(*Events) are for kinds of which a trace can have millions: the
//     model is given the events of the kinds that Runs returns, which Kinds does not, with
//     Events, many at a time. A reader makes runs of them if its filter of runs is Runs.
//   - End() is called when the trace has ended, whether or not with an error.
//   - Head(clr.Kind) int returns how many bytes the model reads of the payloads of a kind.
//     Without it, it reads all.
type Model interface {
	// Kinds returns the kinds of events that the model reads.
	Kinds() []clr.Kind
	// Event processes an event of one of these kinds. Events come in time order. The event,
	// and what it was decoded into, is valid during the call.
	Event(*Event)
}

type (
	ender  interface{ End() }
	header interface{ Head(clr.Kind) int }
	runner interface {
		Runs() []clr.Kind
		Events(*Events)
	}
)

// Raw returns a model of the events that wants reports, or of all if wants is nil, of any
// provider, exactly as they are in the trace. They include late events, and events of more
// processes than a Pass distinguishes. It is for models that do not depend on their order,
// such as the names of methods, and for events to be copied.
func Raw(wants func(*trace.Descriptor) bool, feed func(*trace.Event)) Model {
	return &raw{wants, feed}
}

type raw struct {
	wants func(*trace.Descriptor) bool
	feed  func(*trace.Event)
}

func (*raw) Kinds() []clr.Kind { return nil }

func (r *raw) Event(e *Event) { r.feed(e.Event) }

// When returns a model that hands the events to m whose time keep holds for, such as the ones
// of a selected time.
func When(keep func(at time.Duration) bool, m Model) Model { return &when{m, keep} }

type when struct {
	Model
	keep func(at time.Duration) bool
}

func (w *when) Event(e *Event) {
	if w.keep(e.Time) {
		w.Model.Event(e)
	}
}

func (w *when) Runs() []clr.Kind { return runs(w.Model) }

func (w *when) Events(r *Events) {
	m, from := w.Model.(runner), 0
	for i := range r.Len() {
		if !w.keep(r.Time(i)) {
			if from < i {
				m.Events(r.part(from, i))
			}
			from = i + 1
		}
	}
	if from < r.Len() {
		m.Events(r.part(from, r.Len()))
	}
}

func (w *when) End() { end(w.Model) }

func (w *when) Head(k clr.Kind) int { return head(w.Model, k) }

func end(m Model) {
	if m, ok := m.(ender); ok {
		m.End()
	}
}

func runs(m Model) []clr.Kind {
	if m, ok := m.(runner); ok {
		return m.Runs()
	}
	return nil
}

func head(m Model, k clr.Kind) int {
	if m, ok := m.(header); ok {
		return m.Head(k)
	}
	return math.MaxInt
}

// Wants returns the filter of a reader for models: it reports whether one of them reads
// events of a kind.
func Wants(models ...Model) func(*trace.Descriptor) bool {
	p := New(models...)
	return func(d *trace.Descriptor) bool {
		r := p.newRoute(d)
		return len(r.raws)+len(r.models)+len(r.runners) > 0
	}
}

// Runs returns the filter of runs of a reader for models: it reports whether all that read
// events of a kind are given them in runs.
func Runs(models ...Model) func(*trace.Descriptor) bool {
	p := New(models...)
	return func(d *trace.Descriptor) bool {
		r := p.newRoute(d)
		return len(r.runners) > 0 && len(r.raws)+len(r.models) == 0
	}
}

// Head returns, for readers, how many bytes at least one of the models reads of the payloads
// of a kind.
func Head(models ...Model) func(*trace.Descriptor) int {
	p := New(models...)
	return func(d *trace.Descriptor) int {
		r := p.newRoute(d)
		if len(r.raws) > 0 {
			return math.MaxInt
		}
		most := 0
		for _, m := range r.models {
			most = max(most, head(m, r.kind))
		}
		for _, m := range r.runners {
			most = max(most, head(m.(Model), r.kind))
		}
		return most
	}
}

// A Pass hands the events of one trace to models. It is for one goroutine.
type Pass struct {
	models []Model
	raws   []*raw
	byKind [clr.NumKinds][]Model
	inRuns [clr.NumKinds][]runner
	all    []runner

	routes map[*trace.Descriptor]*route
	recent [2]*route // of the last events, the latest first
	event  Event
	run    Events
	one    oneEvent
	kinds  []clr.Kind              // of a source's Run.Descs
	bufs   [clr.NumKinds]clr.Event // by the kind that they hold

	processes []*Process
	byPID     map[uint64]*Process
	runtimes  int
	leftOut   uint64
}

// maxRoutes bounds the kinds of events whose models are remembered.
const maxRoutes = 4096

// A route is where the events of a Descriptor go.
type route struct {
	desc    *trace.Descriptor
	kind    clr.Kind
	raws    []*raw
	models  []Model
	runners []runner
}

// New returns a Pass for models. It passes each event to them in the order of the
// arguments, and to Raw models before all others.
func New(models ...Model) *Pass {
	p := &Pass{models: models, routes: make(map[*trace.Descriptor]*route), byPID: make(map[uint64]*Process)}
	p.event.pass, p.run.pass = p, p
	for _, m := range models {
		if r, ok := m.(*raw); ok {
			p.raws = append(p.raws, r)
		}
		for _, k := range m.Kinds() {
			if k != clr.KindUnknown && !slices.Contains(p.byKind[k], m) {
				p.byKind[k] = append(p.byKind[k], m)
			}
		}
		for i, k := range runs(m) {
			if i == 0 {
				p.all = append(p.all, m.(runner))
			}
			p.inRuns[k] = append(p.inRuns[k], m.(runner))
		}
	}
	return p
}

func (p *Pass) newRoute(d *trace.Descriptor) *route {
	r := &route{desc: d, kind: clr.KindOf(d.Provider, d.ID)}
	r.models, r.runners = p.byKind[r.kind], p.inRuns[r.kind]
	for _, raw := range p.raws {
		if raw.wants == nil || raw.wants(d) {
			r.raws = append(r.raws, raw)
		}
	}
	return r
}

// find returns the route of a Descriptor that is not the latest one.
func (p *Pass) find(d *trace.Descriptor) *route {
	r := p.recent[1]
	if r == nil || r.desc != d {
		if r = p.routes[d]; r == nil {
			if len(p.routes) == maxRoutes {
				clear(p.routes)
			}
			r = p.newRoute(d)
			p.routes[d] = r
		}
	}
	p.recent[0], p.recent[1] = r, p.recent[0]
	return r
}

// Feed hands an event to the models that read it.
func (p *Pass) Feed(ev *trace.Event) {
	r := p.recent[0]
	if r == nil || r.desc != ev.Desc {
		r = p.find(ev.Desc)
	}
	for _, raw := range r.raws {
		raw.feed(ev)
	}
	if len(r.models)+len(r.runners) == 0 || ev.Late {
		return
	}
	of := p.event.Process
	if of == nil || of.PID != ev.PID {
		if of = p.Process(ev.PID); of == nil {
			p.leftOut++
			if ev.Run != nil {
				p.leftOut += uint64(len(ev.Run.Records)) - 1
			}
			return
		}
		p.event.Process = of
	}
	if len(r.runners) > 0 {
		runners := r.runners
		if ev.Run != nil {
			runners = p.all
		}
		run := p.runOf(ev, r.kind, of)
		for _, m := range runners {
			m.Events(run)
		}
		if len(r.models) == 0 {
			return
		}
	}
	e := &p.event
	e.Event, e.Kind, e.Time, e.Process, e.decoded = ev, r.kind, ev.Time(), of, clr.KindUnknown
	for _, m := range r.models {
		m.Event(e)
	}
}

// End ends the trace for the models, and adds to its loss the events of processes that there
// was no room for.
func (p *Pass) End(loss *trace.Loss) {
	for _, m := range p.models {
		end(m)
	}
	loss.Events += p.leftOut
	loss.LeftOut += p.leftOut
	p.leftOut = 0
}

// Run reads a trace to its end and hands its events to models. It ends early with the
// context, whose error it returns, or with an error of the trace.
func Run(ctx context.Context, src trace.Source, models ...Model) error {
	p := New(models...)
	defer func() { p.End(src.Loss()) }()
	for ev, err := range Until(ctx, src).Events() {
		if err != nil {
			return err
		}
		p.Feed(ev)
	}
	return nil
}

// Until returns a source that ends with an error when the context is done. It looks at the
// context every 256 events.
func Until(ctx context.Context, src trace.Source) trace.Source { return &until{src, ctx} }

type until struct {
	trace.Source
	ctx context.Context
}

func (u *until) Events() iter.Seq2[*trace.Event, error] {
	const often = 256
	return func(yield func(*trace.Event, error) bool) {
		n := 0
		for ev, err := range u.Source.Events() {
			if n++; n%often == 0 && u.ctx.Err() != nil {
				yield(nil, u.ctx.Err())
				return
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
