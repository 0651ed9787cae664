package emit

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"
	"unsafe"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// A FakeETW is an ETW that records what it is given, as an .etl would have it.
type FakeETW struct {
	mu        sync.Mutex
	providers []*fakeProvider
	enabled   map[string]etwControl // by GUID, from before a provider registers
	start     time.Time
	last      int64 // time of an event
	Events    []tracetest.ETLEvent
	Err       error // of all calls
}

type fakeProvider struct {
	guid    string
	control func(etwControl) // nil if it is not registered any more
}

// NewFakeETW returns an ETW with sessions that request events of some providers.
func NewFakeETW(enabled ...Wanted) *FakeETW {
	f := &FakeETW{enabled: map[string]etwControl{}, start: time.Now()}
	for _, w := range enabled {
		guid := etwProviders[etwProvider(w.Provider)].guid.String()
		f.enabled[guid] = etwControl{code: etwEnable, level: w.Level, matchAny: w.Keywords}
	}
	return f
}

// StartFakeETW is StartETW on a fake.
func (p *Provider) StartFakeETW(f *FakeETW) (*Session, error) { return p.startETW(f) }

// Control calls the enable callbacks of a provider.
func (f *FakeETW) Control(provider string, code uint32, level uint8, matchAny, matchAll uint64) {
	guid := etwProviders[etwProvider(provider)].guid.String()
	f.mu.Lock()
	var control func(etwControl)
	for _, p := range f.providers {
		if p.guid == guid {
			control = p.control
		}
	}
	f.mu.Unlock()
	control(etwControl{code: etwCode(code), level: level, matchAny: matchAny, matchAll: matchAll})
}

// Registered returns the GUIDs of the providers that are registered.
func (f *FakeETW) Registered() (guids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.providers {
		if p.control != nil {
			guids = append(guids, p.guid)
		}
	}
	return guids
}

// Take returns the events so far, and forgets them.
func (f *FakeETW) Take() []tracetest.ETLEvent {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.Events
	f.Events = nil
	return events
}

var errHandle = errors.New("the handle is invalid")

func (f *FakeETW) register(guid clr.GUID, control func(etwControl)) (uint64, error) {
	f.mu.Lock()
	f.providers = append(f.providers, &fakeProvider{guid.String(), control})
	handle, err := uint64(len(f.providers)), f.Err
	c, ok := f.enabled[guid.String()]
	f.mu.Unlock()
	if ok {
		control(c)
	}
	return handle, err
}

func (f *FakeETW) unregister(handle uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.providers[handle-1].control = nil
	return f.Err
}

// write reads the event at the offsets of evntprov.h, as the system would.
func (f *FakeETW) write(handle uint64, event *etwEvent, data *etwData, count uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.Err != nil:
		return f.Err
	case handle == 0 || handle > uint64(len(f.providers)) || f.providers[handle-1].control == nil:
		return errHandle
	}
	le := binary.LittleEndian
	b := (*[16]byte)(unsafe.Pointer(event))
	e := tracetest.ETLEvent{
		Type: tracetest.ETLEvent64, Time: f.now(), PID: 4711, TID: 77, Provider: f.providers[handle-1].guid,
		ID: le.Uint16(b[0:]), Version: uint16(b[2]), Level: b[4], Opcode: b[5], Keywords: le.Uint64(b[8:]),
	}
	if count == 1 {
		e.Payload = append(e.Payload, unsafe.Slice(data.ptr, data.size)...)
	}
	f.Events = append(f.Events, e)
	return nil
}

// Sizes of the structures that the system reads, and where it expects what it
// cannot be shown otherwise.
const (
	ETWEventSize  = unsafe.Sizeof(etwEvent{})
	ETWDataSize   = unsafe.Sizeof(etwData{})
	ETWDataLength = unsafe.Offsetof(etwData{}.size)
)

// now returns the time of an event. It advances with every call, because package time's
// clock is coarser than ETW's on Windows.
func (f *FakeETW) now() int64 {
	f.last = max(int64(time.Since(f.start)), f.last+1)
	return f.last
}
