package nettrace

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// blockSize is where a block ends, as in the runtime. A block with a single record
// may be larger.
const blockSize = 100 << 10

// A blockBuffer collects a block. It keeps room for the frame, so that a block
// leaves in one piece.
type blockBuffer struct {
	kind     eventpipe.BlockKind
	header   int    // size of the block's header
	b        []byte // maxFrame, the block's header, records
	records  int
	first    uint32           // number of the first record, of stacks and label lists
	min, max int64            // of the events' times
	prev     eventpipe.Header // that the next event's is compressed against
}

func newBlock(kind eventpipe.BlockKind, header int) blockBuffer {
	b := blockBuffer{kind: kind, header: header}
	b.begin()
	return b
}

// begin empties the buffer and makes room for the header.
func (b *blockBuffer) begin() {
	b.b = append(b.b[:0], make([]byte, eventpipe.MaxFrame+b.header)...)
	b.records = 0
	b.min, b.max = math.MaxInt64, math.MinInt64
	b.prev = eventpipe.Header{}
}

// fits reports whether a record of size bytes may go into the block.
func (b *blockBuffer) fits(size int) bool {
	return b.records == 0 || len(b.b)-eventpipe.MaxFrame+size <= blockSize
}

// addEvent appends an event to an event block, or to a metadata block of V4.
func (w *Writer) addEvent(b *blockBuffer, h *eventpipe.Header, payload []byte) {
	if w.opt.Uncompressed {
		b.b = h.AppendUncompressed(b.b, w.v6)
	} else {
		b.b = h.AppendCompressed(b.b, &b.prev, w.v6)
		b.prev = *h
	}
	b.b = append(b.b, payload...)
	if w.opt.Uncompressed && !w.v6 {
		b.b = append(b.b, make([]byte, -len(payload)&3)...)
	}
	b.records++
	b.min = min(b.min, int64(h.Ticks))
	b.max = max(b.max, int64(h.Ticks))
}

const (
	// tableBlockHeader is the size of the header of stack and label list blocks.
	tableBlockHeader = 8
	// metadataHeaderV6 is the size of a size: of the rest of the header, which is empty.
	metadataHeaderV6 = 2
)

// flushBlocks writes all blocks, in an order that lets each refer to earlier ones.
func (w *Writer) flushBlocks() {
	for _, b := range [...]*blockBuffer{&w.threadBlock, &w.metadataBlock, &w.stacks.block, &w.labels.block, &w.eventBlock} {
		w.flush(b)
	}
}

// flush writes a block, unless it is empty, and begins the next.
func (w *Writer) flush(b *blockBuffer) {
	if b.records == 0 {
		return
	}
	header := b.b[eventpipe.MaxFrame:]
	switch {
	case b.kind == eventpipe.BlockEvents, b.kind == eventpipe.BlockMetadata && !w.v6:
		eventpipe.PutBlockHeader(header, !w.opt.Uncompressed, uint64(b.min), uint64(b.max))
	case b.kind == eventpipe.BlockStacks, b.kind == eventpipe.BlockLabels:
		binary.LittleEndian.PutUint32(header, b.first)
		binary.LittleEndian.PutUint32(header[4:], uint32(b.records))
	}
	w.writeBlock(b)
	b.begin()
}

// An internTable numbers the stacks or the label lists of a region, from 1 on.
type internTable struct {
	ids   map[string]uint32
	block blockBuffer // with the entries that are not written yet
}

// intern returns the number of an entry, which it adds at first sight.
func (w *Writer) intern(t *internTable, entry []byte) uint32 {
	if id, known := t.ids[string(entry)]; known {
		return id
	}
	id := uint32(len(t.ids) + 1)
	t.ids[string(entry)] = id
	b := &t.block
	if !b.fits(4 + len(entry)) {
		w.flush(b)
	}
	if b.records == 0 {
		b.first = id
	}
	if b.kind == eventpipe.BlockStacks {
		b.b = binary.LittleEndian.AppendUint32(b.b, uint32(len(entry)))
	}
	b.b = append(b.b, entry...)
	b.records++
	return id
}

// sequencePoint flushes all blocks and ends a region, at the given time or later. It is
// later than all events, because TraceEvent up to 2025 drops events of the same time.
func (w *Writer) sequencePoint(ticks int64) {
	w.flushBlocks()
	ticks = max(ticks, w.floor, w.newest+1)
	w.floor = ticks

	b := &w.otherBlock
	b.kind = eventpipe.BlockSequencePoint
	b.begin()
	b.b = w.appendSequencePoint(b.b, w.opt.SyncTicks+ticks)
	w.writeBlock(b)
	clear(w.stacks.ids)
	clear(w.labels.ids)

	b.kind = eventpipe.BlockRemoveThreads
	b.begin()
	w.threads.forgetEnded(func(t *writerThread) {
		b.b = binary.AppendUvarint(b.b, t.id)
		b.b = binary.AppendUvarint(b.b, uint64(t.seq))
		b.records++
	})
	if w.v6 && b.records > 0 {
		w.writeBlock(b)
	}
	w.region, w.due = w.off, false
}

// appendSequencePoint appends the contents of a sequence point: its time, in V6 flags, and the
// number of the last event of each thread.
func (w *Writer) appendSequencePoint(dst []byte, ticks int64) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, uint64(ticks))
	if w.v6 {
		dst = le.AppendUint32(dst, 0)
	}
	at, n := len(dst), uint32(0)
	dst = le.AppendUint32(dst, 0)
	for _, t := range w.threads.order {
		switch {
		case !t.captures:
			continue
		case w.v6:
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, t.id), uint64(t.seq))
		default:
			dst = le.AppendUint32(le.AppendUint64(dst, t.id), t.seq)
		}
		n++
	}
	le.PutUint32(dst[at:], n)
	return dst
}

// writeBlock frames a block and writes it.
func (w *Writer) writeBlock(b *blockBuffer) {
	size := len(b.b) - eventpipe.MaxFrame
	if size > eventpipe.MaxBlock-1 {
		w.err = cmp.Or(w.err, binread.Malformed("%v of %d bytes", b.kind, size))
		return
	}
	var frame [eventpipe.MaxFrame]byte
	var head []byte
	if w.v6 {
		head = eventpipe.AppendFrameV6(frame[:0], b.kind, size)
	} else {
		head = eventpipe.AppendFrameV4(frame[:0], b.kind, size, w.off)
		b.b = append(b.b, eventpipe.TagEnd)
	}
	start := eventpipe.MaxFrame - len(head)
	copy(b.b[start:], head)
	w.emit(b.b[start:])
}
