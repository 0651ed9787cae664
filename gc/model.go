package gc

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/trace"
)

// A Model rebuilds collections from events. The zero Model is ready for use,
// for one trace, by one goroutine.
type Model struct {
	// Ahead, if not nil, opens the same trace once more, for the kinds of
	// events that Identifies names. It is called at most once, when so many
	// collections wait for information from later in the trace (the process's
	// name, lost events) that memory would grow with the trace.
	Ahead func() (trace.Source, error)

	// Live is for a trace that is still being written: a collection is yielded as soon as
	// it, and all that began before it, are finished, without waiting for the rest of the
	// trace. Its process may be known only by its PID, and AffectedByLoss covers only the
	// loss found so far.
	Live bool

	// PerHeap makes collections carry each heap's part.
	PerHeap bool

	// Reuse is for a caller that does not retain collections: one is valid, with all that it
	// refers to but its process, until the next is yielded, whose memory may be the same. It
	// saves most of the Model's allocations.
	Reuse bool

	pass       *pass.Pass
	processes  []*Process
	byProcess  pass.Table[Process]
	runtimes   []*runtime // of all processes
	byRuntime  pass.Table[runtime]
	held       []*Collection // finished, not emitted; in order of start
	weight     int           // of the held back collections
	room       room
	ran        *processors // nil unless asked for
	dropped    trace.Loss  // data that there was no room for
	gaps       trace.Loss  // of collections, by the numbers of later ones, and of their events
	unnamed    trace.Loss  // from events of numbered collections to later numbers that show missing ones between
	streamGone bool        // a whole stream of events is missing
	fresh      bool        // a collection was finished since ready was last asked
	next       int         // with how many held it is asked again
	loss       *trace.Loss
	info       *trace.Info
	surveyed   bool // loss and processes cover the whole trace
	ending     bool // the trace ended: missing events may have come later
	recycled   recycled

	event event
	now   time.Duration // of the event
}

// Wants reports whether a Model reads events of a kind. Use it as the filter of
// a reader, or pass.Wants if other models read the trace too.
func Wants(d *trace.Descriptor) bool {
	k := clr.KindOf(d.Provider, d.ID)
	return handler(k) != nil || slices.Contains((*Model)(nil).Runs(), k)
}

// Head returns the largest number of bytes that a Model reads of the payloads
// of a kind. Readers can leave out the rest.
func Head(d *trace.Descriptor) int { return new(Model).Head(clr.KindOf(d.Provider, d.ID)) }

// Head is Head for pass.Head.
func (*Model) Head(k clr.Kind) int {
	switch {
	case k == clr.KindGCAllocationTick:
		return tickHead
	case isHeapPart(k):
		return bulkHead
	}
	return math.MaxInt
}

// Kinds returns the kinds of events that a Model reads one by one.
func (*Model) Kinds() []clr.Kind {
	var kinds []clr.Kind
	for k, handle := range handlers {
		if handle != nil {
			kinds = append(kinds, clr.Kind(k))
		}
	}
	return kinds
}

// Identifies reports whether events of a kind identify their process.
func Identifies(d *trace.Descriptor) bool {
	switch clr.KindOf(d.Provider, d.ID) {
	case clr.KindRuntimeInformationStart, clr.KindRuntimeInformationDCStart, clr.KindGCSettingsRundown, clr.KindProcessInfo, clr.KindProcessLimits:
		return true
	}
	return false
}

// Collections reads all events of src and yields the collections that they
// describe, in order of their start. The caller may retain and change them, unless Reuse
// is set. An error of src is yielded once, last, after all collections that could be
// rebuilt. Other models are given the same events, each before the Model is, and have
// ended when the last collections are yielded.
func (m *Model) Collections(src trace.Source, models ...pass.Model) iter.Seq2[*Collection, error] {
	return func(yield func(*Collection, error) bool) {
		m.loss, m.info = src.Loss(), src.Info()
		m.pass = pass.New(append(slices.Clip(models), m)...)
		var failed error
		for ev, err := range src.Events() {
			if err != nil {
				failed = err
				break
			}
			m.pass.Feed(ev)
			if m.fresh && (m.Live || len(m.held) >= m.next) && !m.handOut(yield) {
				return
			}
		}
		m.pass.End(src.Loss())
		m.end()
		src.Loss().StreamsUnknown = m.missesStream() || src.Loss().StreamsUnknown
		m.widenUnexplained()
		src.Loss().Join(&m.dropped)
		if !m.handOut(yield) {
			return
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

func (m *Model) handOut(yield func(*Collection, error) bool) bool {
	for c := range m.ready() {
		if !yield(c, nil) {
			return false
		}
	}
	return true
}

// Processes returns the processes whose events were read, in the order of their
// first event.
func (m *Model) Processes() []*Process { return m.processes }

// Process returns the process with an id. If none of its events was read, only its name is known,
// from the trace's description of itself.
func (m *Model) Process(pid uint64) *Process {
	if i := slices.IndexFunc(m.processes, func(p *Process) bool { return p.PID == pid }); i >= 0 {
		return m.processes[i]
	}
	p := &Process{PID: pid}
	if m.info != nil {
		p.Name = m.info.Processes[pid].Name
	}
	return p
}

// Event processes one event, for Collections.
func (m *Model) Event(e *pass.Event) {
	m.event, m.now = event{e, m.process(e.Process)}, e.Time
	handlers[e.Kind](m, &m.event)
}

// An event is a trace's event on its way through the model.
type event struct {
	*pass.Event
	process *Process
}

// decode decodes the event's payload into a T. A payload that is too short is not
// a basis for a figure. An event that times a collection and whose payload is
// not just as long as its version's is not the event that it passes for, nor is
// GCHeapStats with a shorter one: it is damaged, or another one's.
func decode[T any, P interface {
	*T
	clr.Event
}](m *Model, e *event,
) (*T, bool) {
	v, ok := pass.Decode[T, P](e.Event)
	if !ok && e.Kind == clr.KindGCHeapStats || times(e.Kind) && (!ok || clr.Surplus(e.Kind, e.Version, e.Payload, e.PointerSize) > 0) {
		m.drop(e.Time)
		return v, false
	}
	return v, ok
}

// times reports whether the time of an event of this kind is that of a step of a
// collection or suspension.
func times(k clr.Kind) bool {
	switch k {
	case clr.KindGCStart, clr.KindGCEnd, clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCRestartEEEnd:
		return true
	}
	return false
}

// handlers maps each kind of event to its handler.
var handlers = [...]func(*Model, *event){
	clr.KindGCSuspendEEBegin:            (*Model).suspendBegin,
	clr.KindGCSuspendEEEnd:              (*Model).suspendEnd,
	clr.KindGCRestartEEBegin:            (*Model).restartBegin,
	clr.KindGCRestartEEEnd:              (*Model).restartEnd,
	clr.KindGCPause:                     (*Model).pause,
	clr.KindGCStart:                     (*Model).gcStart,
	clr.KindGCEnd:                       (*Model).gcEnd,
	clr.KindGCHeapStats:                 (*Model).heapStats,
	clr.KindGCGlobalHeapHistory:         (*Model).globalHistory,
	clr.KindGCPerHeapHistory:            (*Model).perHeapHistory,
	clr.KindPrivateGCGlobalHeapHistory:  (*Model).privateGlobalHistory,
	clr.KindPrivateGCPerHeapHistory:     (*Model).privatePerHeapHistory,
	clr.KindGCMarkWithType:              (*Model).markWithType,
	clr.KindGCMarkStackRoots:            (*Model).oldMark,
	clr.KindGCMarkFinalizeQueueRoots:    (*Model).oldMark,
	clr.KindGCMarkHandles:               (*Model).oldMark,
	clr.KindGCMarkOlderGenerationRoots:  (*Model).oldMark,
	clr.KindPrvGCMarkStackRoots:         (*Model).oldMark,
	clr.KindPrvGCMarkFinalizeQueueRoots: (*Model).oldMark,
	clr.KindPrvGCMarkHandles:            (*Model).oldMark,
	clr.KindPrvGCMarkCards:              (*Model).oldMark,
	clr.KindGCDynamicEvent:              (*Model).dynamicEvent,
	clr.KindGCFinalizersBegin:           (*Model).finalizersBegin,
	clr.KindGCFinalizersEnd:             (*Model).finalizersEnd,
	clr.KindIncreaseMemoryPressure:      (*Model).increasePressure,
	clr.KindDecreaseMemoryPressure:      (*Model).decreasePressure,
	clr.KindBGCAllocWaitBegin:           (*Model).allocWaitBegin,
	clr.KindBGCAllocWaitEnd:             (*Model).allocWaitEnd,
	clr.KindBGCBegin:                    (*Model).backgroundPhase,
	clr.KindBGC2ndNonConBegin:           (*Model).backgroundPhase,
	clr.KindRuntimeInformationStart:     (*Model).runtimeInformation,
	clr.KindRuntimeInformationDCStart:   (*Model).runtimeInformation,
	clr.KindGCSettingsRundown:           (*Model).settings,
	clr.KindExceptionThrown:             (*Model).exceptionThrown,
	clr.KindProcessInfo:                 (*Model).processInfo,
	clr.KindProcessLimits:               (*Model).processLimits,
	clr.KindProcessThreadTime:           (*Model).processorTime,
	clr.KindGCThreadTime:                (*Model).processorTime,
	clr.KindProcessThrottling:           (*Model).processorTime,
	clr.KindMachinePressure:             (*Model).processorTime,
	clr.KindCgroupPressure:              (*Model).processorTime,
	clr.KindMachineTime:                 (*Model).processorTime,
	clr.KindGCBulkRootEdge:              (*Model).heapPart,
	clr.KindGCBulkNode:                  (*Model).heapPart,
	clr.KindGCBulkEdge:                  (*Model).heapPart,
	clr.KindMonoProfilerGCEvent:         (*Model).monoEvent,
}

func handler(k clr.Kind) func(*Model, *event) {
	if int(k) < len(handlers) {
		return handlers[k]
	}
	return nil
}

func (m *Model) process(of *pass.Process) *Process {
	p, isNew := m.byProcess.At(of.Index)
	if isNew {
		p.PID, p.id = of.PID, new(byte)
		m.processes = append(m.processes, p)
	}
	return p
}

// hold holds a finished collection until it can be yielded in order.
func (m *Model) hold(c *Collection) {
	i := len(m.held)
	for i > 0 && m.held[i-1].order() > c.order() {
		i--
	}
	m.held = slices.Insert(m.held, i, c)
	m.weight += c.weight()
	m.fresh = true
}

// ready yields the collections that are completely known, in order of their start.
func (m *Model) ready() iter.Seq[*Collection] {
	return func(yield func(*Collection) bool) {
		m.fresh = false
		defer func() { m.next = len(m.held) + batch }()
		if m.crowded() {
			m.release()
		}
		open, anywhere := m.oldest(), m.missesStream()
		for len(m.held) > 0 {
			c := m.held[0]
			for m.crowded() && open != nil && open.pending[0].order() < c.order() {
				open.expire()
				open, c = m.oldest(), m.held[0]
			}
			if open != nil && open.pending[0].order() < c.order() {
				return
			}
			if !m.crowded() && (!m.known(c) || !anywhere && m.awaitsGap()) {
				return
			}
			if !m.known(c) {
				m.survey() // only now, because open collections do not need it
			}
			m.held[0] = nil // so that the caller decides how long it is in memory
			m.held = m.held[1:]
			m.weight -= c.weight()
			c.account(anywhere || m.mayEndAnother(c), m.loss, &m.dropped)
			c.boundFreed()
			if !yield(c) {
				return
			}
			if m.Reuse {
				m.recycled.release(c)
			}
		}
	}
}

// lost reports whether events may be missing between two times.
func (m *Model) lost(from, to time.Duration) bool {
	return m.loss.Touches(from, to) || m.dropped.Touches(from, to)
}

// mayEndAnother reports whether the restart in a collection may be that of a missing one after it,
// because no loss explains where that one's other events are. The loss may become known later
// than the number by which the collection is missing.
func (m *Model) mayEndAnother(c *Collection) bool {
	return slices.ContainsFunc(m.unnamed.Ranges(), func(r trace.Range) bool {
		return r.From <= c.needs.To && c.needs.From <= r.To && !m.loss.Touches(r.From, r.To)
	})
}

// widenUnexplained counts as loss where the restarts of missing collections may be, when the
// whole loss of the trace is known.
func (m *Model) widenUnexplained() {
	for _, r := range m.unnamed.Ranges() {
		if !m.loss.Touches(r.From, r.To) {
			m.missing(r.From, r.To)
		}
	}
}

// awaitsGap reports whether collections wait for the end of the trace, because a gap in later
// ones may show that a stream is missing.
func (m *Model) awaitsGap() bool {
	return m.loss.StreamsUnknown && !m.surveyed && !m.Live
}

// unexplainedGaps is how many gaps show that a stream is missing, if nothing else suggests it:
// damaged events may make a few.
const unexplainedGaps = 3

// missesStream reports whether a whole stream of events is missing, such as LTTng's file of a
// processor: collections, or their events, are missing where the readable streams have no loss.
// Other events may then be missing at any time.
func (m *Model) missesStream() bool {
	gaps := unexplainedGaps
	switch {
	case m.streamGone:
		return true
	case m.loss.StreamsUnknown:
		gaps = 1
	case m.loss.Damaged > 0 || len(m.loss.Ranges()) > 0 || m.tracer() != trace.LTTng:
		return false
	}
	for _, r := range m.gaps.Ranges() {
		if !m.loss.Touches(r.From, r.To) {
			gaps--
		}
	}
	m.streamGone = gaps <= 0
	return m.streamGone
}

// crowded reports whether too many collections are held back for any to wait for
// information from a later one.
func (m *Model) crowded() bool { return m.weight > maxHeld }

// release finishes the collections of all processes that expect no more events.
func (m *Model) release() {
	for _, rt := range m.runtimes {
		rt.release()
	}
	m.fresh = false
}

// oldest returns the runtime with the earliest collection that is still being rebuilt,
// nil if there is none.
func (m *Model) oldest() *runtime {
	var first *runtime
	for _, rt := range m.runtimes {
		if len(rt.pending) > 0 && (first == nil || rt.pending[0].order() < first.pending[0].order()) {
			first = rt
		}
	}
	return first
}

// known reports whether later parts of the trace have nothing to add to c.
func (m *Model) known(c *Collection) bool {
	return m.Live || m.surveyed || m.loss.Settled >= c.needs.To && c.Process.Runtime != "" && m.named(c.Process)
}

// survey reads the trace once more, for its loss and its processes. If the
// trace cannot be opened again, survey does nothing.
func (m *Model) survey() {
	if m.Ahead == nil {
		return
	}
	src, err := m.Ahead()
	m.Ahead = nil
	if err != nil {
		return
	}
	var ahead Model
	_ = pass.Run(context.Background(), src, &ahead) // events before an error count
	m.loss, m.info, m.surveyed = src.Loss(), src.Info(), true
	for _, p := range ahead.processes {
		if of := m.pass.Process(p.PID); of != nil {
			m.process(of).learn(p)
		}
	}
	for _, p := range m.processes {
		m.named(p)
	}
}

// named reports whether the process has a name. The trace's name takes precedence over the
// command line's, unless it is "dotnet", because a trace gives every program that the host runs
// that name.
func (m *Model) named(p *Process) bool {
	if of, ok := m.info.Processes[p.PID]; ok {
		p.setName(of.CommandLine)
		if name := program.Base(of.Name); name != "" && (name != program.Host || p.Name == "") {
			p.Name = name
		}
	}
	return p.Name != ""
}

// end finishes the open collections and suspensions.
func (m *Model) end() {
	m.ending = true
	m.ran.end(m)
	for _, p := range m.processes {
		m.named(p)
		if p.Stopped <= p.last {
			p.Stopped = max(m.info.Last, p.last)
		}
		for _, rt := range p.runtimes {
			rt.finishAll()
		}
	}
	m.surveyed = true
}
