package emit

import (
	"encoding/binary"
	"sync"
)

// A chunkPool bounds the memory of a session.
type chunkPool struct {
	mu     sync.Mutex
	room   sync.Cond // there is a chunk, or none will be waited for
	free   [][]byte
	used   int
	limit  int
	closed bool
}

// get returns an empty chunk, nil if all are used, and whether half of them are.
func (c *chunkPool) get() (chunk []byte, half bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == c.limit {
		return nil, true
	}
	c.used++
	if n := len(c.free); n > 0 {
		chunk, c.free = c.free[n-1], c.free[:n-1]
	} else {
		chunk = make([]byte, 0, chunkSize)
	}
	return chunk, c.used > c.limit/2
}

func (c *chunkPool) put(chunk []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used--
	c.free = append(c.free, chunk[:0])
	c.room.Broadcast()
}

// wait waits for a chunk.
func (c *chunkPool) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.used == c.limit && !c.closed {
		c.room.Wait()
	}
}

// close wakes all goroutines that wait.
func (c *chunkPool) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.room.Broadcast()
}

// A queue holds the bytes that a session has taken from a shard, with its position at the
// first record.
type queue struct {
	capture uint64
	chunks  [][]byte
	off     int // of the first record in chunks[0]

	any     bool // there is a first record
	ticks   int64
	thread  uint64
	kind    uint32
	lost    uint32 // before it
	payload []byte
}

// fill takes the contents of a stream of the shard.
func (q *queue) fill(s *shard, st *stream) {
	s.mu.Lock()
	q.capture = s.capture
	q.chunks = st.take(q.chunks)
	s.mu.Unlock()
	if !q.any {
		q.decode()
	}
}

// advance moves on to the next record, and returns the chunk that it has used up.
func (q *queue) advance() (done []byte) {
	q.off += recordHeader + len(q.payload)
	if q.off == len(q.chunks[0]) {
		done = q.chunks[0]
		q.chunks = q.chunks[1:]
		q.off = 0
	}
	q.decode()
	return done
}

func (q *queue) decode() {
	q.any = len(q.chunks) > 0
	if !q.any {
		q.chunks = nil
		return
	}
	le := binary.LittleEndian
	b := q.chunks[0][q.off:]
	q.ticks = int64(le.Uint64(b))
	q.thread = le.Uint64(b[8:])
	q.kind = le.Uint32(b[16:])
	q.lost = le.Uint32(b[20:])
	size := int(le.Uint32(b[24:]))
	q.payload = b[recordHeader : recordHeader+size]
}
