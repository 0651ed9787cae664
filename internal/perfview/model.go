package perfview

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
)

// The bounds of a Model's memory.
const (
	maxPending = 4096 // collections of one process that are not done
	maxHeaps   = 1024
)

// A Model rebuilds collections as TraceEvent does. The zero Model is ready for use,
// for one trace, by one goroutine.
type Model struct {
	// Done is called with each complete collection, in order of the start within a
	// process. It may retain the GC.
	Done func(*GC)

	processes pass.Table[process]
}

// handlers process each kind of event.
var handlers = [...]func(*process, *pass.Event){
	clr.KindGCSuspendEEBegin:    (*process).suspendBegin,
	clr.KindGCSuspendEEEnd:      (*process).suspendEnd,
	clr.KindGCRestartEEEnd:      (*process).restartEnd,
	clr.KindGCStart:             (*process).gcStart,
	clr.KindGCEnd:               (*process).gcEnd,
	clr.KindGCHeapStats:         (*process).heapStats,
	clr.KindGCGlobalHeapHistory: (*process).globalHistory,
	clr.KindGCPerHeapHistory:    (*process).perHeapHistory,
	clr.KindGCAllocationTick:    (*process).allocationTick,
	clr.KindGCDynamicEvent:      (*process).dynamicEvent,
}

// Kinds returns the kinds of events that a Model reads.
func (*Model) Kinds() []clr.Kind {
	var kinds []clr.Kind
	for k, handle := range handlers {
		if handle != nil {
			kinds = append(kinds, clr.Kind(k))
		}
	}
	return kinds
}

// Event processes one event.
func (m *Model) Event(e *pass.Event) {
	p, isNew := m.processes.At(e.Process.Index)
	if isNew {
		p.pid = e.PID
	}
	handlers[e.Kind](p, e)
	m.release(p, false)
}

// End ends the trace, and calls Done with the remaining complete collections.
func (m *Model) End() {
	for p := range m.processes.All() {
		m.release(p, true)
	}
}

// LastStats returns the time of the last GCHeapStats of a process, which
// TraceEvent considers the end of the process.
func (m *Model) LastStats(pid uint64) time.Duration {
	if p := m.processes.Find(func(p *process) bool { return p.pid == pid }); p != nil {
		return p.restarted
	}
	return 0
}

// A process is the state of a process. TraceEvent does not distinguish its
// runtimes.
type process struct {
	pid uint64

	suspender   thread        // of a suspension for a collection
	preparer    thread        // of one of reason GCPrep
	other       thread        // of one for anything else
	suspend     time.Duration // when the last suspension that counts began
	suspended   time.Duration // and was complete
	everStopped bool          // suspended is of some suspension

	gcs        []*GC         // pending, in order of start
	last       *GC           // the one started last
	before     *GC           // the one before the first pending
	background *GC           // under way
	started    int           // collections
	restarted  time.Duration // GCHeapStats of the last collection
	known      *heapStats    // of the last collection before the first pending, but for the first of all

	ticks, ticksBefore [3]int64
	ticked             bool
}

// A thread is a thread, or none.
type thread struct {
	id    uint64
	known bool
}

func (t thread) is(id uint64) bool { return t.known && t.id == id }

// current returns the collection that events without a number are taken to be
// of.
func (p *process) current() *GC {
	switch {
	case p.last == nil:
		return nil
	case !p.last.complete:
		return p.last
	default:
		return p.background
	}
}

func (p *process) suspendBegin(e *pass.Event) {
	v, ok := pass.Decode[clr.GCSuspendEEBegin](e)
	if !ok {
		return
	}
	t := thread{e.TID, true}
	switch v.Reason {
	case clr.SuspendReasonSuspendForGC:
		p.suspender = t
	case clr.SuspendReasonSuspendForGCPrep:
		p.preparer = t
	default:
		p.other = t
		return
	}
	p.suspend = e.Time
}

func (p *process) suspendEnd(e *pass.Event) {
	if !p.preparer.is(e.TID) && !p.suspender.is(e.TID) {
		return
	}
	if p.preparer.known && p.background != nil {
		p.background.Suspend += e.Time - p.suspend
	}
	p.suspended, p.everStopped = e.Time, true
}

func (p *process) restartEnd(e *pass.Event) {
	if p.other.is(e.TID) {
		p.other = thread{}
	}
	if !p.preparer.is(e.TID) && !p.suspender.is(e.TID) {
		return
	}
	switch g := p.current(); {
	case g == nil:
	case g.Type == clr.GCTypeBackgroundGC:
		if p.preparer.known {
			g.Pause += e.Time - p.suspend
		} else {
			g.Pause = e.Time - g.PauseStart
		}
	case g.ended:
		g.Pause = e.Time - g.PauseStart
		g.complete = g.stats != nil
	}
	p.preparer, p.suspender = thread{}, thread{}
}

func (p *process) gcStart(e *pass.Event) {
	v, ok := pass.Decode[clr.GCStart](e)
	if !ok || !p.suspender.known && !p.other.known || p.last != nil && p.last.Number == v.Count {
		return
	}
	g := &GC{
		PID: p.pid, Number: v.Count, Generation: int(min(v.Depth, 2)), Reason: v.Reason, Type: v.Type, Start: e.Time,
		index: p.started,
	}
	ephemeral := p.last != nil && p.last.Type == clr.GCTypeBackgroundGC && !p.last.complete && v.Type == clr.GCTypeNonConcurrentGC
	if ephemeral || v.Reason == clr.GCReasonPMFullGC {
		g.PauseStart = e.Time
		if c := p.current(); c != nil && v.Reason == clr.GCReasonPMFullGC {
			c.complete = true
		}
	} else {
		g.PauseStart = p.suspend
		if !p.everStopped {
			p.suspended, p.everStopped = e.Time, true
		}
		g.Suspend = p.suspended - p.suspend
	}
	if v.Type == clr.GCTypeBackgroundGC {
		p.background = g
		g.Pause = g.Suspend
	}
	p.started++
	p.last = g
	p.gcs = append(p.gcs, g)
}

func (p *process) gcEnd(e *pass.Event) {
	if _, ok := pass.Decode[clr.GCEnd](e); ok && p.current() != nil {
		g := p.current()
		g.Duration, g.ended = e.Time-g.Start, e.Time != g.Start
	}
}

func (p *process) heapStats(e *pass.Event) {
	v, ok := pass.Decode[clr.GCHeapStats](e)
	if !ok {
		return
	}
	if g := p.current(); g != nil {
		g.stats = &heapStats{
			size:         [...]uint64{v.GenerationSize0, v.GenerationSize1, v.GenerationSize2, v.GenerationSize3, v.GenerationSize4},
			promoted:     [...]uint64{v.TotalPromotedSize0, v.TotalPromotedSize1, v.TotalPromotedSize2, v.TotalPromotedSize3, v.TotalPromotedSize4},
			finalization: v.FinalizationPromotedSize, pinned: v.PinnedObjectCount,
		}
		g.SinceLast = g.PauseStart - p.restarted
		if g.Type == clr.GCTypeBackgroundGC {
			g.SinceLast = e.Time - p.restarted
		}
		if p.ticked {
			for i := range g.ticks {
				g.ticks[i] = p.ticks[i] - p.ticksBefore[i]
			}
		}
		if g.Type == clr.GCTypeBackgroundGC && p.background != nil {
			p.background.complete = true
			p.background = nil
		}
	}
	p.ticksBefore = p.ticks
	p.restarted = e.Time
}

func (p *process) globalHistory(e *pass.Event) {
	v, ok := pass.Decode[clr.GCGlobalHeapHistory](e)
	g := p.current()
	if g == nil || !ok {
		return
	}
	g.Heaps = int(v.NumHeaps)
	g.global = e.Version >= 3
	g.globalReasons = v.CondemnReasons1
	g.globalGenerations = v.CondemnReasons0
}

func (p *process) perHeapHistory(e *pass.Event) {
	v, ok := pass.Decode[clr.GCPerHeapHistory](e)
	g := p.current()
	if g == nil || len(g.heaps) == maxHeaps || !ok {
		return
	}
	h := heapHistory{generations: v.CondemnReasons0, reasons: v.CondemnReasons1, count: min(len(v.Values), numGenerations)}
	for i := range v.Values[:h.count] {
		r := &v.Values[i]
		h.gen[i] = generation{
			before: int64(r.SizeBefore), objectsBefore: int64(r.SizeBefore - r.FreeListBefore - r.FreeObjBefore),
			after: int64(r.SizeAfter), free: int64(r.FreeListAfter + r.FreeObjAfter),
			in: int64(r.In), out: int64(r.PinnedSurv + r.NonePinnedSurv), budget: int64(r.NewAllocation),
		}
	}
	g.heaps = append(g.heaps, h)
}

func (p *process) allocationTick(e *pass.Event) {
	v, ok := pass.Decode[clr.GCAllocationTick](e)
	if !ok {
		return
	}
	p.ticked = true
	amount := v.AllocationAmount64
	if e.Desc.Version < 2 {
		amount = uint64(v.AllocationAmount)
	}
	p.ticks[min(v.AllocationKind, 2)] += int64(min(amount, 1<<40))
}

func (p *process) dynamicEvent(e *pass.Event) {
	v, ok := pass.Decode[clr.GCDynamicEvent](e)
	g := p.current()
	var used clr.CommittedUsage
	if g == nil || g.committed != nil || !ok || v.Name.String() != "CommittedUsage" || used.Decode(v.Data) != nil {
		return
	}
	g.committed = &used
}

// release finishes the collections that nothing more is known of, in order.
func (m *Model) release(p *process, end bool) {
	n := 0
	for n < len(p.gcs) && (end || len(p.gcs)-n > maxPending || p.isDone(n)) {
		g := p.gcs[n]
		if g.complete {
			g.finish(p, n)
			if m.Done != nil {
				m.Done(g)
			}
		}
		if g.stats != nil && g.index > 0 {
			p.known = g.stats
		}
		p.before = g
		n++
	}
	if n > 0 {
		p.gcs = append(p.gcs[:0], p.gcs[n:]...)
	}
}

// isDone reports whether nothing more can become known of the nth pending collection: it
// is complete, or was overtaken. The peak of a background collection depends on the ones
// that began while it ran.
func (p *process) isDone(n int) bool {
	g := p.gcs[n]
	if !g.complete {
		return g != p.last && g != p.background
	}
	if g.Type != clr.GCTypeBackgroundGC {
		return true
	}
	return !slices.ContainsFunc(p.gcs[n+1:], func(o *GC) bool { return !o.complete && (o == p.last || o == p.background) })
}
