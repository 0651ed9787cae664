package eventpipe

import "encoding/binary"

// MaxFrame bounds the size of a block's frame before its contents.
const MaxFrame = 3 + 8 + 4 + len("MetadataBlock") + 1 + 4 + 3

// AppendHeadV4 appends the head of a V4 trace, up to the payload of the Trace object.
func AppendHeadV4(dst []byte) []byte {
	dst = append(dst, nettraceMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(streamMagic)))
	dst = append(dst, streamMagic...)
	return AppendType(dst, BlockTrace)
}

// AppendHeadV6 appends the file header of V6.
func AppendHeadV6(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, nettraceMagic...)
	dst = le.AppendUint32(dst, 0)
	dst = le.AppendUint32(dst, 6)
	return le.AppendUint32(dst, 0)
}

// AppendType appends the tags and the type that begin an object.
func AppendType(dst []byte, kind BlockKind) []byte {
	name, version := objectNames[kind], uint32(2)
	if kind == BlockTrace {
		version = 4
	}
	dst = append(dst, tagBeginPrivate, tagBeginPrivate, tagNull)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(name)))
	dst = append(dst, name...)
	return append(dst, TagEnd)
}

// AppendFrameV4 appends the frame of a block at offset off of the trace, up to its
// contents. These begin at a multiple of 4 bytes.
func AppendFrameV4(dst []byte, kind BlockKind, size int, off int64) []byte {
	start := len(dst)
	dst = AppendType(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	for (off+int64(len(dst)-start))&3 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// AppendFrameV6 appends the frame of a block, up to its contents.
func AppendFrameV6(dst []byte, kind BlockKind, size int) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(size)|uint32(kind)<<24)
}

// EndMark returns the missing end of a trace that is truncated after its last whole
// object.
func EndMark(version int, whole int64, ended bool) []byte {
	switch {
	case ended, whole == 0:
		return nil
	case version == 6:
		return endV6
	default:
		return endV4
	}
}

// End marks: an empty block of kind EndOfStream in V6, the tag of a null reference in the
// others.
var (
	endV6 = make([]byte, 4)
	endV4 = []byte{tagNull}
)

// EventBlockHeader is the size of the header of event blocks and of V4's metadata
// blocks.
const EventBlockHeader = 20

// PutBlockHeader writes the header of an event block, or of a metadata block of V4,
// with the times of its earliest and latest event.
func PutBlockHeader(b []byte, compressed bool, first, last uint64) {
	PutLongBlockHeader(b, EventBlockHeader, compressed, first, last)
}

// PutLongBlockHeader is PutBlockHeader for a longer header, because an existing block may
// have one. Readers skip the surplus bytes.
func PutLongBlockHeader(b []byte, size int, compressed bool, first, last uint64) {
	le := binary.LittleEndian
	le.PutUint16(b, uint16(size))
	le.PutUint16(b[2:], 0)
	if compressed {
		le.PutUint16(b[2:], blockCompressed)
	}
	le.PutUint64(b[4:], first)
	le.PutUint64(b[12:], last)
}
