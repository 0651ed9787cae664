package ctf

import (
	"slices"

	"github.com/gctrail/gctrail/trace"
)

// parts are the first parts of split events that wait for their last.
type parts struct {
	waiting map[partKey]partial
	size    int // of their payloads
}

// A partKey identifies the thread whose events are split, or the stream if
// threads are unknown.
type partKey struct {
	kind     *kind
	pid, tid uint64
	stream   *stream
}

// A partial event lacks its last part.
type partial struct {
	payload []byte
	time    int64
}

// Bounds on the parts that wait.
const (
	maxParts    = 1 << 10
	maxPartSize = 4 << 20 // of all payloads
)

// put stores a first part until its last arrives. It returns false if there is no room.
func (p *parts) put(key partKey, payload []byte, time int64) bool {
	if len(p.waiting) == maxParts || p.size+len(payload) > maxPartSize {
		return false
	}
	p.waiting[key] = partial{slices.Clone(payload), time}
	p.size += len(payload)
	return true
}

// take gives back the first part that waits under a key.
func (p *parts) take(key partKey) (partial, bool) {
	first, ok := p.waiting[key]
	if ok {
		delete(p.waiting, key)
		p.size -= len(first.payload)
	}
	return first, ok
}

// join puts together the parts of an event, which a thread writes one after the other.
// The batch has the latest part from off on. It returns false if the event is not whole.
func (m *merger) join(s *stream, off int) bool {
	key := partKey{kind: s.event.kind, pid: s.head.pid, tid: s.head.tid}
	if key.tid == trace.UnknownID {
		key.stream = s
	}
	first, ok := m.parts.take(key)
	if s.event.part == lastPart {
		if ok {
			m.out.data = slices.Insert(m.out.data, off, first.payload...)
		} else {
			m.missingPart(s.time, s.time)
		}
		return ok
	}
	if ok {
		m.missingPart(first.time, s.time)
	}
	if !m.parts.put(key, m.out.data[off:], s.time) {
		m.missingPart(s.time, s.time)
	}
	return false
}
