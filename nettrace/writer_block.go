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
	b        []byte // maxFrame, the block's header, records
	records  int
	min, max int64            // of the events' times
	prev     eventpipe.Header // that the next event's is compressed against
}

// begin empties the buffer and makes room for a header of size bytes.
func (b *blockBuffer) begin(size int) {
	b.b = append(b.b[:0], make([]byte, eventpipe.MaxFrame+size)...)
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
	switch {
	case !w.opt.Uncompressed:
		b.b = h.AppendCompressed(b.b, &b.prev, w.v6)
		b.b = append(b.b, payload...)
		b.prev = *h
	case w.v6:
		b.b = h.AppendUncompressedV6(b.b)
		b.b = append(b.b, payload...)
	default:
		b.b = h.AppendUncompressedV4(b.b)
		b.b = append(b.b, payload...)
		b.b = append(b.b, make([]byte, -len(payload)&3)...)
	}
	b.records++
	b.min = min(b.min, int64(h.Ticks))
	b.max = max(b.max, int64(h.Ticks))
}

// putEventHeader fills in the header of an event block or V4 metadata block.
func (b *blockBuffer) putEventHeader(compressed bool) {
	eventpipe.PutBlockHeader(b.b[eventpipe.MaxFrame:], compressed, uint64(b.min), uint64(b.max))
}

// tableBlockHeader is the size of the header of stack and label list blocks.
const tableBlockHeader = 8

// beginBlocks empties all blocks.
func (w *Writer) beginBlocks() {
	w.metadataBlock.begin(w.metadataHeader())
	w.threadBlock.begin(0)
	w.stacks.block.begin(tableBlockHeader)
	w.labels.block.begin(tableBlockHeader)
	w.eventBlock.begin(eventpipe.EventBlockHeader)
}

func (w *Writer) metadataHeader() int {
	if w.v6 {
		return 2 // the size of the rest, which is empty
	}
	return eventpipe.EventBlockHeader
}

// flushBlocks writes all blocks, in an order that lets each refer to earlier ones.
func (w *Writer) flushBlocks() {
	w.flushThreads()
	w.flushMetadata()
	w.flushTable(&w.stacks)
	w.flushTable(&w.labels)
	if w.eventBlock.records > 0 {
		w.eventBlock.putEventHeader(!w.opt.Uncompressed)
		w.writeBlock(&w.eventBlock)
		w.eventBlock.begin(eventpipe.EventBlockHeader)
	}
}

func (w *Writer) flushThreads() {
	if w.threadBlock.records > 0 {
		w.writeBlock(&w.threadBlock)
		w.threadBlock.begin(0)
	}
}

func (w *Writer) flushMetadata() {
	b := &w.metadataBlock
	if b.records == 0 {
		return
	}
	if !w.v6 {
		b.putEventHeader(!w.opt.Uncompressed)
	}
	w.writeBlock(b)
	b.begin(w.metadataHeader())
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
	if !t.block.fits(4 + len(entry)) {
		w.flushTable(t)
	}
	b := &t.block
	if b.kind == eventpipe.BlockStacks {
		b.b = binary.LittleEndian.AppendUint32(b.b, uint32(len(entry)))
	}
	b.b = append(b.b, entry...)
	b.records++
	return id
}

func (w *Writer) flushTable(t *internTable) {
	b := &t.block
	if b.records == 0 {
		return
	}
	first := len(t.ids) + 1 - b.records
	binary.LittleEndian.PutUint32(b.b[eventpipe.MaxFrame:], uint32(first))
	binary.LittleEndian.PutUint32(b.b[eventpipe.MaxFrame+4:], uint32(b.records))
	w.writeBlock(b)
	b.begin(tableBlockHeader)
}

// sequencePoint flushes all blocks and ends a region, at the given time or later. It is
// later than all events, because TraceEvent up to 2025 drops events of the same time.
func (w *Writer) sequencePoint(ticks int64) {
	w.flushBlocks()
	ticks = max(ticks, w.floor, w.newest+1)
	w.floor = ticks

	b := &w.otherBlock
	b.kind = eventpipe.BlockSequencePoint
	b.begin(0)
	if w.v6 {
		b.b = w.threads.appendSequencePointV6(b.b, w.opt.SyncTicks+ticks)
	} else {
		b.b = w.threads.appendSequencePointV4(b.b, w.opt.SyncTicks+ticks)
	}
	w.writeBlock(b)
	clear(w.stacks.ids)
	clear(w.labels.ids)

	b.kind = eventpipe.BlockRemoveThreads
	b.begin(0)
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
