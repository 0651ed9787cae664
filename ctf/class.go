package ctf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// A member is one of the traces that a Reader merges: a folder with metadata.
type member struct {
	dir         string
	meta        *tsdl.Trace
	pointerSize int
	pid         uint64 // of all events, if they have none of their own; else 0
	process     string // its name
	kernel      bool
	programs    bool // LTTng traced programs, not the kernel
	ending      ending

	header    plan
	frame     *frame
	slots     int
	nodes     int // in all plans
	describer describer
	streams   map[uint64]*streamClass
}

// A streamClass is how the packets and events of some streams are read.
type streamClass struct {
	member       *member
	meta         *tsdl.Stream
	clock        clock
	context      plan // of packets
	eventHeader  plan
	eventContext plan         // of all events
	quick        *quickHeader // nil if the plans must be used
	frame        *frame
	outer        int // slots of values before the payload
	slots        int // most that any event takes
	events       map[uint64]*eventClass
	dense        []*eventClass          // by id
	split        map[string]*splitEvent // by the tracepoint of either part
}

// An eventClass is how one kind of event is read. It is planned at the first such event.
type eventClass struct {
	meta    *tsdl.Event
	context plan
	payload plan
	quick   *quickPayload // nil if the plan must be used
	kind    *kind
	want    bool   // the kind is wanted
	index   uint32 // of the kind
	part    part
	bare    bool  // planned, and without a context of its own
	usual   bool  // bare, and quick reads all of it
	err     error // why such events cannot be read
}

// A kind maps a tracepoint to the event that it stands for.
type kind struct {
	tracepoint string
	domain     string        // of its trace
	fields     []trace.Field // as the tracepoint has them

	desc  *trace.Descriptor
	index uint32 // among the Reader's kinds
	known bool   // to Options.Resolve
	want  bool
	head  int // bytes of payloads that are of use

	skipped uint64 // since the last batch, if it is not wanted
}

// A part is the place of a tracepoint among the parts of a split event.
type part uint8

const (
	wholeEvent part = iota
	firstPart
	lastPart
)

// A splitEvent is an event of two tracepoints: the second is named as the first
// and splitSuffix.
type splitEvent struct {
	first, last *tsdl.Event
	kind        *kind // nil until an event of either part was met
	described   [lastPart + 1]int
}

// splitSuffix ends the tracepoint name of the second part of an event. Runtimes before
// .NET Core 2.1 split events with more than ten fields, because a tracepoint has no more.
const splitSuffix = "_1"

// denseEvents is up to where event ids index a slice.
const denseEvents = 1 << 12

func (s *streamClass) event(id uint64) *eventClass {
	if id < uint64(len(s.dense)) {
		return s.dense[id]
	}
	return s.events[id]
}

// newMember plans the structures that all packets of a trace share.
func newMember(dir string, meta *tsdl.Trace) (*member, error) {
	m := &member{dir: dir, meta: meta, describer: describer{maxDescribed}, streams: map[uint64]*streamClass{}}
	m.kernel = meta.Env["domain"] == "kernel"
	m.programs = meta.Env["tracer_name"] == "lttng-ust"
	p := planner{trace: meta, nodes: &m.nodes}
	if m.header = p.plan(tsdl.PacketHeader, meta.PacketHeader); p.err != nil {
		return nil, p.err
	}
	m.frame, m.slots = p.frame, p.slots
	for _, s := range meta.Streams {
		c, err := m.newStream(s)
		if err != nil {
			return nil, err
		}
		m.streams[s.ID] = c
	}
	m.environment()
	return m, nil
}

func (m *member) newStream(meta *tsdl.Stream) (*streamClass, error) {
	s := &streamClass{member: m, meta: meta, clock: newClock(m.meta, meta), events: map[uint64]*eventClass{}}
	p := planner{trace: m.meta, nodes: &m.nodes, frame: m.frame, slots: m.slots}
	s.context = p.plan(tsdl.PacketContext, meta.PacketContext)
	s.eventHeader = p.plan(tsdl.EventHeader, meta.EventHeader)
	s.eventContext = p.plan(tsdl.StreamContext, meta.EventContext)
	if p.err != nil {
		return nil, p.err
	}
	s.frame, s.outer, s.slots = p.frame, p.slots, p.slots
	s.quick = newQuickHeader(s)
	s.split = splitEvents(meta.Events)
	for _, e := range meta.Events {
		c := &eventClass{meta: e}
		if e.ID < denseEvents {
			for uint64(len(s.dense)) <= e.ID {
				s.dense = append(s.dense, nil)
			}
			s.dense[e.ID] = c
		} else {
			s.events[e.ID] = c
		}
	}
	return s, nil
}

// prepare plans an event when it is first seen.
func (m *merger) prepare(s *streamClass, c *eventClass) {
	of := s.member
	var described int
	if split := s.split[c.meta.Name]; split != nil {
		c.part = split.part(c.meta.Name)
		if split.kind == nil {
			var fields []trace.Field
			fields, split.described = of.describer.describeSplit(split)
			split.kind = m.kind(split.first.Name, of, fields)
		}
		c.kind, described = split.kind, split.described[c.part]
	} else {
		var fields []trace.Field
		fields, described = of.describer.describe(c.meta.Payload)
		c.kind = m.kind(c.meta.Name, of, fields)
	}
	c.want, c.index = c.kind.want, c.kind.index

	p := planner{trace: of.meta, nodes: &of.nodes, frame: s.frame, slots: s.outer, lowest: maxSlots}
	c.context = p.plan(tsdl.EventContext, c.meta.Context)
	if c.err = p.err; c.err != nil {
		return
	}
	p.wanted = referredTo(c.meta.Payload)
	if p.head = c.kind.head; c.part != wholeEvent {
		p.head = math.MaxInt // of the parts together
	}
	p.wire, p.counts, p.described = c.kind.want, c.kind.desc.Fields != nil, described
	c.payload = p.plan(tsdl.Payload, c.meta.Payload)
	c.err = p.err
	c.bare = c.err == nil && c.context == nil
	if c.err == nil {
		c.quick = newQuickPayload(c.payload)
	}
	c.usual = c.bare && c.quick != nil && c.part == wholeEvent
	s.slots = max(s.slots, p.slots)
	if p.lowest <= s.outer {
		s.quick = nil // it keeps no values for others to refer to
	}
}

// splitEvents finds the events that are split, by the tracepoints of both parts.
func splitEvents(events []*tsdl.Event) map[string]*splitEvent {
	byName, split := map[string]*tsdl.Event{}, map[string]*splitEvent{}
	for _, e := range events {
		byName[e.Name] = e
	}
	for _, e := range events {
		name, ok := strings.CutSuffix(e.Name, splitSuffix)
		if first := byName[name]; ok && first != nil && split[name] == nil {
			both := &splitEvent{first: first, last: e}
			split[name], split[e.Name] = both, both
		}
	}
	return split
}

func (s *splitEvent) part(tracepoint string) part {
	if tracepoint == s.first.Name {
		return firstPart
	}
	return lastPart
}

// kind finds the kind of a tracepoint. If Resolve knows it, all traces share one kind.
func (m *merger) kind(tracepoint string, of *member, fields []trace.Field) *kind {
	if k := m.known[tracepoint]; k != nil {
		return k
	}
	k := &kind{tracepoint: tracepoint, domain: of.meta.Env["domain"], fields: fields}
	m.define(k)
	if k.known {
		m.known[tracepoint] = k
	}
	return k
}

// describe describes the events of a tracepoint as resolve does, which may be nil,
// or else by the tracepoint's name: its provider's, a colon, and its own; or, of
// the kernel, its own. It reports whether resolve knows the tracepoint.
func describe(tracepoint, domain string, resolve resolver) (d trace.Descriptor, known bool) {
	if resolve != nil {
		d, known = resolve(tracepoint)
	}
	if d.Provider == "" {
		provider, name, ok := strings.Cut(tracepoint, ":")
		if !ok {
			provider, name = domain, tracepoint
		}
		d = trace.Descriptor{Provider: provider, Name: name}
	}
	return d, known
}

type resolver = func(tracepoint string) (trace.Descriptor, bool)

// maxDeclared bounds the kinds of events that are listed for all traces.
const maxDeclared = 1 << 16

// declared lists the kinds of events that the metadata describes. It is nil if
// a part of the metadata could not be read.
func (m *merger) declared(resolve resolver) []trace.Descriptor {
	if m.undeclared {
		return nil
	}
	all := []trace.Descriptor{}
	listed := map[string]bool{}
	for _, of := range m.members {
		for _, s := range of.streams {
			for _, e := range s.meta.Events {
				split := s.split[e.Name]
				if listed[e.Name] || split != nil && split.part(e.Name) == lastPart {
					continue
				}
				if len(all) == maxDeclared {
					return nil
				}
				d, _ := describe(e.Name, of.meta.Env["domain"], resolve)
				listed[e.Name], all = true, append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b trace.Descriptor) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return all
}
