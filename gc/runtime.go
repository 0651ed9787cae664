package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A runtime is the state of one runtime of a process: what is going on in it.
type runtime struct {
	process  *Process
	instance uint16
	model    *Model

	suspensions map[uint64]*suspension // by thread, from SuspendEEBegin to RestartEEEnd
	windows     []*suspension          // not restarted ones, in order of their begin
	restarting  []*suspension          // restarting ones, in order

	pending        []*building // collections in order of their start, not yet finished
	blocking       *building   // the one between GCStart and GCEnd that is not a background collection
	background     *building   // the background collection between GCStart and GCEnd
	early          early
	lastBackground *building            // the latest background collection
	numbered       map[uint32]*building // by number, the latest of the pending ones
	begun          int                  // collections, that began or were first seen by their end
	ended          map[uint64]*building
	history        map[uint64]*building     // by thread, the last GCGlobalHeapHistory's
	allocating     map[uint64]time.Duration // by thread, since when it waits for a background collection

	completed bool     // a collection was complete
	first     uint32   // its number
	restarts  expected // RestartEEBegin
	ends      expected // GCEnd of a collection whose start was seen
	historied bool     // it raises GCPerHeapHistory
	sized     bool     // a collection had all its histories
	ticked    bool     // there are allocation ticks
	badTick   bool     // one since the last GCStart cannot be
	ticks     int64    // their bytes since the last GCStart
	ticksOf   [5]int64 // their bytes so far, by generation

	last        previous
	allocations allocations
	regions     regions

	stop       monoStop // of a Mono runtime
	unnumbered uint32   // collections of a runtime that does not number them
}

// A building is a collection that is being rebuilt.
type building struct {
	Collection
	rt *runtime

	stats      bool
	bare       bool          // its runtime raises nothing of it but its start, its end and its pauses
	damaged    bool          // an event of it, or an allocation tick before it, has a size that cannot be
	windows    int           // suspensions that belong to it and have not restarted
	initial    bool          // threads were restarted while it was under way
	final      bool          // the final pause of a background collection has
	early      bool          // a background collection that began before the trace
	phases     bool          // the private provider has events for its phases
	since      int           // runtime.begun when it began, or ceased to run in the background
	global     bool          // its GCGlobalHeapHistory was seen
	told       time.Duration // when the latest of its histories was
	concurrent bool          // the history has its Concurrent bit set
	heaps      []uint32      // heap indexes of the GCPerHeapHistory events seen
	records    int           // generations in each of them
	sums       [5]generation // over the heaps seen
	promoted   [5]int64      // TotalPromotedSizeN of GCHeapStats
	desired    Opt[int64]    // FinalYoungestDesired of GCGlobalHeapHistory: gen0's budget on each heap
	allAfter   bool          // they have the sizes after of all generations
	pinned     bool          // and bytes that survived because they were pinned
	marks      []rawMark
	markSource markSource
	restarts   []time.Duration // RestartEEBegin of its pauses
	reported   []reported
	room       *Collection // for the finished Collection; its lists are those of an earlier one

	tickedAtStart, tickedAtEnd [5]int64 // runtime.ticksOf then

	endThread, historyThread uint64 // that raised its end and its history

	finished bool
	referred bool // by a suspension that had not restarted then
}

// A generation sums the records of one generation over the heaps.
type generation struct {
	before, freeBefore, after, freeAfter, listed, in, pinned, survived, budget int64
}

// objects are the bytes in objects, live or dead.
func (g *generation) objectsBefore() int64 { return max(0, g.before-g.freeBefore) }
func (g *generation) objectsAfter() int64  { return max(0, g.after-g.freeAfter) }

func (rt *runtime) init(p *Process, instance uint16, m *Model) {
	*rt = runtime{
		process:     p,
		instance:    instance,
		model:       m,
		suspensions: make(map[uint64]*suspension),
		numbered:    make(map[uint32]*building),
		ended:       make(map[uint64]*building),
		history:     make(map[uint64]*building),
		allocating:  make(map[uint64]time.Duration),
	}
}

// find returns the unfinished collection of a number, the latest first.
func (rt *runtime) find(number uint32) *building { return rt.numbered[number] }

// begin adds a collection, placed by its number if its start is unknown. It
// returns nil if there is no room for one more.
func (rt *runtime) begin(number uint32) *building {
	if rt.model.room.open == maxOpen && !rt.expire() {
		rt.model.drop(rt.model.now)
		return nil
	}
	rt.model.room.open++
	b := rt.model.recycled.building()
	b.rt, b.since = rt, rt.begun
	b.Process, b.ClrInstance, b.Number = rt.process, rt.instance, number
	rt.pending = append(rt.pending, b)
	rt.numbered[number] = b
	return b
}

// expire finishes the first pending collection as far as it is known. It reports
// whether there is one.
func (rt *runtime) expire() bool {
	if len(rt.pending) == 0 {
		return false
	}
	rt.model.drop(rt.model.now)
	rt.finish(0)
	rt.pending[0].detach()
	rt.pending = slices.Delete(rt.pending, 0, 1)
	return true
}

// current returns the collection that an event in the middle of one is about.
func (rt *runtime) current() *building {
	if rt.blocking != nil {
		return rt.blocking
	}
	return rt.background
}

func (m *Model) gcStart(e *event) {
	v, ok := decode[clr.GCStart](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	e.process.last, e.process.pointerSize = e.Time, e.PointerSize
	rt.decideEarly(v.Type == clr.GCTypeForegroundGC)
	rt.early.seen = v.Count
	b := rt.find(v.Count)
	if b == nil || b.ended() && !b.Start.Known() || rt.beganElsewhere(b) { // none ends before it starts
		if b = rt.begin(v.Count); b == nil {
			return
		}
	}
	if !b.Start.Known() {
		rt.started(b, e)
	}
	b.Reason = Some(v.Reason)
	if e.Version > 0 { // version 0 has neither depth nor type
		b.setGeneration(v.Depth)
		b.setRequested(v.Type)
		b.damaged = b.damaged || v.Depth > gen2 || v.Type > clr.GCTypeForegroundGC
	}
	if b.Requested == Background {
		rt.leaveBackground()
		rt.background, rt.lastBackground = b, b
	} else {
		rt.contradicted(b)
		rt.blocking = b
	}
}

// beganElsewhere reports whether collection b began in an earlier suspension than the current
// one, so that the number of one of two starts is damaged.
func (rt *runtime) beganElsewhere(b *building) bool {
	s := rt.active()
	if !b.Start.Known() || s == nil || !s.forGC() || slices.Contains(s.gcs, b) {
		return false
	}
	rt.model.missing(b.Start.Or(0), rt.model.now)
	return true
}

// beganBefore reports whether collection b began before all complete ones.
func (rt *runtime) beganBefore(b *building) bool { return !rt.completed || b.Number < rt.first }

// contradicted notes that the start, or the end, of collection b while another one
// keeps threads suspended means that events are missing: that one's end or b's
// start, or that a number is damaged.
func (rt *runtime) contradicted(b *building) {
	if o := rt.blocking; o != nil && o != b {
		rt.ends.missing(rt.model, o.Start.Or(0))
	}
}

// started notes the start of a collection that was not known before.
func (rt *runtime) started(b *building, e *event) {
	b.Start = Some(e.Time)
	b.Outside = rt.process.takeOutside()
	b.AllocatedTicks = Some(rt.ticks)
	b.damaged = b.damaged || rt.badTick
	b.NoGCRegions = rt.regionsBefore(b.Number)
	rt.ticks, rt.badTick = 0, false
	b.tickedAtStart = rt.ticksOf
	rt.begun++
	b.since++
	if s := rt.active(); s != nil {
		s.add(b)
	}
}

// patience is after how many later collections nothing more is expected of one:
// the histories of a background collection of a server GC, and the RestartEEEnd
// of any, can come after another one has begun.
const patience = 3

// later returns how many collections began after b, or after it ceased to run
// in the background.
func (b *building) later() int {
	if b == b.rt.background {
		return 0
	}
	return b.rt.begun - b.since
}

// leaveBackground notes that the background collection runs no more.
func (rt *runtime) leaveBackground() {
	if rt.background != nil {
		rt.background.since = rt.begun
		rt.background, rt.early.runs = nil, Some(false)
	}
}

// done reports whether nothing more is expected of the collection.
func (b *building) done() bool {
	if b.later() >= patience {
		return true
	}
	return b.ended() && b.stats && b.windows == 0 && b.restarted() && (b.bare || !b.ranBackground() || b.histories())
}

// histories reports whether the global and all heaps' histories are there.
func (b *building) histories() bool { return b.global && b.Heaps.Or(0) == len(b.heaps) }

func (b *building) restarted() bool {
	return !slices.ContainsFunc(b.Pauses, func(p Pause) bool { return !p.Restart.Known() })
}

// ranBackground reports whether the collection ran in the background, as far as
// is known yet. A collection announced as background may run blocking: then it
// ends before the threads restart, and its history shows it.
func (b *building) ranBackground() bool {
	if b.global {
		return b.concurrent
	}
	return b.Requested == Background && (b.initial || b.early || !b.ended())
}

func (b *building) setGeneration(depth uint32) {
	if depth <= gen2 {
		b.Generation = Some(int(depth))
	}
}

func (b *building) ended() bool { return b.End.Known() }

func (b *building) setRequested(t clr.GCType) {
	switch t {
	case clr.GCTypeNonConcurrentGC:
		b.Requested = Blocking
	case clr.GCTypeBackgroundGC:
		b.Requested = Background
	case clr.GCTypeForegroundGC:
		b.Requested = Foreground
	}
}

func (m *Model) gcEnd(e *event) {
	v, ok := decode[clr.GCEnd](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	e.process.last = e.Time
	if rt.find(v.Count) == nil {
		rt.endEarly(v)
	}
	b := rt.find(v.Count)
	if b == nil || b.ended() {
		if b = rt.begin(v.Count); b == nil {
			return
		}
		rt.contradicted(b)
		if s := rt.active(); s != nil && len(s.gcs) == 0 && s.forGC() {
			s.add(b)
		}
	}
	b.End, rt.early.seen = Some(e.Time), v.Count
	if b.Start.Known() {
		rt.ends.seen(m)
	}
	b.tickedAtEnd = rt.ticksOf
	rt.collecting(b.Number)
	if !b.Generation.Known() {
		b.setGeneration(v.Depth)
	}
	rt.ended[e.TID], b.endThread = b, e.TID
	switch b {
	case rt.background:
		if rt.suspensions[e.TID] == nil { // else it ran blocking
			m.ran.plays(e, runsBackgroundGC)
		}
		rt.leaveBackground()
	case rt.blocking:
		rt.blocking = nil
	}
}
