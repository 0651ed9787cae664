package gc

import (
	"encoding/binary"
	"time"

	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// Providers and ids of the events of Windows' kernel about processors, as package etl names
// them: the MOF classes SampledProfile, SampledProfileInterval and CSwitch.
const (
	kernelProfile = "PerfInfo"
	kernelSample  = 46
	intervalSet   = 72
	intervalAtEnd = 74 // 73 is the one at the start

	kernelThread  = "Thread"
	contextSwitch = 36
)

const (
	// defaultInterval is Windows' interval of samples, unless somebody sets another.
	defaultInterval = time.Millisecond
	// longestInterval bounds the interval that an event may set.
	longestInterval = 10 * time.Second
	// maxRanThreads bounds the threads whose time is followed.
	maxRanThreads = 1 << 16
)

// Processors returns a model, for Collections, of the events that show which threads the
// processors ran: samples of the processors and context switches, by the kernel of Windows.
// With it, Process.Kernel is known once a trace with such events has ended.
func (m *Model) Processors() pass.Model {
	if m.ran == nil {
		m.ran = &processors{threads: make(map[ranThread]*ran), running: make(map[processor]*onProcessor)}
	}
	return pass.Raw(showsProcessors, m.ran.event)
}

func showsProcessors(d *trace.Descriptor) bool {
	switch {
	case d.Name != "": // not the kernel's
		return false
	case d.Provider == kernelThread:
		return d.ID == contextSwitch
	}
	return d.Provider == kernelProfile && (d.ID == kernelSample || intervalSet <= d.ID && d.ID <= intervalAtEnd)
}

// processors follows which threads the processors of a machine run.
type processors struct {
	threads map[ranThread]*ran
	running map[processor]*onProcessor

	interval, first time.Duration // of samples: now, and before it was known; 0 if unknown
	sampled         bool
	switched        bool
	broken          bool   // context switches are missing
	unknown         uint64 // samples of threads whose process is not known
}

// A ranThread identifies a thread as long as it lives.
type ranThread struct{ pid, tid uint64 }

// A processor is one of a machine. It has the Descriptor of the events, because merged traces
// of several machines have the same numbers.
type processor struct {
	of  *trace.Descriptor
	cpu uint32
}

// An onProcessor is what a processor has run since its latest context switch.
type onProcessor struct {
	tid   uint64
	of    *ran // nil for the idle thread and threads of unknown processes
	since time.Duration
}

// ran is how much a thread ran.
type ran struct {
	tally
	since   Opt[time.Duration] // for which it has been running, by a context switch
	pausing tally              // while it paused the others for a collection
	role    threadRole
}

// A threadRole is a part in collections that a thread was seen in.
type threadRole uint8

const (
	marks            threadRole = 1 << iota // raised the events of marking
	runsBackgroundGC                        // ended a background collection, which only its own thread does
)

// A tally sums up how much a thread ran.
type tally struct {
	samples  uint64
	early    uint64        // of samples, before their interval was known
	sampled  time.Duration // of the others
	switched time.Duration // by context switches
}

func (t *tally) add(o tally) {
	t.samples += o.samples
	t.early += o.early
	t.sampled += o.sampled
	t.switched += o.switched
}

// minus returns what came to a tally since it was o. Time that was given up in between, because
// context switches are missing, counts as none.
func (t tally) minus(o tally) tally {
	return tally{t.samples - o.samples, t.early - o.early, t.sampled - o.sampled, max(0, t.switched-o.switched)}
}

// at returns the tally of a thread at a time.
func (r *ran) at(now time.Duration) tally {
	t := r.tally
	if since, runs := r.since.Get(); runs {
		t.switched += max(0, now-since)
	}
	return t
}

// thread returns the record of a thread, nil if there is no room for one more.
func (p *processors) thread(pid, tid uint64) *ran {
	k := ranThread{pid, tid}
	r := p.threads[k]
	if r == nil && len(p.threads) < maxRanThreads {
		r = new(ran)
		p.threads[k] = r
	}
	return r
}

func (p *processors) event(ev *trace.Event) {
	switch {
	case ev.Late:
		p.broken = true
	case ev.Desc.ID == kernelSample:
		p.sample(ev)
	case ev.Desc.ID == contextSwitch:
		p.contextSwitch(ev)
	default:
		p.setInterval(ev)
	}
}

// sample counts a sample: a processor ran the thread of the event when its timer ticked.
func (p *processors) sample(ev *trace.Event) {
	p.sampled = true
	if threadAt(ev, ev.PointerSize) == idle {
		return
	}
	var r *ran
	if ev.PID != trace.UnknownID {
		r = p.thread(ev.PID, ev.TID)
	}
	if r == nil {
		p.unknown++
		return
	}
	r.samples++
	if p.interval > 0 {
		r.sampled += p.interval
	} else {
		r.early++
	}
}

// idle is the thread of each processor that runs when it has nothing to do. Its time does not
// count, because nobody uses it. Its id is in the payload even where the event has none,
// because a .nettrace that was converted from an .etl cannot have a process 0.
const idle = 0

// threadAt returns the thread in the payload of an event, trace.UnknownID if it is too short.
func threadAt(ev *trace.Event, at int) uint64 {
	if len(ev.Payload) < at+4 {
		return trace.UnknownID
	}
	return uint64(binary.LittleEndian.Uint32(ev.Payload[at:]))
}

// contextSwitch ends the time of the thread that a processor ran, and begins that of the thread
// of the event. The thread that it ran must be the one that the event ends, or events between
// are missing: then it is not known when it stopped.
func (p *processors) contextSwitch(ev *trace.Event) {
	now, old := ev.Time(), threadAt(ev, 4)
	if old == trace.UnknownID {
		p.broken = true
		return
	}
	p.switched = true
	k := processor{ev.Desc, ev.CPU}
	c := p.running[k]
	switch {
	case c == nil && len(p.running) == maxRanThreads:
		p.broken = true
		return
	case c == nil:
		c = new(onProcessor)
		p.running[k] = c
	case c.tid != old:
		p.broken = true
	case c.of != nil:
		c.of.switched += max(0, now-c.since)
	}
	if c.of != nil {
		c.of.since = Opt[time.Duration]{}
	}
	*c = onProcessor{tid: threadAt(ev, 0), since: now}
	if c.tid == idle {
		return
	}
	if ev.PID != trace.UnknownID {
		c.of = p.thread(ev.PID, ev.TID)
	}
	if c.of == nil {
		p.broken = true
		return
	}
	c.of.since = Some(now)
}

// setInterval reads the interval of samples: the source of the samples, and the new and the
// old interval in units of 100 ns. It ignores all sources but the timer, 0, because others
// count something else than time.
func (p *processors) setInterval(ev *trace.Event) {
	if len(ev.Payload) < 12 || binary.LittleEndian.Uint32(ev.Payload) != 0 {
		return
	}
	read := func(at int) time.Duration {
		d := 100 * time.Duration(binary.LittleEndian.Uint32(ev.Payload[at:]))
		if d > longestInterval {
			return 0
		}
		return d
	}
	now, before := read(4), read(8)
	if p.interval == 0 {
		if p.first = now; ev.Desc.ID == intervalSet && before > 0 {
			p.first = before
		}
	}
	if now > 0 {
		p.interval = now
	}
}

// plays records that the thread of an event has a role in collections. All its time counts as
// the GC's, also from before the event, because such threads do nothing but collect.
func (p *processors) plays(e *event, role threadRole) {
	if p == nil {
		return
	}
	if r := p.thread(e.PID, e.TID); r != nil {
		r.role |= role
	}
}

// pauses begins the time for which the thread of an event pauses the others for a collection.
func (p *processors) pauses(e *event, s *suspension) {
	if p == nil || !s.forGC() {
		return
	}
	if r := p.thread(e.PID, e.TID); r != nil {
		s.ran = r.at(e.Time)
	}
}

// paused adds the time that the thread ran since the pause began, up to an event.
func (p *processors) paused(e *event, s *suspension) {
	if p == nil || !s.forGC() {
		return
	}
	if r := p.thread(e.PID, e.TID); r != nil {
		now := r.at(e.Time)
		r.pausing.add(now.minus(s.ran))
		s.ran = now
	}
}
