package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A suspension lasts from a thread's SuspendEEBegin to its RestartEEEnd. Suspensions of
// different threads can overlap in the events, because a thread raises SuspendEEBegin
// before it waits for the current one to end (ThreadSuspend::SuspendEE in the runtime's
// threadsuspend.cpp).
type suspension struct {
	thread       uint64
	reason       clr.SuspendReason
	number       uint32 // of the latest collection, or of the background one that runs
	begin        time.Duration
	end          Opt[time.Duration] // SuspendEEEnd
	restartBegin Opt[time.Duration]
	restart      Opt[time.Duration] // from there to RestartEEEnd
	gcs          []*building        // that began in it, in order
	finalMark    bool               // the private provider marks it as a final mark pause
	waited       time.Duration
	ran          tally // of its thread, when its time was last counted

	owner *building // of the restart: Pauses[pause] of it
	pause int
}

// forGC reports whether the suspension is for a collection, or for a step of one.
func (s *suspension) forGC() bool {
	return s.reason == clr.SuspendReasonSuspendForGC || s.reason == clr.SuspendReasonSuspendForGCPrep
}

func (s *suspension) add(b *building) {
	if len(s.gcs) == maxInSuspension {
		b.rt.model.drop(b.rt.model.now)
		return
	}
	s.gcs = append(s.gcs, b)
	b.windows++
}

// active returns the suspension that holds the threads now: the latest one in
// which they are suspended, preferably for a collection.
func (rt *runtime) active() *suspension {
	var best *suspension
	rank := func(s *suspension) int {
		n := 0
		if s.forGC() {
			n += 2
		}
		if s.end.Known() {
			n++
		}
		return n
	}
	for _, s := range rt.windows {
		if best == nil || rank(s) >= rank(best) {
			best = s
		}
	}
	return best
}

func (m *Model) suspendBegin(e *event) {
	v, ok := decode[clr.GCSuspendEEBegin](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	if s := rt.suspensions[e.TID]; s != nil {
		rt.unfinished(s)
		rt.abandon(s)
	}
	if !rt.roomForSuspension() {
		m.drop(e.Time)
		return
	}
	rt.suspendingFor(v)
	s := m.recycled.suspension()
	s.thread, s.reason, s.number, s.begin = e.TID, v.Reason, v.Count, e.Time
	m.room.suspended++
	rt.suspensions[e.TID] = s
	rt.windows = append(rt.windows, s)
	m.ran.pauses(e, s)
	if s.forGC() {
		e.process.last = e.Time
	}
}

// suspendEnd notes that threads are suspended. Any earlier suspension has ended,
// even if its end was not seen.
func (m *Model) suspendEnd(e *event) {
	rt, s := m.suspension(e)
	if s == nil {
		return
	}
	if s.end.Known() { // threads are suspended once
		m.missing(s.begin, e.Time)
	}
	s.end = Some(e.Time)
	for i := len(rt.windows) - 1; i >= 0; i-- {
		if o := rt.windows[i]; o != s && o.end.Known() {
			rt.abandon(o)
		}
	}
}

// restartBegin ends the time for which threads were paused.
func (m *Model) restartBegin(e *event) {
	rt, s := m.suspension(e)
	if s == nil {
		if rt != nil {
			rt.process.partial = true
			rt.restartedByOther()
		}
		return
	}
	if s.restartBegin.Known() { // a suspension ends once
		m.missing(s.begin, e.Time)
		return
	}
	s.restartBegin = Some(e.Time)
	m.ran.paused(e, s)
	rt.restarts.seen(m)
	rt.closed(s)
	rt.delay(s, e.Time)
	if s.forGC() {
		e.process.last = e.Time
	}
	rt.release()
}

// restartEnd ends a suspension. The .NET Framework before 4.0 may raise no
// RestartEEBegin: then its end is the first that is known of the restart.
func (m *Model) restartEnd(e *event) {
	rt, s := m.suspension(e)
	if s != nil && !s.restartBegin.Known() && e.Version > 0 {
		rt.unfinished(s)
		return
	} else if s == nil {
		return
	}
	if !s.restartBegin.Known() {
		s.restartBegin = Some(e.Time)
		rt.closed(s)
	}
	m.ran.paused(e, s)
	rt.restarting = slices.DeleteFunc(rt.restarting, func(o *suspension) bool { return o == s })
	rt.detach(s)
	rt.delay(s, e.Time)
	s.restart = Some(e.Time - s.restartBegin.Or(0))
	if s.forGC() {
		rt.regions.at = e.Time
	}
	if s.owner != nil && !s.owner.finished {
		s.owner.Pauses[s.pause].Restart = s.restart
	}
	m.recycled.ended(s)
	rt.release()
}

// delay records that the suspensions begun during s had to wait for it, because a thread takes
// the lock of all suspensions after its SuspendEEBegin, and releases it after the restart.
func (rt *runtime) delay(s *suspension, until time.Duration) {
	for _, o := range rt.windows {
		if o.begin > s.begin && !o.end.Known() {
			o.waited = until - o.begin
		}
	}
}

// suspension finds the suspension of the thread of an event, which carries
// nothing but the runtime's number.
func (m *Model) suspension(e *event) (*runtime, *suspension) {
	v, ok := decode[clr.GCRestartEEBegin](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return nil, nil
	}
	return rt, rt.suspensions[e.TID]
}

// unfinished notes that the restart of a suspension for a collection is not in the
// trace, though what its thread raised later is.
func (rt *runtime) unfinished(s *suspension) {
	if s.forGC() && !s.restartBegin.Known() {
		rt.restarts.missing(rt.model, s.begin)
	}
}

// restartedByOther notes that a thread which suspended none restarts them while a
// collection has them suspended: the thread of one of the two events is damaged.
func (rt *runtime) restartedByOther() {
	if s := rt.active(); s != nil && s.forGC() && len(s.gcs) > 0 {
		rt.model.missing(s.begin, rt.model.now)
	}
}

// abandon forgets a suspension whose end is not in the trace.
func (rt *runtime) abandon(s *suspension) {
	is := func(o *suspension) bool { return o == s }
	rt.detach(s)
	if s.restartBegin.Known() {
		rt.restarting = slices.DeleteFunc(rt.restarting, is)
		return
	}
	rt.windows = slices.DeleteFunc(rt.windows, is)
	for _, b := range s.gcs {
		b.windows--
	}
}

// detach takes a suspension from its thread.
func (rt *runtime) detach(s *suspension) {
	if rt.suspensions[s.thread] == s {
		delete(rt.suspensions, s.thread)
		rt.model.room.suspended--
	}
}

// roomForSuspension reports whether there is room for one more suspension, for
// which the oldest may be forgotten.
func (rt *runtime) roomForSuspension() bool {
	full := rt.model.room.suspended == maxSuspended
	switch {
	case len(rt.windows) == maxSuspensions, full && len(rt.windows) > 0:
		rt.model.drop(rt.windows[0].begin)
		rt.abandon(rt.windows[0])
	case len(rt.restarting) == maxSuspensions, full && len(rt.restarting) > 0:
		rt.abandon(rt.restarting[0])
	case full:
		return false
	}
	return true
}

// closed divides the time of a suspension among the collections that it was
// for (docs/figures.md, "pause").
func (rt *runtime) closed(s *suspension) {
	rt.windows = slices.DeleteFunc(rt.windows, func(o *suspension) bool { return o == s })
	rt.restarting = append(rt.restarting, s)
	if s.forGC() {
		rt.process.Processor.Paused(s.begin, s.restartBegin.Or(0))
	}
	switch {
	case len(s.gcs) > 0:
		rt.share(s)
	case s.reason == clr.SuspendReasonSuspendForGCPrep && rt.background == nil:
		rt.prepared(s)
	case s.reason == clr.SuspendReasonSuspendForGCPrep && (rt.background.initial || rt.background.early):
		rt.backgroundWindow(s, rt.background)
	default:
		if s.reason == clr.SuspendReasonSuspendForGC {
			rt.regions.abandon(rt.process, s.duration())
		}
		rt.suspended(s, PauseOther)
	}
}

func (s *suspension) duration() time.Duration { return s.restartBegin.Or(0) - s.begin }

// suspending returns how long it took to suspend all threads.
func (s *suspension) suspending() Opt[time.Duration] {
	return SomeIf(s.end.Or(0)-s.begin, s.end.Known())
}

// share divides a suspension in which collections began. A background one owns
// all but what the ephemeral ones in it take from their start to their end;
// without one, each owns the time up to the next one's start. The first also
// owns the suspension, the last the restart.
func (rt *runtime) share(s *suspension) {
	i := slices.IndexFunc(s.gcs, func(b *building) bool { return b.Requested == Background && !b.ended() })
	if i >= 0 {
		rt.shareWithBackground(s, s.gcs[i])
		return
	}
	for i, b := range s.gcs {
		p := Pause{Kind: PauseBlocking, Start: b.Start.Or(0), Suspend: Some(time.Duration(0))}
		if i == 0 {
			p.Start, p.Suspend, p.Waited = s.begin, s.suspending(), s.waited
		}
		to := s.restartBegin.Or(0)
		if i+1 < len(s.gcs) {
			to = s.gcs[i+1].Start.Or(0)
		} else {
			s.owner, s.pause = b, len(b.Pauses)
		}
		p.Duration = to - p.Start
		b.addPause(s, p)
	}
}

func (rt *runtime) shareWithBackground(s *suspension, bg *building) {
	rest := s.duration()
	for _, b := range s.gcs {
		if b == bg || !b.Start.Known() || !b.End.Known() {
			continue
		}
		b.addPause(s, Pause{
			Kind: PauseBlocking, Start: b.Start.Or(0), Duration: b.End.Or(0) - b.Start.Or(0),
			Suspend: Some(time.Duration(0)), Restart: Some(time.Duration(0)),
		})
		rest = max(0, rest-(b.End.Or(0)-b.Start.Or(0)))
	}
	s.owner, s.pause = bg, len(bg.Pauses)
	bg.initial = true
	bg.addPause(s, Pause{Kind: PauseInitial, Start: s.begin, Duration: rest, Suspend: s.suspending(), Waited: s.waited})
}

// backgroundWindow decides the purpose of a suspension during a background collection:
// the final pause, or the heap walk that sessions with survival events cause. The private
// provider's events decide; without them, the first one is the final pause.
func (rt *runtime) backgroundWindow(s *suspension, b *building) {
	switch {
	case !b.final && (s.finalMark || !b.phases):
		b.final = true
		s.owner, s.pause = b, len(b.Pauses)
		b.windows++
		b.addPause(s, Pause{Kind: PauseFinal, Start: s.begin, Duration: s.duration(), Suspend: s.suspending(), Waited: s.waited, Restart: s.restart})
	case b.final:
		rt.suspended(s, PauseHeapWalk)
	default:
		rt.suspended(s, PauseOther)
	}
}

// addPause adds a pause to the collection, the share of s that is its own.
func (b *building) addPause(s *suspension, p Pause) {
	b.windows--
	if len(b.Pauses) == 0 && !b.early {
		b.PauseStart = Some(s.begin)
	}
	p.window = trace.Range{From: s.begin, To: s.restartBegin.Or(0)}
	b.Pauses = append(b.Pauses, p)
	b.restarts = append(b.restarts, s.restartBegin.Or(0))
}

// backgroundPhase processes the private provider's event for a phase of a background
// collection.
func (m *Model) backgroundPhase(e *event) {
	v, ok := decode[clr.GCRestartEEBegin](m, e) // the same single field
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	if rt.background != nil {
		rt.background.phases = true
	}
	if e.Kind == clr.KindBGC2ndNonConBegin {
		if s := rt.active(); s != nil {
			s.finalMark = true
		}
	}
}
