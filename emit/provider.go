package emit

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

var (
	// ErrLate reports an event whose time is before that of an earlier event, or
	// further in the past than the provider allows.
	ErrLate = errors.New("emit: event is too late")
	// ErrSessions reports that a provider has MaxSessions sessions already.
	ErrSessions = errors.New("emit: too many sessions")
	// ErrClosed reports the use of a closed provider or session.
	ErrClosed = errors.New("emit: closed")
)

// MaxSessions is the number of sessions that a Provider can have at once, as in
// the runtime.
const MaxSessions = 64

// pointerSize is the pointer size of the payloads, whatever the program's own. It can be
// constant, because they have addresses of a runtime, which a Go program does not have.
const pointerSize = 8

// ProviderOptions describe the process that raises the events.
type ProviderOptions struct {
	Process Process
	// Versions are the versions in which to raise events. Events that are not
	// in the map are raised in the newest version that package clr knows.
	Versions map[clr.Kind]uint32
	// Late is how far in the past Thread.RaiseAt may place an event. Sessions
	// delay all events by that time.
	Late time.Duration
}

// A Provider raises events. Its methods may be called by several goroutines at
// once.
type Provider struct {
	// masks holds, for each kind, the sessions that record it. A session is a bit.
	masks    [clr.NumKinds]atomic.Uint64
	kinds    [clr.NumKinds]trace.Descriptor
	process  Process
	late     int64
	clock    clock
	shards   [numShards]shard
	spread   atomic.Uint32 // turns of the shards
	pool     sync.Pool     // of *shard
	threads  threadIDs
	mu       sync.Mutex // of the fields below
	sessions [MaxSessions]*Session
	custom   []*Custom
	closed   bool
}

// NewProvider returns a provider without sessions. It fails if the options ask
// for a version that package clr does not know.
func NewProvider(opt ProviderOptions) (*Provider, error) {
	p := &Provider{
		process: opt.Process.withDefaults(),
		late:    int64(opt.Late),
		threads: threadIDs{last: numShards},
	}
	p.clock.start()
	for i := range p.shards {
		p.shards[i].capture = uint64(i + 1)
	}
	for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
		versions := slices.Collect(k.Versions())
		version := versions[len(versions)-1]
		if v, ok := opt.Versions[k]; ok {
			if !slices.Contains(versions, v) {
				return nil, fmt.Errorf("emit: %v has no version %d", k, v)
			}
			version = v
		}
		p.kinds[k] = describe(k, version)
	}
	return p, nil
}

// describe returns the event in the form of the runtime's metadata, which lacks name,
// fields and opcode of native events.
func describe(k clr.Kind, version uint32) trace.Descriptor {
	d := trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: version, Level: k.Level(), Keywords: k.Keywords()}
	if k == clr.KindProcessInfo {
		d.Name, d.Fields = k.String(), k.Fields(version)
	}
	return d
}

// Enabled reports whether a session wants events of the kind.
func (p *Provider) Enabled(k clr.Kind) bool { return p.masks[k].Load() != 0 }

// Raise raises an event on no thread in particular, unless no session wants it. It does
// not retain e.
func (p *Provider) Raise(e clr.Event) {
	k := e.EventKind()
	if !p.Enabled(k) {
		return
	}
	s := p.near()
	r := record{payload: e, kind: uint32(k), desc: &p.kinds[k], mask: &p.masks[k], thread: s.capture}
	s.mu.Lock()
	s.writeLocked(p, &r)
	p.pool.Put(s)
}

// Close ends all sessions. It returns their errors.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	sessions := p.sessions
	p.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// attach gives a session its bit, and subscribes it to its events.
func (p *Provider) attach(s *Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	i := slices.Index(p.sessions[:], nil)
	if i < 0 {
		return ErrSessions
	}
	p.sessions[i] = s
	s.bit = i
	for j := range p.shards {
		s.streams[j].session = s
		p.shards[j].mu.Lock()
		p.shards[j].streams[i] = &s.streams[j]
		p.shards[j].mu.Unlock()
	}
	p.subscribe(i, s.wants)
	return nil
}

// subscribe sets the bit of a session in the masks of the events that it wants, and clears it in
// others. The caller holds mu.
func (p *Provider) subscribe(bit int, wants func(*trace.Descriptor) bool) {
	set := func(mask *atomic.Uint64, d *trace.Descriptor) {
		if wants(d) {
			mask.Or(1 << bit)
		} else {
			mask.And(^(1 << bit))
		}
	}
	for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
		set(&p.masks[k], &p.kinds[k])
	}
	for _, c := range p.custom {
		set(&c.mask, &c.desc)
	}
}

// detach makes sure that no more events reach a session.
func (p *Provider) detach(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s.bit] != s {
		return
	}
	p.subscribe(s.bit, func(*trace.Descriptor) bool { return false })
	for i := range p.shards { // who loaded a mask before has it locked
		p.shards[i].mu.Lock()
		p.shards[i].streams[s.bit] = nil
		p.shards[i].mu.Unlock()
	}
	p.sessions[s.bit] = nil
}

// descriptor describes the events of a record.
func (p *Provider) descriptor(kind uint32) *trace.Descriptor {
	if kind < uint32(clr.NumKinds) {
		return &p.kinds[kind]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return &p.custom[kind-uint32(clr.NumKinds)].desc
}
