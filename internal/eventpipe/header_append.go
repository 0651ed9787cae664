package eventpipe

import "encoding/binary"

// AppendCompressed appends the header of an event that follows prev in its
// block, with the fields that differ (ep-block.c). A metadata event of V4, with
// id 0, does not count in the sequence.
func (h *Header) AppendCompressed(dst []byte, prev *Header, v6 bool) []byte {
	at := len(dst)
	dst = append(dst, 0)
	var flags uint8
	if h.MetadataID != prev.MetadataID {
		flags |= flagMetadata
		dst = binary.AppendUvarint(dst, uint64(h.MetadataID))
	}
	expected := prev.Seq
	if v6 || h.MetadataID != 0 {
		expected++
	}
	if h.Seq != expected || h.Capture != prev.Capture || h.CPU != prev.CPU {
		flags |= flagSequence
		dst = binary.AppendUvarint(dst, uint64(h.Seq-prev.Seq-1))
		dst = binary.AppendUvarint(dst, h.Capture)
		dst = binary.AppendUvarint(dst, uint64(h.CPU))
	}
	if h.Thread != prev.Thread {
		flags |= flagThread
		dst = binary.AppendUvarint(dst, h.Thread)
	}
	if h.Stack != prev.Stack {
		flags |= flagStack
		dst = binary.AppendUvarint(dst, uint64(h.Stack))
	}
	dst = binary.AppendUvarint(dst, h.Ticks-prev.Ticks)
	switch {
	case v6 && h.Labels != prev.Labels:
		flags |= flagActivity
		dst = binary.AppendUvarint(dst, uint64(h.Labels))
	case !v6:
		if h.Activity != prev.Activity {
			flags |= flagActivity
			dst = append(dst, h.Activity[:]...)
		}
		if h.Related != prev.Related {
			flags |= flagRelated
			dst = append(dst, h.Related[:]...)
		}
	}
	if h.Sorted {
		flags |= flagSorted
	}
	if h.Payload != prev.Payload {
		flags |= flagPayload
		dst = binary.AppendUvarint(dst, uint64(h.Payload))
	}
	dst[at] = flags
	return dst
}

// AppendUncompressedV4 appends the fixed header of V4. Its size counts the
// payload and the padding that follow, not itself.
func (h *Header) AppendUncompressedV4(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(headerSizeV4-4+(h.Payload+3)&^3))
	dst = h.appendCommon(dst)
	dst = append(dst, h.Activity[:]...)
	dst = append(dst, h.Related[:]...)
	return le.AppendUint32(dst, uint32(h.Payload))
}

// AppendUncompressedV6 appends the fixed header of V6, whose size counts the
// payload but not itself.
func (h *Header) AppendUncompressedV6(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(headerSizeV6-4+h.Payload))
	dst = h.appendCommon(dst)
	dst = le.AppendUint32(dst, h.Labels)
	return le.AppendUint32(dst, uint32(h.Payload))
}

// appendCommon appends the common part of the fixed headers of V4 and V6.
func (h *Header) appendCommon(dst []byte) []byte {
	le := binary.LittleEndian
	id := h.MetadataID
	if !h.Sorted {
		id |= unsorted
	}
	dst = le.AppendUint32(dst, id)
	dst = le.AppendUint32(dst, h.Seq)
	dst = le.AppendUint64(dst, h.Thread)
	dst = le.AppendUint64(dst, h.Capture)
	dst = le.AppendUint32(dst, h.CPU)
	dst = le.AppendUint32(dst, h.Stack)
	return le.AppendUint64(dst, h.Ticks)
}
