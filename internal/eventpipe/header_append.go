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

// AppendUncompressed appends the fixed header of V4 or V6. Its size counts the payload that
// follows, in V4 with padding, but not itself.
func (h *Header) AppendUncompressed(dst []byte, v6 bool) []byte {
	le := binary.LittleEndian
	size := headerSizeV4 - 4 + (h.Payload+3)&^3
	if v6 {
		size = headerSizeV6 - 4 + h.Payload
	}
	id := h.MetadataID
	if !h.Sorted {
		id |= unsorted
	}
	dst = le.AppendUint32(dst, uint32(size))
	dst = le.AppendUint32(dst, id)
	dst = le.AppendUint32(dst, h.Seq)
	dst = le.AppendUint64(dst, h.Thread)
	dst = le.AppendUint64(dst, h.Capture)
	dst = le.AppendUint32(dst, h.CPU)
	dst = le.AppendUint32(dst, h.Stack)
	dst = le.AppendUint64(dst, h.Ticks)
	if v6 {
		dst = le.AppendUint32(dst, h.Labels)
	} else {
		dst = append(append(dst, h.Activity[:]...), h.Related[:]...)
	}
	return le.AppendUint32(dst, uint32(h.Payload))
}
