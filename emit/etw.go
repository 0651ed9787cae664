package emit

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// StartETW starts a session that passes events to Event Tracing for Windows
// until Close. The sessions there, such as PerfView's, select the events. On
// other systems, and on 32-bit Windows, StartETW returns errors.ErrUnsupported.
//
// The events are raised under the GUIDs of the runtime's providers, which any
// number of processes may register. Tools that trace .NET see this process as a
// .NET process. Unlike starting a trace, this needs no privilege. Custom events
// are not raised, because ETW has no description of them.
//
// ETW records the current time and system thread of each event, so an event of
// RaiseAt has the time of the call. Readers match the pauses of a collection by
// thread: raise a collection from one goroutine, after runtime.LockOSThread.
//
// Dropped counts the events that ETW rejected because its buffers were full, or
// because they exceed 64 KiB with their headers. Written is empty.
func (p *Provider) StartETW() (*Session, error) { return p.startSystemETW() }

// An etwAPI is the part of the system that a provider needs.
type etwAPI interface {
	// register registers a provider. The system calls control when the combined request
	// of all sessions changes: from any thread, and perhaps before register returns.
	register(guid clr.GUID, control func(etwControl)) (handle uint64, err error)
	// unregister waits for calls of control to end. No calls follow.
	unregister(handle uint64) error
	// write raises an event.
	write(handle uint64, event *etwEvent, data *etwData, count uint32) error
}

// An etwEvent is an EVENT_DESCRIPTOR (evntprov.h).
type etwEvent struct {
	id      uint16
	version uint8
	channel uint8
	level   uint8
	opcode  uint8
	task    uint16
	keyword uint64
}

// An etwData is an EVENT_DATA_DESCRIPTOR (evntprov.h) of a 64-bit system. The caller
// keeps its target in place while the event is written.
type etwData struct {
	ptr  *byte
	size uint32
	_    uint32
}

// An etwControl holds the arguments of an enable callback: the combined request of all
// sessions for a provider.
type etwControl struct {
	code     etwCode
	level    uint8
	matchAny uint64 // keywords
	matchAll uint64
}

// An etwCode is an EVENT_CONTROL_CODE (evntprov.h). Unknown codes must be ignored.
type etwCode uint32

const (
	etwDisable etwCode = iota
	etwEnable
	etwCaptureState
)

// wants reports whether an event of the provider is wanted, as the code that mc.exe
// generates does (McGenLevelKeywordEnabled): level 0 means all levels, and no
// keywords mean all.
func (c *etwControl) wants(d *trace.Descriptor) bool {
	switch {
	case c.code == etwDisable, c.level != 0 && d.Level > c.level:
		return false
	case d.Keywords == 0 || c.matchAny == 0:
		return true
	}
	return d.Keywords&c.matchAny != 0 && d.Keywords&c.matchAll == c.matchAll
}

// etwProviders are the providers that are registered.
var etwProviders = [...]registered{
	{clr.RuntimeProvider, clr.RuntimeGUID},
	{clr.PrivateProvider, clr.PrivateGUID},
	{clr.RundownProvider, clr.RundownGUID},
}

// A registered provider is known to ETW by its GUID.
type registered struct {
	name string
	guid clr.GUID
}

// etwProvider returns the index of a provider; negative if it is not registered.
func etwProvider(name string) int {
	return slices.IndexFunc(etwProviders[:], func(p registered) bool { return strings.EqualFold(name, p.name) })
}

// An etw is the state of a session that passes events to ETW.
type etw struct {
	api     etwAPI
	session *Session
	events  [clr.NumKinds]etwEvent
	handles [len(etwProviders)]uint64 // set before ready is

	mu       sync.Mutex
	ready    bool
	controls [len(etwProviders)]etwControl
}

func (p *Provider) startETW(api etwAPI) (*Session, error) {
	s := &Session{p: p, stop: make(chan struct{}), done: make(chan struct{}), start: p.clock.now()}
	e := &etw{api: api, session: s}
	s.etw = e
	for k := range p.kinds {
		d := &p.kinds[k]
		e.events[k] = etwEvent{
			id: uint16(d.ID), version: uint8(d.Version), level: d.Level, opcode: clr.Kind(k).Opcode(), keyword: d.Keywords,
		}
	}
	if err := p.attach(s); err != nil { // nothing is wanted yet
		return nil, err
	}
	for i := range etwProviders {
		var err error
		if e.handles[i], err = api.register(etwProviders[i].guid, func(c etwControl) { e.control(i, c) }); err != nil {
			p.detach(s)
			return nil, errors.Join(err, e.unregister(i))
		}
	}
	e.begin()
	go e.run()
	return s, nil
}

// begin raises the runtime's start events for sessions that are older than the provider.
func (e *etw) begin() {
	e.mu.Lock()
	e.ready = true
	e.mu.Unlock()
	e.session.p.reconsider(e.session)
	start := clr.RuntimeInformationStart(e.session.p.process.runtimeInformation())
	e.raise(&start)
	e.raiseRundown()
}

func (e *etw) run() {
	s := e.session
	defer close(s.done)
	<-s.stop
	s.p.detach(s)
	s.err = e.unregister(len(e.handles))
}

// unregister unregisters the first n providers.
func (e *etw) unregister(n int) error {
	var errs []error
	for _, h := range e.handles[:n] {
		errs = append(errs, e.api.unregister(h))
	}
	return errors.Join(errs...)
}

// control is called by the system. A session that asks for the state is enabled.
func (e *etw) control(provider int, c etwControl) {
	if c.code > etwCaptureState {
		return
	}
	e.mu.Lock()
	if c.code != etwCaptureState {
		e.controls[provider] = c
	}
	ready := e.ready
	e.mu.Unlock()
	if !ready {
		return
	}
	e.session.p.reconsider(e.session)
	if etwProviders[provider].name == clr.RundownProvider {
		e.raiseRundown()
	}
}

// raiseRundown raises the runtime's rundown events for sessions that enable them.
func (e *etw) raiseRundown() {
	info := e.session.p.process.runtimeInformation()
	e.raise(&info)
	if settings := e.session.p.process.Settings; settings != nil {
		e.raise(settings)
	}
}

// wants reports whether a session of ETW wants an event.
func (e *etw) wants(d *trace.Descriptor) bool {
	i := etwProvider(d.Provider)
	if i < 0 || clr.KindOf(d.Provider, d.ID) == clr.KindUnknown {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready && e.controls[i].wants(d)
}

// raise raises an event of the session's own, if it is wanted.
func (e *etw) raise(ev clr.Event) {
	k := ev.EventKind()
	if d := &e.session.p.kinds[k]; e.wants(d) {
		e.write(uint32(k), d, ev.Append(nil, d.Version, pointerSize))
	}
}

// write writes an event, or counts it as dropped.
func (e *etw) write(kind uint32, d *trace.Descriptor, payload []byte) {
	var (
		data  etwData
		count uint32
	)
	if len(payload) > 0 {
		data, count = etwData{ptr: &payload[0], size: uint32(len(payload))}, 1
	}
	if err := e.api.write(e.handles[etwProvider(d.Provider)], &e.events[kind], &data, count); err != nil {
		e.session.dropped.Add(1)
	}
}

// reconsider updates the events that a session gets.
func (p *Provider) reconsider(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s.bit] == s {
		p.subscribe(s.bit, s.wants)
	}
}
