package eventpipe

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/binread"
)

// A Header is an event's header. In the compressed form it is the state that each event
// changes in part (NetTraceFormat_v5.md, "EventBlobs with compressed headers"); it starts
// at zero in every block.
type Header struct {
	MetadataID uint32
	Seq        uint32
	Capture    uint64 // thread, or its index in V6
	CPU        uint32
	Thread     uint64 // thread, or its index in V6
	Stack      uint32
	Ticks      uint64
	Payload    int
	Activity   [16]byte
	Related    [16]byte
	Labels     uint32 // V6
	Sorted     bool   // nothing later in the trace is older
	Moved      bool   // the capture thread and sequence number were given
}

// MaxHeader bounds an event's header and padding. It is the size of the longest
// compressed header: flags, five varuint32, three varuint64 and two ids.
const MaxHeader = 1 + 5*binary.MaxVarintLen32 + 3*binary.MaxVarintLen64 + 2*16

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

// compressed reads the next header of V4 to V6. In V6, labels replace the activity ids,
// and each event counts in the sequence.
func (h *Header) compressed(c *binread.Cursor, v6 bool) {
	flags := c.U8()
	if flags&flagMetadata != 0 {
		h.MetadataID = c.Uvarint32()
	}
	h.Moved = flags&flagSequence != 0
	if h.Moved {
		h.Seq += c.Uvarint32() + 1
		h.Capture = c.Uvarint64()
		h.CPU = c.Uvarint32()
	} else if v6 || h.MetadataID != 0 {
		h.Seq++
	}
	if flags&flagThread != 0 {
		h.Thread = c.Uvarint64()
	}
	if flags&flagStack != 0 {
		h.Stack = c.Uvarint32()
	}
	h.Ticks += c.Uvarint64()
	if flags&(flagActivity|flagRelated) != 0 {
		h.context(c, flags, v6)
	}
	h.Sorted = flags&flagSorted != 0
	if flags&flagPayload != 0 {
		h.Payload = int(c.Uvarint32())
	}
}

// context is the rare part of compressed, in a function of its own so that compressed is
// fast.
func (h *Header) context(c *binread.Cursor, flags uint8, v6 bool) {
	if v6 {
		if flags&flagActivity != 0 {
			h.Labels = c.Uvarint32()
		}
		return
	}
	if flags&flagActivity != 0 {
		copy(h.Activity[:], c.Bytes(16))
	}
	if flags&flagRelated != 0 {
		copy(h.Related[:], c.Bytes(16))
	}
}

// unsorted is set in the metadata id of an uncompressed V4 or V6 header whose event is
// not sorted. The specification has it the other way round, but the runtime and
// TraceEvent agree on this.
const unsorted = 1 << 31

// Sizes of the uncompressed headers, with the leading size itself.
const (
	headerSizeV3 = 56
	headerSizeV4 = 80
	headerSizeV6 = 52
)

// uncompressedV3 reads the fixed header of a V3 event, and its size.
func (h *Header) uncompressedV3(c *binread.Cursor) (size int) {
	b := c.Bytes(headerSizeV3)
	if b == nil {
		return 0
	}
	h.MetadataID = binary.LittleEndian.Uint32(b[4:])
	h.Thread = uint64(binary.LittleEndian.Uint32(b[8:]))
	h.Ticks = binary.LittleEndian.Uint64(b[12:])
	copy(h.Activity[:], b[20:])
	copy(h.Related[:], b[36:])
	h.Payload = int(int32(binary.LittleEndian.Uint32(b[52:])))
	h.CPU, h.Sorted = ^uint32(0), true
	return int(int32(binary.LittleEndian.Uint32(b)))
}

// beginsEventV3 reports whether b begins with an event of V3: the sizes of its payload and
// of its stack then add up to its own, but for padding.
func beginsEventV3(b []byte) bool {
	var h Header
	c := binread.At(b, 0)
	size := h.uncompressedV3(&c)
	c.Skip(h.Payload)
	c.Skip(int(int32(c.U32())))
	extra := 4 + size - c.Off()
	return c.OK() && extra >= 0 && extra <= 3
}

// uncompressed reads the fixed header of a V4 or V6 event, and its size.
func (h *Header) uncompressed(c *binread.Cursor, v6 bool) (size int) {
	n := headerSizeV4
	if v6 {
		n = headerSizeV6
	}
	b := c.Sub(n)
	size = int(int32(b.U32()))
	id := b.U32()
	h.MetadataID, h.Sorted = id&^unsorted, id&unsorted == 0
	h.Moved = h.MetadataID != 0
	h.Seq, h.Thread, h.Capture = b.U32(), b.U64(), b.U64()
	h.CPU, h.Stack, h.Ticks = b.U32(), b.U32(), b.U64()
	if v6 {
		h.Labels = b.U32()
	} else {
		copy(h.Activity[:], b.Bytes(16))
		copy(h.Related[:], b.Bytes(16))
	}
	h.Payload = int(int32(b.U32()))
	return size
}
