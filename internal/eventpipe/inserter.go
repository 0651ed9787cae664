package eventpipe

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// An Inserter reads a V4 trace from a runtime, and adds events of another provider to it.
// The objects of the trace stay as they are, byte for byte, because inserted objects have
// sizes that keep their alignment. They come where the runtime begins to write newer
// events, and before sequence points, so that no inserted event is older than an event that
// a reader has already returned. Events newer than the last sequence point are left out.
//
// The inserted events have a capture thread, metadata ids and sequence numbers that no
// runtime uses, and no stack. A trace that is not V4, or is damaged, passes unchanged.
type Inserter struct {
	filter
	latest  uint64              // time of the latest event that passed
	seq     uint32              // of the last inserted event
	kinds   []*trace.Descriptor // of inserted events
	defined int                 // of kinds; the ones that the trace defines

	mu      sync.Mutex
	pending []insertion
}

// An insertion is an event that waits for its place.
type insertion struct {
	desc    *trace.Descriptor
	at      time.Time
	payload []byte
	ticks   uint64
}

const (
	// insertedThread is the capture thread of inserted events.
	insertedThread = retainedThread - 1
	// unknownThread and unknownCPU mark inserted events, because no thread of the process
	// raised them.
	unknownThread = ^uint64(0)
	unknownCPU    = ^uint32(0)
	// firstInserted is the first metadata id of inserted events. It is high, because a
	// runtime numbers its own from 1.
	firstInserted = 1 << 30
	// maxInsertions bounds the events that wait. Beyond it, the middle ones are dropped,
	// because otherwise a process without events would make memory grow.
	maxInsertions = 1 << 9
)

// NewInserter returns an Inserter for a trace that has not begun.
func NewInserter(from io.Reader) *Inserter {
	return &Inserter{filter: newFilter(from)}
}

// Add queues an event. It may be called by another goroutine. The Inserter keeps d, which
// must not change, and the payload.
func (n *Inserter) Add(d *trace.Descriptor, at time.Time, payload []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.pending) == maxInsertions {
		n.pending = slices.Delete(n.pending, maxInsertions/4, maxInsertions/2)
	}
	n.pending = append(n.pending, insertion{desc: d, at: at, payload: payload})
}

// Read returns whole objects of the trace, and inserted ones. At the end of the input it
// returns the rest unchanged.
func (n *Inserter) Read(p []byte) (int, error) { return n.read(p, n.pass) }

// A place is a position for insertions: no event before it is later than from, and no
// event after it is older than to.
type place struct {
	off      int64 // in the trace
	from, to uint64
}

// pass moves whole objects to the output, and inserts pending events between them.
func (n *Inserter) pass(objects []byte) {
	rest := n.each(objects, n.add)
	n.out = append(n.out, rest...)
}

// add moves an object, with its bytes in raw, and inserts events if it begins at a place.
func (n *Inserter) add(o *Object, raw []byte) {
	last := o.Last
	switch {
	case o.kind == BlockSequencePoint && len(o.data) >= 8:
		last = max(n.latest, binary.LittleEndian.Uint64(o.data))
		n.insert(place{n.next, n.latest, last})
	case o.Events() && o.Starts(n.latest):
		n.insert(place{n.next, n.latest, o.First})
	}
	n.latest = max(n.latest, last)
	n.out = append(n.out, raw...)
}

// take removes the insertions that belong to a place, and returns them in time order. An
// event that is older than the place goes to its beginning.
func (n *Inserter) take(at place) []insertion {
	n.mu.Lock()
	defer n.mu.Unlock()
	from := at.from
	if int64(n.in.sync-from) > 0 {
		from = n.in.sync
	}
	var taken, rest []insertion
	for _, e := range n.pending {
		e.ticks = max(n.in.Ticks(e.at.Sub(n.in.start)), from)
		if e.ticks > at.to {
			rest = append(rest, e)
			continue
		}
		taken = append(taken, e)
	}
	n.pending = rest
	slices.SortStableFunc(taken, func(a, b insertion) int { return cmp.Compare(a.ticks, b.ticks) })
	return taken
}

// insert appends the insertions of a place to the output.
func (n *Inserter) insert(at place) {
	list := n.take(at)
	if len(list) == 0 {
		return
	}
	off := at.off // insertions before it are multiples of 4 bytes
	add := func(kind BlockKind, data []byte) {
		before := len(n.out)
		n.out = AppendFrameV4(n.out, kind, len(data), off)
		n.out = append(append(n.out, data...), TagEnd)
		off += int64(len(n.out) - before)
	}
	events := n.events(list)
	if n.defined < len(n.kinds) {
		add(BlockMetadata, n.metadata(list[0].ticks))
	}
	// The next object stays aligned if the last inserted one ends where the first began, modulo 4,
	// because its end tag follows its contents, which begin at a multiple of 4.
	size := EventBlockHeader
	size += (int(at.off&3) - 1 - size - len(events)) & 3
	data := slices.Concat(make([]byte, size), events)
	PutLongBlockHeader(data, size, true, list[0].ticks, list[len(list)-1].ticks)
	add(BlockEvents, data)
}

// events returns the contents of an event block.
func (n *Inserter) events(list []insertion) []byte {
	var data []byte
	var prev Header
	for i := range list {
		e := &list[i]
		kind := slices.Index(n.kinds, e.desc)
		if kind < 0 {
			kind = len(n.kinds)
			n.kinds = append(n.kinds, e.desc)
		}
		n.seq++
		h := Header{
			MetadataID: firstInserted + uint32(kind), Seq: n.seq, Capture: insertedThread, CPU: unknownCPU, Thread: unknownThread,
			Ticks: e.ticks, Payload: len(e.payload), Sorted: true,
		}
		data = h.AppendCompressed(data, &prev, false)
		data = append(data, e.payload...)
		prev = h
	}
	return data
}

// metadata returns a metadata block that defines the kinds that the trace lacks.
func (n *Inserter) metadata(at uint64) []byte {
	data := make([]byte, EventBlockHeader)
	PutBlockHeader(data, true, at, at)
	var prev Header
	for ; n.defined < len(n.kinds); n.defined++ {
		d := n.kinds[n.defined]
		record := AppendMetadataV4(nil, firstInserted+uint32(n.defined), d, d.Fields)
		h := Header{CPU: unknownCPU, Thread: unknownThread, Ticks: at, Payload: len(record), Sorted: true}
		data = h.AppendCompressed(data, &prev, false)
		data = append(data, record...)
		prev = h
	}
	return data
}
