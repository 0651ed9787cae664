package emit

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gctrail/gctrail/trace"
)

// numShards is the number of shards, and so of a trace's capturing threads. The first one
// is for collectors.
const numShards = 17

// maxPayload is the largest payload, in bytes, because the runtime stops at 64 KiB, and
// TraceEvent stores the size in 16 bits.
const maxPayload = math.MaxUint16

// A shard captures events, in time order, for all sessions.
type shard struct {
	capture uint64 // its id in traces

	mu      sync.Mutex
	newest  int64  // ticks of its latest event
	payload []byte // of the event being raised
	streams [MaxSessions]*stream
}

// A record is an event on its way into the streams of a shard.
type record struct {
	payload interface {
		Append(dst []byte, version uint32, ptrSize int) []byte
	}
	kind   uint32 // a clr.Kind, or from clr.NumKinds on a custom event
	desc   *trace.Descriptor
	mask   *atomic.Uint64
	thread uint64
	at     *int64 // nil for the present time
}

// near takes a shard that the processor which the caller runs on has used, so
// that it is most likely free: a pool keeps its items by processor. The caller
// puts it back.
func (p *Provider) near() *shard {
	if s, ok := p.pool.Get().(*shard); ok {
		return s
	}
	return p.nextShard()
}

// nextShard returns the shards in turn, except for the one of collectors.
func (p *Provider) nextShard() *shard { return &p.shards[1+p.spread.Add(1)%(numShards-1)] }

// writeLocked gives a record to the sessions that want it, and unlocks the shard. It
// returns the event's time in ticks.
//
// It reads the mask with the shard locked, so that a session that was removed from it
// gets nothing once all shards were locked.
func (s *shard) writeLocked(p *Provider, r *record) int64 {
	s.payload = r.payload.Append(s.payload[:0], r.desc.Version, pointerSize)
	for {
		full := s.waitFor(r)
		if full == nil {
			break
		}
		s.mu.Unlock()
		full.session.waitForRoom()
		s.mu.Lock()
		s.payload = r.payload.Append(s.payload[:0], r.desc.Version, pointerSize)
	}
	if r.at != nil {
		s.newest = max(s.newest, *r.at)
	} else {
		s.newest = p.clock.now()
	}
	at := s.newest
	for m := r.mask.Load(); m != 0; m &= m - 1 {
		if st := s.streams[bits.TrailingZeros64(m)]; st != nil && at >= st.session.start {
			st.add(at, r, s.payload)
		}
	}
	s.mu.Unlock()
	return at
}

// waitFor returns a stream that must take the record and has no room for it.
func (s *shard) waitFor(r *record) *stream {
	for m := r.mask.Load(); m != 0; m &= m - 1 {
		st := s.streams[bits.TrailingZeros64(m)]
		if st != nil && st.session.block.Load() && !st.reserve(recordHeader+len(s.payload)) {
			return st
		}
	}
	return nil
}

// A stream holds the events of a shard for a session. The shard's lock guards
// it.
type stream struct {
	session *Session
	full    [][]byte
	open    []byte // being filled
	dropped uint32 // events since the last one
}

// A record in a chunk: ticks, thread, kind, the number of events dropped before it, the
// size of the payload; the payload.
const (
	recordHeader = 8 + 8 + 4 + 4 + 4
	chunkSize    = recordHeader + maxPayload
)

// reserve makes room for size bytes.
func (st *stream) reserve(size int) bool {
	if cap(st.open)-len(st.open) >= size || size > chunkSize {
		return true
	}
	next := st.session.chunk()
	if next == nil {
		return false
	}
	if len(st.open) > 0 {
		st.full = append(st.full, st.open)
	}
	st.open = next
	return true
}

// add appends a record, hands it to ETW, or drops it.
func (st *stream) add(at int64, r *record, payload []byte) {
	if etw := st.session.etw; etw != nil {
		etw.write(r.kind, r.desc, payload)
		return
	}
	if len(payload) > maxPayload || !st.reserve(recordHeader+len(payload)) {
		st.dropped++
		st.session.dropped.Add(1)
		return
	}
	le := binary.LittleEndian
	b := st.open
	n := len(b)
	b = b[:n+recordHeader]
	h := b[n:]
	le.PutUint64(h, uint64(at))
	le.PutUint64(h[8:], r.thread)
	le.PutUint32(h[16:], r.kind)
	le.PutUint32(h[20:], st.dropped)
	le.PutUint32(h[24:], uint32(len(payload)))
	st.open = append(b, payload...)
	st.dropped = 0
}

// take appends the stream's chunks to chunks. An empty chunk stays, because it is
// reserved for a record that is waiting for room in another session.
func (st *stream) take(chunks [][]byte) [][]byte {
	chunks = append(chunks, st.full...)
	st.full = st.full[:0]
	if len(st.open) > 0 {
		chunks = append(chunks, st.open)
		st.open = nil
	}
	return chunks
}
