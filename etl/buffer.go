package etl

import "encoding/binary"

var le = binary.LittleEndian

const (
	bufferHeaderSize = 0x48
	// maxBuffer bounds a buffer, compressed or not. Sessions have buffers of up
	// to 16 MiB.
	maxBuffer = 64 << 20
)

// Flags of a buffer (ntwmi.h, ETW_BUFFER_FLAG_*).
const (
	flagFlushMarker = 0x01
	flagEventsLost  = 0x02
	flagBufferLost  = 0x04
	flagProcIndex   = 0x20
	flagCompressed  = 0x40
)

// Types of a buffer (ETW_BUFFER_TYPE_*).
const (
	typeGeneric  = 0
	typeRundown  = 1
	typeHeader   = 4
	typeBatched  = 5
	lastTypeSeen = 7
)

// A bufferHeader is a WMI_BUFFER_HEADER.
type bufferHeader struct {
	size    uint32 // to the next buffer
	used    uint32 // of it, with this header, once it is uncompressed
	flushed int64  // when it was written, in ticks; the time of day in merged files
	seq     uint32 // the low half
	cpu     uint16
	logger  uint16
	state   uint32
	flags   uint16
	kind    uint16
}

// decode reads a header from b, which holds bufferHeaderSize bytes.
func (h *bufferHeader) decode(b []byte) {
	_ = b[bufferHeaderSize-1]
	h.size = le.Uint32(b)
	h.used = le.Uint32(b[0x04:])
	h.flushed = int64(le.Uint64(b[0x10:]))
	h.seq = le.Uint32(b[0x18:])
	h.cpu = le.Uint16(b[0x28:])
	h.logger = le.Uint16(b[0x2a:])
	h.state = le.Uint32(b[0x2c:])
	h.flags = le.Uint16(b[0x34:])
	h.kind = le.Uint16(b[0x36:])
	if h.used == 0 { // as in the header buffer of Windows 7
		h.used = le.Uint32(b[0x30:])
	}
	if h.flags&flagProcIndex == 0 { // an alignment is in the other byte
		h.cpu &= 0xff
	}
}

// parseBuffer returns the header of the buffer that b begins with; false if there cannot be one.
func parseBuffer(b []byte) (h bufferHeader, ok bool) {
	if len(b) < bufferHeaderSize {
		return h, false
	}
	h.decode(b)
	return h, h.plausible()
}

func (h *bufferHeader) compressed() bool { return h.flags&flagCompressed != 0 }

// plausible reports whether h can be the header of a buffer.
func (h *bufferHeader) plausible() bool {
	return h.size >= bufferHeaderSize && h.size <= maxBuffer &&
		h.used >= bufferHeaderSize && h.used <= maxBuffer &&
		(h.compressed() || h.used <= h.size) && h.kind <= lastTypeSeen
}

// holdsEvents reports whether buffers of this type hold events like any other.
func (h *bufferHeader) holdsEvents() bool {
	switch h.kind {
	case typeGeneric, typeRundown, typeHeader, typeBatched:
		return h.used > bufferHeaderSize
	}
	return false
}
