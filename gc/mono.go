package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// Mono's generations: sgen-gc.h.
const (
	monoNursery = 0
	monoHeap    = 1
)

// A monoStop is a stop of the world in Mono. The steps that happen while threads are stopped
// have the times at which the runtime raises them after the restart, so that the first of them
// bounds when threads ran again, and only the order of the others is known. See
// gc_event_callback in ep-rt-mono-profiler-provider.c, and sgen-stw.c.
type monoStop struct {
	begin     Opt[time.Duration] // PreStopWorldLocked: threads are about to be stopped
	restarted Opt[time.Duration] // the first event after the restart
	steps     []monoStep
}

// A monoStep is the start or the end of a collection.
type monoStep struct {
	end        bool
	generation int
}

// window returns the time in which threads were stopped, or a little more.
func (s *monoStop) window() trace.Range {
	return trace.Range{From: s.begin.Or(0), To: s.restarted.Or(0)}
}

// monoEvent takes a step of a stop of the world. Only one thread stops it at a time, because it
// holds the lock of the collector.
func (m *Model) monoEvent(e *event) {
	v, ok := decode[clr.MonoProfilerGCEvent](m, e)
	rt := m.raisedBy(e, 0, ok)
	if rt == nil {
		return
	}
	e.process.last, e.process.pointerSize = e.Time, e.PointerSize
	s := &rt.stop
	switch v.GCEventType {
	case clr.MonoGCStepPreStopWorldLocked:
		if s.begin.Known() {
			m.missing(s.begin.Or(0), e.Time)
		}
		*s = monoStop{begin: Some(e.Time), steps: s.steps[:0]}
		return
	case clr.MonoGCStepStart, clr.MonoGCStepEnd:
		if len(s.steps) == maxInSuspension || v.GCGeneration > monoHeap {
			m.drop(e.Time)
			return
		}
		s.steps = append(s.steps, monoStep{v.GCEventType == clr.MonoGCStepEnd, int(v.GCGeneration)})
	case clr.MonoGCStepPostStopWorld, clr.MonoGCStepPreStartWorld, clr.MonoGCStepPostStartWorld:
	default:
		return
	}
	if !s.restarted.Known() {
		s.restarted = Some(e.Time)
	}
	if v.GCEventType == clr.MonoGCStepPostStartWorld {
		rt.resumed(s)
		*s = monoStop{steps: s.steps[:0]}
	}
}

// resumed turns the steps of a stop into collections. Its pause belongs to the one of the oldest
// generation, because how several share it is not known; the others' pauses are zero.
func (rt *runtime) resumed(s *monoStop) {
	var gcs []*building
	var owner *building
	for _, step := range s.steps {
		b := rt.stepped(s, step)
		if b == nil || slices.Contains(gcs, b) {
			continue
		}
		gcs = append(gcs, b)
		if owner == nil || b.Generation.Or(0) >= owner.Generation.Or(0) {
			owner = b
		}
	}
	if w := s.window(); s.begin.Known() {
		if len(gcs) == 0 {
			rt.suspended(&suspension{begin: w.From, restartBegin: s.restarted}, PauseOther)
		} else {
			rt.process.Processor.Paused(w.From, w.To)
		}
		for _, b := range gcs {
			b.addMonoPause(w, b == owner)
		}
	}
	rt.release()
}

// stepped returns the collection that a step begins or ends; nil for the end of one that began
// before the trace, or if there is no room.
func (rt *runtime) stepped(s *monoStop, step monoStep) *building {
	if !step.end {
		return rt.beginMono(s, step.generation)
	}
	for _, b := range slices.Backward(rt.pending) {
		switch {
		case b.ended() || b.Generation != Some(step.generation):
		case b == rt.background:
			if len(b.Pauses) == 0 { // it began in this stop
				b.Requested = Blocking
			}
			b.End = s.restarted
			rt.leaveBackground()
			return b
		case step.generation == monoNursery && b.Start == s.begin:
			b.End = s.restarted
			return b
		}
	}
	return nil
}

// beginMono begins a collection. Mono does not number them. One of the whole heap runs in the
// background unless it ends in the same stop.
func (rt *runtime) beginMono(s *monoStop, generation int) *building {
	rt.unnumbered++
	b := rt.begin(rt.unnumbered)
	if b == nil {
		return nil
	}
	b.bare, b.stats = true, true
	b.Start, b.Generation, b.Requested = s.begin, Some(generation), Blocking
	b.Outside = rt.process.takeOutside()
	rt.begun++
	b.since++
	switch o := rt.background; {
	case generation == monoHeap:
		if o != nil { // its end is missing
			rt.model.missing(o.Start.Or(0), rt.model.now)
			rt.leaveBackground()
		}
		b.Requested = Background
		rt.background = b
	case o != nil:
		b.Requested = Foreground
	}
	return b
}

// addMonoPause adds the pause of a stop, which is zero for a collection that does not own it.
func (b *building) addMonoPause(w trace.Range, owns bool) {
	p := Pause{Kind: PauseBlocking, Start: w.From, Suspend: Some(time.Duration(0)), Restart: Some(time.Duration(0)), window: w}
	if owns {
		p.Duration, p.Suspend = w.To-w.From, Opt[time.Duration]{}
	}
	switch {
	case b.Requested != Background:
	case !b.initial:
		p.Kind, b.initial = PauseInitial, true
	default:
		p.Kind, b.final = PauseFinal, true
	}
	if len(b.Pauses) == 0 {
		b.PauseStart = Some(w.From)
	}
	b.Pauses = append(b.Pauses, p)
	b.restarts = append(b.restarts, w.To)
}
