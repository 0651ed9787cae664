package perfview

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of a Model's memory.
const (
	maxProcesses = 4096
	maxPending   = 4096 // collections of one process that are not done
	maxKinds     = 1 << 14
	maxHeaps     = 1024
)

// A Model rebuilds collections as TraceEvent does. The zero Model is ready for use,
// for one trace, by one goroutine.
type Model struct {
	// Done is called with each complete collection, in order of the start within a
	// process. It may retain the GC.
	Done func(*GC)

	kinds     map[*trace.Descriptor]clr.Kind
	desc      *trace.Descriptor // of the last event
	kind      clr.Kind          // and its kind
	processes map[uint64]*process
	order     []*process
	decoded   struct {
		suspend   clr.GCSuspendEEBegin
		start     clr.GCStart
		end       clr.GCEnd
		stats     clr.GCHeapStats
		global    clr.GCGlobalHeapHistory
		perHeap   clr.GCPerHeapHistory
		tick      clr.GCAllocationTick
		dynamic   clr.GCDynamicEvent
		committed clr.CommittedUsage
	}
}

// handlers process each kind of event.
var handlers = map[clr.Kind]func(*Model, *process, *trace.Event){
	clr.KindGCSuspendEEBegin:    (*Model).suspendBegin,
	clr.KindGCSuspendEEEnd:      (*Model).suspendEnd,
	clr.KindGCRestartEEEnd:      (*Model).restartEnd,
	clr.KindGCStart:             (*Model).gcStart,
	clr.KindGCEnd:               (*Model).gcEnd,
	clr.KindGCHeapStats:         (*Model).heapStats,
	clr.KindGCGlobalHeapHistory: (*Model).globalHistory,
	clr.KindGCPerHeapHistory:    (*Model).perHeapHistory,
	clr.KindGCAllocationTick:    (*Model).allocationTick,
	clr.KindGCDynamicEvent:      (*Model).dynamicEvent,
}

// Wants reports whether a Model reads events of a kind.
func Wants(d *trace.Descriptor) bool { return handlers[clr.KindOf(d.Provider, d.ID)] != nil }

// Feed processes one event. Events must come in time order.
func (m *Model) Feed(ev *trace.Event) {
	if ev.Desc != m.desc {
		m.desc, m.kind = ev.Desc, m.kindOf(ev.Desc)
	}
	handle := handlers[m.kind]
	if handle == nil || ev.Late {
		return
	}
	if p := m.process(ev.PID); p != nil {
		handle(m, p, ev)
		m.release(p, false)
	}
}

// Close ends the trace, and calls Done with the remaining complete collections.
func (m *Model) Close() {
	for _, p := range m.order {
		m.release(p, true)
	}
}

// LastStats returns the time of the last GCHeapStats of a process, which
// TraceEvent considers the end of the process.
func (m *Model) LastStats(pid uint64) time.Duration {
	if p := m.processes[pid]; p != nil {
		return p.restarted
	}
	return 0
}

func (m *Model) kindOf(d *trace.Descriptor) clr.Kind {
	kind, known := m.kinds[d]
	if !known {
		if m.kinds == nil || len(m.kinds) == maxKinds {
			m.kinds = make(map[*trace.Descriptor]clr.Kind)
		}
		kind = clr.KindOf(d.Provider, d.ID)
		m.kinds[d] = kind
	}
	return kind
}

func (m *Model) process(pid uint64) *process {
	p := m.processes[pid]
	if p == nil && len(m.processes) < maxProcesses {
		if m.processes == nil {
			m.processes = make(map[uint64]*process)
		}
		p = &process{pid: pid}
		m.processes[pid] = p
		m.order = append(m.order, p)
	}
	return p
}

// decode decodes an event's payload into v.
func (m *Model) decode(ev *trace.Event, v interface {
	Decode(version uint32, payload []byte, ptrSize int) error
},
) bool {
	return v.Decode(clr.VersionOf(m.kind, ev.Desc.Version, ev.Payload, ev.PointerSize), ev.Payload, ev.PointerSize) == nil
}

// A process is the state of a process. TraceEvent does not distinguish its
// runtimes.
type process struct {
	pid uint64

	suspender   thread // of a suspension for a collection
	preparer    thread // of one of reason GCPrep
	other       thread // of one for anything else
	reason      clr.SuspendReason
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

func (m *Model) suspendBegin(p *process, ev *trace.Event) {
	v := &m.decoded.suspend
	if !m.decode(ev, v) {
		return
	}
	t := thread{ev.TID, true}
	switch v.Reason {
	case clr.SuspendReasonSuspendForGC:
		p.suspender = t
	case clr.SuspendReasonSuspendForGCPrep:
		p.preparer = t
	default:
		p.other = t
		return
	}
	p.reason, p.suspend = v.Reason, ev.Time()
}

func (m *Model) suspendEnd(p *process, ev *trace.Event) {
	if !p.preparer.is(ev.TID) && !p.suspender.is(ev.TID) {
		return
	}
	if p.preparer.known && p.background != nil {
		p.background.Suspend += ev.Time() - p.suspend
	}
	p.suspended, p.everStopped = ev.Time(), true
}

func (m *Model) restartEnd(p *process, ev *trace.Event) {
	if p.other.is(ev.TID) {
		p.other = thread{}
	}
	if !p.preparer.is(ev.TID) && !p.suspender.is(ev.TID) {
		return
	}
	switch g := p.current(); {
	case g == nil:
	case g.Type == clr.GCTypeBackgroundGC:
		if p.preparer.known {
			g.Pause += ev.Time() - p.suspend
		} else {
			g.Pause = ev.Time() - g.PauseStart
		}
	case g.ended:
		g.Pause = ev.Time() - g.PauseStart
		g.complete = g.stats != nil
	}
	p.preparer, p.suspender = thread{}, thread{}
}

func (m *Model) gcStart(p *process, ev *trace.Event) {
	v := &m.decoded.start
	if !m.decode(ev, v) || !p.suspender.known && !p.other.known || p.last != nil && p.last.Number == v.Count {
		return
	}
	g := &GC{
		PID: p.pid, Number: v.Count, Generation: int(min(v.Depth, 2)), Reason: v.Reason, Type: v.Type, Start: ev.Time(),
		index: p.started,
	}
	ephemeral := p.last != nil && p.last.Type == clr.GCTypeBackgroundGC && !p.last.complete && v.Type == clr.GCTypeNonConcurrentGC
	if ephemeral || v.Reason == clr.GCReasonPMFullGC {
		g.PauseStart = ev.Time()
		if c := p.current(); c != nil && v.Reason == clr.GCReasonPMFullGC {
			c.complete = true
		}
	} else {
		g.PauseStart = p.suspend
		if !p.everStopped {
			p.suspended, p.everStopped = ev.Time(), true
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

func (m *Model) gcEnd(p *process, ev *trace.Event) {
	if g := p.current(); g != nil && m.decode(ev, &m.decoded.end) {
		g.Duration, g.ended = ev.Time()-g.Start, ev.Time() != g.Start
	}
}

func (m *Model) heapStats(p *process, ev *trace.Event) {
	v := &m.decoded.stats
	if !m.decode(ev, v) {
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
			g.SinceLast = ev.Time() - p.restarted
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
	p.restarted = ev.Time()
}

func (m *Model) globalHistory(p *process, ev *trace.Event) {
	v := &m.decoded.global
	g := p.current()
	if g == nil || !m.decode(ev, v) {
		return
	}
	g.Heaps = int(v.NumHeaps)
	g.global = clr.VersionOf(m.kind, ev.Desc.Version, ev.Payload, ev.PointerSize) >= 3
	g.globalReasons = v.CondemnReasons1
	g.globalGenerations = v.CondemnReasons0
}

func (m *Model) perHeapHistory(p *process, ev *trace.Event) {
	v := &m.decoded.perHeap
	g := p.current()
	if g == nil || len(g.heaps) == maxHeaps || !m.decode(ev, v) {
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

func (m *Model) allocationTick(p *process, ev *trace.Event) {
	v := &m.decoded.tick
	if !m.decode(ev, v) {
		return
	}
	p.ticked = true
	amount := v.AllocationAmount64
	if ev.Desc.Version < 2 {
		amount = uint64(v.AllocationAmount)
	}
	p.ticks[min(v.AllocationKind, 2)] += int64(min(amount, 1<<40))
}

func (m *Model) dynamicEvent(p *process, ev *trace.Event) {
	v := &m.decoded.dynamic
	g := p.current()
	if g == nil || !m.decode(ev, v) || v.Name.String() != "CommittedUsage" || m.decoded.committed.Decode(v.Data) != nil {
		return
	}
	if g.committed == nil {
		used := m.decoded.committed
		g.committed = &used
	}
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
	for _, o := range p.gcs[n+1:] {
		if !o.complete && (o == p.last || o == p.background) {
			return false
		}
	}
	return true
}
