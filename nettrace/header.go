package nettrace

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/binread"
)

// A header is what precedes an event's payload. In the compressed form it is
// the state that each event changes in part (NetTraceFormat_v5.md, "EventBlobs
// with compressed headers"); it starts at zero in every block.
type header struct {
	metadataID uint32
	seq        uint32
	capture    uint64 // thread, or its index in V6
	cpu        uint32
	thread     uint64 // thread, or its index in V6
	stack      uint32
	ticks      uint64
	payload    int
	activity   [16]byte
	related    [16]byte
	labels     uint32 // V6
	sorted     bool   // nothing later in the trace is older
	moved      bool   // the capture thread and sequence number were given
}

// Flags of a compressed header.
const (
	flagMetadata = 1 << iota
	flagSequence
	flagThread
	flagStack
	flagActivity // the label list in V6
	flagRelated
	flagSorted
	flagPayload
)

// compressed reads the next header of V4 to V6. With v6, the events' labels
// take the place of the activity ids, and each event counts in the sequence.
func (h *header) compressed(c *binread.Cursor, v6 bool) {
	flags := c.U8()
	if flags&flagMetadata != 0 {
		h.metadataID = c.Uvarint32()
	}
	h.moved = flags&flagSequence != 0
	if h.moved {
		h.seq += c.Uvarint32() + 1
		h.capture = c.Uvarint64()
		h.cpu = c.Uvarint32()
	} else if v6 || h.metadataID != 0 {
		h.seq++
	}
	if flags&flagThread != 0 {
		h.thread = c.Uvarint64()
	}
	if flags&flagStack != 0 {
		h.stack = c.Uvarint32()
	}
	h.ticks += c.Uvarint64()
	if flags&(flagActivity|flagRelated) != 0 {
		h.context(c, flags, v6)
	}
	h.sorted = flags&flagSorted != 0
	if flags&flagPayload != 0 {
		h.payload = int(c.Uvarint32())
	}
}

// context is the rarer part of compressed, kept out of it for speed.
func (h *header) context(c *binread.Cursor, flags uint8, v6 bool) {
	if v6 {
		if flags&flagActivity != 0 {
			h.labels = c.Uvarint32()
		}
		return
	}
	if flags&flagActivity != 0 {
		copy(h.activity[:], c.Bytes(16))
	}
	if flags&flagRelated != 0 {
		copy(h.related[:], c.Bytes(16))
	}
}

// unsorted is set in the metadata id of an uncompressed V4 or V6 header whose
// event is not sorted. (The specification has it the other way round; the
// runtime and TraceEvent agree on this.)
const unsorted = 1 << 31

// Sizes of the uncompressed headers, with the leading size itself.
const (
	headerSizeV3 = 56
	headerSizeV4 = 80
	headerSizeV6 = 52
)

// uncompressedV3 reads the fixed header of a V3 event, and its size.
func (h *header) uncompressedV3(c *binread.Cursor) (size int) {
	b := c.Bytes(headerSizeV3)
	if b == nil {
		return 0
	}
	h.metadataID = binary.LittleEndian.Uint32(b[4:])
	h.thread = uint64(binary.LittleEndian.Uint32(b[8:]))
	h.ticks = binary.LittleEndian.Uint64(b[12:])
	copy(h.activity[:], b[20:])
	copy(h.related[:], b[36:])
	h.payload = int(int32(binary.LittleEndian.Uint32(b[52:])))
	h.cpu, h.sorted = ^uint32(0), true
	return int(int32(binary.LittleEndian.Uint32(b)))
}

// uncompressedV4 reads the fixed header of a V4 event, and its size.
func (h *header) uncompressedV4(c *binread.Cursor) (size int) {
	b := c.Bytes(headerSizeV4)
	if b == nil {
		return 0
	}
	h.common(binary.LittleEndian.Uint32(b[4:]), b[8:])
	copy(h.activity[:], b[44:])
	copy(h.related[:], b[60:])
	h.payload = int(int32(binary.LittleEndian.Uint32(b[76:])))
	return int(int32(binary.LittleEndian.Uint32(b)))
}

// uncompressedV6 reads the fixed header of a V6 event, and its size.
func (h *header) uncompressedV6(c *binread.Cursor) (size int) {
	b := c.Bytes(headerSizeV6)
	if b == nil {
		return 0
	}
	h.common(binary.LittleEndian.Uint32(b[4:]), b[8:])
	h.labels = binary.LittleEndian.Uint32(b[44:])
	h.payload = int(int32(binary.LittleEndian.Uint32(b[48:])))
	return int(int32(binary.LittleEndian.Uint32(b)))
}

// common takes the part that the uncompressed headers of V4 and V6 share.
func (h *header) common(metadata uint32, b []byte) {
	h.metadataID = metadata &^ unsorted
	h.sorted = metadata&unsorted == 0
	h.seq = binary.LittleEndian.Uint32(b)
	h.thread = binary.LittleEndian.Uint64(b[4:])
	h.capture = binary.LittleEndian.Uint64(b[12:])
	h.cpu = binary.LittleEndian.Uint32(b[20:])
	h.stack = binary.LittleEndian.Uint32(b[24:])
	h.ticks = binary.LittleEndian.Uint64(b[28:])
	h.moved = h.metadataID != 0
}
